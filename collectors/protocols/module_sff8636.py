"""QSFP+, QSFP28 modules (SFF-8636): lower memory, page 00h, limits on page 03h.

Many QSFP28 and all copper cables do not measure light sent: page 00h byte 220 says so, and the
zeros that they give are not darkness.
"""

from collections.abc import Iterator

from collectors.protocols.module import (
    BOUNDS,
    CONNECTORS,
    Alarm,
    Field,
    Identity,
    Memory,
    Module,
    Signal,
    Value,
    limits,
)
from fabrichealth.errors import MalformedReply

LANES = 4

TEMPERATURE = Field("temperature", "", 22, 1 / 256, signed=True)
SUPPLY = Field("supply_voltage", "", 26, 100e-6)
RX_POWER = Field("rx_power", "", 34, 0.1e-6, lanes=LANES)
TX_BIAS = Field("tx_bias", "", 42, 2e-6, lanes=LANES)
TX_POWER = Field("tx_power", "", 50, 0.1e-6, lanes=LANES)

LIMITS = (
    Field("temperature", "03", 128, 1 / 256, signed=True),
    Field("supply_voltage", "03", 144, 100e-6),
    Field("rx_power", "03", 176, 0.1e-6),
    Field("tx_bias", "03", 184, 2e-6),
    Field("tx_power", "03", 192, 0.1e-6),
)
MODULE_FLAGS = (("temperature", 6), ("supply_voltage", 7))
LANE_FLAGS = (("rx_power", 9), ("tx_bias", 11), ("tx_power", 13))
"""First of two bytes: lanes 1 and 2, then 3 and 4, high nibble first."""

FIRST_COPPER = 0xA
"""Device technology (00h:147, high nibble): from here on there is no light."""
FIRST_ACTIVE_COPPER = 0xC


def decode(memory: Memory) -> Module:
    """Read a module.

    Raises:
        MalformedReply: lower memory or page 00h is not whole.
    """
    if not memory.has("") or not memory.has("00"):
        raise MalformedReply("QSFP memory without its lower half or page 00h")
    technology = memory.byte("00", 147) >> 4
    optical = technology < FIRST_COPPER
    passive = FIRST_COPPER <= technology < FIRST_ACTIVE_COPPER
    identity = _identity(memory, technology)
    if memory.bit("", 2, 0):  # data not ready
        return Module(identity)
    sends = optical and memory.bit("00", 220, 2)
    light = {"rx_power", "tx_bias"} if optical else set()
    light |= {"tx_power"} if sends else set()
    warm = memory.word("", TEMPERATURE.byte) != 0 or memory.word("", SUPPLY.byte) != 0
    whole = {"temperature", "supply_voltage"} if warm else set()
    bounded = (
        found
        for at in LIMITS
        if at.quantity in light | whole and memory.has("03")
        for found in limits(memory, at)
    )
    return Module(
        identity,
        tuple(_values(memory, light | whole)),
        tuple(bounded),
        tuple(_alarms(memory, light | whole)),
        () if passive else tuple(_signals(memory)),
    )


def _identity(memory: Memory, technology: int) -> Identity:
    connector = memory.byte("00", 130)
    cable = connector in {0x21, 0x23}
    if technology >= FIRST_ACTIVE_COPPER:
        kind = "aec"
    elif technology >= FIRST_COPPER:
        kind = "dac"
    else:
        kind = "aoc" if cable else "pluggable"
    media = "mmf" if technology == 0 else "smf" if technology < FIRST_COPPER else "copper"
    return Identity(
        memory.text("00", 148, 163),
        memory.text("00", 168, 183),
        memory.text("00", 196, 211),
        memory.text("00", 212, 219),
        media=media,
        connector=CONNECTORS.get(connector, ""),
        kind=kind,
    )


def _values(memory: Memory, offered: set[str]) -> Iterator[Value]:
    for field in (TEMPERATURE, SUPPLY):
        if field.quantity in offered:
            yield Value(field.quantity, 0, field.read(memory))
    for field in (RX_POWER, TX_BIAS, TX_POWER):
        if field.quantity in offered:
            for lane in range(1, LANES + 1):
                yield Value(field.quantity, lane, field.read(memory, lane))


def _alarms(memory: Memory, offered: set[str]) -> Iterator[Alarm]:
    for quantity, byte in MODULE_FLAGS:
        if quantity in offered:
            for place, (bound, level) in enumerate(BOUNDS):
                yield Alarm(quantity, bound, level, 0, memory.bit("", byte, 7 - place))
    for quantity, byte in LANE_FLAGS:
        if quantity in offered:
            for lane in range(LANES):
                high = 7 - 4 * (lane % 2)
                for place, (bound, level) in enumerate(BOUNDS):
                    raised = memory.bit("", byte + lane // 2, high - place)
                    yield Alarm(quantity, bound, level, lane + 1, raised)


def _signals(memory: Memory) -> Iterator[Signal]:
    known = (
        ("rx_los", 3, 0, True),
        ("tx_los", 3, 4, memory.bit("00", 195, 1)),
        ("tx_fault", 4, 0, memory.bit("00", 195, 3)),
        ("rx_lol", 5, 0, memory.bit("00", 129, 2)),
        ("tx_lol", 5, 4, memory.bit("00", 129, 3)),
    )
    for name, byte, first, there in known:
        if there:
            for lane in range(LANES):
                yield Signal(name, lane + 1, memory.bit("", byte, first + lane))
