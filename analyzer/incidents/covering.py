"""What an open incident accounts for, by the labels that readings of it carry.

Rules that compare readings with a limit ask for it: a port, loop or target that an incident names,
as culprit or as victim, is no news of their own. A device that is dark covers both ends of all its
cables; one that is ill otherwise covers itself alone.
"""

from collections.abc import Iterator

from analyzer.incidents.capacity import links_behind
from fabrichealth.kinds import DEVICE_DOWN, PARTS_SHARED_COMPONENT
from fabrichealth.model import Incident, Labels, Place, Port
from fabrichealth.topology import Topology

COVERED = ("device", "port", "loop", "rack", "feed", "bundle", "source", "target")
"""Labels, in the order of the metric."""

MOST = 20_000
"""Things covered by one incident: both ends of 10,000 cables."""

Row = dict[str, str]


def covered(incident: Incident, topology: Topology) -> list[Labels]:
    """Return the labels of each thing, empty ones where they do not apply."""
    rows: dict[Labels, None] = {}
    for row in _rows(incident, topology):
        rows[tuple(row.get(label, "") for label in COVERED)] = None
        if len(rows) >= MOST:
            break
    return list(rows)


def _rows(incident: Incident, topology: Topology) -> Iterator[Row]:
    dark = incident.kind in {DEVICE_DOWN, PARTS_SHARED_COMPONENT}
    yield from _place(incident.culprit, topology, whole=dark)
    whole_source = incident.culprit.type == "source" and "/" not in incident.culprit.id
    for victim in incident.victims:
        yield from _place(victim, topology, whole=False)
        if whole_source and victim.type == "device":
            yield {"source": incident.culprit.id, "target": victim.id}


def _place(place: Place, topology: Topology, *, whole: bool) -> Iterator[Row]:
    """Yield what a place is; `whole`: with the ends of all cables behind it."""
    if place.type in {"loop", "branch"}:
        yield {"loop": place.id.partition("/")[0]}
    elif place.type == "feed":
        feed = topology.feeds.get(place.id)
        yield {"feed": place.id, "rack": feed.rack if feed else ""}
    elif place.type == "source":
        source, _, target = place.id.partition("/")
        yield {"source": source, "target": target}
    elif place.type in {"rack", "device", "bundle"}:
        yield {place.type: place.id}
    if whole and place.type == "rack":
        for device in topology.devices_of(place):
            yield from _place(Place("device", device), topology, whole=True)
    elif whole or place.type in {"link", "port"}:
        for name in links_behind(place, topology):
            for end in topology.links[name].ends:
                yield {"device": end.device, "port": end.port}
    if place.type == "port":
        end = Port.parse(place.id)
        yield {"device": end.device, "port": end.port}
