"""Kubernetes' pods as a cluster: pods of one owner are one job, gangs of Volcano count as a whole.

Pods of an owner that keeps replicas do not wait for one another: each of them is a job. Which
accelerators a pod has is known by annotations and claims only, or where its job fills a node, or a
node is full or empty; where it is not known a host's accelerators are counted.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from collectors.protocols.kubernetes import Claim, Gang, KubeNode, Listed, Pod
from collectors.protocols.kubernetes_devices import device_index
from collectors.scheduler.cluster import Cluster, Host, RunningJob, WaitingJob
from fabrichealth.model import Reason

OVER = frozenset({"Succeeded", "Failed"})
"""Phases of a pod that holds nothing any more."""

GANG_WAITS = frozenset({"", "Pending", "Inqueue", "Restarting"})
"""Phases of a gang that has not all that it needs."""

Held = tuple[int, tuple[str, ...]]
"""How many accelerators, and those of them that are known by index or UUID."""


def cluster(pages: Iterable[Listed]) -> Cluster:
    """Return what some lists of one moment say together."""
    found = Cluster()
    nodes: dict[str, KubeNode] | None = None
    pods: dict[tuple[str, str], Pod] | None = None
    claims: dict[tuple[str, str], Claim] = {}
    gangs: dict[tuple[str, str, int], Gang] | None = None
    for page in pages:
        found.malformed(page.malformed)
        found.whole = found.whole and all(what != "pod" for what, _ in page.malformed)
        if page.nodes is not None:
            nodes = (nodes or {}) | {one.name: one for one in page.nodes}
        if page.pods is not None:
            pods = (pods or {}) | {(one.namespace, one.name): one for one in page.pods}
        claims |= {(one.namespace, one.name): one for one in page.claims or ()}
        if page.gangs is not None:
            gangs = (gangs or {}) | {(g.namespace, g.name, g.size): g for g in page.gangs}
    asking = [one for one in (pods or {}).values() if one.size or one.claims]
    placed = [one for one in asking if one.node and one.phase not in OVER]
    held = {(pod.namespace, pod.name): _held(pod, claims) for pod in placed}
    if pods is not None:
        found.running = _running(placed, held, nodes or {}, found)
    if pods is not None or gangs is not None:
        running = {job.name for job in found.running or ()}
        found.waiting = _waiting(asking, (gangs or {}).values(), running, nodes)
    if nodes is not None:
        found.hosts = _hosts(nodes.values(), None if pods is None else placed, held)
        for node in nodes.values():
            if node.withheld:
                raw = f"{node.withheld} of {node.total} are not offered, and not told which"
                found.refused.append(
                    (Reason.UNSUPPORTED, "allocatable", {"device": node.name}, raw)
                )
    return found


def _held(pod: Pod, claims: Mapping[tuple[str, str], Claim]) -> Held:
    """Return what a placed pod holds: by its requests, and by its claims on its own node."""
    mine = (claims.get((pod.namespace, name)) for name in pod.claims)
    given = [one for claim in mine if claim is not None for one in claim.devices]
    claimed = tuple(device_index(device) for pool, device in given if pool == pod.node)
    known = pod.devices if len(pod.devices) == pod.size else ()
    return pod.size + len(given), (*known, *claimed)


def _running(
    placed: Sequence[Pod],
    held: Mapping[tuple[str, str], Held],
    nodes: Mapping[str, KubeNode],
    found: Cluster,
) -> list[RunningJob]:
    by_job: dict[str, list[Pod]] = defaultdict(list)
    used: dict[str, int] = defaultdict(int)
    for pod in placed:
        if many := held[pod.namespace, pod.name][0]:
            by_job[pod.job].append(pod)
            used[pod.node] += many
    jobs = []
    for name, pods in by_job.items():
        accelerators: dict[str, tuple[str, ...]] = {}
        on_node: dict[str, int] = defaultdict(int)
        for pod in pods:
            many, known = held[pod.namespace, pod.name]
            on_node[pod.node] += many
            if known:
                accelerators[pod.node] = (*accelerators.get(pod.node, ()), *known)
        for host, many in on_node.items():
            total = nodes[host].total if host in nodes else None
            if many == used[host] == total != len(accelerators.get(host, ())):
                accelerators[host] = tuple(map(str, range(many)))  # all that there are
        size = sum(on_node.values())
        since = min((at for pod in pods if (at := pod.started or pod.created)), default=None)
        hosts = tuple(dict.fromkeys(pod.node for pod in pods))
        job = RunningJob(name, size, since, hosts, accelerators)
        if not job.known:
            raw = f"{size} on {len(hosts)} nodes, no device ids"
            found.refused.append((Reason.UNSUPPORTED, "devices", {"job": name}, raw))
        jobs.append(job)
    return jobs


def _waiting(
    asking: Iterable[Pod],
    gangs: Iterable[Gang],
    running: set[str],
    nodes: Mapping[str, KubeNode] | None,
) -> list[WaitingJob]:
    by_job: dict[str, list[Pod]] = defaultdict(list)
    for pod in asking:
        if not pod.node and pod.phase == "Pending" and not pod.gated and pod.size:
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
        size = max([sum(pod.size for pod in pods), *(gang.size for gang in together)])
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
) -> list[Host]:
    count: dict[str, int] = defaultdict(int)
    known: dict[str, list[str]] = defaultdict(list)
    for pod in placed or ():
        many, names = held[pod.namespace, pod.name]
        count[pod.node] += many
        known[pod.node] += names
    found = []
    for node in nodes:
        host = Host(node.name, node.schedulable, node.total)
        if placed is not None and not node.withheld:  # else the rest is not free, and not told
            host.used = count[node.name]
            if host.used in (0, node.total):  # none or all of them
                host.held = tuple(map(str, range(host.used)))
            if len(set(known[node.name])) == host.used:
                host.held = tuple(known[node.name])
        found.append(host)
    return found
