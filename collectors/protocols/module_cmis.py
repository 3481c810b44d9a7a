"""QSFP-DD, OSFP and co-packaged modules (OIF-CMIS-05): lower memory and pages 00h 01h 02h 11h.

Real modules answer an unimplemented page with page 00h, so nothing is read that is not advertised
(01h:157 to 160), and lanes that 00h:210 marks as missing do not exist. 210 = FFh, which real eight
lane modules have, says nothing; then the active application tells which lanes there are.
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

LANES = 8
"""Lanes of one bank."""
NO_MASK = 0xFF

TEMPERATURE = Field("temperature", "", 14, 1 / 256, signed=True)
SUPPLY = Field("supply_voltage", "", 16, 100e-6)
MODULE_MONITORS = ((TEMPERATURE, 0), (SUPPLY, 1))
"""Monitor, and the bit of 01h:159 that offers it."""
LANE_MONITORS = (
    (Field("tx_power", "11", 154, 0.1e-6, lanes=LANES), 1),
    (Field("tx_bias", "11", 170, 2e-6, lanes=LANES), 0),
    (Field("rx_power", "11", 186, 0.1e-6, lanes=LANES), 2),
)
"""Monitor of each lane, and the bit of 01h:160 that offers it."""
LIMITS = (
    Field("temperature", "02", 128, 1 / 256, signed=True),
    Field("supply_voltage", "02", 136, 100e-6),
    Field("tx_power", "02", 176, 0.1e-6),
    Field("tx_bias", "02", 184, 2e-6),
    Field("rx_power", "02", 192, 0.1e-6),
)
MODULE_FLAGS = (("temperature", 0), ("supply_voltage", 4))
"""Lowest of four bits of lower memory byte 9: high alarm, low alarm, high, low warning."""
LANE_FLAGS = (("tx_power", 139), ("tx_bias", 143), ("rx_power", 149))
"""First of four bytes of page 11h, a bit a lane."""
SIGNALS = (
    ("tx_fault", 135, 157, 0, False),
    ("tx_los", 136, 157, 1, True),
    ("tx_lol", 137, 157, 2, True),
    ("rx_los", 147, 158, 1, False),
    ("rx_lol", 148, 158, 2, False),
)
"""Name, byte of 11h, byte and bit of 01h that offer it, and whether its lanes are the host's."""
BIAS_MULTIPLIERS = {0: 1.0, 1: 2.0, 2: 4.0}
"""01h:160 bits 4 and 3; code 3 is reserved."""

LOW_POWER = 1
COPPER = range(0x0A, 0x10)
"""Media technologies (00h:212) without light."""
MEDIA = {1: "mmf", 2: "smf", 3: "copper", 4: "active cable", 5: "base-t"}


def decode(memory: Memory) -> Module:
    """Read a module; without page 01h (flat memory) identity alone.

    Raises:
        MalformedReply: lower memory or page 00h is not whole.
    """
    if not memory.has("") or not memory.has("00"):
        raise MalformedReply("CMIS memory without its lower half or page 00h")
    identity = _identity(memory)
    if memory.bit("", 2, 7) or not memory.has("01"):
        return Module(identity)
    offered = _offered(memory)
    multiplier = BIAS_MULTIPLIERS.get(memory.byte("01", 160) >> 3 & 3, 1.0)
    bounded = (
        found
        for at in LIMITS
        if at.quantity in offered and memory.has("02")
        for found in limits(memory, at, multiplier if at.quantity == "tx_bias" else 1.0)
    )
    lanes = list(_lanes(memory))
    return Module(
        identity,
        (*_module_values(memory, offered), *_lane_values(memory, offered, lanes, multiplier)),
        tuple(bounded),
        tuple(_alarms(memory, offered, lanes)),
        tuple(_signals(memory, lanes)),
    )


def banks(memory: Memory) -> int:
    """Return how many banks of eight lanes the module has (01h:142, bits 1 and 0)."""
    return 1 << (memory.byte("01", 142) & 3) if memory.byte("01", 142) & 3 < 3 else 1


def _identity(memory: Memory) -> Identity:
    media, technology = memory.byte("", 85), memory.byte("00", 212)
    copper = technology in COPPER
    if memory.byte("", 0) == 0x80:
        kind = "cpo"
    elif memory.byte("", 57) == 1:
        kind = "els"
    elif media == 3:
        kind = "dac"
    elif media == 4:
        kind = "aec" if copper else "aoc"
    elif memory.has("01") and not (memory.bit("01", 161, 0) or memory.bit("01", 162, 0)):
        kind = "lpo"  # no clock recovery on either side: a linear module
    else:
        kind = "pluggable"
    major, minor = memory.byte("", 39), memory.byte("", 40)
    return Identity(
        memory.text("00", 129, 144),
        memory.text("00", 148, 163),
        memory.text("00", 166, 181),
        memory.text("00", 182, 189),
        f"{major}.{minor}" if major or minor else "",
        MEDIA.get(media, ""),
        CONNECTORS.get(memory.byte("00", 203), ""),
        kind,
    )


def _offered(memory: Memory) -> set[str]:
    """Return the quantities that the module advertises and that are running."""
    offered = {field.quantity for field, bit in MODULE_MONITORS if memory.bit("01", 159, bit)}
    idle = memory.byte("", 3) >> 1 & 7 == LOW_POWER
    if idle and abs(TEMPERATURE.read(memory)) < 1.0:
        offered.discard("temperature")  # its monitor is not running; the module is not that cold
    if memory.byte("00", 212) not in COPPER:
        offered |= {field.quantity for field, bit in LANE_MONITORS if memory.bit("01", 160, bit)}
    return offered


def _lanes(memory: Memory) -> Iterator[tuple[str, int, int]]:
    """Yield (page of its bank, place in the bank 0..7, lane 1..) of each media lane there is."""
    missing = memory.byte("00", 210)
    exists = _application(memory) if missing == NO_MASK else ~missing & 0xFF
    for bank in range(banks(memory)):
        page = f"{bank}:11" if bank else "11"
        if memory.has(page):
            for place in range(LANES):
                if bank or exists >> place & 1:
                    yield page, place, bank * LANES + place + 1


def _application(memory: Memory) -> int:
    """Return a bitmap of the media lanes of the active application; all if it does not say."""
    number = memory.byte("11", 206) >> 4
    number = number if 1 <= number <= 8 else 1
    width = memory.byte("", 86 + 4 * (number - 1) + 2) & 0xF
    starts = memory.byte("01", 176 + number - 1)
    lanes = 0
    for start in range(LANES):
        if starts >> start & 1:
            lanes |= ((1 << width) - 1) << start
    return lanes & 0xFF or 0xFF


def _module_values(memory: Memory, offered: set[str]) -> Iterator[Value]:
    for field, _ in MODULE_MONITORS:
        if field.quantity in offered:
            yield Value(field.quantity, 0, field.read(memory))


def _lane_values(
    memory: Memory, offered: set[str], lanes: list[tuple[str, int, int]], multiplier: float
) -> Iterator[Value]:
    for field, _ in LANE_MONITORS:
        if field.quantity in offered:
            times = multiplier if field.quantity == "tx_bias" else 1.0
            for page, place, lane in lanes:
                raw = memory.word(page, field.byte + 2 * place)
                yield Value(field.quantity, lane, raw * field.scale * times)


def _alarms(
    memory: Memory, offered: set[str], lanes: list[tuple[str, int, int]]
) -> Iterator[Alarm]:
    for quantity, lowest in MODULE_FLAGS:
        if quantity in offered:
            for place, (bound, level) in enumerate(BOUNDS):
                yield Alarm(quantity, bound, level, 0, memory.bit("", 9, lowest + place))
    for quantity, first in LANE_FLAGS:
        if quantity in offered:
            for page, lane_place, lane in lanes:
                for place, (bound, level) in enumerate(BOUNDS):
                    raised = memory.bit(page, first + place, lane_place)
                    yield Alarm(quantity, bound, level, lane, raised)


def _signals(memory: Memory, lanes: list[tuple[str, int, int]]) -> Iterator[Signal]:
    for name, byte, offer, bit, of_host in SIGNALS:
        if memory.bit("01", offer, bit):
            for page, place, lane in lanes:
                in_use = memory.byte(page, 206 + place) >> 4
                if in_use or not of_host:
                    yield Signal(name, lane, memory.bit(page, byte, place))
