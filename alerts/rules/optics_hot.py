"""A module is hotter than it allows itself, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.optics import TEMPERATURE, THRESHOLD
from fabrichealth.kinds import Severity

LABELS = {"device": "leaf-01", "port": "Ethernet0"}
PORT = 'device="leaf-01",port="Ethernet0"'
CASE = f"{TEMPERATURE}{{{PORT}}}"
CHOSEN = 'quantity="temperature",bound="high",level="warning"'
LIMIT = f"{THRESHOLD}{{{PORT},{CHOSEN}}}"

ALERT = Alert(
    name="FabricOpticsHot",
    expr=(
        f"max by (device, port) ({TEMPERATURE})"
        f" > on (device, port) max by (device, port) ({THRESHOLD}{{{CHOSEN}}} > 0)"
    ),
    hold="10m",
    severity=Severity.WATCH,
    covered_by=("device", "port"),
    summary="{{ $labels.device }}/{{ $labels.port }} is hotter than its own limit",
    runbook=Runbook(
        meaning="The module's case has been above its own high warning for ten minutes.",
        impact="Its laser wears faster and its signal has less margin; beyond the alarm it may "
        "switch itself off and the link goes down.",
        diagnosis="Are its neighbours hot too? Then fans, filters or blanking panels of the "
        "device, or the room. Alone: a module that sits badly in its cage, or is ill.",
        mitigation="Mend the air first; reseat, then swap the module if it stays hot alone.",
    ),
    cases=(
        Case(
            {CASE: "48x5 74x20", LIMIT: "70x30"},
            at="20m",
            fires=True,
            why="it went hot and stays hot",
            labels=LABELS,
        ),
        Case(
            {CASE: "48x5 74x6 52x20", LIMIT: "70x30"},
            at="20m",
            fires=False,
            why="a door was open for a few minutes",
        ),
        Case(
            {CASE: "48x30", LIMIT: "0x30"},
            at="20m",
            fires=False,
            why="a limit that nobody filled in",
        ),
    ),
)
