"""Views made by hand: what a detector sees of a small world."""

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.viewing import Viewing
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Finding, Labels, View
from fabrichealth.topology import Device, Link, Rack, Topology
from tests.reference_store import ReferenceStore

START = 1_800_000_000.0

History = Mapping[tuple[Metric, Labels], Sequence[float]]


def small_pod(leaves: int = 2, hosts: int = 4) -> Topology:
    """Return hosts with a port `ethN` to each leaf's port of the host's number."""
    devices = [Device(name=f"leaf-{n}", role="switch", rack="r1") for n in range(leaves)]
    links = []
    for host in range(hosts):
        devices.append(Device(name=f"host-{host}", role="host", rack="r1"))
        for leaf in range(leaves):
            a, b = f"host-{host}/eth{leaf}", f"leaf-{leaf}/{host}"
            links.append(Link(a=a, b=b, technology="ib", speed_gbps=400, lanes=4))
    return Topology(devices, links, racks=[Rack(name="r1")])


def store_of(history: History, period: float) -> ReferenceStore:
    """Return a store with these series, read every `period` seconds from START on; NaN is missing.

    Each device (or first label) is a target of its own, with a phase of its own.
    """
    store = ReferenceStore()
    targets: dict[str, list[tuple[int, Sequence[float]]]] = {}
    for (metric, labels), values in history.items():
        series = store.table.intern(metric, labels)
        targets.setdefault(labels[0] if labels else "", []).append((series, values))
    for name, rows in targets.items():
        clock = store.table.clock("test", name)
        phase = (clock % 5) * 0.1 * min(period, 5.0)
        for number in range(max(len(values) for _, values in rows)):
            said = [(s, v[number]) for s, v in rows if number < len(v) and np.isfinite(v[number])]
            if said:
                series_read = np.array([series for series, _ in said], np.int32)
                values_read = np.array([value for _, value in said])
                at = START + number * period + phase
                store.append([Batch(clock, at, series_read, values_read)])
    return store


def view_of(
    detector: AnyDetector,
    history: History,
    period: float = 10.0,
    topology: Topology | None = None,
    events: Sequence[Event] = (),
    before: Sequence[Finding] = (),
    now: float | None = None,
) -> View:
    """Return what the detector sees a moment after the last poll."""
    store = store_of(history, period)
    longest = max((len(values) for values in history.values()), default=1)
    at = START + (longest - 1) * period + min(period, 5.0) * 0.5 if now is None else now
    viewing = Viewing(store, {"detector": detector})
    viewing.advance(at)
    return viewing.view(detector, topology or Topology(), list(events), before)
