"""An incident that needs somebody now."""

from alerts.alert import Alert, Case, Runbook
from alerts.incident import active, info, joined, opened, owner, silenced
from fabrichealth.kinds import Severity

LABELS = opened("link.flapping", "contaminated_connector")

ALERT = Alert(
    name="FabricIncidentPage",
    expr=joined(Severity.PAGE),
    hold="0m",
    severity=Severity.PAGE,
    page="{{ $labels.kind }}",
    summary="{{ $labels.kind }}: {{ $labels.culprit }} ({{ $labels.incident }})",
    runbook=Runbook(
        meaning="The analyzer holds one culprit responsible, and work is lost now or within hours.",
        impact="Jobs that cross the culprit stall or fail; its victims are listed in the incident.",
        diagnosis="`fabrichealth explain INCIDENT` gives evidence, side, causes and victims; "
        "the page of the kind in this folder says how its causes are told apart.",
        mitigation="Do what the incident's action says; leave the victims alone. "
        "`fabrichealth verdict INCIDENT ack` says that you are at it and ends the noise.",
    ),
    cases=(
        Case(
            {
                active(LABELS): "_x3 4x10",
                info(LABELS, "page"): "_x3 1x10",
                owner(LABELS): "_x3 1x10",
            },
            at="8m",
            fires=True,
            why="an incident of severity page is open",
            labels=LABELS,
        ),
        Case(
            {active(LABELS): "4x10", info(LABELS, "page"): "1x10"},
            at="8m",
            fires=True,
            why="a daemon older than these rules says nothing of racks and teams",
            labels={key: LABELS[key] for key in ("incident", "domain", "culprit", "kind", "cause")},
        ),
        Case(
            {info(LABELS, "page", suppressed_by="maintenance:chg-7"): "1x20"},
            at="8m",
            fires=False,
            why="the same incident, suppressed by maintenance, has an info series only",
        ),
        Case(
            {
                active(LABELS): "4x20",
                info(LABELS, "page"): "1x20",
                silenced(LABELS, "ack"): "_x2 1x18",
            },
            at="8m",
            fires=False,
            why="somebody said that he is at it",
        ),
        Case(
            {
                active(LABELS): "4x20",
                info(LABELS, "page"): "1x20",
                owner(LABELS): "1x20",
                silenced(LABELS, "ack"): "1x3 stale _x16",
            },
            at="8m",
            fires=True,
            why="acknowledged as a ticket, it became a page since: the silence is over",
            labels=LABELS,
        ),
        Case(
            {
                active(LABELS): "4x20",
                info(LABELS, "page"): "1x20",
                owner(LABELS): "1x20",
                info({**LABELS, "incident": "i8", "cause": "bent_fiber"}, "page"): "1x20",
                info({**LABELS, "incident": "i8", "cause": "bad_cable"}, "page"): "1x20",
            },
            at="8m",
            fires=True,
            why="two daemons that are not at one about an incident keep no other from its page",
            labels=LABELS,
        ),
        Case(
            {active(LABELS): "3x20", info(LABELS, "ticket"): "1x20"},
            at="8m",
            fires=False,
            why="a ticket is no page",
        ),
    ),
)
