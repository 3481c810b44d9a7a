"""The domain as one machine: how even, how full, how connected, how soon whole again."""

from dashboards.board import Board, Query, Question, Row, Step, Variable
from fabrichealth.catalogue.verdicts import DOMAIN_IDLE, INCIDENT_INFO
from fabrichealth.kinds import KINDS
from fabrichealth.plugins import constants

NEED_HANDS = (Step("green"), Step("orange", 1.0))


def _open(kind: str, title: str, about: str) -> Question:
    chosen = f'{INCIDENT_INFO}{{kind="{KINDS[kind]}",suppressed_by=""}}'
    return Question(
        title,
        [Query(f"count(max by (incident) ({chosen})) or vector(0)", "open")],
        about,
        kind="stat",
        width=6,
        height=5,
        steps=NEED_HANDS,
    )


BOARD = Board(
    uid="fabrichealth-domain",
    title="Fabric health / domain",
    about="Each scale-up domain as one machine: distribution, fragmentation, links, recovery.",
    variables=(Variable("domain", "Domain", f"label_values({DOMAIN_IDLE}, domain)"),),
    rows=(
        Row(
            "Now",
            (
                _open("domain.hidden_idle", "Hidden idle",
                      "Domains whose published average hides accelerators that stand idle."),
                _open("domain.straggler", "Stragglers",
                      "Accelerators that hold back the others of their job."),
                _open("domain.fragmented", "Fragmented",
                      "Domains in which free accelerators do not make a job that waits."),
                _open("parts.version_drift", "Odd versions",
                      "Roles in which some devices run another firmware and are ill."),
            ),
        ),
        *constants("dashboards.domain", Row).values(),
    ),
)  # fmt: skip
