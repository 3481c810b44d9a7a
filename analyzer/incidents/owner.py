"""Owner of a culprit: its rack, and the room and team that are written for it.

A link or a loop between racks of different teams has no team, unless the ill side is known: an
alert that goes to the wrong team is worse than one that goes to all.
"""

from collections.abc import Iterable

from fabrichealth.model import Owner, Place
from fabrichealth.topology import Topology


def owner_of(culprit: Place, side: str | None, topology: Topology) -> Owner:
    """Return where a culprit stands and whose it is; `side` is the `device/port` that is ill."""
    if culprit.type == "domain":
        return Owner(team=_team_of_domain(culprit.id, topology))
    racks = _racks(culprit, side, topology)
    rack = _only(racks)
    rooms = (topology.racks[one].room for one in racks if one in topology.racks)
    return Owner(rack, _only(rooms), _only(_teams(culprit, side, racks, topology)))


def _racks(culprit: Place, side: str | None, topology: Topology) -> set[str]:
    if culprit.type == "rack":
        return {culprit.id}
    if culprit.type == "feed":
        feed = topology.feeds.get(culprit.id)
        return {feed.rack} if feed else set()
    if culprit.type in {"loop", "branch"}:
        name = culprit.id.partition("/")[0]
        loop = topology.loops.get(name)
        cooled = {one.name for one in topology.racks.values() if one.loop == name}
        return cooled | {*(loop.racks if loop else ())}
    return {topology.rack_of(device) for device in _devices(culprit, side, topology)} - {""}


def _devices(culprit: Place, side: str | None, topology: Topology) -> tuple[str, ...]:
    if side:
        return (side.partition("/")[0],)
    if culprit.type == "source":
        return (culprit.id.partition("/")[2],)
    return topology.devices_of(culprit)


def _teams(culprit: Place, side: str | None, racks: set[str], topology: Topology) -> set[str]:
    """Return the teams named for the devices of a culprit, else for its racks or domains."""
    if culprit.type in {"rack", "feed", "loop", "branch"}:
        return {_team_of_rack(rack, topology) for rack in racks}
    found = set()
    for device in _devices(culprit, side, topology):
        row = topology.devices.get(device)
        host = topology.devices.get(row.host) if row is not None else None
        own = (row.team if row else "") or (host.team if host else "")
        found.add(own or _team_of_rack(topology.rack_of(device), topology)
                  or _team_of_domain(topology.domain_of(device), topology))  # fmt: skip
    return found


def _team_of_rack(rack: str, topology: Topology) -> str:
    row = topology.racks.get(rack)
    return "" if row is None else row.team or _team_of_domain(row.domain, topology)


def _team_of_domain(domain: str, topology: Topology) -> str:
    row = topology.domains.get(domain)
    return row.team if row else ""


def _only(names: Iterable[str]) -> str:
    """Return the one name there is; empty where there are several."""
    found = {*names}
    return found.pop() if len(found) == 1 else ""
