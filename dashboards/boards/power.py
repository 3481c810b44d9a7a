"""Power: feeds against their breakers, phases, what a feed would carry alone, racks, supplies."""

from dashboards.board import Board, Query, Question, Row, Step, Variable
from dashboards.incidents import how_many
from fabrichealth.catalogue.accelerators import THROTTLED
from fabrichealth.catalogue.power import (
    FEED_BREAKER,
    FEED_CURRENT,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
    RACK_POWER,
    RACK_POWER_LIMIT,
    SUPPLY_HEALTHY,
    SUPPLY_INPUT,
    SUPPLY_OUTPUT,
)
from fabrichealth.kinds import (
    POWER_CAPPED,
    POWER_FEED_LOST,
    POWER_METER_DRIFT,
    POWER_OVERLOAD,
    POWER_PHASE_IMBALANCE,
    POWER_SUPPLY_FAILED,
)

HERE = '{rack=~"$rack"}'
FEED = "{{rack}} {{feed}}"
PHASE = "{{rack}} {{feed}} phase {{phase}}"
FULL = (Step("green"), Step("orange", 0.75), Step("red", 0.8))
LOAD = (
    f"max by (rack, feed, phase) ({FEED_CURRENT}{HERE}) / on (rack, feed) group_left () "
    f"max by (rack, feed) ({FEED_BREAKER}{HERE})"
)
ALONE = (
    f"sum by (rack, phase) (max by (rack, feed, phase) ({FEED_CURRENT}{HERE})) "
    f"/ on (rack) group_left () min by (rack) ({FEED_BREAKER}{HERE})"
)
"""What one feed of a rack would carry if it had to carry all."""
MIDDLE = f"avg by (rack, feed) ({FEED_CURRENT}{HERE})"


BOARD = Board(
    uid="fabrichealth-power",
    title="Fabric health / power",
    about="What feeds carry beside their breakers, phases, racks beside their limits, supplies.",
    variables=(Variable("rack", "Rack", f"label_values({RACK_POWER}, rack)"),),
    opens_on=("rack",),
    rows=(
        Row(
            "Now",
            (
                how_many(
                    "Overloads and lost feeds",
                    (
                        POWER_OVERLOAD,
                        POWER_FEED_LOST,
                    ),
                    "Open incidents in which a breaker is in danger.",
                ),
                how_many(
                    "Supplies, caps, phases, meters",
                    (
                        POWER_SUPPLY_FAILED,
                        POWER_CAPPED,
                        POWER_PHASE_IMBALANCE,
                        POWER_METER_DRIFT,
                    ),
                    "Open incidents that need hands this week.",
                ),
                Question(
                    "Fullest phase",
                    [Query(f"max({LOAD})", "load")],
                    "Load of the fullest phase over its breaker's rating; 80 % may flow for long.",
                    kind="stat",
                    width=6,
                    height=5,
                    steps=FULL,
                ),
                Question(
                    "Fullest if a feed is lost",
                    [Query(f"max({ALONE})", "load")],
                    "What the fullest phase would carry if one feed had to carry its rack alone.",
                    kind="stat",
                    width=6,
                    height=5,
                    steps=FULL,
                ),
            ),
        ),
        Row(
            "Feeds",
            (
                Question(
                    "Closest to their breakers",
                    [Query(f"topk(10, {LOAD})", PHASE)],
                    "Current of a phase over the breaker's rating.",
                ),
                Question(
                    "If one feed had to carry all",
                    [Query(f"topk(10, {ALONE})", "{{rack}} phase {{phase}}")],
                    "Currents of all feeds of a rack over one breaker: beyond 80 % the rack does "
                    "not survive the loss of a feed for long, beyond 100 % it trips.",
                ),
                Question(
                    "Phases against each other",
                    [
                        Query(
                            f"topk(10, max by (rack, feed) (abs({FEED_CURRENT}{HERE} "
                            f"- on (rack, feed) group_left () {MIDDLE}) "
                            f"/ on (rack, feed) group_left () {MIDDLE}))",
                            FEED,
                        )
                    ],
                    "Largest distance of a phase from the mean of its feed; 20 % is too much.",
                ),
                Question(
                    "Voltage",
                    [Query(f"{FEED_VOLTAGE}{HERE}", PHASE)],
                    "Voltage of each phase.",
                ),
                Question(
                    "Power of feeds",
                    [Query(f"{FEED_POWER}{HERE}", FEED)],
                    "Power of each feed as its meter reads it.",
                ),
                Question(
                    "Power beside volts times amperes",
                    [
                        Query(
                            f"max by (rack, feed) ({FEED_POWER}{HERE}) / on (rack, feed) "
                            f"(sum by (rack, feed) ({FEED_VOLTAGE}{HERE} * on (rack, feed, phase) "
                            f"{FEED_CURRENT}{HERE}) * on (rack, feed) "
                            f"max by (rack, feed) ({FEED_POWER_FACTOR}{HERE})) - 1",
                            FEED,
                        )
                    ],
                    "How far the power read is off V x I x power factor: 5 % for half an hour is a "
                    "meter that drifted.",
                ),
            ),
        ),
        Row(
            "Racks and supplies",
            (
                Question(
                    "Racks beside their limits",
                    [
                        Query(
                            f"topk(10, max by (rack) ({RACK_POWER}{HERE}) / on (rack) "
                            f"max by (rack) ({RACK_POWER_LIMIT}{HERE}))",
                            "{{rack}}",
                        )
                    ],
                    "Power over what the rack may draw; flat at 100 % is a cap.",
                ),
                Question(
                    "Throttled for power",
                    [
                        Query(
                            f'topk(10, max by (device) ({THROTTLED}{{reason="power"}}))',
                            "{{device}}",
                        )
                    ],
                    "Share of time for which power throttles an accelerator.",
                ),
                Question(
                    "Supplies that say they are ill",
                    [Query(f"min by (rack, unit) ({SUPPLY_HEALTHY}{HERE}) == 0", table=True)],
                    "Units by rack.",
                    kind="table",
                ),
                Question(
                    "What supplies lose",
                    [
                        Query(
                            f"sum by (rack) ({SUPPLY_INPUT}{HERE}) - sum by (rack) "
                            f"({SUPPLY_OUTPUT}{HERE})",
                            "{{rack}}",
                        )
                    ],
                    "Power into the supplies of a rack that does not come out.",
                ),
            ),
        ),
    ),
)
