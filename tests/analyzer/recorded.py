"""An emulated night written straight into a store: judging without collectors in between."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import yaml

from analyzer.incidents.lifecycle import Policy
from analyzer.judge import Judge, Outcome, detectors
from analyzer.ledger import Ledger
from emulator.fabric import Fabric
from emulator.faults import STEP, Fault
from emulator.plan import Plan
from emulator.port import PortState
from emulator.scenario import World
from fabrichealth.catalogue import accelerators, devices, ports, watchers
from fabrichealth.events import parse
from fabrichealth.metric import Metric
from fabrichealth.model import Batch
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology, read

EPOCH = 1_800_000_000.0
PERIOD = 10.0


def topology_of(plan: Plan, folder: Path) -> Topology:
    """Return a plan's topology by way of its file, as a site would have it."""
    path = folder / "topology.yaml"
    path.write_text(yaml.safe_dump(plan.topology()), encoding="utf-8")
    return read(path)


class Recorder:
    """Polls an emulated fabric as perfect collectors would: every device, every 10 s."""

    def __init__(self, store: Store, world: World) -> None:
        self.store = store
        self.world = world
        self._errors: dict[tuple[str, int], int] = {}
        self._heard: dict[str, float] = {}

    def poll(self, now: float) -> list[Batch]:
        """Read every device that answers, each on its own clock and phase."""
        fabric = self.world.fabric
        batches: list[Batch] = []
        for number, device in enumerate((*fabric.plan.hosts, *fabric.plan.leaves)):
            at = now + (number % 7) * 0.9
            silent = device in fabric.dark
            batches.append(self._watch(device, at, silent))
            if not silent:
                batches.append(self._read(device, at))
        return batches

    def _read(self, device: str, at: float) -> Batch:
        fabric, table = self.world.fabric, self.store.table
        found: list[tuple[Metric, tuple[str, ...], float]] = []
        for name in [device, *(fabric.plan.accelerators_of(device) if "host" in device else [])]:
            for port in fabric.ports_of(name):
                found += _port(port)
        if device in fabric.hosts:
            host = fabric.hosts[device]
            found.append((devices.BOOT_TIME, (device,), host.booted_at))
            for one in host.accelerators:
                for code in (74, 79, 145):
                    key = (one.name, code)
                    if one.xid == code and key not in self._errors:
                        self._errors[key] = 1
                    count = float(self._errors.get(key, 0))
                    found.append((accelerators.ERRORS, (one.name, f"xid:{code}"), count))
        clock = table.clock("test", device)
        series = table.intern_all([(metric, labels) for metric, labels, _ in found])
        return Batch(clock, at, series, np.array([value for _, _, value in found]))

    def _watch(self, device: str, at: float, silent: bool) -> Batch:
        table = self.store.table
        if not silent:
            self._heard[device] = at
        found = [(watchers.SOURCE_UP, 0.0 if silent else 1.0)]
        if device in self._heard:
            found.append((watchers.LAST_SUCCESS, self._heard[device]))
        series = table.intern_all([(metric, ("test", device)) for metric, _ in found])
        clock = table.clock("watchers", device)
        return Batch(clock, at, series, np.array([value for _, value in found]))


def _port(port: PortState) -> list[tuple[Metric, tuple[str, ...], float]]:
    device, _, name = port.name.partition("/")
    labels = (device, name)
    found: list[tuple[Metric, tuple[str, ...], float]] = [
        (ports.LINK_RECOVERIES, labels, port.recoveries),
        (ports.REPLAYS, labels, port.replays),
    ]
    if port.cable.technology == "ib":
        found += [
            (ports.UP, labels, float(port.up)),
            (ports.ADMIN_UP, labels, 1.0),
            (ports.LINK_DOWNS, labels, port.link_downs),
            (ports.SYMBOL_ERRORS, labels, port.symbol_errors),
        ]
        if port.up:
            found += [(ports.SPEED, labels, port.gbps * 1e9), (ports.LANES, labels, port.lanes)]
    return found


def nights(
    store: Store,
    folder: Path,
    faults: list[Fault],
    minutes: float,
    plan: Plan | None = None,
    seed: int = 1,
    policy: Policy | None = None,
) -> Iterator[tuple[Judge, Outcome]]:
    """Live through so many minutes; yield the judge and each pass."""
    plan = plan or Plan()
    world = World(Fabric(plan, seed, EPOCH), faults)
    recorder = Recorder(store, world)
    judge = Judge(store, topology_of(plan, folder), detectors(), Ledger(), policy or Policy())
    steps = int(minutes * 60 / STEP)
    for step in range(steps + 1):
        now = EPOCH + step * STEP
        judge.tell([parse(event) for event in world.step(now)])
        if step % int(PERIOD / STEP) == 0:
            store.append(recorder.poll(now))
            yield judge, judge.judge(now + PERIOD * 0.7)


def after(
    store: Store, folder: Path, faults: list[Fault], minutes: float, plan: Plan | None = None
) -> Judge:
    """Live through so many minutes; return the judge as it is then."""
    *_, (judge, _) = nights(store, folder, faults, minutes, plan)
    return judge
