"""Cooling: open incidents, water, heat and flow of loops, pumps, filters, exchangers, branches."""

from dashboards.board import OK_BAD, Board, Query, Question, Row, Variable
from dashboards.incidents import how_many
from fabrichealth.catalogue.accelerators import POWER, TEMPERATURE
from fabrichealth.catalogue.cooling import (
    AIR_HUMIDITY,
    AIR_TEMPERATURE,
    COOLANT_TEMPERATURE,
    DIFFERENTIAL_PRESSURE,
    FLOW,
    LEAK,
    MAKEUP,
    PRESSURE,
    PUMP_POWER,
    PUMP_RUNNING,
    PUMP_SPEED,
    RESERVOIR_LEVEL,
    VALVE_POSITION,
)
from fabrichealth.kinds import COOLING_LEAK, KINDS
from fabrichealth.metric import Metric

HERE = '{loop=~"$loop"}'
MAIN = '{loop=~"$loop",branch=""}'
BRANCH = '{loop=~"$loop",branch!=""}'
SUPPLY, RETURN = (f'{{loop=~"$loop",branch="",point="{point}"}}' for point in ("supply", "return"))
OTHERS = [
    kind for name, kind in KINDS.items() if name.startswith("cooling.") and kind is not COOLING_LEAK
]
BY_BRANCH = "{{loop}}/{{branch}}"


def _shown(metric: Metric, title: str, about: str, legend: str) -> Question:
    return Question(title, [Query(f"{metric}{HERE}", legend)], about)


BOARD = Board(
    uid="fabrichealth-cooling",
    title="Fabric health / cooling",
    about="Coolant loops: what is lost, what is carried, and the parts that do it.",
    variables=(Variable("loop", "Loop", f"label_values({FLOW}, loop)"),),
    opens_on=("loop",),
    rows=(
        Row(
            "Now",
            (
                how_many("Leaks", (COOLING_LEAK,), "Open incidents in which coolant is lost."),
                how_many(
                    "Other cooling incidents",
                    OTHERS,
                    "Clogs, wear, fouling, drift and the like: hands this week.",
                ),
                Question(
                    "Wet ropes",
                    [Query(f"count({LEAK} == 1) or vector(0)", "ropes")],
                    "Zones whose rope is wet now; sensors blip for about a minute.",
                    kind="stat",
                    width=6,
                    height=5,
                    steps=OK_BAD,
                ),
                Question(
                    "Emptiest reservoir",
                    [Query(f"min({RESERVOIR_LEVEL})", "level")],
                    "Lowest level of all loops.",
                    kind="stat",
                    width=6,
                    height=5,
                ),
            ),
        ),
        Row(
            "Water",
            (
                _shown(
                    RESERVOIR_LEVEL,
                    "Reservoir",
                    "Swings with the coolant's temperature: 300 L and 10 K are 1.2 L.",
                    "{{loop}}",
                ),
                Question(
                    "Flow that does not come back",
                    [
                        Query(
                            f'{FLOW}{{loop=~"$loop",point="supply"}} - ignoring (point) '
                            f'{FLOW}{{loop=~"$loop",point="return"}}',
                            BY_BRANCH,
                        )
                    ],
                    "Supply less return of the same place, L/min; meters are good to 1 %.",
                ),
                Question(
                    "Refilled within a day",
                    [Query(f"increase({MAKEUP}{HERE}[1d])", "{{loop}}")],
                    "Liters; twice the norm is a sign.",
                ),
                _shown(
                    PRESSURE,
                    "Pressure",
                    "A return pressure that decays loses water.",
                    "{{loop}}/{{branch}} {{point}}",
                ),
            ),
        ),
        Row(
            "Heat",
            (
                _shown(
                    COOLANT_TEMPERATURE,
                    "Temperatures",
                    "Supply and return.",
                    "{{loop}}/{{branch}} {{point}}",
                ),
                Question(
                    "Rise through the loop",
                    [
                        Query(
                            f"{COOLANT_TEMPERATURE}{RETURN} - ignoring (point) "
                            f"{COOLANT_TEMPERATURE}{SUPPLY}",
                            "{{loop}}",
                        )
                    ],
                    "Return less supply of the main, in kelvin; 8 to 12 are usual under load.",
                ),
                _shown(
                    VALVE_POSITION,
                    "Control valve",
                    "Wide open: no more room to cool.",
                    "{{loop}} {{valve}}",
                ),
                Question(
                    "Hottest chips for what they draw",
                    [Query(f"topk(10, {TEMPERATURE} / on (device) ({POWER} > 100))", "{{device}}")],
                    "Degrees for each watt; one that leaves its peers has lost contact.",
                    unit="none",
                ),
                _shown(AIR_HUMIDITY, "Humidity", "For the dew point.", "{{loop}}"),
                _shown(AIR_TEMPERATURE, "Air", "For the dew point.", "{{loop}}"),
            ),
        ),
        Row(
            "Pumps and filters",
            (
                Question(
                    "Pumps that turn",
                    [Query(f"sum by (loop) ({PUMP_RUNNING}{HERE})", "{{loop}}")],
                    "One less than such a load has always taken is a ticket, none a page.",
                ),
                _shown(
                    PUMP_SPEED,
                    "Pump speed",
                    "Under control a worn pump just turns faster.",
                    "{{loop}} {{pump}}",
                ),
                Question(
                    "Head at full speed",
                    [
                        Query(
                            f'max by (loop) ({DIFFERENTIAL_PRESSURE}{{loop=~"$loop",branch="",'
                            'element="loop"}) / on (loop) max by (loop) '
                            f"({PUMP_SPEED}{MAIN} > 0.1) ^ 2",
                            "{{loop}}",
                        )
                    ],
                    "Drop over speed squared, kPa: falls as a pump wears.",
                ),
                _shown(PUMP_POWER, "Pump power", "Of each pump.", "{{loop}} {{pump}}"),
                Question(
                    "Filter",
                    [
                        Query(
                            f'{DIFFERENTIAL_PRESSURE}{{loop=~"$loop",element="filter"}}', "{{loop}}"
                        )
                    ],
                    "Drop over the filter; half as much again at the same flow is due.",
                ),
            ),
        ),
        Row(
            "Branches",
            (
                Question(
                    "Flow",
                    [Query(f"{FLOW}{BRANCH}", BY_BRANCH)],
                    "L/min of each branch.",
                ),
                Question(
                    "Lowest against its siblings",
                    [
                        Query(
                            f"bottomk(10, {FLOW}{BRANCH} / on (loop) group_left () "
                            f"quantile by (loop) (0.5, {FLOW}{BRANCH}))",
                            BY_BRANCH,
                        )
                    ],
                    "Share of the median branch's flow.",
                ),
            ),
        ),
    ),
)
