"""Passes of the analyzer come late, or no more."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import ANALYSIS_TIME
from fabrichealth.kinds import Severity

LATE = 300

PLACES = "instance, pod, node, container"
"""An analyzer that goes on elsewhere is the same one: what it judges names it."""

ALERT = Alert(
    name="FabricJudgingLate",
    expr=f"time() - max without ({PLACES}) (max_over_time({ANALYSIS_TIME}[1d])) > {LATE}",
    hold="2m",
    severity=Severity.TICKET,
    summary="What was judged last is {{ $value | humanizeDuration }} old",
    runbook=Runbook(
        meaning="The analyzer's newest pass is older than five minutes: it stands still, ended, or "
        "a pass takes longer than that. A store that lags behind counts too. One that ended is "
        "told of for a day.",
        impact="Faults are told late or not at all; open incidents look as they were.",
        diagnosis="The log of `judging` says why a pass was skipped or its process ended. On the "
        "watchers board: which detector takes the time, and is the store slow to answer?",
        mitigation="Mend the store if it is slow. Give `policy.judge_every` more time, or share "
        "the site's domains between analyzers (`analyze --domains`).",
    ),
    cases=(
        Case(
            {str(ANALYSIS_TIME): "0+60x10 600x20"},
            at="20m",
            fires=True,
            why="no pass for ten minutes",
            labels={},
            value="10m 0s",
        ),
        Case(
            {str(ANALYSIS_TIME): "0+60x10 stale"},
            at="20m",
            fires=True,
            why="no pass, and nobody exports its time any more",
            labels={},
            value="10m 0s",
        ),
        Case(
            {
                f'{ANALYSIS_TIME}{{domains="pod-a",instance="a"}}': "0+60x10 stale",
                f'{ANALYSIS_TIME}{{domains="pod-b",instance="b"}}': "0+60x130",
            },
            at="2h",
            fires=True,
            why="one of two analyzers ended, hours ago",
            labels={"domains": "pod-a"},
            value="1h 50m 0s",
        ),
        Case(
            {
                f'{ANALYSIS_TIME}{{domains="pod-a",instance="a"}}': "0+60x10 stale",
                f'{ANALYSIS_TIME}{{domains="pod-a",instance="b"}}': "_x10 600+60x20",
            },
            at="20m",
            fires=False,
            why="its pod went to another host",
        ),
        Case(
            {str(ANALYSIS_TIME): "0 0 120 120 240 240 360 360 480 480 600 600 720"},
            at="12m",
            fires=False,
            why="a pass each two minutes",
        ),
    ),
)
