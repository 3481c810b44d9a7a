"""Claims: what ports say of their far ends, under the topology's names, and since when not again.

A table of neighbours restarts with its service, and a poll may bring only a part of it. So a claim
that is not repeated is kept and called stale, until the same port says something else, or nobody
has repeated it for `KEPT` seconds. An answer without any neighbour says nothing at all.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite

from fabrichealth.model.place import Port
from fabrichealth.model.poll import Neighbor
from fabrichealth.topology.inventory import Topology

STALE_AFTER = 300.0
"""A claim that nobody repeated for so many seconds is stale; tables are read every minute or so."""

KEPT = 7 * 86_400.0
"""A link that is dead is silent at both ends: it is known for so many seconds all the same."""

DOCUMENTS = frozenset({"netbox"})
"""Ways to hear of a far end that are records and no measurements; what they hold no more is not."""

MOST_NAMED = 500_000
"""Neighbours whose names are kept at hand: more than both ends of any fabric's links."""

Far = tuple[str, str]
"""Device and port at the far end; the port is empty where it is not known."""


@dataclass(slots=True)
class Claim:
    """What one port says of its far end; `at` is when it said so last (unix seconds)."""

    here: Port
    far: Far
    via: str
    at: float
    stale: bool = False

    @property
    def there(self) -> Port | None:
        """The far port, None where only its device is known."""
        return Port(*self.far) if self.far[1] else None

    @property
    def measured(self) -> bool:
        """Whether a device said so, and not a record."""
        return self.via not in DOCUMENTS


@dataclass(frozen=True, slots=True)
class _Repeated:
    """One answer, the claims in it, and how often anything had changed when it was given."""

    told: list[Neighbor]
    claims: list[Claim]
    changes: int


class Claims:
    """Everything that was claimed, by port and by the way in which it was heard."""

    def __init__(self, written: Topology) -> None:
        self._written = written
        self._named: dict[Neighbor, tuple[Port, Far]] = {}
        self._known: dict[tuple[str, Port], dict[Far, Claim]] = {}
        self._ports: dict[tuple[str, str], set[Port]] = {}
        self._spelled: dict[str, str] = {}
        """Names that differ in capitals only are one; the first spelling counts."""
        self._changes = 0
        self._repeated: dict[tuple[str, str], _Repeated] = {}
        """Answers as they were last, by the first device in them and how it heard."""

    def __iter__(self) -> Iterator[Claim]:
        return (claim for known in self._known.values() for claim in known.values())

    def under(self, written: Topology) -> "Claims":
        """Return the same claims under the names of another topology."""
        other = Claims(written)
        for claim in self:
            neighbor = Neighbor(*claim.here, *claim.far, claim.via)
            other._put(neighbor, claim.at, stale=claim.stale)
        return other

    def hear(self, neighbors: Iterable[Neighbor], at: float, *, whole: bool = True) -> bool:
        """Take what one poll said at `at` (unix seconds); return whether that changed anything.

        A port of which a device says nothing any more, while it speaks of others, has a stale
        claim; one that a record holds no more has none, if the record was read as a `whole`.
        """
        told = list(neighbors)
        if self._again(told, at):
            return False
        heard: dict[tuple[str, Port], set[Far]] = {}
        for one in told:
            here, far = self._names(one)
            if here.device and here.port and far[0]:
                heard.setdefault((one.via, here), set()).add(far)
        changed = False
        spoken: dict[tuple[str, str], set[Port]] = {}
        for (via, here), fars in heard.items():
            spoken.setdefault((via, here.device), set()).add(here)
            changed |= self._say(via, here, fars, at)
        for (via, device), ports in spoken.items():
            everywhere = self._ports.setdefault((via, device), set())
            for here in everywhere - ports:
                changed |= self._silence(via, here, at, whole=whole)
            everywhere |= ports
        self._changes += changed
        if told:
            said = [
                self._known[via, here][far] for (via, here), fars in heard.items() for far in fars
            ]
            self._repeated[_answer(told)] = _Repeated(told, said, self._changes)
        return changed

    def _again(self, told: list[Neighbor], at: float) -> bool:
        """Return whether this is an answer word for word as before, and take its time if so.

        Fabrics are told of as a whole each minute, and hardly ever change.
        """
        before = self._repeated.get(_answer(told)) if told else None
        if before is None or before.changes != self._changes or before.told != told:
            return False
        if any(claim.stale for claim in before.claims):
            return False
        for claim in before.claims:
            claim.at = max(at, claim.at)
        return True

    def kept(self) -> list[list[str | float]]:
        """Return all claims as plain values, for what survives a restart."""
        return [[*claim.here, *claim.far, claim.via, claim.at] for claim in self]

    def take_up(self, kept: object) -> None:
        """Take up what `kept` returned before a restart; what cannot be used is ignored."""
        for row in kept if isinstance(kept, list) else []:
            match row:
                case [str(), str(), str(), str(), str(), int() | float() as at] if isfinite(at):
                    self._put(Neighbor(*row[:5]), float(at), stale=True)

    def grow_old(self, now: float) -> None:
        """Call stale what was not repeated for long, and forget what nobody repeats."""
        before = len(self._known)
        for (via, here), known in list(self._known.items()):
            for far, claim in list(known.items()):
                claim.stale = claim.stale or claim.at < now - STALE_AFTER
                if claim.at < now - KEPT:
                    del known[far]
            if not known:
                del self._known[via, here]
                self._ports[via, here.device].discard(here)
        self._changes += len(self._known) != before

    def _put(self, neighbor: Neighbor, at: float, *, stale: bool) -> None:
        here, far = self._names(neighbor)
        known = self._known.setdefault((neighbor.via, here), {})
        known.setdefault(far, Claim(here, far, neighbor.via, at, stale))
        self._ports.setdefault((neighbor.via, here.device), set()).add(here)

    def _say(self, via: str, here: Port, fars: set[Far], at: float) -> bool:
        known = self._known.setdefault((via, here), {})
        changed = False
        for far in fars:
            claim = known.get(far)
            if claim is None:
                known[far] = Claim(here, far, via, at)
                changed = True
            else:
                changed |= claim.stale
                claim.at, claim.stale = max(at, claim.at), False
        for far in known.keys() - fars:
            if any(port or device != far[0] or not far[1] for device, port in fars):
                del known[far]  # the port itself says something else now
                changed = True
            else:  # only the device is known again: its port may still be starting
                changed |= not known[far].stale
                known[far].stale = True
        return changed

    def _silence(self, via: str, here: Port, at: float, *, whole: bool) -> bool:
        """Take that a port is not spoken of; what its far end said before is no news either."""
        known = self._known.get((via, here), {})
        if via in DOCUMENTS and whole:
            changed = bool(known)
            known.clear()
            return changed
        changed = False
        for claim in known.values():
            if claim.stale:
                continue
            changed = claim.stale = True
            there = claim.there
            back = (
                self._known.get((via, there), {}).get((here.device, here.port)) if there else None
            )
            if back is not None and back.at < at:
                back.stale = True
        return changed

    def _names(self, one: Neighbor) -> tuple[Port, Far]:
        found = self._named.get(one)
        if found is None:
            if len(self._named) > MOST_NAMED:
                self._named.clear()  # a device that makes names up
            here = self._place(one.device, one.port)
            there = self._place(one.remote_device, one.remote_port)
            found = self._named[one] = Port(*here), there
        return found

    def _in_short(self, device: str) -> str | None:
        """Return the written device of a name with a domain, unless it goes by another domain."""
        short, _, domain = device.partition(".")
        name = self._written.named(short) if domain else None
        row = self._written.devices.get(name) if name else None
        if row is None:
            return name
        longer = f"{short}.".casefold()
        others = [known for known in (row.name, *row.ids) if known.casefold().startswith(longer)]
        return None if others else name

    def _place(self, device: str, port: str) -> Far:
        """Return (device, port) under written names: by id or system name, by alias or uid."""
        topology = self._written
        name = topology.named(device) or self._in_short(device) or device
        name = _sayable(name.replace("/", "_"))
        name = self._spelled.setdefault(name.casefold(), name)
        row = topology.devices.get(name)
        if row is not None and port and port not in row.ports:
            aliases = (known for known, facts in row.ports.items() if facts.alias == port)
            port = topology.port_with_uid(name, port) or next(aliases, port)
        return name, _sayable(port)


def _answer(told: list[Neighbor]) -> tuple[str, str]:
    return told[0].device, told[0].via


def _sayable(name: str) -> str:
    """Return a name from outside as one that a topology takes; empty if there is nothing in it."""
    plain = name.strip().replace("--", "_")
    return plain if plain.isprintable() else "".join(c if c.isprintable() else "_" for c in plain)
