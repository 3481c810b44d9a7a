"""Discovery: claims of both ends joined into links, and every doubt about them (contract 2).

What is written stands. Of the rest a link is what its ends say without contradiction: a fresh word
before a stale one, a device's before a record's, both ends' before one end's. Where two claims of
equal worth exclude each other neither is believed. No port is ever in two links.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from fabrichealth.model.place import Port, link_id
from fabrichealth.model.poll import Neighbor
from fabrichealth.topology.claims import Claim, Claims
from fabrichealth.topology.inventory import Topology

FEW = 3
"""Far ends of one port that are told one by one; a port that more claim is told of once."""


@dataclass(slots=True)
class FoundLink:
    """A link that its ends speak of: both ports, sorted by bytes, and who says so."""

    ends: tuple[Port, Port]
    told_by: set[Port] = field(default_factory=set)
    via: set[str] = field(default_factory=set)
    at: float = 0.0
    stale: bool = True
    """Nobody says so now; it is the last that was known."""
    measured: bool = False
    """A device says so, and not a record alone."""

    @property
    def id(self) -> str:
        """`a--b`."""
        return link_id(*self.ends)

    @property
    def worth(self) -> tuple[bool, bool, int]:
        """What is believed first when two exclude each other."""
        return not self.stale, self.measured, len(self.told_by)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something about a port that does not fit: which way, and in words."""

    kind: str
    """contradiction, moved, one_sided, port_unknown or loop."""
    about: Port
    says: str


@dataclass(frozen=True, slots=True)
class Found:
    """What discovery makes of all claims."""

    links: tuple[FoundLink, ...] = ()
    """Links without contradiction, written ones among them; no port twice."""
    doubts: tuple[Doubt, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def speakers(self) -> set[tuple[str, str]]:
        """(device, via) of whoever says anything of its neighbours now."""
        return {(claim.here.device, claim.via) for claim in self.claims if not claim.stale}


class Discovery:
    """Remembers what ports claim, and says which links follow."""

    def __init__(self, written: Topology, claims: Claims | None = None) -> None:
        self._written = written
        self._claims = claims if claims is not None else Claims(written)

    def under(self, written: Topology) -> "Discovery":
        """Return the same knowledge under another written topology."""
        return Discovery(written, self._claims.under(written))

    def hear(self, neighbors: Sequence[Neighbor], at: float, *, whole: bool = True) -> bool:
        """Take what one poll said at `at` (unix seconds); return whether anything is new."""
        return self._claims.hear(neighbors, at, whole=whole)

    def memory(self) -> list[list[str | float]]:
        """Return what must survive a restart: a dead link is silent, and known all the same."""
        return self._claims.kept()

    def remember(self, memory: object) -> None:
        """Take up what `memory` returned before the restart."""
        self._claims.take_up(memory)

    def found(self, now: float, own: Mapping[Port, Port] | None = None) -> Found:
        """Return links and doubts as of `now` (unix seconds).

        `own` has the names that ports have in their own system, by what others call them.
        """
        self._claims.grow_old(now)
        named = list(_in_short(list(self._claims)))
        named = [_under(claim, own) for claim in named] if own else named
        claims = sorted(named, key=lambda claim: (claim.here, claim.via, claim.far))
        links, doubts = _chosen(list(_joined(claims)), self._written)
        doubts += _one_sided(links, claims, self._written)
        doubts += _unknown(links, claims, self._written)
        doubts += _loops(claims)
        return Found(tuple(links), tuple(doubts), tuple(claims))


def _in_short(claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield claims whose far devices go by the name under which they speak themselves.

    A system tells its name with a domain, while whoever reads it knows it without one; two domains
    with one such name are two systems, of which nobody knows which is meant.
    """
    speakers = {claim.here.device for claim in claims if claim.measured}
    longer: dict[str, set[str]] = {}
    for claim in claims:
        name = claim.far[0]
        short, _, domain = name.partition(".")
        if domain and name not in speakers and short in speakers:
            longer.setdefault(short, set()).add(name)
    known = {names.pop(): short for short, names in longer.items() if len(names) == 1}
    for claim in claims:
        own = known.get(claim.far[0])
        yield claim if own is None else replace(claim, far=(own, claim.far[1]))


def _under(claim: Claim, own: Mapping[Port, Port]) -> Claim:
    """Return a claim under the ports' own names."""
    there = claim.there
    far = claim.far if there is None else own.get(there, there)
    return replace(claim, here=own.get(claim.here, claim.here), far=(far[0], far[1]))


def _joined(claims: Iterable[Claim]) -> Iterator[FoundLink]:
    """Yield one link for what its two ends say of each other, however often."""
    found: dict[tuple[Port, Port], FoundLink] = {}
    for claim in claims:
        there = claim.there
        if there is None or there == claim.here:
            continue
        one, other = sorted((claim.here, there), key=lambda port: str(port).encode())
        link = found.setdefault((one, other), FoundLink((one, other)))
        link.told_by.add(claim.here)
        link.via.add(claim.via)
        link.at = max(link.at, claim.at)
        link.stale = link.stale and claim.stale
        link.measured = link.measured or claim.measured
    yield from found.values()


def _chosen(links: list[FoundLink], written: Topology) -> tuple[list[FoundLink], list[Doubt]]:
    """Return the links that exclude no other, best first, and a doubt for each that does."""
    chosen: list[FoundLink] = []
    doubts: list[Doubt] = []
    taken = {end: _other(end, link.ends) for link in written.links.values() for end in link.ends}
    rest = []
    for link in links:
        one, other = link.ends
        if taken.get(one) == other:
            chosen.append(link)
        else:
            rest.append(link)
    rest.sort(key=lambda link: link.worth, reverse=True)
    for _, group in groupby(rest, key=lambda link: link.worth):
        equals = list(group)
        free = [link for link in equals if not any(end in taken for end in link.ends)]
        claimed = Counter(end for link in free for end in link.ends)
        rivals: dict[Port, list[Port]] = {}
        for link in equals:
            for end in link.ends:
                rivals.setdefault(end, []).append(_other(end, link.ends))
        crowded = {end for end, facing in rivals.items() if len(facing) > FEW}
        doubts += [_crowded(end, rivals[end]) for end in sorted(crowded - written.link_of.keys())]
        for link in equals:
            excluded = [end for end in link.ends if end in taken or claimed[end] > 1]
            if not excluded:
                chosen.append(link)
                continue
            doubtful = [end for end in excluded if end not in crowded]
            doubts += _excluded(link, doubtful, taken, rivals, written)
        for link in free:
            for end in link.ends:
                taken.setdefault(end, _other(end, link.ends) if claimed[end] == 1 else end)
    return chosen, doubts


def _crowded(end: Port, facing: list[Port]) -> Doubt:
    """Return the one doubt about a port that more face than can."""
    some = ", ".join(sorted(map(str, facing))[:FEW])
    return Doubt("contradiction", end, f"faces {some} and {len(facing) - FEW} more")


def _excluded(
    link: FoundLink,
    ends: list[Port],
    taken: dict[Port, Port],
    rivals: Mapping[Port, list[Port]],
    written: Topology,
) -> Iterator[Doubt]:
    """Yield why a link is not believed; what contradicts the written file is its own difference."""
    for end in ends:
        if end in written.link_of:
            continue
        other = _other(end, link.ends)
        others = [port for port in rivals[end] if port != other]
        known = [taken[end]] if taken.get(end, end) != end else others
        if not known:
            continue
        facing = " and ".join(sorted(map(str, known)))
        if link.stale:
            says = f"{other} was its far end until {link.at:.0f}, it is {facing} now"
            yield Doubt("moved", end, says)
        else:
            teller = " and ".join(sorted(map(str, link.told_by)))
            says = f"{teller} says {link.ends[0]} faces {link.ends[1]}, but {end} faces {facing}"
            yield Doubt("contradiction", end, says)


def _one_sided(
    links: Iterable[FoundLink], claims: Iterable[Claim], written: Topology
) -> Iterator[Doubt]:
    """Yield links of which only one end speaks; a far end that is never asked may be written."""
    speakers = {claim.here.device for claim in claims if claim.measured}
    for link in links:
        silent = [end for end in link.ends if end not in link.told_by]
        if not link.measured or link.stale or len(silent) != 1:
            continue
        (end,) = silent
        if end.device in speakers:
            why = f"{end} says nothing of it"
        elif link.id in written.links:
            continue
        else:
            why = f"{end.device} was not heard"
        (teller,) = link.told_by
        yield Doubt("one_sided", teller, f"faces {end} by {_ways(link.via)}; {why}")


def _unknown(
    links: Iterable[FoundLink], claims: Iterable[Claim], written: Topology
) -> Iterator[Doubt]:
    """Yield ports of whose far end only the device is known, or another device than the link's."""
    facing = {end: _other(end, link.ends) for link in links for end in link.ends}
    for claim in claims:
        if claim.there is not None or claim.stale:
            continue
        known = written.peer(claim.here) or facing.get(claim.here)
        if known is None:
            says = f"faces {claim.far[0]} by {claim.via}, port unknown"
            yield Doubt("port_unknown", claim.here, says)
        elif known.device != claim.far[0] and written.peer(claim.here) is None:
            says = f"faces {known}, but {claim.via} says {claim.far[0]}, port unknown"
            yield Doubt("contradiction", claim.here, says)


def _loops(claims: Iterable[Claim]) -> Iterator[Doubt]:
    """Yield ports that hear themselves."""
    for claim in claims:
        if claim.there == claim.here and not claim.stale:
            says = f"hears itself by {claim.via}: a loop, or a cable that returns"
            yield Doubt("loop", claim.here, says)


def _other(end: Port, ends: tuple[Port, Port]) -> Port:
    return ends[1] if end == ends[0] else ends[0]


def _ways(via: Iterable[str]) -> str:
    return " and ".join(sorted(via))
