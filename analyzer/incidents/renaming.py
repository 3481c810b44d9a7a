"""Renamed ports: the same port under another name (event `port_renamed`, contract 4).

A port's identity is its `uid`; the name can change with a reboot. What was written, found and
opened under the old name goes on under the new one. Renames of one moment are simultaneous, so
that two ports may swap their names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from analyzer.evidence.causes.signs import renamed
from analyzer.ledger import Ledger
from fabrichealth.events import Event
from fabrichealth.model import Finding, Incident, Place, Port, link_id
from fabrichealth.topology import Link, Topology

Names = Mapping[Port, Port]


def renames(events: Iterable[Event]) -> list[tuple[float, Names]]:
    """Return (at, new name by old) of each moment at which ports were renamed, oldest first."""
    moments: dict[float, dict[Port, Port]] = {}
    for event in events:
        if event.kind != "port_renamed":
            continue
        before, after = (_port(event, key) for key in ("from", "to"))
        if before is not None and after is not None and before != after:
            moments.setdefault(event.at, {})[before] = after
    return sorted(moments.items())


def _port(event: Event, key: str) -> Port | None:
    """Read one end of a rename: a port of the device in scope, or `device/port`."""
    name, device = str(event.more.get(key, "")), event.scope.get("device", "")
    if device and name:
        return Port(device, name.removeprefix(f"{device}/"))
    try:
        return Port.parse(name)
    except ValueError:
        return None


def topology_now(written: Topology, moments: Sequence[tuple[float, Names]]) -> Topology:
    """Return the topology under the ports' present names; a name already written stays."""
    if not moments:
        return written
    taken = set(written.link_of)
    links = []
    for link in written.links.values():
        ends = []
        for end in link.ends:
            now = end
            for _, names in moments:
                now = names.get(now, now)
            swapped = any(now in names for _, names in moments)
            ends.append(str(end if now in taken and not swapped else now))
        links.append(_between(link, *ends))
    return Topology(
        written.devices.values(),
        links,
        written.domains.values(),
        written.racks.values(),
        written.loops.values(),
        written.feeds.values(),
        written.routing,
    )


def _between(link: Link, a: str, b: str) -> Link:
    """Return a link between ports of these names.

    A copy would keep the id and the ends that were worked out under the old ones.
    """
    if (a, b) == (link.a, link.b):
        return link
    written = {name: getattr(link, name) for name in link.model_fields_set}
    return Link.model_validate({**written, "a": a, "b": b})


def follow(ledger: Ledger, moments: Sequence[tuple[float, Names]]) -> list[Incident]:
    """Bring what the ledger holds under new names, once; return the incidents changed."""
    changed: list[Incident] = []
    for at, names in moments:
        fresh = {
            before: after
            for before, after in names.items()
            if (at, str(before), str(after)) not in ledger.renamed
        }
        if not fresh:
            continue
        ledger.renamed |= {(at, str(before), str(after)) for before, after in fresh.items()}
        for name, found in ledger.before.items():
            ledger.before[name] = [_finding(one, fresh) for one in found]
        changed += [one for one in ledger.incidents if _incident(one, fresh)]
        for one in ledger.merged:
            _incident(one, fresh)
    return changed


def found_now(
    findings: Iterable[Finding], before: Sequence[Finding], moments: Sequence[tuple[float, Names]]
) -> list[Finding]:
    """Return findings under present names: those that rest on readings of an old one moved.

    What a detector merely repeats (`before`) was moved when the rename became known.
    """
    known = {id(one) for one in before}
    moved = []
    for finding in findings:
        one = finding
        newest = max((line.at for line in one.evidence), default=one.at)
        for at, names in moments:
            if newest < at and id(finding) not in known:
                one = _finding(one, names)
        moved.append(one)
    return moved


def _finding(one: Finding, names: Names) -> Finding:
    about = names.get(one.about, one.about) if isinstance(one.about, Port) else one.about
    if isinstance(about, Place):
        about = _place(about, names)
    side = names.get(one.side, one.side) if one.side else one.side
    victims = tuple(_place(place, names) for place in one.victims)
    signs = renamed(one.signs, names)
    if (about, side, victims, signs) == (one.about, one.side, one.victims, one.signs):
        return one
    return replace(one, about=about, side=side, victims=victims, signs=signs)


def _incident(one: Incident, names: Names) -> bool:
    before = (one.culprit, one.side, list(one.victims))
    one.culprit = _place(one.culprit, names)
    one.victims = [_place(place, names) for place in one.victims]
    one.signs = renamed(one.signs, names)
    if one.side is not None:
        side = Port.parse(one.side)
        one.side = str(names.get(side, side))
    return before != (one.culprit, one.side, one.victims)


def _place(place: Place, names: Names) -> Place:
    if place.type == "port":
        port = Port.parse(place.id)
        return Place("port", str(names.get(port, port)))
    if place.type == "link":
        ends = [Port.parse(end) for end in place.id.split("--")]
        return Place("link", link_id(*(names.get(end, end) for end in ends)))
    return place
