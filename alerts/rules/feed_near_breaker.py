"""A feed carries more than its breaker may for long, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT
from fabrichealth.kinds import Severity

FEED = 'rack="r01",feed="r01-A"'
CURRENT = f'{FEED_CURRENT}{{{FEED},phase="2"}}'
BREAKER = f"{FEED_BREAKER}{{{FEED}}}"

ALERT = Alert(
    name="FabricFeedNearBreaker",
    expr=(
        f"max by (rack, feed) (avg_over_time({FEED_CURRENT}[15m])) "
        f"/ on (rack, feed) max by (rack, feed) ({FEED_BREAKER} > 0) > 0.8"
    ),
    hold="5m",
    severity=Severity.WATCH,
    covered_by=("feed",),
    page="power.overload",
    summary="{{ $labels.feed }} of {{ $labels.rack }} carries more than 80 % of its breaker",
    runbook=Runbook(
        meaning="A phase of the feed has carried more than 80 % of the breaker's rating over a "
        "quarter of an hour.",
        impact="Breakers are rated for 80 % of continuous load; beyond it heat adds up until they "
        "trip, and the rack falls to its other feed or goes dark.",
        diagnosis="Does its partner carry nothing? Then it took over: find out why. Else a job or "
        "a rack more was put on it: which phase, and which supplies hang on it?",
        mitigation="Move or cap load before the breaker decides; do not reset the other feed while "
        "this one is so full.",
    ),
    cases=(
        Case(
            {CURRENT: "30x10 55x30", BREAKER: "63x40"},
            at="40m",
            fires=True,
            why="a rack more was put on it, and stays",
            labels={"rack": "r01", "feed": "r01-A"},
        ),
        Case(
            {CURRENT: "30x15 60x5 30x20", BREAKER: "63x40"},
            at="22m",
            fires=False,
            why="a job began and ended",
        ),
        Case(
            {CURRENT: "55x40"},
            at="40m",
            fires=False,
            why="nobody says what its breaker is",
        ),
    ),
)
