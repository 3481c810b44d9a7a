"""A queue is stopped by its peer most of the time, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE
from fabrichealth.kinds import Severity

SHARE = 0.5


def paused(seconds: float) -> dict[str, str]:
    """Return a queue that is stopped for so many seconds of every minute."""
    labels = 'device="leaf-01",port="Ethernet8",priority="3"'
    return {f"{PFC_RX_PAUSE}{{{labels}}}": f"0+{seconds:g}x30"}


ALERT = Alert(
    name="FabricPausedByPeer",
    expr=f"max by (device, port, priority) (rate({PFC_RX_PAUSE}[3m])) > {SHARE}",
    hold="2m",
    severity=Severity.WATCH,
    covered_by=("device", "port"),
    page="pfc.storm",
    summary="{{ $labels.device }}/{{ $labels.port }} priority {{ $labels.priority }} is stopped "
    "by its peer for more than half of the time",
    runbook=Runbook(
        meaning="The far end of this cable has stopped the queue for more than half of the time, "
        "for two minutes.",
        impact="Everything that crosses the queue crawls, and what waits behind it spreads. The "
        "analyzer's incident names where it begins; this rule is the safety net under it.",
        diagnosis="On the board of congestion follow `Waits for` from this port down to what "
        "waits for nothing. A host there: does it receive at all? A port at line rate: who sends "
        "to it?",
        mitigation="Isolate the port where it begins; never this one, which only waits.",
    ),
    cases=(
        Case(
            paused(42),
            at="10m",
            fires=True,
            why="stopped for 70 % of the time",
            labels={"device": "leaf-01", "port": "Ethernet8", "priority": "3"},
        ),
        Case(paused(12), at="10m", fires=False, why="stopped for 20 %: slow, no storm"),
    ),
)
