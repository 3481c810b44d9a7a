"""A module calls its own transmitter faulty, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.optics import TX_FAULT
from fabrichealth.kinds import Severity

LABELS = {"device": "leaf-01", "port": "Ethernet0"}
LANE = f'{TX_FAULT}{{device="leaf-01",port="Ethernet0",lane="3"}}'

ALERT = Alert(
    name="FabricTransmitterFault",
    expr=f"max by (device, port) ({TX_FAULT}) == 1",
    hold="10m",
    severity=Severity.WATCH,
    covered_by=("device", "port"),
    summary="{{ $labels.device }}/{{ $labels.port }} flags a fault of its transmitter",
    runbook=Runbook(
        meaning="The module has flagged a fault of a laser at each reading for ten minutes.",
        impact="The lane is dark or about to be: the far end loses the link, or a part of it.",
        diagnosis="Its bias at 0 or at its highest and light sent low: the laser has failed. "
        "Bias and light as ever: a flag that was not cleared, or firmware.",
        mitigation="Swap the module; the fibre and the far end are well.",
    ),
    cases=(
        Case({LANE: "0x5 1x20"}, at="20m", fires=True, why="the laser failed", labels=LABELS),
        Case({LANE: "0x5 1x2 0x20"}, at="20m", fires=False, why="a flag of a start, then cleared"),
    ),
)
