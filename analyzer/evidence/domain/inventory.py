"""The inventory of accelerators: everything that a domain should have, whether it speaks or not.

A share of what reports is no share of what there is. Here an accelerator counts because it is
written, because it was discovered once, or because its domain is written larger than its list: the
last have no name and can only be missing. The written topology wins over what devices say.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.accelerators import ACCELERATOR_INFO, UTILIZATION
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Past, SeriesTable, View, Window
from fabrichealth.topology import Topology

Rows = NDArray[np.intp]
Codes = NDArray[np.int32]

NOWHERE = -1
"""Code of an accelerator whose domain, rack, host or model is not known."""

_DEVICE, _MODEL, _HOST, _RACK, _DOMAIN = (
    ACCELERATOR_INFO.labels.index(name) for name in ("device", "model", "host", "rack", "domain")
)


@dataclass(frozen=True, eq=False)
class Tier:
    """One way to group accelerators: by domain, rack, host or model."""

    names: tuple[str, ...]
    """Of each group, in byte order."""
    code: Codes
    """Group of each accelerator ([n]), `NOWHERE` where it has none."""

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many named accelerators each group has ([g])."""
        return np.bincount(self.code[self.code >= 0], minlength=len(self.names))

    def rows(self, name: str) -> Rows:
        """Return the accelerators of a group, ascending; none for a name that is not there."""
        if name not in self._numbers:
            return np.empty(0, np.intp)
        return np.flatnonzero(self.code == self._numbers[name])

    def of(self, row: int) -> str:
        """Return the group of an accelerator; empty if it has none."""
        code = int(self.code[row])
        return self.names[code] if code >= 0 else ""

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}


@dataclass(frozen=True, eq=False)
class Inventory:
    """Every accelerator of the site, one row each, in byte order of their names."""

    names: tuple[str, ...]
    domain: Tier
    rack: Tier
    host: Tier
    model: Tier
    unlisted: dict[str, int]
    """By domain: accelerators it should have beyond those that have a name; 0 is left out."""
    _places: WeakKeyDictionary[SeriesTable, dict[Metric, Rows]] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def size(self, domain: str) -> int:
        """Return how many accelerators a domain should have, those without a name included."""
        return len(self.domain.rows(domain)) + self.unlisted.get(domain, 0)

    def row(self, name: str) -> int | None:
        """Return the row of an accelerator, or None if nobody ever told of it."""
        return self._rows.get(name)

    def places(self, window: Window | Past) -> Rows:
        """Return the accelerator that each row of a window is about ([s]), by its label `device`.

        -1 where it is about no accelerator.
        """
        every = window.table.of(window.metric)
        found = self.places_in(window.table, window.metric)
        return found[np.searchsorted(every, window.series)]

    def places_in(self, table: SeriesTable, metric: Metric) -> Rows:
        """Return the same of every series of a metric that a table ever had, in its order.

        Names are looked up once for each series.
        """
        known = self._places.setdefault(table, {})
        every = table.of(metric)
        found = known.get(metric, np.empty(0, np.intp))
        if len(found) < len(every):
            device = metric.labels.index("device")
            fresh = [
                self._rows.get(table.labels(number)[device], NOWHERE)
                for number in every[len(found) :].tolist()
            ]
            found = known[metric] = np.concatenate([found, np.array(fresh, np.intp)])
        return found

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}


def inventory(view: View) -> Inventory:
    """Return what there is as of this pass; the same object while nothing new is told of."""
    return stock(view.topology, view[UTILIZATION].table)


def stock(topology: Topology, table: SeriesTable) -> Inventory:
    """Return what is written and what was ever told of in a store's table."""
    told = len(table.of(ACCELERATOR_INFO)), len(table.of(UTILIZATION))
    return _stock(topology, _strangers(topology, table, told))


@lru_cache(maxsize=4)
def _strangers(topology: Topology, table: SeriesTable, told: tuple[int, int]) -> tuple[Labels, ...]:
    """Return what accelerators say of themselves that nobody wrote, as info series tell it.

    Of one that told two things the later counts. One that only says how busy it is has no more
    than its name. `told`, how many series there were, makes the answer anew when there are more.
    """
    info, load = (table.of(one)[:many] for one, many in zip(
        (ACCELERATOR_INFO, UTILIZATION), told, strict=True
    ))  # fmt: skip
    said = {labels[_DEVICE]: labels for labels in map(table.labels, info.tolist())}
    nothing = ("",) * (len(ACCELERATOR_INFO.labels) - 1)
    for (name,) in map(table.labels, load.tolist()):
        said.setdefault(name, (name, *nothing))
    return tuple(
        labels for name, labels in sorted(said.items()) if name and name not in topology.devices
    )


@lru_cache(maxsize=4)
def _stock(topology: Topology, strangers: tuple[Labels, ...]) -> Inventory:
    rows: dict[str, tuple[str, str, str, str]] = {}
    lies: dict[Labels, Labels] = {}
    """Domain and rack by what is written: looked up once for all accelerators of a host."""
    for name, device in topology.devices.items():
        if device.role == "accelerator":
            written = device.domain, device.rack, device.host
            if written not in lies:
                lies[written] = topology.domain_of(name), topology.rack_of(name)
            domain_name, rack_name = lies[written]
            rows[name] = domain_name, rack_name, device.host, device.model
    for labels in strangers:
        rows[labels[_DEVICE]] = _placed(topology, labels)
    names = tuple(sorted(rows, key=str.encode))
    domain, rack, host, model = (
        _tier([rows[name][column] for name in names]) for column in range(4)
    )
    named = dict(zip(domain.names, domain.sizes.tolist(), strict=True))
    unlisted = {
        name: row.accelerators - named.get(name, 0)
        for name, row in topology.domains.items()
        if row.accelerators > named.get(name, 0)
    }
    return Inventory(names, domain, rack, host, model, unlisted)


def _placed(topology: Topology, labels: Labels) -> tuple[str, str, str, str]:
    """Return domain, rack, host and model of one that is not written: its host's, where it is.

    Accelerators of a host are named HOST-ID, so a written host may be told by the name alone.
    """
    stem = labels[_DEVICE].rpartition("-")[0]
    host = labels[_HOST] or (stem if stem in topology.devices else "")
    rack = topology.rack_of(host) or labels[_RACK]
    written = topology.racks.get(rack)
    domain = topology.domain_of(host) or labels[_DOMAIN] or (written.domain if written else "")
    return domain, rack, host, labels[_MODEL]


def _tier(groups: Sequence[str]) -> Tier:
    names = tuple(sorted(set(filter(None, groups)), key=str.encode))
    number = {name: place for place, name in enumerate(names)}
    return Tier(names, np.array([number.get(one, NOWHERE) for one in groups], np.int32))
