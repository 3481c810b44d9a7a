"""A rack that would not survive the loss of a feed: one alone would carry too much."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT
from fabrichealth.kinds import Severity


def current(feed: str) -> str:
    """Return the current of one phase of a feed."""
    return f'{FEED_CURRENT}{{rack="r01",feed="{feed}",phase="2"}}'


def breaker(feed: str) -> str:
    """Return the rating of a feed's breaker."""
    return f'{FEED_BREAKER}{{rack="r01",feed="{feed}"}}'


A, B = "r01-A", "r01-B"
BOTH = {breaker(A): "63x120", breaker(B): "63x120"}

ALERT = Alert(
    name="FabricFeedNotRedundant",
    expr=(
        f"max by (rack) (sum by (rack, phase) "
        f"(max by (rack, feed, phase) (avg_over_time({FEED_CURRENT}[15m])))) "
        f"/ on (rack) min by (rack) ({FEED_BREAKER} > 0) > 0.8 "
        f"and on (rack) count by (rack) (max by (rack, feed) ({FEED_BREAKER} > 0)) == 2"
    ),
    hold="30m",
    severity=Severity.WATCH,
    page="power.overload",
    summary="One feed of {{ $labels.rack }} alone would carry more than 80 % of its breaker",
    runbook=Runbook(
        meaning="The currents of both feeds of the rack together have been more than 80 % of one "
        "breaker for half an hour.",
        impact="Nothing yet. If one feed is lost the other is overloaded at once, and beyond 100 % "
        "it trips within minutes: the rack goes dark.",
        diagnosis="Which jobs or supplies came to the rack since it was below? Is the limit of the "
        "rack set with the loss of a feed in mind?",
        mitigation="Cap the rack so that one feed can carry it, or move load; before anybody works "
        "on a feed of this rack, drain it.",
    ),
    cases=(
        Case(
            {current(A): "24x10 30x110", current(B): "24x10 29x110", **BOTH},
            at="100m",
            fires=True,
            why="both feeds together are more than one may carry",
            labels={"rack": "r01"},
        ),
        Case(
            {current(A): "24x120", current(B): "24x120", **BOTH},
            at="100m",
            fires=False,
            why="either could carry the rack",
        ),
        Case(
            {current(A): "45x120", breaker(A): "63x120"},
            at="100m",
            fires=False,
            why="a rack with one feed has no redundancy to lose",
        ),
    ),
)
