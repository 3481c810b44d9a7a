"""A phase without voltage, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.power import FEED_VOLTAGE
from fabrichealth.kinds import Severity

LABELS = {"rack": "r01", "feed": "r01-A"}
VOLTAGE = f'{FEED_VOLTAGE}{{rack="r01",feed="r01-A",phase="2"}}'

ALERT = Alert(
    name="FabricFeedDead",
    expr=(
        f"min by (rack, feed) ({FEED_VOLTAGE}) "
        f"< 0.5 * min by (rack, feed) (quantile_over_time(0.9, {FEED_VOLTAGE}[6h]))"
    ),
    hold="1m",
    severity=Severity.WATCH,
    covered_by=("feed",),
    page="power.feed_lost",
    summary="{{ $labels.feed }} of {{ $labels.rack }} has a phase without voltage",
    runbook=Runbook(
        meaning="The voltage of a phase is less than half of what it was in the last hours.",
        impact="The rack stands on its other feed alone, or loses the supplies of that phase.",
        diagnosis="One phase or all? The breaker, a fuse, the transfer switch, or the meter? Does "
        "the partner carry more since then?",
        mitigation="Leave the other feed alone; see that it is not overloaded, then find the "
        "breaker.",
    ),
    cases=(
        Case(
            {VOLTAGE: "230x60 0x10"},
            at="65m",
            fires=True,
            why="the phase is dead",
            labels=LABELS,
        ),
        Case(
            {VOLTAGE: "230x60 195x10"},
            at="65m",
            fires=False,
            why="a brown-out is no loss",
        ),
    ),
)
