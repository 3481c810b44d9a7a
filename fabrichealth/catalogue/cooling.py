"""Liquid cooling: loops, their branches, pumps, valves and leaks."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)

FLOW = Metric(
    name="coolant_flow_liters_per_minute",
    kind=Kind.GAUGE,
    unit=Unit.LITERS_PER_MINUTE,
    subject=Subject.POINT,
    help="Coolant flow.",
    valid=(0.0, 20000.0),
)

PRESSURE = Metric(
    name="coolant_pressure_kilopascals",
    kind=Kind.GAUGE,
    unit=Unit.KILOPASCALS,
    subject=Subject.POINT,
    help="Coolant pressure over the atmosphere.",
    valid=(-100.0, 2000.0),
)

COOLANT_TEMPERATURE = Metric(
    name="coolant_temperature_celsius",
    kind=Kind.GAUGE,
    unit=Unit.CELSIUS,
    subject=Subject.POINT,
    help="Coolant temperature.",
    valid=(-20.0, 110.0),
)

DIFFERENTIAL_PRESSURE = Metric(
    name="coolant_differential_pressure_kilopascals",
    kind=Kind.GAUGE,
    unit=Unit.KILOPASCALS,
    subject=Subject.BRANCH,
    help="Pressure drop over loop, branch or filter.",
    valid=(-50.0, 1500.0),
    extra=("element",),
)

HEAT = Metric(
    name="coolant_heat_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.BRANCH,
    help="Heat that the coolant carries away, as the device reckons it.",
    valid=(-1e6, 1e8),
)

PUMP_SPEED = Metric(
    name="pump_speed_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LOOP,
    help="Pump speed against its maximum.",
    valid=(0.0, 1.2),
    extra=("branch", "pump"),
)

PUMP_POWER = Metric(
    name="pump_power_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.LOOP,
    help="Power that a pump draws.",
    valid=(0.0, 1e6),
    extra=("branch", "pump"),
)

PUMP_RUNNING = Metric(
    name="pump_running",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LOOP,
    help="1 while the pump runs.",
    valid=FLAG,
    extra=("branch", "pump"),
)

VALVE_POSITION = Metric(
    name="valve_position_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LOOP,
    help="Opening of a valve.",
    valid=FLAG,
    extra=("branch", "valve"),
)

RESERVOIR_LEVEL = Metric(
    name="reservoir_level_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LOOP,
    help="Level of the reservoir.",
    valid=FLAG,
    extra=("branch",),
)

MAKEUP = Metric(
    name="coolant_makeup_liters_total",
    kind=Kind.COUNTER,
    unit=Unit.LITERS,
    subject=Subject.LOOP,
    help="Coolant refilled.",
    valid=(0.0, 1e9),
    extra=("branch",),
)

LEAK = Metric(
    name="leak_detected",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LOOP,
    help="1 while the zone's rope is wet.",
    valid=FLAG,
    extra=("branch", "zone"),
)

AIR_TEMPERATURE = Metric(
    name="air_temperature_celsius",
    kind=Kind.GAUGE,
    unit=Unit.CELSIUS,
    subject=Subject.LOOP,
    help="Air temperature, for the dew point.",
    valid=(-50.0, 90.0),
    extra=("branch",),
)

AIR_HUMIDITY = Metric(
    name="air_humidity_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LOOP,
    help="Relative humidity of the air, for the dew point.",
    valid=FLAG,
    extra=("branch",),
)

LOOP_INFO = Metric(
    name="loop_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.LOOP,
    help="What the loop is.",
    extra=("branch", "fluid", "racks", "cdu", "control"),
)
