"""Codings: numbers as memories of modules hold them, saturated at what fits.

Big-endian, unless the name says otherwise.
"""

import math

MILLIWATT_STEPS = 10_000
"""Steps of 0.1 uW in a mW: powers in SFF-8472, SFF-8636 and CMIS."""
F16_MANTISSA = 0x7FF
F16_EXPONENTS = 32
F16_BIAS = 24


def u8(value: float) -> bytes:
    """Return an unsigned octet."""
    return bytes((_within(value, 0, 0xFF),))


def s8(value: float) -> bytes:
    """Return a signed octet."""
    return _within(value, -0x80, 0x7F).to_bytes(1, "big", signed=True)


def u16(value: float) -> bytes:
    """Return an unsigned number of 16 bits."""
    return _within(value, 0, 0xFFFF).to_bytes(2, "big")


def u16_little(value: float) -> bytes:
    """Return an unsigned number of 16 bits, low octet first (CMIS page 14h)."""
    return _within(value, 0, 0xFFFF).to_bytes(2, "little")


def s16(value: float) -> bytes:
    """Return a signed number of 16 bits."""
    return _within(value, -0x8000, 0x7FFF).to_bytes(2, "big", signed=True)


def u32(value: float) -> bytes:
    """Return an unsigned number of 32 bits."""
    return _within(value, 0, 0xFFFF_FFFF).to_bytes(4, "big")


def s32(value: float) -> bytes:
    """Return a signed number of 32 bits."""
    return _within(value, -0x8000_0000, 0x7FFF_FFFF).to_bytes(4, "big", signed=True)


def u64(value: float) -> bytes:
    """Return an unsigned number of 64 bits."""
    return _within(value, 0, 0xFFFF_FFFF_FFFF_FFFF).to_bytes(8, "big")


def f16(value: float) -> bytes:
    """Return a ratio as CMIS codes it: m x 10^(e-24), e in bits 15-11, m in bits 10-0.

    Of the ways to write a value the one with most digits is taken; less than 5e-25 is 0.
    """
    if value <= 0:
        return b"\0\0"
    start = max(math.floor(math.log10(value)) + F16_BIAS - 3, 0)
    for exponent in range(start, F16_EXPONENTS):
        mantissa = round(value * 10.0 ** (F16_BIAS - exponent))
        if mantissa <= F16_MANTISSA:
            return (exponent << 11 | mantissa).to_bytes(2, "big")
    return ((F16_EXPONENTS - 1) << 11 | F16_MANTISSA).to_bytes(2, "big")


def celsius(value: float) -> bytes:
    """Return a temperature in steps of 1/256 degree."""
    return s16(value * 256)


def volts(value: float) -> bytes:
    """Return a supply voltage in steps of 100 uV."""
    return u16(value * 10_000)


def milliamperes(value: float, multiplier: int = 1) -> bytes:
    """Return a bias current in steps of 2 uA, or of a multiple of it."""
    return u16(value * 500 / multiplier)


def light(dbm: float) -> bytes:
    """Return a power of light in steps of 0.1 uW; dark (-40 dBm) is 1 step."""
    return u16(10 ** (dbm / 10) * MILLIWATT_STEPS)


def text(value: str, size: int) -> bytes:
    """Return ASCII, cut or padded with spaces."""
    return value.encode("ascii", "replace")[:size].ljust(size)


def bitmap(lanes: "list[bool]") -> int:
    """Return a number whose bit 0 is lane 1."""
    return sum(1 << lane for lane, on in enumerate(lanes) if on)


def checksum(content: bytes) -> int:
    """Return the low octet of the sum of octets."""
    return sum(content) & 0xFF


def _within(value: float, low: int, high: int) -> int:
    return min(max(round(value), low), high)
