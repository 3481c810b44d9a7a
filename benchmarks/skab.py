"""The detectors of cooling on a real water loop: faults of a small testbed, labelled.

`python -m benchmarks.skab [--folder ../shared/datasets/skab-water-loop] [--errors] [--write]`. Data
of Katser and Kozitsin, SKAB 0.9 (doi 10.34740/KAGGLE/DSV/1693952), not part of this repository;
skipped where they are not there. A small pump drives water round at a fixed speed; valves before
and behind it are closed, a rotor is put out of balance, water is drawn off or added.

What the catalogue knows of it: flow, temperature of the water, speed (fixed) and power of the pump,
pressure behind it. Accelerations and the temperature of the motor have no metric, so what shows in
them alone cannot be told here. The testbed goes through a fault within minutes, loops of a hall
within hours: it is played 60 times as slow, and no setting is changed. The first 400 s of a file
are sound; a detector knows of each moment only what was before it.

A run of labels is an event, found if an alarm overlaps it; alarms less than 60 s apart are one.
Nothing was tuned on these data.
"""

import argparse
import csv
import gzip
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analyzer.judge import detectors
from analyzer.scoring.bounds import Share
from analyzer.scoring.tables import table
from analyzer.viewing import Viewing
from benchmarks.corpus.last_hours import LastHours
from benchmarks.kept import HOUSE
from benchmarks.report import between
from fabrichealth.catalogue import cooling
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Finding, Floats, Labels
from fabrichealth.topology import Loop, Topology

FOLDER = Path("../shared/datasets/skab-water-loop")
PAGE = HOUSE / "docs" / "cooling.md"
BEGIN, END = "<!-- skab: begin -->", "<!-- skab: end -->"
START = 1_800_000_000.0
SLOWER = 60.0
"""Seconds of a hall for each of the testbed."""
EVERY = 10
"""Seconds of the testbed between two passes."""
GAP = 60
"""Alarms closer than this are one, seconds of the testbed."""
SOUND = 400
LOOP = "loop"
COLUMNS: tuple[tuple[str, Metric, Labels, float], ...] = (
    ("Volume Flow RateRMS", cooling.FLOW, (LOOP, "pipe", ""), 1.0),
    ("Thermocouple", cooling.COOLANT_TEMPERATURE, (LOOP, "", "supply"), 1.0),
    ("Pressure", cooling.PRESSURE, (LOOP, "", "supply"), 100.0),  # bar
)
FLOOR = (
    "robust z of the flow alone: recall 0.83, precision 0.56, F1 of points 0.69",
    "PCA with T2 and Q over all columns: recall 1.00, precision 0.48, F1 of points 0.76",
)
"""As the data set's own notes give them."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Told:
    """One file: which seconds are labelled, and in which something was said."""

    name: str
    labelled: Bools
    said: Bools
    kinds: tuple[str, ...]
    """What was said during the event."""


@dataclass(frozen=True)
class Score:
    """Counts over files."""

    found: Share
    true_alarms: Share
    points: tuple[int, int, int]
    """Seconds rightly said, wrongly said, missed."""
    delays: tuple[float, ...]

    @property
    def f1(self) -> float:
        """F1 over seconds."""
        right, wrong, missed = self.points
        return 2 * right / max(2 * right + wrong + missed, 1)


def read(path: Path) -> tuple[dict[str, Floats], Bools]:
    """Return the columns of a file and which of its seconds are labelled."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    every = {name: np.array([float(row[name]) for row in rows]) for name, *_ in COLUMNS}
    every["power"] = np.array([float(row["Current"]) * float(row["Voltage"]) for row in rows])
    labelled = np.array([float(row.get("anomaly") or 0.0) > 0.5 for row in rows])
    return every, labelled


def lived(name: str, columns: dict[str, Floats], labelled: Bools) -> Told:
    """Judge one file as it comes in."""
    store = LastHours(10 * 86_400.0)
    keys = [(metric, labels) for _, metric, labels, _ in COLUMNS]
    keys += [(cooling.PUMP_POWER, (LOOP, "", "1")), (cooling.PUMP_SPEED, (LOOP, "", "1"))]
    keys.append((cooling.PUMP_RUNNING, (LOOP, "", "1")))
    series = store.table.intern_all(keys)
    values = [columns[name] * scale for name, _, _, scale in COLUMNS]
    values += [columns["power"], np.ones(len(labelled)), np.ones(len(labelled))]
    rows = np.stack(values)
    clock = store.table.clock("testbed", name)
    every = {name: one for name, one in detectors().items() if name.startswith("cooling_")}
    viewing, topology = Viewing(store, every), of_testbed()
    before: dict[str, list[Finding]] = {name: [] for name in every}
    said, heard = np.zeros(len(labelled), np.bool_), []
    for second in range(0, len(labelled), EVERY):
        batches = [
            Batch(clock, START + SLOWER * k, series, rows[:, k])
            for k in range(second, min(second + EVERY, len(labelled)))
        ]
        store.append(batches)
        viewing.advance(batches[-1].at + 1.0)
        for known, detector in every.items():
            view = viewing.view(detector, topology, [], before[known])
            before[known] = list(detector.judge(view))
        now = [str(one.kind) for findings in before.values() for one in findings]
        said[second + EVERY - 1 : second + 2 * EVERY - 1] = bool(now)
        if now and labelled[min(second + EVERY - 1, len(labelled) - 1)]:
            heard += now
    return Told(name, labelled, said, tuple(dict.fromkeys(heard)))


def of_testbed() -> Topology:
    """Return the testbed as a site would write it down: one loop of water at a fixed speed."""
    return Topology(loops=[Loop(name=LOOP, fluid="water", control="speed")])


def runs(flags: Bools, gap: int = 0) -> Iterator[tuple[int, int]]:
    """Yield first and last second of each run; those less than `gap` apart are one."""
    at = np.flatnonzero(flags)
    if not len(at):
        return
    cuts = np.flatnonzero(np.diff(at) > gap + 1)
    for first, last in zip([0, *(cuts + 1)], [*cuts, len(at) - 1], strict=True):
        yield int(at[first]), int(at[last])


def scored(every: Sequence[Told]) -> Score:
    """Count events and alarms."""
    found = events = right = alarms = 0
    both = wrong = missed = 0
    delays: list[float] = []
    for one in every:
        for first, last in runs(one.labelled):
            events += 1
            within = np.flatnonzero(one.said[first : last + 1])
            found += bool(len(within))
            delays += [float(within[0])] if len(within) else []
        for first, last in runs(one.said, GAP):
            alarms += 1
            right += bool(one.labelled[first : last + 1].any())
        both += int((one.labelled & one.said).sum())
        wrong += int((~one.labelled & one.said).sum())
        missed += int((one.labelled & ~one.said).sum())
    return Score(Share(found, events), Share(right, alarms), (both, wrong, missed), tuple(delays))


def figures(every: Sequence[Told]) -> str:
    """Return the tables."""
    groups = {
        "all": every,
        "valves": [one for one in every if one.name.startswith("valve")],
        "other faults": [one for one in every if one.name.startswith("other")],
    }
    rows = []
    for name, members in groups.items():
        score = scored(members)
        delay = f"{np.median(score.delays):.0f}" if score.delays else "-"
        rows.append(
            [name, str(score.found), str(score.true_alarms), f"{score.f1:.2f}", delay]
        )  # fmt: skip
    head = ["files", "events found", "alarms that meet one", "F1 of seconds", "median delay, s"]
    floor = "\n".join(f"- {line}" for line in FLOOR)
    return f"{table(head, rows)}\nFloor, from the notes of the data set:\n\n{floor}\n"


def main() -> int:
    """Judge the files that are there, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--errors", action="store_true", help="also what was said of each file")
    parser.add_argument("--write", action="store_true", help="into docs/cooling.md")
    asked = parser.parse_args()
    paths = sorted(asked.folder.glob("*.csv.gz"))
    if not paths:
        sys.stderr.write(f"{asked.folder}: no data of the water loop here; nothing to score\n")
        return 1
    every = [lived(path.name.split(".")[0], *read(path)) for path in paths]
    print(figures(every))
    if asked.errors:
        for one in every:
            alarms = [f"{first}-{last}" for first, last in runs(one.said, GAP)]
            events = [f"{first}-{last}" for first, last in runs(one.labelled)]
            print(one.name, "events", *events, "alarms", *alarms, *one.kinds)
    if asked.write:
        text = f"Made by `python -m benchmarks.skab`; a real testbed.\n\n{figures(every)}"
        PAGE.write_text(
            between(PAGE.read_text("utf-8"), text, BEGIN, END), encoding="utf-8"
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
