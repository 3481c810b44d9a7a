"""COUNTERS_DB of a SONiC switch: ports, egress queues, ingress priority groups, rates.

Name maps give each object its key; a port that is deleted and made again gets a new one, so they
are read at every visit. Queues and groups 0..7 are the priorities; queues for multicast are not.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from collectors.maps import sai_counters
from collectors.maps.columns import Columns
from collectors.maps.sai_counters import Share
from collectors.protocols.sonic_values import Hash
from collectors.sonic import asking
from collectors.sonic.asking import Part, hashes
from collectors.sonic.sheet import Cell, Context, Form, Hashes, Sheet
from fabrichealth.model import Reason, SeriesTable

METRICS = sai_counters.METRICS

PORT_MAP, FABRIC_MAP = "COUNTERS_PORT_NAME_MAP", "COUNTERS_FABRIC_PORT_NAME_MAP"
QUEUE_MAP, GROUP_MAP = "COUNTERS_QUEUE_NAME_MAP", "COUNTERS_PG_NAME_MAP"
TYPE_MAP = "COUNTERS_QUEUE_TYPE_MAP"
MAPS = (PORT_MAP, FABRIC_MAP, QUEUE_MAP, GROUP_MAP, TYPE_MAP)
MULTICAST = "SAI_QUEUE_TYPE_MULTICAST"
COUNTED = frozenset(
    name.encode()
    for _, counter in sai_counters.BANDWIDTH.values()
    for names in sai_counters.PORT[counter]
    for name in names
)
"""Counters whose presence decides which rates are wanted."""
Owner = tuple[str, str]
"""Port and priority."""
PRIORITIES = frozenset(map(str, sai_counters.PRIORITIES))


@dataclass(frozen=True, slots=True)
class Objects:
    """Keys of what is counted, by the name maps."""

    ports: dict[str, str]
    """Port by object, fabric ports included."""
    queues: dict[str, Owner]
    """(port, priority) by object."""
    groups: dict[str, Owner]
    twice: tuple[str, ...]
    """Ports whose object is another's already."""
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
        maps = hashes((yield asking.Hashes("COUNTERS_DB", MAPS)))
        if self._objects is None or maps != self._maps:
            self._maps, self._objects = maps, _objects(dict(zip(MAPS, maps, strict=True)))

    def read(
        self, fec: Mapping[str, str], lossless: Mapping[str, Collection[str]], columns: Columns
    ) -> Part:
        """Read all counters; `fec` is the code of each port, `lossless` its priorities with PFC."""
        objects = self._objects
        if objects is None or not objects.keys:
            return
        for port in objects.twice:
            labels = {"device": self.device, "port": self.labelled(port)}
            columns.refuse(Reason.DUPLICATE, PORT_MAP, labels, "its object is another port's")
        content = hashes((yield asking.Hashes("COUNTERS_DB", objects.keys)))
        raw = {key: one for key, one in zip(objects.keys, content, strict=True) if one}
        self._ports.take(self._port_rows(objects, raw, fec), self._port_cells, columns)
        self._rates.take(self._rate_rows(objects, raw), _rate_cells, columns)
        self._queues.take(self._rows(objects.queues, raw), _queue_cells, columns)
        drops = {
            oid: (port, priority)
            for oid, (port, priority) in objects.groups.items()
            if port not in lossless or priority in lossless[port]
        }
        self._groups.take(self._rows(drops, raw), _group_cells, columns)

    def _port_rows(
        self, objects: Objects, raw: Mapping[str, Hash], fec: Mapping[str, str]
    ) -> Hashes:
        for oid, port in objects.ports.items():
            key = f"COUNTERS:{oid}"
            if key in raw:
                yield key, raw[key], (self.device, self.labelled(port)), (fec.get(port, ""),)

    def _rate_rows(self, objects: Objects, raw: Mapping[str, Hash]) -> Hashes:
        for oid, port in objects.ports.items():
            key = f"RATES:{oid}"
            if key in raw:
                counted = tuple(COUNTED & set(raw.get(f"COUNTERS:{oid}", [])[0::2]))
                context = tuple(sorted(name.decode() for name in counted))
                yield key, raw[key], (self.device, self.labelled(port)), context

    def _rows(self, owners: Mapping[str, Owner], raw: Mapping[str, Hash]) -> Hashes:
        for oid, (port, priority) in owners.items():
            key = f"COUNTERS:{oid}"
            if key in raw:
                yield key, raw[key], (self.device, self.labelled(port), priority), ()

    def _port_cells(self, context: Context, names: Collection[str]) -> Iterator[Cell]:
        (fec,) = context
        return _cells(sai_counters.port_shares(names, fec, self.pause_worth))


def _rate_cells(context: Context, names: Collection[str]) -> Iterator[Cell]:
    counted = {share.metric for share in sai_counters.port_shares(context, "", 1.0)}
    return _cells(sai_counters.rate_shares(names, counted), Form.COMPUTED)


def _queue_cells(_: Context, names: Collection[str]) -> Iterator[Cell]:
    return _cells(sai_counters.queue_shares(names))


def _group_cells(_: Context, names: Collection[str]) -> Iterator[Cell]:
    return _cells(sai_counters.group_shares(names))


def _cells(shares: Iterable[Share], form: Form = Form.NUMBER) -> Iterator[Cell]:
    for share in shares:
        yield Cell(share.metric, share.labels, share.names, share.worth, form)


def _objects(maps: Mapping[str, Hash]) -> Objects:
    ports: dict[str, str] = {}
    named = [*_pairs(maps[PORT_MAP]), *_pairs(maps[FABRIC_MAP])]
    twice = tuple(name for name, oid in named if ports.setdefault(oid, name) != name)
    types = dict(_pairs(maps[TYPE_MAP]))
    queues = {oid: owner for oid, owner in _owned(maps[QUEUE_MAP]) if types.get(oid) != MULTICAST}
    groups = dict(_owned(maps[GROUP_MAP]))
    keys = [f"COUNTERS:{oid}" for oid in (*ports, *queues, *groups)]
    keys += [f"RATES:{oid}" for oid in ports]
    return Objects(ports, queues, groups, twice, tuple(keys))


def _pairs(raw: Hash) -> Iterator[tuple[str, str]]:
    words = [word.decode("utf-8", "replace") for word in raw]
    yield from zip(words[0::2], words[1::2], strict=False)


def _owned(raw: Hash) -> Iterator[tuple[str, Owner]]:
    """Yield object, (port, priority) of names such as `Ethernet0:3`, priorities 0..7."""
    for name, oid in _pairs(raw):
        port, _, priority = name.rpartition(":")
        if port and priority in PRIORITIES and "|" not in port:
            yield oid, (port, priority)
