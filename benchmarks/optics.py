"""What reading modules' memories costs: full CMIS modules with VDM decoded a second, on one core.

Images of emulated 2x400G FR4 modules (lower memory, 00h to 02h, 10h, 11h, 13h, 14h and everything
of VDM), each in a state of its own and with noise in whatever moves, are decoded into every number
that the maps know, and every number of every module is compared with the slow decoder's, which
reads field by field. Then the same modules go through the map to the catalogue, as a poll does.

    python -m benchmarks.optics [--modules 200] [--rounds 10] [--fleet 20000]
"""

import argparse
import random
import time
from collections.abc import Callable

import numpy as np

from collectors.maps.columns import Columns
from collectors.optics.columns import Cage, ModuleColumns
from collectors.protocols.module import Memory
from collectors.protocols.optics import reference
from collectors.protocols.optics.layout import Layout, compiled, stacked
from collectors.protocols.optics.presence import resolve
from emulator.module_kinds import KINDS
from emulator.modules.image import image
from emulator.optics import ModuleState
from fabrichealth.model import SeriesTable

KIND = "2xfr4"
PERIOD = 60.0
GOAL = 5_000.0
"""Modules a second."""
MOVING = {  # page: bytes of its half that may be anything
    "11": range(11, 74), "24": range(128), "25": range(128), "26": range(128), "27": range(128),
    "2c": range(128),
}  # fmt: skip
AT = 1_800_000_000.0


def fleet(modules: int) -> list[Memory]:
    """Return the memories of so many modules: of one kind, each with numbers of its own."""
    dice = random.Random(1)
    found = []
    for number in range(modules):
        state = ModuleState(f"EM{number:06}", KINDS[KIND].lanes, kind=KIND)
        state.temperature = dice.uniform(20.0, 70.0)
        state.rx_dbm = [dice.uniform(-12.0, 3.0) for _ in state.rx_dbm]
        pages = image(state)
        for page, places in MOVING.items():
            if page in pages:
                half = bytearray(pages[page])
                for place in places:
                    half[place] = dice.randrange(256)
                pages[page] = bytes(half)
        lower = pages.pop("lower")
        found.append(Memory(lower, pages))
    return found


def agreed(memories: list[Memory], layout: Layout) -> tuple[int, float]:
    """Return how many numbers both decoders give alike, and the slow one's seconds.

    Raises:
        AssertionError: a number differs, and which.
    """
    fast = layout.decode(stacked(map(layout.image, memories)))
    spent, same = 0.0, 0
    for memory, row in zip(memories, fast, strict=True):
        began = time.process_time()
        told = {id(one.cell): one.value for one in reference.read(memory, layout.presence)}
        spent += time.process_time() - began
        slow = np.array([told[id(cell)] for cell in layout.cells], np.float64)
        alike = np.isclose(row, slow, rtol=1e-12, atol=0.0, equal_nan=True)
        assert alike.all(), layout.cells[int(np.flatnonzero(~alike)[0])]
        same += len(slow)
    return same, spent


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median CPU seconds of a call."""
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return sorted(taken)[len(taken) // 2]


def main() -> None:
    """Decode, compare, and print a line each with the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--fleet", type=int, default=20_000)
    asked = parser.parse_args()
    memories = fleet(asked.modules)
    layout = compiled(resolve(memories[0]), memories[0])
    assert layout.fits(stacked(map(layout.image, memories))).all()

    same, slow = agreed(memories, layout)
    whole = seconds(lambda: layout.decode(stacked(map(layout.image, memories))), asked.rounds)
    rate = asked.modules / whole
    print(
        f"optics: {rate:.0f} full CMIS modules with VDM a second on one core, "
        f"{len(layout.cells)} numbers each; goal {'met' if rate >= GOAL else 'MISSED'} "
        f"({GOAL:.0f}); {same} numbers compared with the slow decoder's, all alike; "
        f"that one reads {asked.modules / slow:.0f} a second"
    )

    table = SeriesTable()
    columns = ModuleColumns(table)
    cages = [Cage("leaf-01", f"Ethernet{n}", memory) for n, memory in enumerate(memories)]

    def poll() -> int:
        taken = Columns(table)
        columns.take(cages, taken)
        return taken.poll(0, AT).readings

    began = time.process_time()
    readings = poll()
    first = (time.process_time() - began) / asked.modules
    steady = seconds(poll, asked.rounds) / asked.modules
    share = asked.fleet * steady / PERIOD
    print(
        f"optics: a poll of a known module, to the catalogue, {1e6 * steady:.0f} us "
        f"({readings // asked.modules} readings; at first contact {1e3 * first:.1f} ms); "
        f"{asked.fleet} modules each {PERIOD:.0f} s take {100 * share:.1f} % of a core"
    )


if __name__ == "__main__":
    main()
