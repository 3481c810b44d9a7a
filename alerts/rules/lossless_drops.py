"""A lossless priority drops packets, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.congestion import PFC_RX_DROPPED_PACKETS
from fabrichealth.kinds import Severity

LABELS = 'device="leaf-01",port="Ethernet8",priority="3"'


def drops(pattern: str) -> dict[str, str]:
    """Return the counter of a port's drops."""
    return {f"{PFC_RX_DROPPED_PACKETS}{{{LABELS}}}": pattern}


ALERT = Alert(
    name="FabricLosslessDrops",
    expr=f"sum by (device, port, priority) (increase({PFC_RX_DROPPED_PACKETS}[10m])) > 0",
    hold="5m",
    severity=Severity.WATCH,
    covered_by=("device", "port"),
    page="pfc.headroom_short",
    summary="{{ $labels.device }}/{{ $labels.port }} drops on lossless priority "
    "{{ $labels.priority }}",
    runbook=Runbook(
        meaning="Packets of a priority that should never lose any were dropped at this ingress.",
        impact="RoCE goes back to the lost packet and sends all after it again: a few losses cost "
        "much of the rate.",
        diagnosis="Does the port pause its peer at the same time? Then what is under way after the "
        "pause does not fit: compare the headroom with the cable's length and rate. No pauses: the "
        "priority is mapped to a lossy queue somewhere.",
        mitigation="Raise the headroom as docs/methods.md says, or mend the mapping.",
    ),
    cases=(
        Case(
            drops("0x5 0+20x25"),
            at="15m",
            fires=True,
            why="twenty packets a minute",
            labels={"device": "leaf-01", "port": "Ethernet8", "priority": "3"},
        ),
        Case(drops("700x30"), at="15m", fires=False, why="losses of another time"),
    ),
)
