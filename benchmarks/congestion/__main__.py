"""How well pauses are traced to where they begin, on a fluid fabric. Simulated.

`python -m benchmarks.congestion [--each 10] [--seed 1] [--only CASE..] [--errors]`: so many of each
case, polled every second at both ends, judged poll by poll with the detectors of pauses. A case is
right if an incident of its kind names its port (of a deadlock: a port of the circle); false is any
page or ticket that is not about it; the delay is from the onset to the first such incident.
"""

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from analyzer.scoring.bounds import Share
from benchmarks.congestion.cases import CASES, ONSET, POLLS, Case
from benchmarks.congestion.fluid import LINE, Settled, settle
from fabrichealth.catalogue import congestion, ports
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Topology

START = 1_800_000_000.0
PRIORITY = "3"
FRAMES = 23_842.0
"""Frames a second that stop a 400G port for good."""


def topology_of(case: Case) -> Topology:
    """Return the fabric as it is written."""
    fabric = case.fabric
    names = sorted({device for pair in fabric.names for device in pair})
    devices = [Device(name=n, role="host" if n.startswith("host") else "switch") for n in names]
    half = fabric.names[: len(fabric.names) // 2]
    return Topology(devices, [
        Link(a=f"{one}/{other}", b=f"{other}/{one}", technology="roce", speed_gbps=400, lanes=4)
        for one, other in half
    ])  # fmt: skip


class Counters:
    """What every port counts, from second to second."""

    def __init__(self, case: Case, store: EmbeddedStore) -> None:
        self.case, self.store = case, store
        n = len(case.fabric.names)
        self.far = np.array([case.fabric.number[name[::-1]] for name in case.fabric.names])
        self.stopped, self.sent = np.zeros(n), np.zeros(n)
        self.marked, self.dropped = np.zeros(n), np.zeros(n)
        self.drops = np.array([name in case.drops for name in case.fabric.names])

    def poll(self, second: int, now: Settled, chance: np.random.Generator) -> list[Batch]:
        """Return one batch a device."""
        self.stopped += now.stopped
        self.sent += now.sent
        self.marked += now.marked
        self.dropped += np.where(self.drops & (now.stopped > 0.01), 40.0, 0.0)
        full = np.where(now.full, chance.uniform(1e6, 4e6, len(now.full)), 2e4)
        columns: dict[Metric, np.ndarray[tuple[int], np.dtype[np.float64]]] = {
            congestion.PFC_RX_PAUSE: self.stopped,
            congestion.PFC_TX_PAUSE: self.stopped[self.far],
            congestion.PFC_RX_FRAMES: np.floor(self.stopped * FRAMES),
            congestion.PFC_TX_FRAMES: np.floor(self.stopped[self.far] * FRAMES),
            congestion.ECN_MARKED_PACKETS: np.floor(self.marked),
            congestion.PFC_RX_DROPPED_PACKETS: self.dropped[self.far],
            congestion.QUEUE_OCCUPANCY: full,
            congestion.QUEUE_TX_BYTES: self.sent,
            ports.TX_BYTES: self.sent,
            ports.RX_BYTES: self.sent[self.far],
            ports.SPEED: np.full(len(full), LINE * 8),
        }
        table, found = self.store.table, []
        by_device: dict[str, list[int]] = defaultdict(list)
        for place, (device, _) in enumerate(self.case.fabric.names):
            by_device[device].append(place)
        for number, (device, places) in enumerate(by_device.items()):
            keys, values = [], []
            for metric, column in columns.items():
                for place in places:
                    name = (device, self.case.fabric.names[place][1])
                    tail = (PRIORITY,) if "priority" in metric.labels else ()
                    keys.append((metric, (*name, *tail)))
                    values.append(column[place])
            at = START + second + (number % 37) * 0.01
            clock = table.clock("sim", device)
            found.append(Batch(clock, at, table.intern_all(keys), np.array(values)))
        return found


def judged(case: Case, seed: int) -> list[tuple[Incident, float]]:
    """Return every incident with the second at which it was first there."""
    chance = np.random.default_rng([seed, 3])
    found: dict[str, tuple[Incident, float]] = {}
    chosen = {n: one for n, one in detectors().items() if n.startswith(("pfc_", "fabric_"))}
    with tempfile.TemporaryDirectory(prefix="fabrichealth-congestion-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store")
        ledger = Ledger()
        judge = Judge(store, topology_of(case), chosen, ledger)
        counters = Counters(case, store)
        known: dict[tuple[object, ...], Settled] = {}
        for second in range(POLLS):
            forced = np.zeros(len(case.fabric.names))
            insisted = case.forced(second)
            for queue, share in insisted.items():
                forced[case.fabric.number[queue]] = share
            demand = case.loads(second, case.fabric.demand)
            key = (tuple(np.round(forced, 3)), tuple(np.round(demand, 0)))
            if key not in known:
                known[key] = settle(case.fabric, demand, forced, case.marks)
            store.append(counters.poll(second, known[key], chance))
            judge.judge(START + second + 0.5)
            for one in ledger.incidents:
                found.setdefault(one.incident, (one, float(second)))
        store.close()
    return list(found.values())


def right(case: Case, incident: Incident) -> bool:
    """Return whether an incident is about what is wrong."""
    if incident.kind.name != case.kind:
        return False
    if case.members:
        return incident.culprit.id in case.members
    return incident.culprit.id == case.culprit or (
        incident.culprit.type == "device" and case.culprit.startswith(f"{incident.culprit.id}/")
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--errors", action="store_true", help="also what was said instead")
    asked = parser.parse_args()
    print(f"{'case':16} {'right':26} {'false':>6}  delay, s (median, worst)")
    for name in asked.only:
        hits, false, delays = 0, 0, []
        for number in range(asked.each):
            seed = asked.seed * 1000 + number
            case = CASES[name](np.random.default_rng([seed, 1]))
            told = judged(case, seed)
            mine = [at for one, at in told if right(case, one)]
            wrong = [
                one for one, _ in told if one.severity >= Severity.TICKET and not right(case, one)
                and one.kind.name not in case.also
            ]  # fmt: skip
            hits += bool(mine)
            false += len(wrong)
            delays += [min(mine) - ONSET] if mine else []
            if asked.errors and (wrong or (case.kind and not mine)):
                for one, at in told:
                    print(f"   {seed} {case.kind} {case.culprit}: {at:.0f} {one.kind.name} "
                          f"{one.culprit.id}: {one.because}")  # fmt: skip
        case_kind = CASES[name](np.random.default_rng(1)).kind
        share = str(Share(hits, asked.each)) if case_kind else "-"
        late = f"{np.median(delays):.0f}, {max(delays):.0f}" if delays else "-"
        print(f"{name:16} {share:26} {false:6d}  {late}")


if __name__ == "__main__":
    main()
