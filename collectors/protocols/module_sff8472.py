"""SFP modules (SFF-8472): identity at address A0h, diagnostics at A2h.

Externally calibrated modules give raw numbers and the constants to turn them into values; the
constants hold for the limits as well. Without either kind of calibration the numbers mean nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from collectors.protocols.module import (
    BOUNDS,
    CONNECTORS,
    Alarm,
    Field,
    Identity,
    Limit,
    Memory,
    Module,
    Signal,
    Value,
    float32,
)
from fabrichealth.errors import MalformedReply

ADDRESS_BYTES = 256

MONITORS = (  # A2h; one lane
    Field("temperature", "", 96, 1 / 256, signed=True),
    Field("supply_voltage", "", 98, 100e-6),
    Field("tx_bias", "", 100, 2e-6),
    Field("tx_power", "", 102, 0.1e-6),
    Field("rx_power", "", 104, 0.1e-6),
)
LIMITS = {"temperature": 0, "supply_voltage": 8, "tx_bias": 16, "tx_power": 24, "rx_power": 32}
"""A2h, first byte of four limits."""
SLOPES = {"tx_bias": 76, "tx_power": 80, "temperature": 84, "supply_voltage": 88}
"""A2h, slope (u8.8) and then offset (s16) of external calibration."""
RX_POLYNOMIAL = (72, 68, 64, 60, 56)
"""A2h, float32 coefficients of received power from the constant to the fourth power."""
FLAGS = (  # A2h, alarm byte (warnings 4 further), bit of the high one; the low one is below it
    ("temperature", 112, 7),
    ("supply_voltage", 112, 5),
    ("tx_bias", 112, 3),
    ("tx_power", 112, 1),
    ("rx_power", 113, 7),
)
OF_LANE = {"tx_bias", "tx_power", "rx_power"}


@dataclass(frozen=True, slots=True)
class _Diagnostics:
    """Address A2h as one memory, and how to calibrate what it says."""

    memory: Memory
    external: bool

    def value(self, quantity: str, byte: int, field: Field) -> float:
        raw = self.memory.word("00", byte)
        if field.signed and raw >= 1 << 15:
            raw -= 1 << 16
        return self._calibrated(quantity, raw) * field.scale

    def _calibrated(self, quantity: str, raw: int) -> float:
        if not self.external:
            return raw
        if quantity == "rx_power":
            factors = (self._float(byte) for byte in RX_POLYNOMIAL)
            return sum(factor * float(raw) ** power for power, factor in enumerate(factors))
        at = SLOPES[quantity]
        offset = self.memory.word("00", at + 2)
        slope = self.memory.word("00", at) / 256
        return slope * raw + (offset - (1 << 16) if offset >= 1 << 15 else offset)

    def _float(self, byte: int) -> float:
        return float32(bytes(self.memory.byte("00", byte + step) for step in range(4)))


def decode(a0: bytes, a2: bytes = b"") -> Module:
    """Read both addresses, 256 bytes each (A2h may be missing: identity alone).

    Raises:
        MalformedReply: an address of another size.
    """
    if len(a0) not in {128, ADDRESS_BYTES} or len(a2) not in {0, 128, ADDRESS_BYTES}:
        raise MalformedReply(f"SFP memory of {len(a0)} and {len(a2)} bytes, not 256 each")
    about = Memory(a0[:128], {"00": a0[128:]})
    kinds = about.byte("", 92)
    identity = _identity(about)
    if not kinds >> 6 & 1 or not kinds >> 4 & 3 or len(a2) < 128:
        return Module(identity)
    memory = Memory(a2[:128], {"00": a2[128:]})
    diagnostics = _Diagnostics(memory, external=not kinds >> 5 & 1)
    ready = not memory.bit("", 110, 0)
    return Module(
        identity,
        tuple(_values(diagnostics)) if ready else (),
        tuple(_limits(diagnostics)),
        tuple(_alarms(memory)) if about.bit("", 93, 7) else (),
        tuple(_signals(about, memory)),
    )


def _identity(about: Memory) -> Identity:
    copper = about.byte("", 8) >> 2 & 3  # SFP+ cable technology: passive, active
    kind = "dac" if copper & 1 else "aoc" if copper & 2 else "pluggable"
    wavelength = about.word("", 60)
    media = "copper" if copper & 1 else "mmf" if 800 <= wavelength <= 900 else "smf"
    return Identity(
        about.text("", 20, 35),
        about.text("", 40, 55),
        about.text("", 68, 83),
        about.text("", 84, 91),
        media=media,
        connector=CONNECTORS.get(about.byte("", 2), ""),
        kind=kind,
    )


def _values(diagnostics: _Diagnostics) -> Iterator[Value]:
    for field in MONITORS:
        value = diagnostics.value(field.quantity, field.byte, field)
        if isfinite(value):
            yield Value(field.quantity, int(field.quantity in OF_LANE), value)


def _limits(diagnostics: _Diagnostics) -> Iterator[Limit]:
    for field in MONITORS:
        first = LIMITS[field.quantity]
        if not any(diagnostics.memory.word("00", first + 2 * place) for place in range(4)):
            continue  # never written
        for place, (bound, level) in enumerate(BOUNDS):
            value = diagnostics.value(field.quantity, first + 2 * place, field)
            if isfinite(value):
                yield Limit(field.quantity, bound, level, value)


def _alarms(memory: Memory) -> Iterator[Alarm]:
    for quantity, byte, high in FLAGS:
        for level, further in (("alarm", 0), ("warning", 4)):
            for bound, below in (("high", 0), ("low", 1)):
                raised = memory.bit("", byte + further, high - below)
                yield Alarm(quantity, bound, level, int(quantity in OF_LANE), raised)


def _signals(about: Memory, memory: Memory) -> Iterator[Signal]:
    if about.bit("", 65, 1):  # receiver loss implemented
        yield Signal("rx_los", 1, memory.bit("", 110, 1))
    if about.bit("", 65, 3):  # transmitter fault implemented
        yield Signal("tx_fault", 1, memory.bit("", 110, 2))
