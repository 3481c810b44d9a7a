"""COUNTERS_DB of a SONiC switch: ports, egress queues, ingress priority groups, rates.

Name maps give each object its key; a port that is deleted and made again gets a new one, so they
are read at every visit. Queues and groups 0..7 are the priorities; queues for multicast are not.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from collectors.maps import sai_counters
from collectors.maps.columns import Columns
from collectors.maps.sai_counters import Share
from collectors.protocols.sonic_values import Hash
from collectors.sonic.asking import Hashes, Part, hashes
from collectors.sonic.sheet import Cell, Form, Owner, Sheet
from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable

METRICS = sai_counters.METRICS

PORT_MAP, FABRIC_MAP = "COUNTERS_PORT_NAME_MAP", "COUNTERS_FABRIC_PORT_NAME_MAP"
QUEUE_MAP, GROUP_MAP = "COUNTERS_QUEUE_NAME_MAP", "COUNTERS_PG_NAME_MAP"
TYPE_MAP = "COUNTERS_QUEUE_TYPE_MAP"
MAPS = (PORT_MAP, FABRIC_MAP, QUEUE_MAP, GROUP_MAP, TYPE_MAP)
MULTICAST = "SAI_QUEUE_TYPE_MULTICAST"
PRIORITIES = frozenset(map(str, sai_counters.PRIORITIES))


@dataclass(frozen=True, slots=True)
class Objects:
    """Keys of what is counted, by the name maps."""

    ports: dict[str, str]
    """Port by object, fabric ports included."""
    queues: dict[str, Owner]
    """(port, priority) by object."""
    groups: dict[str, Owner]
    keys: tuple[str, ...]
    """All of them, and the rates of the ports, as keys of the database."""


@dataclass(slots=True)
class Counters:
    """Reads the counters of one namespace."""

    table: SeriesTable
    device: str
    labelled: Callable[[str], str]
    """Gives the port's label for its name in the namespace."""
    pause_worth: float
    """Seconds of one count of a pause duration that does not say its unit."""
    _maps: list[Hash] = field(default_factory=list)
    _objects: Objects | None = None
    _ports: Sheet = field(init=False)
    _queues: Sheet = field(init=False)
    _groups: Sheet = field(init=False)
    _rates: Sheet = field(init=False)

    def __post_init__(self) -> None:
        self._ports, self._queues = Sheet(self.table), Sheet(self.table)
        self._groups, self._rates = Sheet(self.table), Sheet(self.table)

    @property
    def named(self) -> list[str]:
        """The ports that the name map lists."""
        return list(self._objects.ports.values()) if self._objects else []

    def names(self) -> Part:
        """Read the name maps."""
        maps = hashes((yield Hashes("COUNTERS_DB", MAPS)))
        if self._objects is None or maps != self._maps:
            self._maps, self._objects = maps, _objects(dict(zip(MAPS, maps, strict=True)))

    def read(
        self, fec: Mapping[str, str], lossless: Mapping[str, Collection[str]], columns: Columns
    ) -> Part:
        """Read all counters; `fec` is the code of each port, `lossless` its priorities with PFC."""
        objects = self._objects
        if objects is None or not objects.keys:
            return
        content = hashes((yield Hashes("COUNTERS_DB", objects.keys)))
        raw = {key: one for key, one in zip(objects.keys, content, strict=True) if one}
        self._ports.take(_port_rows(objects, raw, fec), self._port_cells, columns)
        self._rates.take(_rate_rows(objects, raw), partial(self._rate_cells, raw), columns)
        self._queues.take(_rows(objects.queues, raw), self._queue_cells, columns)
        drops = {
            oid: (port, priority)
            for oid, (port, priority) in objects.groups.items()
            if port not in lossless or priority in lossless[port]
        }
        self._groups.take(_rows(drops, raw), self._group_cells, columns)

    def _port_cells(self, owner: Owner, names: Collection[str]) -> Iterator[Cell]:
        port, fec = owner
        return self._named((port,), sai_counters.port_shares(names, fec, self.pause_worth))

    def _rate_cells(
        self, raw: Mapping[str, Hash], owner: Owner, names: Collection[str]
    ) -> Iterator[Cell]:
        port, key, _ = owner
        counted = [name.decode("utf-8", "replace") for name in raw.get(key, [])[0::2]]
        counts: set[Metric] = {
            share.metric for share in sai_counters.port_shares(counted, "", self.pause_worth)
        }
        return self._named((port,), sai_counters.rate_shares(names, counts), Form.COMPUTED)

    def _queue_cells(self, owner: Owner, names: Collection[str]) -> Iterator[Cell]:
        return self._named(owner, sai_counters.queue_shares(names))

    def _group_cells(self, owner: Owner, names: Collection[str]) -> Iterator[Cell]:
        return self._named(owner, sai_counters.group_shares(names))

    def _named(
        self, owner: Owner, shares: Iterable[Share], form: Form = Form.NUMBER
    ) -> Iterator[Cell]:
        for share in shares:
            labels = (self.device, self.labelled(owner[0]), *owner[1:], *share.labels)
            yield Cell(share.metric, labels, share.names, share.worth, form)


def _port_rows(
    objects: Objects, raw: Mapping[str, Hash], fec: Mapping[str, str]
) -> Iterator[tuple[str, Hash, Owner]]:
    for oid, port in objects.ports.items():
        key = f"COUNTERS:{oid}"
        if key in raw:
            yield key, raw[key], (port, fec.get(port, ""))


def _rate_rows(objects: Objects, raw: Mapping[str, Hash]) -> Iterator[tuple[str, Hash, Owner]]:
    for oid, port in objects.ports.items():
        key, counts = f"RATES:{oid}", f"COUNTERS:{oid}"
        if key in raw:  # which rates are wanted depends on how many counters there are
            yield key, raw[key], (port, counts, str(len(raw.get(counts, ()))))


def _rows(
    owners: Mapping[str, Owner], raw: Mapping[str, Hash]
) -> Iterator[tuple[str, Hash, Owner]]:
    for oid, owner in owners.items():
        key = f"COUNTERS:{oid}"
        if key in raw:
            yield key, raw[key], owner


def _objects(maps: Mapping[str, Hash]) -> Objects:
    ports = {oid: name for name, oid in _pairs(maps[PORT_MAP])}
    ports |= {oid: name for name, oid in _pairs(maps[FABRIC_MAP])}
    types = dict(_pairs(maps[TYPE_MAP]))
    queues = {oid: owner for oid, owner in _owned(maps[QUEUE_MAP]) if types.get(oid) != MULTICAST}
    groups = dict(_owned(maps[GROUP_MAP]))
    keys = [f"COUNTERS:{oid}" for oid in (*ports, *queues, *groups)]
    keys += [f"RATES:{oid}" for oid in ports]
    return Objects(ports, queues, groups, tuple(keys))


def _pairs(raw: Hash) -> Iterator[tuple[str, str]]:
    words = [word.decode("utf-8", "replace") for word in raw]
    yield from zip(words[0::2], words[1::2], strict=False)


def _owned(raw: Hash) -> Iterator[tuple[str, Owner]]:
    """Yield object, (port, priority) of names such as `Ethernet0:3`, priorities 0..7."""
    for name, oid in _pairs(raw):
        port, _, priority = name.rpartition(":")
        if port and priority in PRIORITIES and "|" not in port:
            yield oid, (port, priority)
