"""Kubernetes' pods as a cluster: pods of one owner are one job, gangs of Volcano count as a whole.

Pods of an owner that keeps replicas do not wait for one another: each of them is a job. Which
accelerators a pod has is known by annotations and claims only, or where its job fills a node, or a
node is full or empty; where it is not known a host's accelerators are counted.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.protocols.kubernetes import Gang, KubeNode, Listed, Pod
from collectors.protocols.kubernetes_claims import Claim, Device, Offer
from collectors.protocols.kubernetes_devices import device_index, sliced
from collectors.scheduler.cluster import Cluster, Host, RunningJob, WaitingJob
from fabrichealth.model import Reason

OVER = frozenset({"Succeeded", "Failed"})
"""Phases of a pod that holds nothing any more."""

HARMLESS = frozenset({"node", "resourceslice"})
"""Objects of which one that cannot be read hides no job."""

GANG_WAITS = frozenset({"", "Pending", "Inqueue", "Restarting"})
"""Phases of a gang that has not all that it needs."""

VOLCANO = frozenset({"podgroups", "jobs"})
"""Lists that tell of gangs."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a placed pod holds: `counted` by its requests, and `claimed`, which others may share.

    `known` of the counted are known by index or UUID.
    """

    counted: int
    known: tuple[str, ...]
    claimed: frozenset[Device]


def cluster(pages: Iterable[Listed], lost: Collection[str] = ()) -> Cluster:
    """Return what some lists of one moment say together; `lost` names those that were not had."""
    found = Cluster()
    nodes: dict[str, KubeNode] | None = None
    pods: dict[tuple[str, str], Pod] | None = None
    claims: dict[tuple[str, str], Claim] = {}
    offers: dict[str, Offer] = {}
    gangs: dict[tuple[str, str, int], Gang] | None = None
    for page in pages:
        found.malformed(page.malformed)
        found.whole = found.whole and {what for what, _ in page.malformed} <= HARMLESS
        if page.nodes is not None:
            nodes = (nodes or {}) | {one.name: one for one in page.nodes}
        if page.pods is not None:
            pods = (pods or {}) | {(one.namespace, one.name): one for one in page.pods}
        offers |= {one.name: one for one in page.offers or ()}
        claims |= {(one.namespace, one.name): one for one in page.claims or ()}
        if page.gangs is not None:
            gangs = (gangs or {}) | {(g.namespace, g.name, g.size): g for g in page.gangs}
    nodes = None if nodes is None else _offering(nodes, offers.values())
    every = [one for one in (pods or {}).values() if one.phase not in OVER]
    unread = [
        one for one in every if any((one.namespace, name) not in claims for name in one.claims)
    ]
    found.unread = {pod.job for pod in unread}
    asking = [one for one in every if one.job not in found.unread and (one.size or one.claims)]
    placed = [one for one in asking if one.node]
    held = {(pod.namespace, pod.name): _held(pod, claims) for pod in placed}
    if pods is not None:
        found.running = _running(placed, held, nodes or {}, found)
    if (pods is not None or gangs is not None) and not {"pods", *VOLCANO}.intersection(lost):
        running = {job.name for job in found.running or ()}
        found.waiting = _waiting(asking, claims, (gangs or {}).values(), running, nodes)
    if nodes is not None:
        unknown = {pod.node for pod in every if pod.job in found.unread}
        found.hosts = _hosts(nodes.values(), None if pods is None else placed, held, unknown)
    _refuse(unread, claims.values(), (nodes or {}).values(), found)
    return found


def _offering(nodes: Mapping[str, KubeNode], offers: Collection[Offer]) -> dict[str, KubeNode]:
    """Return nodes with as many as their resource slices offer, where no device plugin does."""
    latest: dict[tuple[str, str], int] = defaultdict(int)
    for one in offers:
        latest[one.pool] = max(latest[one.pool], one.generation)
    total: dict[str, int] = defaultdict(int)
    for one in offers:
        if one.generation == latest[one.pool]:
            total[one.node] += one.accelerators
    return {
        name: node if node.total or not total[name] else replace(node, total=total[name])
        for name, node in nodes.items()
    }


def _refuse(
    unread: Sequence[Pod], claims: Iterable[Claim], nodes: Iterable[KubeNode], found: Cluster
) -> None:
    """Say of what it is not known who holds it, once for each kind."""

    def say(what: str, labels: dict[str, str], raw: str) -> None:
        found.refused.append((Reason.UNSUPPORTED, what, labels, raw))

    for node in nodes:
        if node.withheld:
            raw = f"{node.withheld} of {node.total} are not offered, and not told which"
            say("allocatable", {"device": node.name}, raw)
    for driver in sorted({driver for claim in claims for driver in claim.strange}):
        raw = f"not counted: is {driver} a driver of accelerators? if so name it in resources"
        say("resourceclaims", {}, raw)
    if unread:
        say(
            "resourceclaims",
            {},
            f"claims of {len(unread)} pods are not listed; what they hold is unknown",
        )


def _held(pod: Pod, claims: Mapping[tuple[str, str], Claim]) -> Held:
    """Return what a placed pod holds, by its requests and by its claims."""
    given = [one for name in pod.claims for one in claims[pod.namespace, name].devices]
    known = pod.devices if len(pod.devices) == pod.size else ()
    return Held(pod.size, known, frozenset(given))


def _whole(claimed: Iterable[Device]) -> set[Device]:
    """Return the claimed devices that are accelerators and no slices of them."""
    return {one for one in claimed if sliced(one.name) is None}


def _indices(claimed: Iterable[Device], node: str) -> list[str]:
    """Return by index which accelerators of a node these are, or are slices of."""
    mine = {sliced(one.name) or device_index(one.name) for one in claimed if one.pool == node}
    return sorted(mine)


def _running(
    placed: Sequence[Pod],
    held: Mapping[tuple[str, str], Held],
    nodes: Mapping[str, KubeNode],
    found: Cluster,
) -> list[RunningJob]:
    by_job: dict[str, dict[str, list[Pod]]] = defaultdict(lambda: defaultdict(list))
    used: dict[str, int] = defaultdict(int)
    for pod in placed:
        mine = held[pod.namespace, pod.name]
        if mine.counted or _whole(mine.claimed):  # whose all are slices has no accelerator
            by_job[pod.job][pod.node].append(pod)
            used[pod.node] += mine.counted
    apart = _time_shared(placed, held)
    jobs = []
    for name, on_node in by_job.items():
        accelerators: dict[str, tuple[str, ...]] = {}
        size = 0
        for node, pods in on_node.items():
            shares = [held[pod.namespace, pod.name] for pod in pods]
            counted = sum(one.counted for one in shares)
            claimed = {device for one in shares for device in _whole(one.claimed)}
            every = [*(each for one in shares for each in one.known), *_indices(claimed, node)]
            known = tuple(each for each in every if (node, each) not in apart)
            row = nodes.get(node)
            if (
                row is not None
                and not row.shared
                and len(known) != counted == row.total == used[node]
            ):
                known = tuple(map(str, range(counted)))  # all that there are
            size += counted + len(claimed)
            if known:
                accelerators[node] = known
        pods = [pod for each in on_node.values() for pod in each]
        since = min((at for pod in pods if (at := pod.started or pod.created)), default=None)
        job = RunningJob(name, size, since, tuple(on_node), accelerators)
        if not job.known:
            raw = f"{size} on {len(on_node)} nodes, no device ids"
            found.refused.append((Reason.UNSUPPORTED, "devices", {"job": name}, raw))
        jobs.append(job)
    return jobs


def _time_shared(
    placed: Sequence[Pod], held: Mapping[tuple[str, str], Held]
) -> set[tuple[str, str]]:
    """Return the accelerators, by node, of which several jobs have shares: none of them has it."""
    jobs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pod in placed:
        for each in held[pod.namespace, pod.name].known:
            jobs[pod.node, each].add(pod.job)
    return {device for device, names in jobs.items() if len(names) > 1}


def _waiting(
    asking: Iterable[Pod],
    claims: Mapping[tuple[str, str], Claim],
    gangs: Iterable[Gang],
    running: set[str],
    nodes: Mapping[str, KubeNode] | None,
) -> list[WaitingJob]:
    by_job: dict[str, list[Pod]] = defaultdict(list)
    for pod in asking:
        if not pod.node and pod.phase == "Pending" and not pod.gated:
            by_job[pod.job].append(pod)
    whole: dict[str, list[Gang]] = defaultdict(list)
    for gang in gangs:
        if gang.phase in GANG_WAITS and gang.size and gang.job not in running:
            whole[gang.job].append(gang)
    found = []
    for name in dict.fromkeys((*by_job, *whole)):
        pods, together = by_job[name], whole[name]
        eligible = _eligible(pods, nodes)
        if eligible is not None and not eligible:
            continue  # no node is of the kind it asks for: no room would help it
        claimed = {(pod.namespace, one) for pod in pods for one in pod.claims}  # several may share
        asked = sum(pod.size for pod in pods) + sum(claims[one].asked for one in claimed)
        if not (size := max([asked, *(gang.size for gang in together)])):
            continue
        created = [*(pod.created for pod in pods), *(gang.created for gang in together)]
        since = min((at for at in created if at is not None), default=None)
        found.append(WaitingJob(name, size, since, eligible))
    return found


def _eligible(pods: Sequence[Pod], nodes: Mapping[str, KubeNode] | None) -> frozenset[str] | None:
    """Return the nodes that a job's pods select by labels; None where they select none."""
    selectors = [pod.selector.items() for pod in pods if pod.selector]
    if nodes is None or not selectors:
        return None
    fitting = (
        name
        for name, node in nodes.items()
        if any(asked <= node.labels.items() for asked in selectors)
    )
    return frozenset(fitting)


def _hosts(
    nodes: Iterable[KubeNode],
    placed: Sequence[Pod] | None,
    held: Mapping[tuple[str, str], Held],
    unknown: Collection[str],
) -> list[Host]:
    """Return the nodes; nobody says what is held on those that are `unknown`."""
    counted: dict[str, int] = defaultdict(int)
    named: dict[str, int] = defaultdict(int)
    claimed: dict[str, set[Device]] = defaultdict(set)
    known: dict[str, set[str]] = defaultdict(set)
    for pod in placed or ():
        mine = held[pod.namespace, pod.name]
        counted[pod.node] += mine.counted
        named[pod.node] += len(mine.known)
        claimed[pod.node] |= mine.claimed
        known[pod.node].update(mine.known)
    found = []
    for node in nodes:
        host = Host(node.name, node.schedulable, node.total)
        found.append(host)
        many, given = counted[node.name], claimed[node.name]
        if many == named[node.name]:  # pods may have shares of one and the same
            many = len(known[node.name])
        if placed is None or node.withheld or node.name in unknown or (node.shared and many):
            continue  # the rest is not free, and not told
        slices = {(one.pool, sliced(one.name)) for one in given - _whole(given)}
        host.used = many + len(_whole(given)) + len(slices)  # of which slices are held is held
        if given and not node.total:
            host.total = None  # claims are all that is known of it
        if host.used in (0, node.total):  # none or all of them
            host.held = tuple(map(str, range(host.used)))
        names = known[node.name].union(_indices(given, node.name))
        if len(names) == host.used:
            host.held = tuple(sorted(names))
    return found
