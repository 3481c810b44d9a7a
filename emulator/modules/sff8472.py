"""SFF-8472: SFP, identity at address A0h, diagnostics at A2h.

A module is calibrated inside, or leaves it to the reader: then raw values and limits are to be
multiplied and shifted, and received power goes through a polynomial of fourth order.
"""

import struct
from dataclasses import dataclass

from emulator.module_kinds import SUPPLY, TEMPERATURE, Limits
from emulator.modules import codings
from emulator.modules.builds import BUILDS, LC
from emulator.modules.cmis import limits_of
from emulator.modules.flags import beyond
from emulator.modules.memory import Memory
from emulator.modules.vdm import Coding
from emulator.optics import ModuleState

INTERNAL, EXTERNAL = 0x68, 0x58
"""Byte 92: diagnostics, calibrated inside or outside, received power is an average."""


@dataclass(frozen=True)
class Line:
    """A linear calibration in raw units: true = slope x raw + offset; the slope in 1/256."""

    slope: float = 1.0
    offset: int = 0

    def raw(self, true: float) -> float:
        """Return the raw value that reads as the true one."""
        return (true - self.offset) / self.slope

    def content(self) -> bytes:
        """Return slope and offset, four bytes."""
        return codings.u16(self.slope * 256) + codings.s16(self.offset)


@dataclass(frozen=True)
class Calibration:
    """How raw values become true ones; received power by P4 r^4 + .. + P1 r + P0."""

    bias: Line = Line()
    tx: Line = Line()
    temperature: Line = Line()
    voltage: Line = Line()
    rx: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 1.0, 0.0)
    """P4 to P0, in raw units; rising over all raw values."""

    def received(self, raw: float) -> float:
        """Return true received power of a raw value, both in steps of 0.1 uW."""
        true = 0.0
        for factor in struct.unpack(">5f", struct.pack(">5f", *self.rx)):
            true = true * raw + factor
        return true

    def raw_received(self, true: float) -> int:
        """Return the raw value whose polynomial comes nearest to a true one."""
        low, high = 0, 0xFFFF
        while low < high:
            middle = (low + high) // 2
            if self.received(middle) < true:
                low = middle + 1
            else:
                high = middle
        below = max(low - 1, 0)
        return below if true - self.received(below) < self.received(low) - true else low

    def content(self) -> bytes:
        """Return bytes 56 to 91 of A2h."""
        lines = (self.bias, self.tx, self.temperature, self.voltage)
        return struct.pack(">5f", *self.rx) + b"".join(line.content() for line in lines)


PLAIN = Calibration()


def encode(memory: Memory, state: ModuleState, calibration: Calibration | None = None) -> None:
    """Write both addresses; without a calibration the module is calibrated inside."""
    build = BUILDS[state.kind]
    memory.put("a0", 0, bytes((build.identifier, 0x04, LC)))
    memory.set("a0", 12, 103)  # 10.3 Gbit/s
    memory.set("a0", 14, 10)  # km
    memory.put("a0", 20, codings.text(state.vendor, 16))
    memory.put("a0", 40, codings.text(state.part, 16))
    memory.put("a0", 56, codings.text("A1", 4))
    memory.put("a0", 60, codings.u16(build.wavelength_nm))
    memory.sum_up("a0", 0, 62, 63)
    memory.put("a0", 65, b"\x1a")
    memory.put("a0", 68, codings.text(state.serial, 16))
    memory.put("a0", 84, codings.text(f"{state.lot}0100"[:8], 8))
    memory.put("a0", 92, bytes((INTERNAL if calibration is None else EXTERNAL, 0xF0, 0x08)))
    memory.sum_up("a0", 64, 94, 95)
    _diagnose(memory, state, calibration or PLAIN)


def _diagnose(memory: Memory, state: ModuleState, calibration: Calibration) -> None:
    kind = state.built
    memory.put("a2", 56, calibration.content())

    def through(line: Line, coding: Coding, signed: bool = False) -> Coding:
        """Return a coding whose steps are bent back by a calibration."""

        def write(true: float) -> bytes:
            steps = int.from_bytes(coding(true), "big", signed=signed)
            return (codings.s16 if signed else codings.u16)(line.raw(steps))

        return write

    def received(dbm: float) -> bytes:
        steps = int.from_bytes(codings.light(dbm), "big")
        return codings.u16(calibration.raw_received(steps))

    rows: list[tuple[int, int, float, Limits | None, Coding]] = [
        (
            0,
            96,
            state.temperature,
            TEMPERATURE,
            through(calibration.temperature, codings.celsius, signed=True),
        ),
        (8, 98, state.voltage, SUPPLY, through(calibration.voltage, codings.volts)),
        (
            16,
            100,
            state.bias_ma[0],
            kind.bias,
            through(calibration.bias, codings.milliamperes),
        ),
        (24, 102, state.tx_dbm[0], kind.tx, through(calibration.tx, codings.light)),
        (32, 104, state.rx_dbm[0], kind.rx, received),
    ]
    alarms = warnings = 0
    for number, (limit_at, at, value, limits, coding) in enumerate(rows):
        if limits is not None:
            memory.put("a2", limit_at, limits_of(limits, coding))
        memory.put("a2", at, coding(value))
        high, low, warm, cool = beyond(value, limits).bits
        place = 14 - 2 * number  # the first pair in the two highest of 16 bits
        alarms |= (high << 1 | low) << place
        warnings |= (warm << 1 | cool) << place
    memory.put("a2", 112, alarms.to_bytes(2, "big"))
    memory.put("a2", 116, warnings.to_bytes(2, "big"))
    memory.sum_up("a2", 0, 94, 95)
    memory.set("a2", 110, state.tx_fault[0] << 2 | state.los_media[0] << 1)
