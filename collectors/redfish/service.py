"""Service: what one Redfish service told in a poll, as columns; outlives polls.

Live visits and captures hand the same bodies to it, so both go through the same decoders.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.maps.places import Places
from collectors.protocols.redfish.documents import Body
from collectors.protocols.redfish.reports import Message
from collectors.redfish import info, kinds, names
from collectors.redfish.names import Facts, Names
from collectors.redfish.reported import Reported
from collectors.redfish.sheet import Sheet, Taken, ordered
from collectors.source import Target
from fabrichealth.events import Event
from fabrichealth.model import Ids, Poll, Reason, SeriesTable

GRAVE = frozenset({"Critical", "Warning"})
FATAL = "Critical"

MOST_EVENTS = 100
"""Events of one visit that are told; a controller in trouble says the same again and again."""


class Service:
    """The resources of one target."""

    def __init__(self, target: Target, table: SeriesTable, clock: int, stale_after: float) -> None:
        self._target = target
        self._places = Places(target)
        self._table = table
        self._clock = clock
        self._stale_after = stale_after
        self._facts = Facts()
        self.sheet = Sheet(table, Names(self._places, self._facts))
        self.reported = Reported(table, device_name(target.subject), stale_after)
        self._about: Ids = table.intern_all(())
        self._poll: dict[str, Taken] = {}
        self._order: tuple[str, ...] = ()
        self._by_time: dict[float, Columns] = {}
        self._newest = (0.0, 0.0)

    @property
    def name(self) -> str:
        """The target's own name, for messages."""
        return self._target.name

    @property
    def device(self) -> str:
        """The device that the service belongs to."""
        return self._places.device

    def learn(self, tree: Mapping[str, Body]) -> None:
        """Take up how the resources of a tree, by place, hang together."""
        before = self._places
        self._places = names.places(self._target, tree)
        known = names.facts(self._places, tree)
        maker = next((said for body in tree.values() if (said := kinds.maker(body))), "")
        if (known, maker, self._places) != (self._facts, self.sheet.maker, before):
            self._facts = known
            self.sheet.forget(Names(self._places, known), maker)
            self.reported.forget()
        told = info.described(self.sheet.names, self._places, tree)
        self._about = self._table.intern_all(told)
        self._order = tuple(ordered(tree))

    def begin(self, at: float, columns: Columns) -> None:
        """Start a poll at `at` (unix seconds); what one that was cut off had taken is forgotten."""
        self._poll = {}
        self._by_time = {at: columns}

    def take(self, path: str, body: Body) -> Taken:
        """Take one resource, and return what it told."""
        taken = self._poll[path] = self.sheet.read(path, body)
        return taken

    def again(self, path: str, taken: Taken) -> None:
        """Take one resource that says the same as when it told this."""
        self._poll[path] = taken

    def report(self, report: Body, at: float, *, pushed: bool = False) -> None:
        """Take one metric report that was read, or pushed, at `at` (unix seconds)."""
        self.reported.take(report, self.sheet, at, self._by_time, pushed=pushed)

    def hear(self, messages: Iterable[Message], at: float, columns: Columns) -> None:
        """Take messages: detectors that were wet, and what is grave, as events."""
        told = list(messages)
        self.reported.hear(told, self.sheet, at, self._by_time)
        grave = [one for one in told if one.severity in GRAVE]
        room = max(MOST_EVENTS - len(columns.events), 0)
        for one in grave[:room]:
            columns.events.append(_event(one, self.device, self.reported.moment(one, at)))
        if len(grave) > room:
            untold = f"{len(grave) - room} more than {MOST_EVENTS} events"
            columns.refuse(Reason.FAILED, "event", {"device": self.device}, untold)

    def finish(self, at: float, columns: Columns) -> Poll:
        """Return the poll."""
        rank = {path: number for number, path in enumerate(self._order)}
        poll = self._poll
        bodies = {path: poll[path] for path in sorted(poll, key=lambda one: rank.get(one, -1))}
        self._drop_stale(bodies, at, columns)
        self.sheet.take(bodies, columns)
        for series in self._about.tolist():
            columns.put(series, 1.0)
        whole = columns.poll(self._clock, at)
        batches, refused = list(whole.batches), list(whole.refused)
        del self._by_time[at]
        for when, told in sorted(self._by_time.items()):
            part = told.poll(self._clock, when)
            batches += part.batches
            refused += part.refused
        return Poll(batches, refused, [], whole.events, whole.missing)

    def _drop_stale(self, bodies: dict[str, Taken], at: float, columns: Columns) -> None:
        """Leave out sensors whose own stamp lies far behind the newest, or all if that stands.

        The controller's clock may be off by hours, so its stamps are compared with each other.
        """
        stamps = {path: when for path, one in bodies.items() if (when := one.stamp) is not None}
        newest = max(stamps.values(), default=0.0)
        if newest != self._newest[0]:
            self._newest = (newest, at)
        stands = at - self._newest[1] > self._stale_after
        for path, when in stamps.items():
            if stands or newest - when > self._stale_after:
                for cell in bodies.pop(path).layout.cells:
                    labels = dict(zip(cell.metric.labels, cell.labels, strict=True))
                    columns.refuse(Reason.STALE, str(cell.metric), labels, newest - when)


def _event(one: Message, device: str, at: float) -> Event:
    more: dict[str, Any] = {"code": one.code, "text": one.text, "fatal": one.severity == FATAL}
    return Event(at, "device_log", {"device": device}, more=more)
