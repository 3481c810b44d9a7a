"""What nvidia-smi tells of accelerators and their links -> catalogue."""

from collections.abc import Iterator

from collectors.maps.columns import Reading
from collectors.protocols.nvidia_smi import Gpu, NvLink
from fabrichealth.catalogue.accelerators import (
    CLOCK,
    HEALTHY,
    MEMORY_TOTAL,
    MEMORY_USED,
    POWER,
    TEMPERATURE,
    THROTTLED,
    UTILIZATION,
)
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.catalogue.infiniband import LOCAL_INTEGRITY_ERRORS, RX_REMOTE_PHYSICAL_ERRORS
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    LANES,
    LINK_RECOVERIES,
    MAX_LANES,
    NETWORK_HEALTHY,
    POST_FEC_BER,
    REPLAYS,
    RX_CRC_ERRORS,
    RX_DISCARDS,
    RX_ERRORS,
    SPEED,
    SYMBOL_ERROR_RATIO,
    SYMBOL_ERRORS,
    TX_DISCARDS,
    UP,
)
from fabrichealth.metric import Metric

DEVICE = {
    "temperature": TEMPERATURE,
    "power": POWER,
    "utilization": UTILIZATION,
    "memory_used": MEMORY_USED,
    "memory_total": MEMORY_TOTAL,
    "clock": CLOCK,
}
PCIE = {"pcie_replays": REPLAYS, "pcie_lanes": LANES, "pcie_max_lanes": MAX_LANES}
"""Of the PCIe port. Its speed falls while the accelerator is idle, so it tells nothing."""

QUANTITIES: dict[str, Metric] = {**DEVICE, **PCIE, "memory_temperature": DEVICE_TEMPERATURE}

REASONS = {
    "sw_power_cap": "power_cap",
    "hw_slowdown": "hw_slowdown",
    "hw_thermal_slowdown": "hw_thermal",
    "hw_power_brake_slowdown": "power_brake",
    "sw_thermal_slowdown": "sw_thermal",
    "sync_boost": "sync_boost",
}
"""Reasons that slow work down; an idle accelerator or a chosen clock is no throttling."""

WELL = {"completed/success": 1.0, "completed/": 1.0}
PENDING = ("in progress", "not started", "not supported")

COUNTERS = {
    "replay errors": REPLAYS,
    "recovery errors": LINK_RECOVERIES,
    "crc errors": RX_CRC_ERRORS,
    "rx errors": RX_ERRORS,
    "rx remote errors": RX_REMOTE_PHYSICAL_ERRORS,
    "local link integrity errors": LOCAL_INTEGRITY_ERRORS,
    "buffer overrun errors": RX_DISCARDS,
    "tx discards": TX_DISCARDS,
    "link recovery successful events": LINK_RECOVERIES,
    "symbol errors": SYMBOL_ERRORS,
    "effective ber": POST_FEC_BER,
    "symbol ber": SYMBOL_ERROR_RATIO,
}
"""NVLink's own names, of NVLink 4 and older and of NVLink 5."""

UNMEASURED = 1e-250
"""Ratios below are the mark for nothing measured (15E-255)."""

MOST_BINS = 16

METRICS = (
    *QUANTITIES.values(),
    THROTTLED,
    HEALTHY,
    NETWORK_HEALTHY,
    *COUNTERS.values(),
    FEC_CODEWORDS,
    UP,
    SPEED,
)


def device(gpu: Gpu) -> Iterator[Reading]:
    """Yield what an accelerator tells of itself; labels behind device."""
    for quantity, metric in DEVICE.items():
        if quantity in gpu.values:
            yield metric, (), gpu.values[quantity]
    if "memory_temperature" in gpu.values:
        yield DEVICE_TEMPERATURE, ("memory",), gpu.values["memory_temperature"]
    for said, reason in REASONS.items():
        if said in gpu.throttled:
            yield THROTTLED, (reason,), float(gpu.throttled[said])
    if gpu.reset_required is not None:
        yield HEALTHY, (), float(not gpu.reset_required)


def pcie(gpu: Gpu) -> Iterator[Reading]:
    """Yield what it tells of its PCIe port; labels behind device and port."""
    for quantity, metric in PCIE.items():
        if quantity in gpu.values:
            yield metric, (), gpu.values[quantity]


def fabric(gpu: Gpu) -> Iterator[Reading]:
    """Yield whether the NVLink fabric took the accelerator in; while it still does, nothing."""
    state = gpu.fabric.casefold()
    if state and not state.startswith(PENDING):
        yield NETWORK_HEALTHY, (), WELL.get(state, 0.0)


def link(found: NvLink) -> Iterator[Reading]:
    """Yield what one NVLink tells; labels behind device and port."""
    if found.up is not None:
        yield UP, (), float(found.up)
    if found.bytes_per_second is not None:
        yield SPEED, (), 8.0 * found.bytes_per_second
    for name, value in found.counters.items():
        metric = COUNTERS.get(name)
        ratio = metric in {POST_FEC_BER, SYMBOL_ERROR_RATIO}
        if metric is not None and not (ratio and 0.0 < value < UNMEASURED):
            yield metric, (), value
    for errors, codewords in found.histogram.items():
        if int(errors) < MOST_BINS:
            yield FEC_CODEWORDS, (errors,), codewords
