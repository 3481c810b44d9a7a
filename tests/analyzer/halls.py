"""Halls of hosts and leaves that are polled by clocks of their own.

What each reads is as it happened, and is stamped as its clock tells the time.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from fabrichealth.catalogue.devices import BOOT_TIME
from fabrichealth.catalogue.ports import LINK_DOWNS, UP
from fabrichealth.events import Event
from fabrichealth.model import Batch, Incident, Port
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology
from tests.analyzer.views import START, small_pod

PERIOD = 15.0
MINUTE = 60.0
BOOTED = START - 40 * 86_400.0
JUDGES = ("clocks_apart", "device_down", "device_falls", "link_down", "link_flapping")


@dataclass
class Hall:
    """Leaves with a port to each host; `clocks` are seconds by which a device's is ahead."""

    leaves: int = 4
    hosts: int = 6
    minutes: float = 40.0
    clocks: Mapping[str, float] = field(default_factory=dict)
    leaps: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """When a device's clock is set wrong (seconds after START), and by how much."""
    set_right: float = float("inf")
    """When all clocks are set right (seconds after START)."""
    boot_times: bool = True
    dark: list[tuple[str, float, float]] = field(default_factory=list)
    """Device, from and until when it is dark (seconds after START)."""
    silent: list[tuple[str, float, float]] = field(default_factory=list)
    """Device, from and until when its agent does not answer."""
    broken: list[tuple[Port, float, float]] = field(default_factory=list)
    """A link, by either end, that is down so long."""

    @property
    def topology(self) -> Topology:
        return small_pod(self.leaves, self.hosts)

    def restarts(self, device: str, at: float, lasts: float = 5 * MINUTE) -> "Hall":
        self.dark.append((device, at, at + lasts))
        return self

    def breaks(self, port: Port, at: float, lasts: float = 1e9) -> "Hall":
        self.broken.append((port, at, at + lasts))
        return self

    def read(self, store: Store) -> list[tuple[float, Batch]]:
        """Return all readings and when each came, seconds after START, in that order.

        Every device that answers is read every 15 s, in a phase of its own.
        """
        every: list[tuple[float, Batch]] = []
        topology, table = self.topology, store.table
        for number, device in enumerate(sorted(topology.devices)):
            ends = [
                e for link in topology.links_of[device] for e in link.ends if e.device == device
            ]
            rows = [(UP, tuple(end)) for end in ends] + [(LINK_DOWNS, tuple(end)) for end in ends]
            rows += [(BOOT_TIME, (device,))] if self.boot_times else []
            series, clock = table.intern_all(rows), table.clock("test", device)
            times = np.arange(0, self.minutes * MINUTE, PERIOD) + (number * 3.7) % PERIOD
            for elapsed in times.tolist():
                if not self._answers(device, elapsed):
                    continue
                up = [self._up(topology, end, elapsed) for end in ends]
                fell = [self._fell(topology, end, elapsed) for end in ends]
                boot = max(
                    [BOOTED - START, *(b for d, _, b in self.dark if d == device and b <= elapsed)]
                )
                said = [
                    *up,
                    *fell,
                    *([START + boot + self._ahead(device, elapsed)] if self.boot_times else []),
                ]
                at = START + elapsed + self._ahead(device, elapsed)
                every.append((elapsed, Batch(clock, at, series, np.array(said, np.float64))))
        return sorted(every, key=lambda came: came[0])

    def _ahead(self, device: str, elapsed: float) -> float:
        since, leap = self.leaps.get(device, (0.0, 0.0))
        ahead = self.clocks.get(device, 0.0) + (leap if elapsed >= since else 0.0)
        return ahead if elapsed < self.set_right else 0.0

    def _answers(self, device: str, elapsed: float) -> bool:
        return not any(d == device and a <= elapsed < b for d, a, b in (*self.dark, *self.silent))

    def _spans(self, topology: Topology, end: Port) -> Iterable[tuple[float, float]]:
        link = topology.link_of[end]
        devices = {one.device for one in link.ends}
        for device, start, until in self.dark:
            if device in devices:
                yield start, until + 2 * PERIOD  # links train once their device is back
        for port, start, until in self.broken:
            if port in link.ends:
                yield start, until

    def _up(self, topology: Topology, end: Port, elapsed: float) -> float:
        return float(not any(a <= elapsed < b for a, b in self._spans(topology, end)))

    def _fell(self, topology: Topology, end: Port, elapsed: float) -> float:
        """Count falls; a device that restarts begins at 0 again."""
        back = max([-1.0, *(b for d, _, b in self.dark if d == end.device and b <= elapsed)])
        return float(sum(back <= a <= elapsed for a, _ in self._spans(topology, end)))


def lived(
    hall: Hall, store: Store, events: Iterable[Event] = (), *, live: bool = False
) -> tuple[list[Incident], Ledger]:
    """Return all incidents of a hall's time, and the ledger at the end.

    Replayed, with all readings at hand from the beginning, or live, as they come.
    """
    to_come = hall.read(store)
    every = {name: one for name, one in detectors().items() if name in JUDGES}
    ledger = Ledger()
    judge = Judge(store, hall.topology, every, ledger, tells_series=False)
    judge.tell(list(events))
    closed: list[Incident] = []
    for elapsed in np.arange(PERIOD, hall.minutes * MINUTE, PERIOD).tolist():
        come = len(to_come) if not live else bisect_right(to_come, elapsed, key=lambda one: one[0])
        store.append([batch for _, batch in to_come[:come]])
        del to_come[:come]
        closed += judge.judge(START + elapsed).closed
    return [*closed, *ledger.incidents], ledger


def pages(incidents: Iterable[Incident]) -> list[Incident]:
    """Return those that woke somebody."""
    return [one for one in incidents if one.paged_at is not None]
