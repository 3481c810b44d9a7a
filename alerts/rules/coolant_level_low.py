"""A reservoir is nearly empty, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE, RESERVOIR_LEVEL
from fabrichealth.kinds import Severity

LEVEL = f'{RESERVOIR_LEVEL}{{loop="cdu-1"}}'
TEMPERATURE = f'{COOLANT_TEMPERATURE}{{loop="cdu-1",branch="",point="supply"}}'

ALERT = Alert(
    name="FabricCoolantLevelLow",
    expr=(
        f"min by (loop) ({RESERVOIR_LEVEL}) < 0.15"
        f' unless on (loop) max by (loop) ({COOLANT_TEMPERATURE}{{branch=""}}) == 0'
    ),
    hold="5m",
    severity=Severity.TICKET,
    covered_by=("loop",),
    page="cooling.leak",
    summary="The reservoir of {{ $labels.loop }} is nearly empty",
    runbook=Runbook(
        meaning="Less than 15 % of the reservoir is left.",
        impact="The pumps draw air soon; then flow stops and chips throttle within seconds.",
        diagnosis="How fast did it fall (board of cooling)? Over weeks: it was not refilled. Over "
        "hours: a leak, for which the analyzer has an incident.",
        mitigation="Refill, and find where it went before you leave.",
    ),
    cases=(
        Case({LEVEL: "0.5x5 0.1x20"}, at="20m", fires=True, why="nearly empty",
             labels={"loop": "cdu-1"}),
        Case({LEVEL: "0.5x5 0.1x3 0.5x20"}, at="20m", fires=False, why="sloshing at a pump start"),
        Case({LEVEL: "0.5x5 0x20", TEMPERATURE: "32x5 0x20"}, at="20m", fires=False,
             why="a unit that answers zeros: water at 0 °C sharp is no reading"),
    ),
)  # fmt: skip
