"""Cases: every corpus by name, and how it is made from a seed."""

import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.corpus.faults import FAULTS
from benchmarks.corpus.folder import Folder
from benchmarks.corpus.groups import GROUPS
from benchmarks.corpus.scene import Scene, scene
from benchmarks.corpus.traps import TRAPS

STRENGTHS = (1, 2, 3)
EACH = 2
"""Links that have a fault at one strength."""
APART = 5
"""Runs between two ill links: no two of one host, and all switches have some."""
FIRST, LAST = 0.35, 0.55
"""Shares of the days between which steps come."""
WORN_FROM = 0.08
PERIODS = {"ndr": 120.0, "nvlink": 30.0, "ub": 180.0}
"""Seconds between polls, where they are not five minutes; days shrink with their root."""


def one_fault(name: str, technology: str, seed: int) -> Scene:
    """Return a hall in which six links have one fault, two at each strength."""
    fault = FAULTS[name]
    period = 300.0 if fault.wears else PERIODS.get(technology, 300.0)
    days = fault.days if fault.wears else fault.days * (period / 300.0) ** 0.5
    made = scene(technology, seed, days=days, period=period, hosts=6 if fault.wears else 8)
    first = int(made.chance.integers(APART))
    ended = float(made.at[-1]) + period
    ill = [(strength, twin) for strength in STRENGTHS for twin in range(EACH)]
    for place, (strength, twin) in enumerate(ill):
        run = made.hall.runs[(first + place * APART) % len(made.hall.runs)]
        share = WORN_FROM if fault.wears else float(made.chance.uniform(FIRST, LAST))
        began = made.moment(share)
        made.truths.append(made.spoil_one(run, name, strength, began, ended, twin))
    return made


def cases() -> dict[str, Callable[[int], Scene]]:
    """Return how each corpus is made, by name: `ndr-dirt`, `roce-lot`, `roce-trap-reboots`."""
    found: dict[str, Callable[[int], Scene]] = {}
    for name, fault in FAULTS.items():
        for technology in fault.on:
            found[f"{technology}-{name}"] = partial(one_fault, name, technology)
    for name, (group, on) in GROUPS.items():
        for technology in on:
            found[f"{technology}-group-{name}"] = partial(group, technology)
    for name, (trap, on) in TRAPS.items():
        for technology in on:
            found[f"{technology}-trap-{name}"] = partial(trap, technology)
    return found


def write(name: str, folder: Path, seed: int) -> int:
    """Write one corpus into a folder of its name; return the number of its samples."""
    own = zlib.crc32(f"{name} {seed}".encode())  # another case is another chance
    made = cases()[name](own)
    written = Folder(folder / name, made.at, made.clocks, made.spoil)
    written.write(made.hall.topology(), made.series(), made.events, made.truths)
    return written.samples
