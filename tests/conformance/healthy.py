"""What readings say when all is well; a metric without an entry says 1, a counter stands still.

A law is given the time stamps (unix seconds, [k]) and the start, and returns values.
"""

from collections.abc import Callable, Mapping

from fabrichealth.catalogue import accelerators, congestion, cooling, devices, optics, ports, power
from fabrichealth.catalogue.watchers import LAST_SUCCESS, PARTIAL, REJECTED
from fabrichealth.metric import Metric
from fabrichealth.model import Floats

Law = Callable[[Floats, float], Floats]


def rising(per_second: float, start: float = 12_345.0) -> Law:
    """Return a counter that started anywhere and rises steadily."""
    return lambda at, began: start + (at - began) * per_second


EXTRA: Mapping[str, tuple[str, ...]] = {
    "code": ("xid:31", "xid:79"),
    "reason": ("implausible", "unsupported"),
    "errors": tuple(str(n) for n in range(16)),
    "side": ("media",),
    "quantity": ("temperature",),
    "bound": ("high",),
    "level": ("alarm",),
    "element": ("loop", "filter"),
    "technology": ("ib",),
    "size": ("2",),
}
"""Values of labels beside those of a metric's subject; any other is empty."""

HEALTHY: Mapping[Metric, float | Law] = {
    ports.SPEED: 400e9,
    ports.LANES: 4.0,
    ports.RX_BYTES: rising(10e9),
    ports.TX_BYTES: rising(10e9),
    ports.RX_PACKETS: rising(3e6),
    ports.TX_PACKETS: rising(3e6),
    ports.PRE_FEC_BER: 1e-8,
    ports.POST_FEC_BER: 0.0,
    ports.SYMBOL_ERROR_RATIO: 0.0,
    optics.TEMPERATURE: 45.0,
    optics.SUPPLY: 3.3,
    optics.RX_POWER: -1.5,
    optics.TX_POWER: 0.5,
    optics.TX_BIAS: 0.007,
    optics.SNR: 22.0,
    optics.PRE_FEC_BER: 1e-8,
    optics.LOS: 0.0,
    optics.LOL: 0.0,
    optics.TX_FAULT: 0.0,
    optics.ALARM: 0.0,
    optics.THRESHOLD: 75.0,
    accelerators.UTILIZATION: 0.9,
    accelerators.TEMPERATURE: 55.0,
    accelerators.POWER: 500.0,
    accelerators.THROTTLED: 0.0,
    devices.BOOT_TIME: 1_790_000_000.0,
    devices.CLOCK_OFFSET: 0.0,
    devices.IRQ_REMOTE: 0.0,
    devices.IRQ_FAR: 0.0,
    devices.JOBS_PENDING: 0.0,
    congestion.QUEUE_OCCUPANCY: 20_000.0,
    cooling.FLOW: 60.0,
    cooling.PRESSURE: 200.0,
    cooling.COOLANT_TEMPERATURE: 30.0,
    cooling.DIFFERENTIAL_PRESSURE: 60.0,
    cooling.PUMP_SPEED: 0.6,
    cooling.LEAK: 0.0,
    cooling.RESERVOIR_LEVEL: 0.8,
    cooling.AIR_TEMPERATURE: 24.0,
    cooling.AIR_HUMIDITY: 0.4,
    power.RACK_POWER: 33_120.0,
    power.RACK_POWER_LIMIT: 130_000.0,
    power.FEED_POWER: 16_560.0,
    power.FEED_ENERGY: rising(16_560.0),
    power.FEED_POWER_FACTOR: 1.0,
    power.FEED_CURRENT: 24.0,
    power.FEED_VOLTAGE: 230.0,
    power.FEED_BREAKER: 63.0,
    LAST_SUCCESS: lambda at, began: at,
    PARTIAL: 0.0,
    REJECTED: 3.0,
}
