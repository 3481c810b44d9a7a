"""What a module is: maker, part, lot, firmware, and which kind of module.

The kind says what can be known of it at all: `UNKNOWABLE` tells what a kind cannot tell.
"""

from collectors.protocols.module import CMIS, QSFP, Identity, Memory, identified, printable
from collectors.protocols.optics import codes

UNKNOWABLE = {
    "lpo": "linear, without a DSP: no error ratio before FEC, no signal-to-noise ratio and no lock;"
    " how the link is, only the FEC of the host's own chip can tell",
    "cpo": "co-packaged: the lasers are elsewhere, their bias, age and temperature are told by the"
    " external laser source",
    "els": "a laser source: it receives nothing, and carries no data whose errors it could count",
    "aec": "retimed copper: there is no light; lock and signal-to-noise ratio stand in for it",
    "acc": "amplified copper without a clock of its own: no light, no lock, no error ratio",
    "aoc": "fibre fixed in both ends: light is told, but nothing in between can be cleaned",
    "dac": "passive copper: nothing in it measures anything",
}
COPPER_PIGTAIL, INSEPARABLE = 0x21, 0x23
CO_PACKAGED = 0x80


def identity_of(memory: Memory) -> Identity:
    """Return who made a module and what it is; empty where it does not say.

    Raises:
        MalformedReply: the identifier is not known.
    """
    standard = identified(memory.byte("", 0))
    if standard == CMIS:
        return _cmis(memory)
    return _qsfp(memory) if standard == QSFP else _sfp(memory)


def _text(memory: Memory, page: str, first: int, last: int) -> str:
    return printable(memory.octets(page, first, last - first + 1))


def _cmis(memory: Memory) -> Identity:
    major, minor = memory.byte("", 39), memory.byte("", 40)
    return Identity(
        _text(memory, "00", 129, 144),
        _text(memory, "00", 148, 163),
        _text(memory, "00", 166, 181),
        _text(memory, "00", 182, 189),
        f"{major}.{minor}" if major or minor else "",
        codes.MEDIA_TYPES.get(memory.byte("", 85), ""),
        codes.CONNECTORS.get(memory.byte("00", 203), ""),
        _cmis_kind(memory),
    )


def _cmis_kind(memory: Memory) -> str:
    copper = memory.byte("00", 212) in codes.COPPERS
    retimed = memory.bit("01", 161, 0) or memory.bit("01", 162, 0)
    if memory.byte("", 0) == CO_PACKAGED:
        return "cpo"
    if memory.byte("", 57) == 1:
        return "els"
    match memory.byte("", 85):
        case 3:
            return "dac"
        case 4 if not copper:
            return "aoc"
        case 4:
            return "aec" if retimed or not memory.has("01") else "acc"
    return "lpo" if memory.has("01") and not retimed else "pluggable"


def _qsfp(memory: Memory) -> Identity:
    technology = memory.byte("00", 147) >> 4
    connector = memory.byte("00", 130)
    retimed = memory.byte("00", 129) >> 2 & 3
    if technology >= codes.FIRST_ACTIVE:
        kind = "aec" if retimed else "acc"
    elif technology >= codes.FIRST_COPPER:
        kind = "dac"
    else:
        kind = "aoc" if connector in {COPPER_PIGTAIL, INSEPARABLE} else "pluggable"
    light = "mmf" if technology == 0 else "smf"
    return Identity(
        _text(memory, "00", 148, 163),
        _text(memory, "00", 168, 183),
        _text(memory, "00", 196, 211),
        _text(memory, "00", 212, 219),
        media=light if technology < codes.FIRST_COPPER else "copper",
        connector=codes.CONNECTORS.get(connector, ""),
        kind=kind,
    )


def _sfp(memory: Memory) -> Identity:
    passive, active = memory.bit("", 8, 2), memory.bit("", 8, 3)
    wavelength = memory.word("", 60)
    light = "mmf" if 800 <= wavelength <= 900 else "smf"
    return Identity(
        _text(memory, "", 20, 35),
        _text(memory, "", 40, 55),
        _text(memory, "", 68, 83),
        _text(memory, "", 84, 91),
        media="copper" if passive else light,
        connector=codes.CONNECTORS.get(memory.byte("", 2), ""),
        kind="dac" if passive else "aoc" if active else "pluggable",
    )
