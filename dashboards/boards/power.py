"""Power: feeds against their breakers, phases, what a feed would carry alone, racks, supplies."""

from dashboards.board import OK_BAD, Board, Query, Question, Row, Step, Variable
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
from fabrichealth.catalogue.verdicts import INCIDENT_INFO

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


def _open(kinds: str) -> Query:
    chosen = f'{INCIDENT_INFO}{{kind=~"{kinds}",suppressed_by=""}}'
    return Query(f"count(max by (incident) ({chosen})) or vector(0)", "open")


BOARD = Board(
    uid="fabrichealth-power",
    title="Fabric health / power",
    about="What feeds carry beside their breakers, phases, racks beside their limits, supplies.",
    variables=(Variable("rack", "Rack", f"label_values({RACK_POWER}, rack)"),),
    rows=(
        Row(
            "Now",
            (
                Question(
                    "Overloads and lost feeds",
                    [_open("power.overload|power.feed_lost")],
                    "Open incidents in which a breaker is in danger.",
                    kind="stat",
                    width=6,
                    height=5,
                    steps=OK_BAD,
                ),
                Question(
                    "Supplies, caps, phases, meters",
                    [
                        _open(
                            "power.supply_failed|power.capped|power.phase_imbalance|power.meter_drift"
                        )
                    ],
                    "Open incidents that need hands this week.",
                    kind="stat",
                    width=6,
                    height=5,
                    steps=(Step("green"), Step("orange", 1.0)),
                ),
                Question(
                    "Fullest phase",
                    [Query(f"max({LOAD})", "load")],
                    "Load of the fullest phase over its breaker's rating; 80 % may flow for long.",
                    kind="stat",
                    width=6,
                    height=5,
                    unit="percentunit",
                    steps=FULL,
                ),
                Question(
                    "Fullest if a feed is lost",
                    [Query(f"max({ALONE})", "load")],
                    "What the fullest phase would carry if one feed had to carry its rack alone.",
                    kind="stat",
                    width=6,
                    height=5,
                    unit="percentunit",
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
                    unit="percentunit",
                ),
                Question(
                    "If one feed had to carry all",
                    [Query(f"topk(10, {ALONE})", "{{rack}} phase {{phase}}")],
                    "Currents of all feeds of a rack over one breaker: beyond 80 % the rack does "
                    "not survive the loss of a feed for long, beyond 100 % it trips.",
                    unit="percentunit",
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
                    unit="percentunit",
                ),
                Question(
                    "Voltage",
                    [Query(f"{FEED_VOLTAGE}{HERE}", PHASE)],
                    "Voltage of each phase.",
                    unit="volt",
                ),
                Question(
                    "Power of feeds",
                    [Query(f"{FEED_POWER}{HERE}", FEED)],
                    "Power of each feed as its meter reads it.",
                    unit="watt",
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
                    unit="percentunit",
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
                    unit="percentunit",
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
                    unit="percentunit",
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
                    unit="watt",
                ),
            ),
        ),
    ),
)
