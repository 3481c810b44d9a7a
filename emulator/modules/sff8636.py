"""SFF-8636: QSFP+ and QSFP28, lower memory, page 00h and the limits on page 03h.

In flags and thresholds received power comes before bias and transmitted power.
"""

from collections.abc import Sequence

from emulator.module_kinds import SUPPLY, TEMPERATURE, Limits
from emulator.modules import codings, copper
from emulator.modules.builds import BUILDS, Build
from emulator.modules.cmis import limits_of
from emulator.modules.flags import beyond
from emulator.modules.memory import LOWER, Memory
from emulator.optics import ModuleState

REVISION = 0x08
"""SFF-8636 2.8 to 2.10."""
LANES = 4
WATTS = (1.5, 2.0, 2.5, 3.5)
MORE_WATTS = (4.0, 4.5, 5.0)


def encode(memory: Memory, state: ModuleState, *, tx_power: bool = True) -> None:
    """Write every page; without `tx_power` it does not measure what it sends, and shows 0."""
    build = BUILDS[state.kind]
    memory.set(LOWER, 0, build.identifier)
    memory.set(LOWER, 1, REVISION)
    _describe(memory, state, build, tx_power=tx_power)
    if not copper.is_passive(build):
        _monitor(memory, state, tx_power=tx_power)
        _limit(memory, state, tx_power=tx_power)


def _describe(memory: Memory, state: ModuleState, build: Build, *, tx_power: bool) -> None:
    optical = state.built.optical
    memory.set("00", 128, build.identifier)
    memory.set("00", 129, power_class(build.watts) | (0x0C if optical else 0))
    memory.set("00", 130, build.connector)
    memory.set("00", 140, 0xFF)  # more than 25.4 Gbit/s: byte 222 says it
    memory.put("00", 147, codings.u8(build.technology << 4 & 0xFF))
    memory.put("00", 148, codings.text(state.vendor, 16))
    memory.put("00", 168, codings.text(state.part, 16))
    memory.put("00", 184, codings.text("A1", 2))
    if optical:
        memory.put("00", 186, codings.u16(build.wavelength_nm * 20))
        memory.put("00", 188, codings.u16(1300))  # 6.5 nm to either side
    copper.describe_sff8636(memory, build)
    memory.put("00", 195, bytes((0x1A if optical else 0,)))
    memory.put("00", 196, codings.text(state.serial, 16))
    memory.put("00", 212, codings.text(f"{state.lot}0100"[:8], 8))
    memory.set("00", 220, (0x38 if optical else 0) | (0x04 if optical and tx_power else 0))
    memory.set("00", 222, 103)  # 25.75 Gbit/s
    memory.sum_up("00", 128, 190, 191)
    memory.sum_up("00", 192, 222, 223)


def power_class(watts: float) -> int:
    """Return byte 129's power class: bits 7-6 for 1 to 4, bits 1-0 for 5 to 7 as well."""
    for code, most in enumerate(WATTS):
        if watts <= most:
            return code << 6
    more = next((code for code, most in enumerate(MORE_WATTS, 1) if watts <= most), 3)
    return 0xC0 | more


def _monitor(memory: Memory, state: ModuleState, *, tx_power: bool) -> None:
    kind = state.built
    sent = state.tx_dbm if tx_power else []
    memory.set(LOWER, 3, codings.bitmap(state.los_media))
    memory.set(LOWER, 4, codings.bitmap(state.tx_fault))
    memory.set(LOWER, 6, beyond(state.temperature, TEMPERATURE).falling << 4)
    memory.set(LOWER, 7, beyond(state.voltage, SUPPLY).falling << 4)
    for at, values, limits in (
        (9, state.rx_dbm, kind.rx), (11, state.bias_ma, kind.bias), (13, sent, kind.tx)
    ):  # fmt: skip
        memory.put(LOWER, at, _flags(values, limits))
    memory.put(LOWER, 22, codings.celsius(state.temperature))
    memory.put(LOWER, 26, codings.volts(state.voltage))
    memory.put(LOWER, 34, b"".join(map(codings.light, state.rx_dbm)))
    memory.put(LOWER, 42, b"".join(map(codings.milliamperes, state.bias_ma)))
    memory.put(LOWER, 50, b"".join(map(codings.light, sent)))
    flagged = any(memory.get(LOWER, 3, 12))
    memory.set(LOWER, 2, 0 if flagged else 0x02)


def _flags(values: Sequence[float], limits: Limits | None) -> bytes:
    """Return two bytes: lanes 1 and 2, lanes 3 and 4, the odd one in the high nibble."""
    nibbles = [beyond(value, limits).falling for value in values] or [0] * LANES
    return bytes((nibbles[0] << 4 | nibbles[1], nibbles[2] << 4 | nibbles[3]))


def _limit(memory: Memory, state: ModuleState, *, tx_power: bool) -> None:
    kind = state.built
    memory.put("03", 128, limits_of(TEMPERATURE, codings.celsius))
    memory.put("03", 144, limits_of(SUPPLY, codings.volts))
    if kind.rx is not None:
        memory.put("03", 176, limits_of(kind.rx, codings.light))
    if kind.bias is not None:
        memory.put("03", 184, limits_of(kind.bias, codings.milliamperes))
    if kind.tx is not None and tx_power:
        memory.put("03", 192, limits_of(kind.tx, codings.light))
