"""Fleet: is anything wrong, is anybody blind, and where to look next."""

from dashboards.board import BAD_OK, OK_BAD, Board, Query, Question, Row, Step, Variable
from dashboards.incidents import NEEDS_HANDS, listed
from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.ports import (
    ADMIN_UP,
    LINK_DOWNS,
    LINK_RECOVERIES,
    PORT_INFO,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.catalogue.verdicts import (
    DRAIN_SAFE,
    INCIDENT_ACTIVE,
    INCIDENT_SILENCED,
    INCIDENTS,
)
from fabrichealth.catalogue.watchers import (
    ANALYSIS_COVERAGE,
    SOURCE_UP,
)
from fabrichealth.kinds import Severity

IN_DOMAIN = 'domain=~"$domain"'
PLACES = f"on (device, port) group_left (domain, rack, technology) {PORT_INFO}{{{IN_DOMAIN}}}"


def _open(severity: Severity) -> Query:
    active = f"max by (incident) ({INCIDENT_ACTIVE}{{{IN_DOMAIN}}}) == {int(severity)}"
    return Query(f"count({active}) or vector(0)", str(severity))


BOARD = Board(
    uid="fabrichealth-fleet",
    title="Fabric health / fleet",
    about="Open incidents, silent sources, links down and error rates over the whole fabric.",
    variables=(Variable("domain", "Domain", f"label_values({PORT_INFO}, domain)"),),
    rows=(
        Row(
            "Now",
            (
                Question(
                    "Pages",
                    [_open(Severity.PAGE)],
                    "Incidents that need somebody now.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=OK_BAD,
                ),
                Question(
                    "Tickets",
                    [_open(Severity.TICKET)],
                    "Incidents for this week.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=NEEDS_HANDS,
                ),
                Question(
                    "Links down",
                    [Query(f"count(({UP} == 0) unless ({ADMIN_UP} == 0)) or vector(0)", "down")],
                    "Ports that are enabled and down, both ends counted.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=OK_BAD,
                ),
                Question(
                    "Devices that answer",
                    [Query(f"avg({DEVICE_UP})", "share")],
                    "Share of the devices of which any target answers.",
                    kind="stat",
                    unit="percentunit",
                    width=4,
                    height=5,
                    steps=BAD_OK,
                ),
                Question(
                    "Silent sources",
                    [Query(f"count({SOURCE_UP} == 0) or vector(0)", "silent")],
                    "Targets that do not answer: what they watched is not watched.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=OK_BAD,
                ),
                Question(
                    "Judged on data enough",
                    [Query(f"min({ANALYSIS_COVERAGE} > 0)", "least")],
                    "The least covered detector that has anything to judge.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=(Step("red"), Step("orange", 0.5), Step("green", 0.9)),
                ),
                listed("One line a cause; suppressed ones are shown with their reason."),
                Question(
                    "Somebody is at it, or called it false",
                    [Query(f"max by (incident, said) ({INCIDENT_SILENCED})", table=True)],
                    "Open incidents that nobody is told of again unless they become graver.",
                    kind="table",
                    width=12,
                    height=7,
                    hidden=("Value",),
                ),
                Question(
                    "May be drained now",
                    [Query(f"max by (link) ({DRAIN_SAFE})", table=True)],
                    "Ill links: 1 may be drained now, 0 not; `drain-plan` says why and in which "
                    "order.",
                    kind="table",
                    width=12,
                    height=7,
                ),
            ),
        ),
        Row(
            "Links",
            (
                Question(
                    "Falls per hour",
                    [
                        Query(
                            f"topk(10, increase({LINK_DOWNS}[1h]) * {PLACES} > 0)",
                            "{{device}}/{{port}}",
                        )
                    ],
                    "Links that went down in the last hour.",
                ),
                Question(
                    "Symbol errors per second",
                    [
                        Query(
                            f"topk(10, rate({SYMBOL_ERRORS}[$__rate_interval]) * {PLACES} > 0)",
                            "{{device}}/{{port}}",
                        )
                    ],
                    "Errors left after FEC and retry; a healthy link has none for hours.",
                ),
                Question(
                    "Retrains per hour",
                    [
                        Query(
                            f"topk(10, increase({LINK_RECOVERIES}[1h]) * {PLACES} > 0)",
                            "{{device}}/{{port}}",
                        )
                    ],
                    "Links that train again without going down: the early sign.",
                ),
                Question(
                    "Trunks with ports down",
                    [
                        Query(
                            f"topk(10, count by (bundle) (({UP} == 0) * on (device, port) "
                            f'group_right () ({PORT_INFO}{{{IN_DOMAIN},bundle!=""}} + 1)) > 1)',
                            "{{bundle}}",
                        )
                    ],
                    "Two and more ports of one trunk that are down together; a shared part that "
                    "is ill in any way is an open incident of kind parts.shared_component.",
                ),
                Question(
                    "Incidents opened per day",
                    [Query(f"sum by (kind) (increase({INCIDENTS}[1d]))", "{{kind}}")],
                    "By kind.",
                ),
            ),
        ),
    ),
)
