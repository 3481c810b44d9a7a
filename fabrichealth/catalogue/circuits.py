"""What hangs behind a feed: branch circuits and outlets of a distribution unit."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)

CIRCUIT_CURRENT = Metric(
    name="circuit_current_amperes",
    kind=Kind.GAUGE,
    unit=Unit.AMPERES,
    subject=Subject.DEVICE,
    help="Current of one phase of a branch circuit.",
    valid=(0.0, 1e5),
    extra=("circuit", "phase"),
)

CIRCUIT_VOLTAGE = Metric(
    name="circuit_voltage_volts",
    kind=Kind.GAUGE,
    unit=Unit.VOLTS,
    subject=Subject.DEVICE,
    help="Voltage of one phase of a branch circuit.",
    valid=(0.0, 1500.0),
    extra=("circuit", "phase"),
)

CIRCUIT_POWER = Metric(
    name="circuit_power_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.DEVICE,
    help="Power of a branch circuit.",
    valid=(0.0, 1e7),
    extra=("circuit",),
)

CIRCUIT_BREAKER = Metric(
    name="circuit_breaker_amperes",
    kind=Kind.GAUGE,
    unit=Unit.AMPERES,
    subject=Subject.DEVICE,
    help="Rating of a branch circuit's breaker.",
    valid=(0.0, 1e5),
    extra=("circuit",),
)

CIRCUIT_CLOSED = Metric(
    name="circuit_closed",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="1 while a circuit's breaker is closed, 0 tripped or off.",
    valid=FLAG,
    extra=("circuit",),
)

OUTLET_CURRENT = Metric(
    name="outlet_current_amperes",
    kind=Kind.GAUGE,
    unit=Unit.AMPERES,
    subject=Subject.DEVICE,
    help="Current of an outlet.",
    valid=(0.0, 1e4),
    extra=("outlet",),
)

OUTLET_POWER = Metric(
    name="outlet_power_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.DEVICE,
    help="Power of an outlet.",
    valid=(0.0, 1e6),
    extra=("outlet",),
)

OUTLET_ENERGY = Metric(
    name="outlet_energy_joules_total",
    kind=Kind.COUNTER,
    unit=Unit.JOULES,
    subject=Subject.DEVICE,
    help="Energy that an outlet delivered.",
    valid=(0.0, 2.0**64),
    extra=("outlet",),
)

OUTLET_ON = Metric(
    name="outlet_on",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="1 while an outlet is switched on.",
    valid=FLAG,
    extra=("outlet",),
)
