"""VDM: versatile diagnostics of CMIS, pages 20h to 2Fh (OIF-CMIS-05.2 section 8.21, C-CMIS).

A group of four pages has 64 instances: descriptors in 20h-23h, samples in 24h-27h, thresholds in
28h-2Bh; flags of all groups in 2Ch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from emulator.module_kinds import Limits
from emulator.modules import codings
from emulator.modules.flags import beyond
from emulator.modules.memory import Memory, name_of

GROUP = 64
GROUPS = 4
SETS = 16
WHOLE_MODULE = 0x0F
"""Lane field of what is not of one lane."""
INTERVAL = 30_000
"""Fine interval: 3 s in steps of 0.1 ms."""
CUSTOM = range(100, 128)

Coding = Callable[[float], bytes]


def _steps(coding: Coding, step: float) -> Coding:
    return lambda value: coding(value / step)


_DB = _steps(codings.u16, 1 / 256)
_TENTH = _steps(codings.u16, 0.1)
_PERCENT = _steps(codings.u16, 100 / 65535)
_LIGHT = _steps(codings.s16, 0.01)
_RAIL = _steps(codings.u16, 1e-4)
_COUNT: Coding = codings.u16

CODINGS: dict[int, Coding] = {
    1: _COUNT,
    2: _steps(codings.s16, 100 / 32767),
    3: _steps(codings.s16, 10.0),
    4: _steps(codings.s16, 1 / 256),
    **dict.fromkeys(range(5, 9), _DB),
    **dict.fromkeys(range(9, 27), codings.f16),
    **dict.fromkeys(range(27, 35), _COUNT),
    **dict.fromkeys(range(77, 83), _RAIL),
    83: _steps(codings.u16, 2.5e-4),
    84: _LIGHT,
    **dict.fromkeys(CUSTOM, _COUNT),
    **dict.fromkeys(range(128, 134), _PERCENT),
    134: codings.s16,
    135: _steps(codings.s16, 20.0),
    136: _steps(codings.u16, 0.01),
    137: _steps(codings.u16, 0.01),
    **dict.fromkeys(range(138, 141), _TENTH),
    141: codings.s16,
    142: _PERCENT,
    **dict.fromkeys(range(143, 146), _LIGHT),
    146: _COUNT,
    147: _TENTH,
}
"""How a sample of each type is written; values in %, MHz, Celsius, dB, ratios, V, dBm, ps/nm,
ps, ps2, krad/s."""

_SNR = Limits(63.0, 15.0, 60.0, 17.0)
_BER = Limits(2.4e-4, 0.0, 1e-5, 0.0)
_COHERENT_BER = Limits(1.25e-2, 0.0, 1e-2, 0.0)
_FRAMES = Limits(1e-8, 0.0, 1e-10, 0.0)
LIMITS: dict[int, Limits] = {
    1: Limits(100.0, 0.0, 80.0, 0.0),
    2: Limits(90.0, -90.0, 80.0, -80.0),
    4: Limits(80.0, -5.0, 75.0, 0.0),
    **dict.fromkeys((5, 6), _SNR),
    **dict.fromkeys(range(9, 17), _BER),
    **dict.fromkeys(range(17, 25), _FRAMES),
    **dict.fromkeys(range(27, 35), Limits(15.0, 0.0, 12.0, 0.0)),
    84: Limits(6.0, -4.0, 5.0, -2.0),
    **dict.fromkeys((138,), Limits(4.0, 0.0, 3.0, 0.0)),
    **dict.fromkeys((139, 140, 147), Limits(60.0, 12.0, 55.0, 14.0)),
    **dict.fromkeys((143, 144, 145), Limits(1.0, -18.0, 0.0, -16.0)),
}
"""Limits of a type, in the unit of its values; those without one are never flagged."""
NO_LIMITS = Limits(float("inf"), float("-inf"), float("inf"), float("-inf"))


@dataclass(frozen=True)
class Instance:
    """A thing measured: its type and lane (from 0), None for the whole module or data path."""

    type: int
    lane: int | None = None

    def limits(self, coherent: bool = False) -> Limits:
        """Return its limits."""
        if coherent and 9 <= self.type <= 16:
            return _COHERENT_BER
        return LIMITS.get(self.type, NO_LIMITS)


Observed = Mapping[Instance, float]
"""What is measured now, in the order of the instances."""


def encode(
    memory: Memory, observed: Observed, bank: int = 0, groups: int = 0, coherent: bool = False
) -> int:
    """Write descriptors, samples, thresholds and flags; return how many groups they take.

    Args:
        memory: Where to.
        observed: The instances of this bank, with lanes counted from its first.
        bank: The bank.
        groups: At least so many groups are laid out.
        coherent: Limits of error rates are those of a coherent module.

    Raises:
        ValueError: more instances than four groups hold, or a type that CMIS does not know.
    """
    placed = list(_place(tuple(observed), coherent))
    used = max([groups, *(1 + group for group, _, _, _ in placed)])
    if used > GROUPS:
        raise ValueError(f"{len(placed)} instances do not fit {GROUPS} groups of VDM")
    flags = bytearray(128)
    for group in range(used):
        for first in (0x20, 0x24, 0x28):
            memory.put(name_of(first + group, bank), 128, bytes(128))
    for group, index, limit_set, instance in placed:
        value, coding = observed[instance], CODINGS[instance.type]
        lane = WHOLE_MODULE if instance.lane is None else instance.lane
        at = 128 + 2 * index
        memory.put(name_of(0x20 + group, bank), at, bytes((limit_set << 4 | lane, instance.type)))
        memory.put(name_of(0x24 + group, bank), at, coding(value))
        limits = instance.limits(coherent)
        page = name_of(0x28 + group, bank)
        memory.put(page, 128 + 8 * limit_set, _limits(limits, coding))
        nibble = beyond(value, limits).rising << (4 if index % 2 else 0)
        flags[32 * group + index // 2] |= nibble
    memory.put(name_of(0x2C, bank), 128, bytes(flags))
    memory.put(name_of(0x2D, bank), 128, bytes(128))
    memory.put(name_of(0x2F, bank), 128, bytes(128))
    memory.set(name_of(0x2F, bank), 128, used - 1)
    memory.put(name_of(0x2F, bank), 129, codings.u16(INTERVAL))
    return used


def _place(
    instances: Sequence[Instance], coherent: bool
) -> Iterator[tuple[int, int, int, Instance]]:
    """Yield (group, index, threshold set, instance); types with equal limits share a set."""
    group, index, sets = 0, 0, dict[bytes, int]()
    for instance in instances:
        if instance.type not in CODINGS:
            raise ValueError(f"VDM has no type {instance.type}")
        key = _limits(instance.limits(coherent), CODINGS[instance.type])
        if index == GROUP or (key not in sets and len(sets) == SETS):
            group, index, sets = group + 1, 0, {}
        yield group, index, sets.setdefault(key, len(sets)), instance
        index += 1


@lru_cache(maxsize=256)
def _limits(limits: Limits, coding: Coding) -> bytes:
    """Return eight bytes: high alarm, low alarm, high warning, low warning; zeros: none is set."""
    if limits == NO_LIMITS:
        return bytes(8)
    bounds = (limits.high_alarm, limits.low_alarm, limits.high_warning, limits.low_warning)
    return b"".join(map(coding, bounds))
