"""No pump of a loop turns any more, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE, FLOW, PUMP_RUNNING
from fabrichealth.kinds import Severity

ONE, OTHER = (f'{PUMP_RUNNING}{{loop="cdu-1",pump="{pump}"}}' for pump in "12")
SUPPLY = f'{FLOW}{{loop="cdu-1",point="supply"}}'
TEMPERATURE = f'{COOLANT_TEMPERATURE}{{loop="cdu-1",branch="",point="supply"}}'

ALERT = Alert(
    name="FabricCoolantPumpsStopped",
    expr=(
        f"max by (loop) ({PUMP_RUNNING}) == 0"
        f" and on (loop) max by (loop) (max_over_time({PUMP_RUNNING}[1h])) == 1"
        f' unless on (loop) max by (loop) ({FLOW}{{branch=""}}) > 1'
        f' unless on (loop) max by (loop) ({COOLANT_TEMPERATURE}{{branch=""}}) == 0'
    ),
    hold="2m",
    severity=Severity.TICKET,
    covered_by=("loop",),
    page="cooling.pump_wear",
    summary="No pump of {{ $labels.loop }} turns any more",
    runbook=Runbook(
        meaning="Every pump of the loop has stood still for two minutes; one of them turned within "
        "the hour, and no flow is read. The analyzer pages where the racks still draw power.",
        impact="Chips without flow throttle within seconds and shut down within a minute.",
        diagnosis="Was the loop shut down by plan? Power of the unit, its drives and its emergency "
        "stop; an empty reservoir stops pumps too: is it a leak?",
        mitigation="Start the spare; if none starts, shut the racks down before they do it.",
    ),
    cases=(
        Case(
            {ONE: "1x20 0x20", OTHER: "1x20 0x20", SUPPLY: "450x20 0x20"},
            at="30m",
            fires=True,
            why="both stand still and nothing flows",
            labels={"loop": "cdu-1"},
        ),
        Case(
            {ONE: "1x20 0x20", OTHER: "0x20 1x20", SUPPLY: "450x40"},
            at="30m",
            fires=False,
            why="they took turns",
        ),
        Case(
            {ONE: "1x20 0x20", SUPPLY: "450x20 0x20", TEMPERATURE: "32x20 0x20"},
            at="30m",
            fires=False,
            why="a unit that answers zeros: water at 0 °C sharp is no reading",
        ),
        Case(
            {ONE: "0x200", OTHER: "0x200", SUPPLY: "0x200"},
            at="180m",
            fires=False,
            why="a loop that has been off for hours",
        ),
    ),
)
