"""A receiver gets less light than its module allows, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.optics import RX_POWER, THRESHOLD
from fabrichealth.catalogue.ports import UP
from fabrichealth.kinds import Severity

LABELS = {"device": "leaf-01", "port": "Ethernet0"}
PORT = 'device="leaf-01",port="Ethernet0"'
LANE = f'{RX_POWER}{{{PORT},lane="3"}}'
CHOSEN = 'quantity="rx_power",bound="low",level="warning"'
LIMIT = f"{THRESHOLD}{{{PORT},{CHOSEN}}}"

ALERT = Alert(
    name="FabricOpticsLightLow",
    expr=(
        f"min by (device, port) ({RX_POWER} > -30)"
        f" < on (device, port) max by (device, port) ({THRESHOLD}{{{CHOSEN}}} > -40)"
        f" unless on (device, port) max by (device, port) ({UP}) == 0"
    ),
    hold="15m",
    severity=Severity.WATCH,
    covered_by=("device", "port"),
    summary="Light received by {{ $labels.device }}/{{ $labels.port }} is below its own limit",
    runbook=Runbook(
        meaning="The dimmest lit lane has been below the module's own low warning for a quarter "
        "of an hour, and the port is not down.",
        impact="The margin of the link is gone or nearly so; errors before FEC rise next. The "
        "analyzer's incident names the cause; this rule is the safety net under it.",
        diagnosis="Light sent by the far end low too: its laser. Both directions low: the fibre. "
        "One direction low and the far end bright: dirt before this receiver. The optics board "
        "shows all four.",
        mitigation="Clean the connector first, then swap what the pattern names.",
    ),
    cases=(
        Case(
            {LANE: "-2x5 -9x25", LIMIT: "-7x30", f"{UP}{{{PORT}}}": "1x30"},
            at="25m",
            fires=True,
            why="one lane went dim and stays dim",
            labels=LABELS,
        ),
        Case(
            {LANE: "-2x5 -9x5 -2x20", LIMIT: "-7x30", f"{UP}{{{PORT}}}": "1x30"},
            at="25m",
            fires=False,
            why="a fibre was moved and is well again",
        ),
        Case(
            {LANE: "-9x30", LIMIT: "-40x30", f"{UP}{{{PORT}}}": "1x30"},
            at="25m",
            fires=False,
            why="a limit that nobody filled in",
        ),
        Case(
            {LANE: "-2x5 -40x25", LIMIT: "-7x30", f"{UP}{{{PORT}}}": "1x5 0x25"},
            at="25m",
            fires=False,
            why="unplugged: the link is down, which is another rule's",
        ),
    ),
)
