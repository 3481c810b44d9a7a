"""One judging pass with all detectors over a fleet that is well but for a few links.

`python -m benchmarks.analysis [--hosts 1250 --polls 60]` (8 ports a host, both ends read: 20,000
link ends of 12 series). `--only link_` judges with the detectors of links alone; 625, 1875 and
6250 hosts show the growth from 10,000 link ends to 100,000. Names (ports, links, their groups) are
learned once, from the first poll, and told apart. The full pass is that of a judge that knows
nothing yet and reads all polls; the next ones have one new poll each. Seconds are of CPU. The same
verdict (links down for two polls, at either end) is then worked out over the same readings by a
plain loop, series by series; the ratio is that loop's time over the detector's.
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analyzer.judge import Judge, Outcome, detectors
from analyzer.ledger import Ledger
from analyzer.viewing import Viewing
from fabrichealth.catalogue import devices, ports, watchers
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Ids, Port, Window
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

START = 1_800_000_000.0
PERIOD = 10.0
RAILS = 8
RADIX = 32
STEADY: dict[Metric, float] = {
    ports.UP: 1.0, ports.ADMIN_UP: 1.0, ports.SPEED: 400e9, ports.LANES: 4.0,
    ports.LINK_DOWNS: 2.0, ports.SYMBOL_ERRORS: 7.0, ports.LINK_RECOVERIES: 0.0,
    ports.REPLAYS: 12.0, ports.RX_CRC_ERRORS: 1.0,
}  # fmt: skip
BUSY = (ports.RX_BYTES, ports.TX_BYTES, ports.FEC_CORRECTED_BITS)
BITS_REPAIRED = 40_000
"""In each poll: one bit in 1e8 is wrong before FEC."""
METRICS = (*STEADY, *BUSY)


def fabric(hosts: int) -> Topology:
    """Return hosts of eight rails, each rail to leaves of its own."""
    rows = [
        Device(name=f"host-{n:04d}", role="host", rack=f"r{n // 8:03d}", domain=f"d{n // 64:02d}")
        for n in range(hosts)
    ]
    groups = range(-(-hosts // RADIX))
    rows += [
        Device(name=f"leaf-{g:02d}-{rail}", role="switch") for g in groups for rail in range(RAILS)
    ]
    links = [
        Link(a=f"host-{n:04d}/mlx5_{rail}/1", b=f"leaf-{n // RADIX:02d}-{rail}/{n % RADIX}",
             technology="ib", speed_gbps=400, lanes=4)
        for n in range(hosts) for rail in range(RAILS)
    ]  # fmt: skip
    racks = [Rack(name=name) for name in sorted({row.rack for row in rows if row.rack})]
    return Topology(rows, links, [Domain(name=f"d{n:02d}") for n in range(hosts // 64 + 1)], racks)


@dataclass
class Fleet:
    """Readings of a fabric: one target a device, each with its own phase."""

    store: Store
    topology: Topology
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def __post_init__(self) -> None:
        table = self.store.table
        self.series: list[tuple[int, Ids, int]] = []
        for name, links in self.topology.links_of.items():
            mine = sorted(end for link in links for end in link.ends if end.device == name)
            keys = [(metric, tuple(end)) for metric in METRICS for end in mine]
            keys += [(watchers.SOURCE_UP, ("snmp", name)), (watchers.LAST_SUCCESS, ("snmp", name))]
            keys.append((devices.BOOT_TIME, (name,)))
            self.series.append((table.clock("snmp", name), table.intern_all(keys), len(mine)))
        self.ill = set(self.chance.choice(len(self.series), 10, replace=False).tolist())

    def poll(self, number: int) -> list[Batch]:
        """Return what all targets say at one poll; ten of them have a sick port."""
        found = []
        for place, (clock, series, width) in enumerate(self.series):
            values = np.empty((len(METRICS), width))
            values[: len(STEADY)] = np.array([*STEADY.values()])[:, None]
            values[len(STEADY) : -1] = number * 2e11 + self.chance.integers(0, 2**30, (2, width))
            values[-1] = number * BITS_REPAIRED + self.chance.integers(0, 1000, width)
            if place in self.ill:
                values[5, 0] += number * 30  # symbol errors
                values[2, 1] = 2e11  # half the speed
                values[0, 2] = float(number < 50)  # pulled
            at = START + number * PERIOD + (place % 97) * 0.1
            watch = np.array([1.0, at, START - 86_400.0])
            found.append(Batch(clock, at, series, np.concatenate([values.ravel(), watch])))
        return found


def plain(up: Window, topology: Topology) -> list[str]:
    """Say which links are down for two polls, one series after the other."""
    found = []
    for row in range(len(up)):
        states = [value for value in up.values[row].tolist() if value == value]
        times = [at for at in up.times[row].tolist() if at == at]
        late = up.until - times[-1] > 35.0
        if late or len(states) < 2 or states[-1] or states[-2] or not any(states):
            continue
        link = topology.link_of.get(Port(*up.labels(row)))
        if link is not None and link.id not in found:
            found.append(link.id)
    return found


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare(store: Store, topology: Topology, now: float) -> tuple[float, float, int]:
    """Return the seconds of the detector and of the plain loop, and how many links both name."""
    detector = detectors()["link_down"]
    viewing = Viewing(store, {"link_down": detector})
    viewing.advance(now)
    view = viewing.view(detector, topology, [], ())
    window = store.window(ports.UP, now, 600.0)
    fast = statistics.median(seconds(lambda: list(detector.judge(view))) for _ in range(5))
    slow = statistics.median(seconds(lambda: plain(window, topology)) for _ in range(3))
    ours = {
        topology.link_of[one.about].id
        for one in detector.judge(view)
        if isinstance(one.about, Port)
    }
    theirs = set(plain(window, topology))
    assert ours == theirs, (ours, theirs)
    return fast, slow, len(ours)


def memory() -> float:
    """Return the highest resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(passes: Sequence[tuple[float, Outcome]]) -> None:
    """Print what the passes took, and what of it the detectors."""
    took = [one for one, _ in passes[1:]]
    print(f"full pass          {passes[0][0]:8.3f} s")
    worst = f"worst {max(took):.3f}, n={len(took)}"
    print(f"incremental pass   {statistics.median(took):8.3f} s ({worst})")
    last = passes[-1][1]
    for verdict in last.verdicts:
        if verdict.metric is watchers.ANALYSIS_SECONDS:
            print(f"  {verdict.labels[0]:24s} {verdict.value * 1e3:8.1f} ms")
    kinds = sorted({finding.kind.name for finding in last.findings})
    print(f"findings {len(last.findings)}: {', '.join(kinds)}; resident {memory():.0f} MiB at most")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=1250)
    parser.add_argument("--polls", type=int, default=60)
    parser.add_argument("--only", default="", help="judge with detectors so named alone")
    parser.add_argument("--more", type=int, default=10, help="incremental passes")
    asked = parser.parse_args()
    topology = fabric(asked.hosts)
    ends = 2 * len(topology.links)
    with tempfile.TemporaryDirectory(prefix="fabrichealth-analysis-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store.db")
        fleet = Fleet(store, topology)
        chosen = {n: one for n, one in detectors().items() if n.startswith(asked.only)}
        store.append(fleet.poll(0))
        began = time.process_time()
        Judge(store, topology, chosen, Ledger()).judge(START + 1)
        learned = time.process_time() - began
        for number in range(1, asked.polls):
            store.append(fleet.poll(number))
        print(
            f"{ends} link ends, {len(store.table)} series, {asked.polls} polls at {PERIOD:.0f} s; "
            f"resident {memory():.0f} MiB before judging"
        )
        print(f"names, once        {learned:8.3f} s (with a pass over one poll)")
        judge = Judge(store, topology, chosen, Ledger())
        passes: list[tuple[float, Outcome]] = []
        for number in range(asked.polls, asked.polls + asked.more + 1):
            now = START + number * PERIOD
            began = time.process_time()
            outcome = judge.judge(now)
            passes.append((time.process_time() - began, outcome))
            store.append(fleet.poll(number))
        show(passes)
        fast, slow, links = compare(store, topology, now)
        print(
            f"links down: detector {fast * 1e3:.1f} ms, plain loop {slow * 1e3:.1f} ms, "
            f"ratio {slow / fast:.0f} (same {links} links)"
        )
        store.close()


if __name__ == "__main__":
    main()
