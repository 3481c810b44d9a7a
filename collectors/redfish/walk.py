"""Walk: from a service's root to everything that it tells of, one request after the other.

Whoever does the I/O asks for `wanted`, reads it, and hands the answer back. Expanded collections
are asked for where the service offers them; pages are followed, but never one that was seen.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.protocols.redfish import documents
from collectors.protocols.redfish.documents import ROOT, Body, last
from collectors.redfish import kinds

EXPANDED = "?$expand=.($levels=1)"

COLLECTIONS = frozenset(
    {
        "CDUs", "RPUs", "HeatExchangers", "ImmersionUnits", "CoolingLoops",
        "PrimaryCoolantConnectors", "SecondaryCoolantConnectors", "CoolantConnectors", "Pumps",
        "Filters", "Reservoirs", "LeakDetectors", "RackPDUs", "FloorPDUs", "PowerShelves",
        "TransferSwitches", "Switchgear", "ElectricalBuses", "Mains", "Branches", "Feeders",
        "Outlets", "PowerSupplies", "Sensors", "Chassis", "Fans", "Heaters", "MetricReports",
        "NetworkAdapters", "Ports",
    }
)  # fmt: skip
"""Names of places that list others."""

MOST_RESOURCES = 5000
MOST_PAGES = 200


@dataclass(slots=True)
class Walk:
    """One walk; it may take several visits."""

    root: str = ROOT
    expands: bool = True
    """Whether collections may be asked for with their members in them."""
    ports: bool = False
    """Whether network ports are wanted."""
    tree: dict[str, Body] = field(default_factory=dict)
    """Every resource by its place."""
    requests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What each request gave: the places of the resources in its answer."""
    reports: dict[str, Body] = field(default_factory=dict)
    """Metric reports by their places."""
    wrong: dict[str, str] = field(default_factory=dict)
    """What could not be read, by place, and why."""
    stream: str = ""
    """Path of the service's stream of events, empty if it has none."""
    _queue: deque[str] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)
    _offers: bool = False
    _doubted: str = ""
    _pages: int = 0

    def __post_init__(self) -> None:
        self._queue.append(f"{self.root}/")

    def wanted(self) -> str | None:
        """Return the next request, a path with its query; None when the walk is over."""
        while self._queue and self._queue[0] in self.tree:
            self._queue.popleft()  # it came with its collection
        return self._queue[0] if self._queue else None

    def got(self, request: str, body: Any) -> None:
        """Take what a request answered."""
        self._queue.popleft()
        path = documents.place(request)
        if not isinstance(body, dict):
            self.wrong[path] = "no object, where a resource was asked for"
            return
        if path == self.root:
            self._offers = self.expands and _offers(body)
        if request == self._doubted:  # plain it works: the service cannot do what it offers
            self._offers = False
            self._queue = deque(one.removesuffix(EXPANDED) for one in self._queue)
        found = dict(documents.resources(body, path))
        found.setdefault(path, body)
        self.requests[request] = tuple(found)
        lists = [one for one in found.values() if documents.is_collection(one)]
        for place, one in found.items():
            if len(self.tree) >= MOST_RESOURCES:
                self.wrong[path] = f"more than {MOST_RESOURCES} resources; the rest is left out"
                return
            if not documents.is_collection(one):
                self._take(place, one)
        for one in lists:
            self._lead(documents.members(one))
        self._turn(path, body)

    def failed(self, request: str, why: str) -> None:
        """Take that a request gave nothing; one for an expanded collection is made again, plain."""
        self._queue.popleft()
        path, _, query = request.partition("?")
        if query.startswith("$expand"):
            self._doubted = path
            self._queue.appendleft(path)
        else:
            self.wrong[path] = why

    def _take(self, place: str, body: Body) -> None:
        of = kinds.kind(place, body)
        if of == "MetricReport":
            self.reports[place] = body
            return
        if of == "TelemetryService" and body.get("ServiceEnabled") is False:
            return
        if of == "EventService":
            uri = body.get("ServerSentEventUri")
            self.stream = documents.place(uri) if body.get("ServiceEnabled") is not False else ""
        self._seen.add(place)
        self.tree[place] = body
        self._lead(kinds.leads(body, ports=self.ports))

    def _lead(self, places: list[str]) -> None:
        for place in places:
            if place not in self.tree:
                self._want(place)

    def _want(self, place: str) -> None:
        if place in self._seen or not place.startswith(self.root):
            return
        self._seen.add(place)
        expanded = self._offers and last(place) in COLLECTIONS
        self._queue.append(f"{place}{EXPANDED}" if expanded else place)

    def _turn(self, path: str, body: Body) -> None:
        """Go on to the next page, unless it was read already."""
        page = documents.next_page(body)
        if not page:
            return
        self._pages += 1
        if page in self._seen or page == path or self._pages > MOST_PAGES:
            self.wrong[path] = "the next page is one that was read already"
            return
        self._seen.add(page)
        self._queue.append(page)


def _offers(root: Mapping[str, Any]) -> bool:
    """Return whether a service expands collections (DSP0266, ProtocolFeaturesSupported)."""
    offered = root.get("ProtocolFeaturesSupported")
    expand = offered.get("ExpandQuery") if isinstance(offered, Mapping) else None
    if not isinstance(expand, Mapping):
        return False
    alone = expand.get("NoLinks") is True or expand.get("ExpandAll") is True
    return alone and expand.get("Levels") is not False
