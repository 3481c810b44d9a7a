"""Readings come in, but nobody judges them."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import ANALYSIS_SECONDS, SOURCE_UP
from fabrichealth.kinds import Severity

UP = f'{SOURCE_UP}{{source="prom",target="host-001"}}'
PASS = f'{ANALYSIS_SECONDS}{{detector="link_down"}}'

ALERT = Alert(
    name="FabricNothingJudged",
    expr=f"absent({ANALYSIS_SECONDS}) and on () count({SOURCE_UP}) > 0",
    hold="10m",
    severity=Severity.TICKET,
    summary="Readings are collected but not judged",
    runbook=Runbook(
        meaning="Collectors report, the analyzer does not; no incident can be opened or closed.",
        impact="Faults are recorded but nobody is told.",
        diagnosis="The collector's log says why its judging child ended. With `collect` alone an "
        "`analyze` daemon must run elsewhere; where none is wanted silence this rule.",
        mitigation="Start the analyzer; it takes up where it stopped.",
    ),
    cases=(
        Case({UP: "1x20", PASS: "1x2 stale"}, at="18m", fires=True, why="judging died", labels={}),
        Case({UP: "1x20", PASS: "1x20"}, at="18m", fires=False, why="both work"),
    ),
)
