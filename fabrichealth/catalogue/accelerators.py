"""Accelerators: load, memory, heat, power, errors."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)
COUNT = (0.0, 2.0**64)

UTILIZATION = Metric(
    name="accelerator_utilization_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DEVICE,
    help="Share of time that the accelerator was busy.",
    valid=FLAG,
)

TENSOR_ACTIVE = Metric(
    name="accelerator_tensor_active_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DEVICE,
    help="Share of cycles that the matrix units were active.",
    valid=FLAG,
)

MEMORY_USED = Metric(
    name="accelerator_memory_used_bytes",
    kind=Kind.GAUGE,
    unit=Unit.BYTES,
    subject=Subject.DEVICE,
    help="Device memory in use.",
    valid=COUNT,
)

MEMORY_TOTAL = Metric(
    name="accelerator_memory_total_bytes",
    kind=Kind.GAUGE,
    unit=Unit.BYTES,
    subject=Subject.DEVICE,
    help="Device memory there is.",
    valid=COUNT,
)

POWER = Metric(
    name="accelerator_power_watts",
    kind=Kind.GAUGE,
    unit=Unit.WATTS,
    subject=Subject.DEVICE,
    help="Power drawn.",
    valid=(0.0, 5000.0),
)

TEMPERATURE = Metric(
    name="accelerator_temperature_celsius",
    kind=Kind.GAUGE,
    unit=Unit.CELSIUS,
    subject=Subject.DEVICE,
    help="Temperature of the chip.",
    valid=(-50.0, 150.0),
)

ALLOCATED = Metric(
    name="accelerator_allocated",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="1 while a job holds it.",
    valid=FLAG,
)

HEALTHY = Metric(
    name="accelerator_healthy",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="The device's own verdict.",
    valid=FLAG,
)

CLOCK = Metric(
    name="accelerator_clock_hertz",
    kind=Kind.GAUGE,
    unit=Unit.HERTZ,
    subject=Subject.DEVICE,
    help="Clock of the compute units.",
    valid=(0.0, 1e11),
)

THROTTLED = Metric(
    name="accelerator_throttled_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DEVICE,
    help="Share of time throttled, by reason.",
    valid=FLAG,
    extra=("reason",),
)

ERRORS = Metric(
    name="accelerator_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="Errors by code (xid:149, sxid:12028, ascend:80E01801).",
    valid=COUNT,
    extra=("code",),
)

ACCELERATOR_INFO = Metric(
    name="accelerator_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="What the accelerator is.",
    extra=("model", "host", "rack", "domain", "driver"),
)
