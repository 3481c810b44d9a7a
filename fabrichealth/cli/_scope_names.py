"""Names in the scope of an event: an event of what nobody knows would excuse nothing, silently.

Written names count, what was ever read counts (links are discovered, ports are not all cabled), and
an incident must be one of the ledger. A wrong name is told with those that look like it.
"""

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches

from fabrichealth.catalogue import METRICS
from fabrichealth.catalogue.ports import LINK_INFO, UP
from fabrichealth.errors import StoreError, UsageError
from fabrichealth.model import SeriesTable
from fabrichealth.store.engine import AnyEngine
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

Names = dict[str, set[str]]
"""Names that there are, by the key of a scope."""

NEWEST = 8
DAY = 86_400.0


def written(topology: Topology) -> Names:
    """Return the names that a topology file holds."""
    links = topology.links.values()
    ports = {str(end) for link in links for end in link.ends}
    ports |= {f"{one.name}/{port}" for one in topology.devices.values() for port in one.ports}
    loops = {rack: loop.name for loop in topology.loops.values() for rack in loop.racks}
    branches: set[str] = set()
    for rack in topology.racks.values():
        loop = rack.loop or loops.get(rack.name, "")
        for branch in filter(None, (rack.branch, *rack.branches)):
            branches |= {branch, f"{loop}/{branch}"} if loop else {branch}
    return {
        "device": set(topology.devices),
        "port": ports,
        "link": set(topology.links),
        "rack": topology.racks.keys() | topology.in_rack.keys(),
        "domain": topology.domains.keys() | {topology.domain_of(one) for one in topology.devices},
        "loop": set(topology.loops),
        "branch": branches,
        "feed": set(topology.feeds),
    }


def ever_read(engine: AnyEngine) -> Names:
    """Return what the store of a site has series of; nothing where there is no store yet."""
    try:
        store = engine.reader()
    except StoreError:
        return {}
    try:
        if engine.shared:
            _learn(store)
        return read_in(store.table)
    except StoreError:
        return {}
    finally:
        store.close()


def _learn(store: Store) -> None:
    """Have a store on a server tell the names of the last day; its table is empty before."""
    span = store.span()
    if span is None:
        return
    for metric in METRICS.values():
        if metric in {UP, LINK_INFO} or {"loop", "branch"} <= set(metric.labels):
            store.latest(metric, span[1], DAY)


def read_in(table: SeriesTable) -> Names:
    """Return the names of ports, devices, links, loops and branches that a table has series of."""
    found: Names = {"device": set(), "port": set(), "link": set(), "loop": set(), "branch": set()}
    for series in table.of(UP).tolist():
        device, port = table.labels(series)
        found["device"].add(device)
        found["port"].add(f"{device}/{port}")
    for series in table.of(LINK_INFO).tolist():
        found["link"].add(table.labels(series)[LINK_INFO.labels.index("link")])
    for metric in table.metrics():
        if not {"loop", "branch"} <= set(metric.labels):
            continue
        places = metric.labels.index("loop"), metric.labels.index("branch")
        for series in table.of(metric).tolist():
            loop, branch = (table.labels(series)[place] for place in places)
            found["loop"].add(loop)
            found["branch"] |= {branch, f"{loop}/{branch}"} if branch else set()
    return found


def check(scope: Mapping[str, str], known: Names, more: Callable[[], Names]) -> None:
    """Refuse a name that there is not; `more` is asked only for what is not `known`.

    Raises:
        UsageError: which name, and those that look like it.
    """
    for key, said in scope.items():
        if key not in known:
            continue
        name = _whole(key, said, scope)
        if name in known[key]:
            continue
        every = known[key] | more().get(key, set())
        if name not in every:
            raise UsageError(f"--{key} {said}: not in the topology{_like(name, every)}")


def check_incident(scope: Mapping[str, str], incidents: Callable[[], Collection[str]]) -> None:
    """Refuse an incident that there is not.

    Raises:
        UsageError: which, and those that look like it or are the newest.
    """
    name = scope.get("incident")
    if name is None:
        return
    try:
        known = incidents()
    except StoreError:
        known = ()  # a site that never ran
    if name not in known:
        newest = ", ".join(list(known)[-NEWEST:]) or "none"
        raise UsageError(f"--incident {name}: no such incident; the newest are: {newest}")


def _whole(key: str, name: str, scope: Mapping[str, str]) -> str:
    """Return a port with its device, which may be in the scope beside it (contract 4)."""
    device = scope.get("device", "")
    if key != "port" or not device or name.startswith(f"{device}/"):
        return name
    return f"{device}/{name}"


def _like(name: str, every: Collection[str]) -> str:
    """Return the names that look like one, those of its own device first."""
    device = name.partition("/")[0]
    near = [one for one in every if one.partition("/")[0] == device] if "/" in name else []
    found = get_close_matches(name, sorted(near), 3) or get_close_matches(name, sorted(every), 3)
    return f"; did you mean {' or '.join(found)}?" if found else "; check the name"
