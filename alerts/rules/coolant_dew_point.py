"""Supply is close to the dew point of the air beside it, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.cooling import AIR_HUMIDITY, AIR_TEMPERATURE, COOLANT_TEMPERATURE
from fabrichealth.kinds import Severity

AIR = f"max by (loop) ({AIR_TEMPERATURE})"
STRENGTH = (
    f"(ln(max by (loop) ({AIR_HUMIDITY}) > 0)"
    f" + on (loop) (17.62 * {AIR} / on (loop) (243.12 + {AIR})))"
)
"""Magnus' exponent; the dew point is 243.12 g / (17.62 - g)."""
DEW = f"(243.12 * {STRENGTH} / on (loop) (17.62 - {STRENGTH}))"
SUPPLY = f'min by (loop) ({COOLANT_TEMPERATURE}{{point="supply"}})'
COLD = f'{COOLANT_TEMPERATURE}{{loop="cdu-1",point="supply"}}'
WARMTH = f'{AIR_TEMPERATURE}{{loop="cdu-1"}}'
HUMID = f'{AIR_HUMIDITY}{{loop="cdu-1"}}'

ALERT = Alert(
    name="FabricCoolantDewPoint",
    expr=f"{SUPPLY} - on (loop) {DEW} < 2",
    hold="5m",
    severity=Severity.TICKET,
    covered_by=("loop",),
    page="cooling.condensation_risk",
    summary="{{ $labels.loop }} is less than 2 K above the dew point of its air",
    runbook=Runbook(
        meaning="The supply is less than 2 K above the dew point of the air at the same loop.",
        impact="Below it water forms on hoses and plates and drips on electronics.",
        diagnosis="Did the humidity rise (doors, humidifiers, weather) or the setpoint fall?",
        mitigation="Raise the supply temperature now; then dry the air.",
    ),
    cases=(
        Case(
            {COLD: "20x20", WARMTH: "25x20", HUMID: "0.45x5 0.7x15"},
            at="15m",
            fires=True,
            why="air of 25 °C and 70 % has a dew point of 19.1 °C",
            labels={"loop": "cdu-1"},
        ),
        Case(
            {COLD: "20x20", WARMTH: "25x20", HUMID: "0.45x5 0.7x2 0.5x13"},
            at="15m",
            fires=False,
            why="a door was open for two minutes",
        ),
    ),
)
