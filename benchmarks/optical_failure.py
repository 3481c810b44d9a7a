"""The analyzer on a real coherent testbed: short degradations of one fibre segment, labelled.

`python -m benchmarks.optical_failure [--folder ../shared/datasets/optical-failure]`. Data of
Silva et al., TNSM 2022 (doi 10.1109/TNSM.2022.3146869), not part of this repository; skipped where
they are not there. Two transponders and four amplifiers in a row are read every 3.2 s; an
attenuator before the first amplifier fails the link for a minute, or darkens it for seconds.

A run of labels is an event; it is found if any finding stands between its beginning and 15 s after
its end. Findings outside, merged over gaps of 30 s, are false alarms. A finding stands here while
it and its newest evidence are of the last polls: that the analyzer holds on to a trouble which
comes and goes is what an operator wants, and says nothing of one event. `site` are the defaults,
whose holds are made for links that ail for hours; `quick` shortens every hold to two polls and
changes no limit. Localised means that what is told of light names the receiving end of the segment
before the first amplifier and no other, and what is told of errors and noise no port but that of
the transponder behind it. Of the hard failures link.down is scored alone as well: attenuation that
wanders by 18 dB is labelled as no failure there, though its errors are beyond any limit that is
known of the link.
"""

import argparse
import csv
import gzip
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from analyzer.detectors.link_subhealthy import LinkSubhealthySettings
from analyzer.detectors.optics_degrading import OpticsDegradingSettings
from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from analyzer.scoring.bounds import Share
from analyzer.scoring.tables import table
from fabrichealth.catalogue.optics import RX_POWER, SNR, TX_POWER
from fabrichealth.catalogue.ports import PRE_FEC_BER, UP
from fabrichealth.kinds import LINK_DOWN, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Finding, Port
from fabrichealth.settings import Settings
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Topology

FOLDER = Path("../shared/datasets/optical-failure")
FILES = ("soft_normal", "soft_failures", "hard_normal", "hard_variable", "hard_failures")
CHAIN = ("SPO1", "Ampli1", "Ampli2", "Ampli3", "Ampli4", "SPO2")
ILL_END = Port("Ampli1", "in")
"""The receiving end of the segment that the attenuator spoils."""
TAIL, GAP = 15.0, 30.0
BEHIND = Port("SPO2", "in")
"""The transponder that receives what passed that segment."""
STALE = 10.0
"""A finding whose evidence is older than three polls says nothing of now."""
DARK = -40.0
QUICK: Mapping[str, Settings] = {
    "link_subhealthy": LinkSubhealthySettings(
        window=30.0, short=30.0, memory=120.0, warm_up=0.0, hold=6.0, dwell=30.0
    ),
    "optics_degrading": OpticsDegradingSettings(window=30.0, hold=6.0, every=3.0, warm_up=0.0),
}
FLOOR = {
    "soft_failures": "BER > 1e-5: recall 0.97, precision 1.00, delay 3 s",
    "hard_variable": "BER > 1e-5 or OSNR 0: 18 false alarms an hour",
    "hard_failures": "the same: recall 1.00, precision 0.64, 39 false alarms an hour",
}
"""What trivial rules reach, as published with the data."""


@dataclass(frozen=True)
class Recording:
    """One file: rows by their moment, and the labelled runs."""

    rows: dict[float, list[dict[str, str]]]
    events: list[tuple[float, float]]

    @property
    def hours(self) -> float:
        """How long it lasts."""
        return (max(self.rows) - min(self.rows)) / 3600.0


def topology() -> Topology:
    """Return both transponders and the amplifiers between them, as links in a row."""
    links = [
        Link(a=f"{near}/out", b=f"{far}/in", medium="optical", lanes=1, speed_gbps=100)
        for near, far in pairwise(CHAIN)
    ]
    return Topology([Device(name=name, role="switch") for name in CHAIN], links)


def recording(path: Path) -> Recording:
    """Read a file of the data set."""
    rows: dict[float, list[dict[str, str]]] = {}
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(float(row["Timestamp"]), []).append(row)
    events: list[tuple[float, float]] = []
    running = False
    for at, every in sorted(rows.items()):
        failed = any(row["Failure"] for row in every)
        if failed and running:
            events[-1] = (events[-1][0], at)
        elif failed:
            events.append((at, at))
        running = failed
    return Recording(dict(sorted(rows.items())), events)


def readings(row: Mapping[str, str]) -> Iterator[tuple[Metric, tuple[str, ...], float]]:
    """Yield what one row says; a BER of 0 without signal is loss of signal, so it is left out."""
    device = row["ID"].partition("/")[0]
    port = "in" if device != "SPO1" else "out"
    if row["Type"] == "Devices":
        ratio, noise = float(row["BER"] or "nan"), float(row["OSNR"] or "nan")
        if ratio > 0:
            yield PRE_FEC_BER, (device, port), min(ratio, 0.5)
        if np.isfinite(noise):
            yield SNR, (device, port, "1", "media"), noise
            yield UP, (device, port), float(noise > 0)
    else:
        for metric, place, key in (
            (RX_POWER, "in", "InputPower"),
            (TX_POWER, "out", "OutputPower"),
        ):
            if row[key]:
                yield metric, (device, place, "1"), max(float(row[key]), DARK)


Alarm = tuple[float, list[Finding]]
"""A moment, and what stood then."""


def alarms(told: Recording, settings: Mapping[str, Settings]) -> list[Alarm]:
    """Return every poll at which anything stood."""
    found: list[Alarm] = []
    with tempfile.TemporaryDirectory(prefix="fabrichealth-optical-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store")
        judge = Judge(store, topology(), detectors(settings), Ledger())
        for at, rows in told.rows.items():
            batches = []
            for row in rows:
                given = list(readings(row))
                clock = store.table.clock("testbed", row["ID"])
                series = store.table.intern_all([(metric, labels) for metric, labels, _ in given])
                batches.append(Batch(clock, at, series, np.array([one[2] for one in given])))
            store.append([batch for batch in batches if len(batch.series)])
            standing = [
                one
                for one in judge.judge(at).findings
                if one.rank >= Severity.TICKET
                and at - min(one.at, max(line.at for line in one.evidence)) <= STALE
            ]
            if standing:
                found.append((at, standing))
        store.close()
    return found


def scored(told: Recording, found: Sequence[Alarm]) -> tuple[str, ...]:
    """Return recall, precision, false alarms an hour, median delay and localisation."""
    delays, right, hits = [], 0, 0
    inside: set[float] = set()
    for began, ended in told.events:
        mine = [(at, every) for at, every in found if began <= at <= ended + TAIL]
        inside |= {at for at, _ in mine}
        if mine:
            hits += 1
            delays.append(mine[0][0] - began)
            right += _localised([one for _, every in mine for one in every])
    outside = [at for at, _ in found if at not in inside]
    false = sum(1 for place, at in enumerate(outside) if not place or at - outside[place - 1] > GAP)
    delay = f"{np.median(delays):.0f} s" if delays else "-"
    return (
        str(Share(hits, len(told.events))), str(Share(hits, hits + false)),
        f"{false / told.hours:.2f}", delay, str(Share(right, hits)),
    )  # fmt: skip


def _localised(told: Sequence[Finding]) -> bool:
    lost_light = {str(one.about) for one in told if _of_light(one)}
    others = {str(one.about) for one in told if not _of_light(one)}
    return lost_light == {str(ILL_END)} and others <= {str(ILL_END), str(BEHIND)}


def _of_light(finding: Finding) -> bool:
    return any(line.metric is RX_POWER for line in finding.evidence)


def _down(found: Sequence[Alarm]) -> list[Alarm]:
    """Return the alarms of lost signal: hard failures are told from attenuation by nothing else."""
    kept = [(at, [one for one in every if one.kind is LINK_DOWN]) for at, every in found]
    return [(at, every) for at, every in kept if every]


def _row(name: str, label: str, told: Recording, found: Sequence[Alarm]) -> tuple[str, ...]:
    row = (name, label, f"{told.hours:.1f} h", *scored(told, found), FLOOR.get(name, ""))
    print(*row, sep="; ", file=sys.stderr, flush=True)
    return row


def main() -> None:
    """Judge every file with both settings and print the figures beside the floors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--only", nargs="*", choices=FILES, default=FILES)
    asked = parser.parse_args()
    if not (asked.folder / f"{FILES[0]}.csv.gz").exists():
        print(f"{asked.folder}: the data set is not there; skipped")
        return
    rows = []
    for name in asked.only:
        told = recording(asked.folder / f"{name}.csv.gz")
        for label, settings in (("site", {}), ("quick", QUICK)):
            found = alarms(told, settings)
            rows.append(_row(name, label, told, found))
            if name.startswith("hard"):
                rows.append(_row(name, f"{label}, link.down alone", told, _down(found)))
    head = ("file", "settings", "length", "recall", "precision", "false an hour", "delay",
            "localised", "floor of trivial rules")  # fmt: skip
    print(table(head, rows))


if __name__ == "__main__":
    main()
