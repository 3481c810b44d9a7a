"""Panels of open incidents, which most boards begin with."""

import re
from collections.abc import Sequence

from dashboards.board import Query, Question, Step
from fabrichealth.catalogue.verdicts import INCIDENT_INFO
from fabrichealth.kinds import IncidentKind, Severity

STOPS_WORK = (Step("green"), Step("red", 1.0))
NEEDS_HANDS = (Step("green"), Step("orange", 1.0))


def how_many(title: str, kinds: Sequence[IncidentKind], about: str, width: int = 6) -> Question:
    """Return the count of open incidents of some kinds that nothing suppresses.

    It is red where one of the kinds can page, else orange.
    """
    named = "|".join(re.escape(str(kind)).replace("\\", "\\\\") for kind in kinds)
    chosen = f'{INCIDENT_INFO}{{kind=~"{named}",suppressed_by=""}}'
    pages = any(kind.severity >= Severity.PAGE for kind in kinds)
    return Question(
        title,
        [Query(f"count(max by (incident) ({chosen})) or vector(0)", "open")],
        about,
        kind="stat",
        width=width,
        height=5,
        steps=STOPS_WORK if pages else NEEDS_HANDS,
    )


def listed(about: str, chosen: str = "", height: int = 9) -> Question:
    """Return the table of open incidents, a line each; `chosen` are matchers."""
    kept = "incident, kind, severity, cause, culprit, suppressed_by"
    return Question(
        "Open incidents",
        [Query(f"max by ({kept}) ({INCIDENT_INFO}{{{chosen}}})", table=True)],
        about,
        kind="table",
        width=24,
        height=height,
        hidden=("Value",),
    )
