"""Coolant is supplied warmer than any class allows, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE
from fabrichealth.kinds import Severity

LIMIT = 45
SUPPLY = f'{COOLANT_TEMPERATURE}{{loop="cdu-1",point="supply"}}'

ALERT = Alert(
    name="FabricCoolantSupplyHot",
    expr=f'max by (loop) ({COOLANT_TEMPERATURE}{{branch="",point="supply"}}) > {LIMIT}',
    hold="10m",
    severity=Severity.TICKET,
    covered_by=("loop",),
    page="cooling.supply_hot",
    summary="{{ $labels.loop }} has supplied more than 45 °C for ten minutes",
    runbook=Runbook(
        meaning="Supply is above 45 °C, the warmest class of technology cooling systems in use.",
        impact="Chips lose their margin and throttle; lasers near them wear.",
        diagnosis="Is the facility's water warm too, or its flow low? Is the control valve wide "
        "open? Neither: the exchanger. The analyzer tells them apart.",
        mitigation="Call the facility; shed load before the chips do.",
    ),
    cases=(
        Case({SUPPLY: "32x5 47x20"}, at="20m", fires=True, why="hot for a quarter of an hour",
             labels={"loop": "cdu-1"}),
        Case({SUPPLY: "32x5 47x6 38x20"}, at="20m", fires=False, why="a pump was switched over"),
    ),
)  # fmt: skip
