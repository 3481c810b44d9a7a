"""Rack power: racks, feeds, phases, supplies."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

RACK_POWER = Metric(
    name="rack_power_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.RACK,
    help="Power that the rack draws.",
    valid=(0.0, 1e7),
)

RACK_POWER_LIMIT = Metric(
    name="rack_power_limit_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.RACK,
    help="Power that the rack may draw.",
    valid=(0.0, 1e7),
)

RACK_ENERGY = Metric(
    name="rack_energy_joules_total",
    kind=Kind.COUNTER,
    unit=Unit.JOULES,
    subject=Subject.RACK,
    help="Energy that the rack drew.",
    valid=(0.0, 2.0**64),
)

FEED_POWER = Metric(
    name="feed_power_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.FEED,
    help="Power of a feed.",
    valid=(0.0, 1e7),
)

FEED_ENERGY = Metric(
    name="feed_energy_joules_total",
    kind=Kind.COUNTER,
    unit=Unit.JOULES,
    subject=Subject.FEED,
    help="Energy that a feed delivered.",
    valid=(0.0, 2.0**64),
)

FEED_CURRENT = Metric(
    name="feed_current_amperes",
    kind=Kind.GAUGE,
    unit=Unit.AMPERES,
    subject=Subject.PHASE,
    help="Current of one phase of a feed.",
    valid=(0.0, 1e5),
)

FEED_VOLTAGE = Metric(
    name="feed_voltage_volts",
    kind=Kind.GAUGE,
    unit=Unit.VOLTS,
    subject=Subject.PHASE,
    help="Voltage of one phase of a feed.",
    valid=(0.0, 1500.0),
)

FEED_BREAKER = Metric(
    name="feed_breaker_amperes",
    kind=Kind.GAUGE,
    unit=Unit.AMPERES,
    subject=Subject.FEED,
    help="Rating of the feed's breaker.",
    valid=(0.0, 1e5),
)

FEED_POWER_FACTOR = Metric(
    name="feed_power_factor_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.FEED,
    help="Power factor.",
    valid=(-1.0, 1.0),
)

SUPPLY_INPUT = Metric(
    name="supply_input_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.SUPPLY,
    help="Power into a supply unit.",
    valid=(0.0, 1e6),
)

SUPPLY_OUTPUT = Metric(
    name="supply_output_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.SUPPLY,
    help="Power out of a supply unit.",
    valid=(0.0, 1e6),
)

SUPPLY_HEALTHY = Metric(
    name="supply_healthy",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.SUPPLY,
    help="The unit's own verdict.",
    valid=(0.0, 1.0),
)
