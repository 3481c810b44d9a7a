"""Devices: hosts, switches and what surrounds them; jobs and benchmarks."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)
COUNT = (0.0, 2.0**64)

DEVICE_UP = Metric(
    name="device_up",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="1 while any of the device's targets answers.",
    valid=FLAG,
)

BOOT_TIME = Metric(
    name="device_boot_timestamp_seconds",
    kind=Kind.GAUGE,
    unit=Unit.TIMESTAMP_SECONDS,
    subject=Subject.DEVICE,
    help="When the device booted.",
    valid=(0.0, 1e11),
)

CLOCK_OFFSET = Metric(
    name="device_clock_offset_seconds",
    kind=Kind.GAUGE,
    unit=Unit.SECONDS,
    subject=Subject.DEVICE,
    help="Clock of the device minus ours.",
    valid=(-1e9, 1e9),
)

DEVICE_INFO = Metric(
    name="device_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="What the device is and runs.",
    extra=("model", "firmware", "driver", "os"),
)

IRQ_REMOTE = Metric(
    name="host_irq_remote_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.PORT,
    help="Share of the port's interrupts served on another NUMA node.",
    valid=FLAG,
)

IRQ_FAR = Metric(
    name="host_irq_far_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.PORT,
    help="Share of the port's interrupts served on NUMA nodes behind another socket.",
    valid=FLAG,
)

DEVICE_TEMPERATURE = Metric(
    name="device_temperature_celsius",
    kind=Kind.GAUGE,
    unit=Unit.CELSIUS,
    subject=Subject.DEVICE,
    help="Temperature by sensor.",
    valid=(-50.0, 200.0),
    extra=("sensor",),
)

DEVICE_TEMPERATURE_LIMIT = Metric(
    name="device_temperature_limit_celsius",
    kind=Kind.GAUGE,
    unit=Unit.CELSIUS,
    subject=Subject.DEVICE,
    help="The device's own upper limit of a sensor; level is caution, critical or fatal.",
    valid=(-50.0, 300.0),
    extra=("sensor", "level"),
)

DEVICE_POWER = Metric(
    name="device_power_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.DEVICE,
    help="Power that a device, or a part of it, draws, by sensor.",
    valid=(0.0, 1e7),
    extra=("sensor",),
)

HUMIDITY = Metric(
    name="device_humidity_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DEVICE,
    help="Relative humidity of the air at a sensor of the device.",
    valid=FLAG,
    extra=("sensor",),
)

FAN_SPEED = Metric(
    name="device_fan_speed_rpm",
    kind=Kind.GAUGE,
    unit=Unit.RPM,
    subject=Subject.DEVICE,
    help="Speed of a fan.",
    valid=(0.0, 1e5),
    extra=("fan",),
)

FAN_SPEED_RATIO = Metric(
    name="device_fan_speed_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DEVICE,
    help="Speed of a fan against its maximum.",
    valid=FLAG,
    extra=("fan",),
)

PCIE_ERRORS = Metric(
    name="pcie_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="PCIe advanced error reporting.",
    valid=COUNT,
    extra=("severity", "type"),
)

LOG_EVENTS = Metric(
    name="device_log_events_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="Lines of the device's log that say something is wrong, by code (link:down, aer:fatal).",
    valid=COUNT,
    extra=("code",),
)

SCHEDULABLE = Metric(
    name="host_schedulable",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="1 where the scheduler would place work, 0 down or drained.",
    valid=FLAG,
)

HOST_ALLOCATED = Metric(
    name="host_accelerators_allocated",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="How many of the host's accelerators jobs hold, also where nobody says which.",
    valid=COUNT,
)

JOBS_PENDING = Metric(
    name="jobs_pending",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Jobs that wait, by size in accelerators.",
    valid=COUNT,
    extra=("size",),
)

BUS_BANDWIDTH = Metric(
    name="benchmark_bus_bandwidth_bytes_per_second",
    kind=Kind.GAUGE,
    unit=Unit.BYTES_PER_SECOND,
    subject=Subject.NONE,
    help="Bus bandwidth that a collective benchmark reached.",
    valid=(0.0, 1e15),
    extra=("benchmark", "operation", "bytes", "accelerators"),
)
