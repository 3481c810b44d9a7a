"""Copper: cables without light. A passive one is a page of words and no monitor at all.

CMIS 00h bytes 202 and 204-208, and flat memory (lower byte 2, bit 7); SFF-8636 bytes 146, 186-189
and flat memory (byte 2, bit 2).
"""

from emulator.module_kinds import KINDS
from emulator.modules.builds import COPPER_PASSIVE, PASSIVE_COPPER, Build
from emulator.modules.memory import LOWER, Memory

MULTIPLIERS = (0.1, 1.0, 10.0, 100.0)
MOST_STEPS = 63


def is_passive(build: Build) -> bool:
    """Return whether a cable has nothing but wire and words."""
    return build.media_type == PASSIVE_COPPER


def cable_length(meters: float) -> int:
    """Return a length as byte 202 has it: multiplier in bits 7-6, steps in bits 5-0."""
    for code, step in enumerate(MULTIPLIERS):
        steps = round(meters / step)
        if steps <= MOST_STEPS:
            return code << 6 | steps
    return 0xFF


def describe_cmis(memory: Memory, build: Build) -> None:
    """Write what page 00h says of a cable."""
    memory.set("00", 202, cable_length(build.length_m))
    for at, loss in enumerate(build.attenuation_db):
        memory.set("00", 204 + at, loss)
    if is_passive(build):
        memory.set(LOWER, 2, 0x80)


def describe_sff8636(memory: Memory, build: Build) -> None:
    """Write what page 00h says of a cable: whole metres, losses at 2.5, 5, 7, 12.9 and 25.8 GHz."""
    memory.set("00", 146, max(round(build.length_m), 1) if build.length_m else 0)
    for at, loss in enumerate(build.attenuation_db[:4]):
        memory.set("00", 186 + at, loss)
    if is_passive(build):
        memory.set(LOWER, 2, 0x04)
        memory.set("00", 147, COPPER_PASSIVE << 4)


def wires() -> tuple[str, ...]:
    """Return the names of kinds that have no light."""
    return tuple(name for name, kind in KINDS.items() if not kind.optical)
