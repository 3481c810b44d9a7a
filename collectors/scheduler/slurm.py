"""Slurm's nodes and jobs as a cluster: which accelerators a job has, and who waits for some.

Accelerators are known by the indices that the controller tells (`IDX`). Where it tells counts only,
they are known all the same if a node is full, empty, or has one job only.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from collectors.protocols.slurm import Listing, SlurmJob, SlurmNode
from collectors.protocols.slurm_words import Gres
from collectors.scheduler.cluster import Cluster, Host, RunningJob, WaitingJob
from fabrichealth.model import Reason

PLACED_ON = frozenset(
    {"IDLE", "MIXED", "ALLOCATED", "COMPLETING", "PLANNED", "RESERVED", "BLOCKED"}
)
"""States of a node on which Slurm places work, now or when what runs there ends."""

ALSO = frozenset({"CLOUD", "DYNAMIC_NORM", "DYNAMIC_FUTURE", "COMPLETING", "PLANNED", "RESERVED",
                  "BLOCKED", "POWERED_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_UP"})  # fmt: skip
"""Flags that keep no work away: a node that sleeps is woken for it."""

NOT_FOR_ROOM = frozenset(
    {
        "DEPENDENCY", "DEPENDENCYNEVERSATISFIED", "BEGINTIME", "JOBHELDUSER", "JOBHELDADMIN",
        "JOBHOLDMAXREQUEUE", "BADCONSTRAINTS", "INVALIDACCOUNT", "INVALIDQOS", "PROLOG", "CLEANING",
        "DEADLINE", "JOBARRAYTASKLIMIT", "LICENSES", "PARTITIONDOWN",
        "PARTITIONINACTIVE", "PARTITIONNODELIMIT", "PARTITIONTIMELIMIT", "RESERVATION",
    }
)  # fmt: skip
"""Reasons to wait that no free accelerator would end, in capitals without underscores."""

LIMITS = ("QOS", "ASSOC", "MAX")
"""Beginnings of those that name a limit of a user, account or queue."""


def cluster(listings: Iterable[Listing]) -> Cluster:
    """Return what some replies of one moment say together."""
    nodes: dict[str, SlurmNode] | None = None
    jobs: dict[str, SlurmJob] | None = None
    found = Cluster()
    every_node = True
    for one in listings:
        unread = {what for what, _ in one.malformed}
        every_node &= "nodes" not in one.lost and not unread & {"node", "group"}
        found.malformed(one.malformed)
        found.refused += [(Reason.FAILED, "slurm", {}, wrong) for wrong in one.errors]
        found.missing += one.lost
        found.unread |= one.unread
        found.whole = found.whole and "jobs" not in one.lost and "" not in one.unread
        for what, count in one.statistics.items():
            found.refused.append((Reason.UNSUPPORTED, what, {}, f"{count} jobs of unknown sizes"))
        if one.at is not None:
            found.at = max(one.at, found.at or 0.0)
        if one.nodes is not None:
            nodes = nodes or {}
            for node in one.nodes:
                nodes[node.name] = _joined(nodes.get(node.name), node)
        if one.jobs is not None:
            jobs = (jobs or {}) | {job.id: job for job in one.jobs}
    known = nodes or {}
    if jobs is not None:
        holding = [job for job in jobs.values() if job.holds]
        mine = _shares(holding, known)
        found.running = [_running(job, mine[job.id], known, found) for job in holding if _size(job)]
        queued = _as_one([job for job in jobs.values() if _for_room(job)])
        asking = [_waiting(job, nodes if every_node else None) for job in queued]
        found.waiting = [one for one in asking if one.hosts is None or one.hosts]
    if nodes is not None:
        found.hosts = _hosts(nodes.values(), found.running)
    return found


def _joined(before: SlurmNode | None, node: SlurmNode) -> SlurmNode:
    """Return a node that is listed once for each partition as one."""
    if before is None:
        return node
    partitions = tuple(dict.fromkeys((*before.partitions, *node.partitions)))
    return replace(node, partitions=partitions)


def _size(job: SlurmJob) -> int:
    return sum(one.count for one in job.per_node) if job.per_node else job.size or 0


def _shares(
    holding: Sequence[SlurmJob], nodes: Mapping[str, SlurmNode]
) -> dict[str, dict[str, Gres]]:
    """Return what each job has on each of its nodes, by job and node, as far as it is known."""
    on_node: Counter[str] = Counter(name for job in holding if _size(job) for name in job.nodes)
    found: dict[str, dict[str, Gres]] = defaultdict(dict)
    for job in holding:
        told = dict(zip(job.nodes, job.per_node, strict=False))
        for name in job.nodes:
            share, node = told.get(name), nodes.get(name)
            used = node.used if node is not None and on_node[name] == 1 else None
            if used is not None and (share is None or share.count == used.count):
                share = used if share is None or share.indices is None else share
            if share is not None:
                found[job.id][name] = _named(share, node.total if node else None)
    return found


def _named(held: Gres, total: int | None) -> Gres:
    """Return the same accelerators by index where only all or none of them can be meant."""
    if held.indices is None and held.count in (0, total):
        return Gres(held.count, tuple(range(held.count)))
    return held


def _running(
    job: SlurmJob, shares: Mapping[str, Gres], nodes: Mapping[str, SlurmNode], found: Cluster
) -> RunningJob:
    accelerators = {
        name: tuple(map(str, share.indices)) for name, share in shares.items() if share.indices
    }
    made = RunningJob(job.id, _size(job), job.started, job.nodes, accelerators)
    if not made.known:
        raw = f"{made.size} on {len(job.nodes)} nodes, no IDX"
        found.refused.append((Reason.UNSUPPORTED, "gres_detail", {"job": job.id}, raw))
    return made


def _for_room(job: SlurmJob) -> bool:
    reason = job.reason.replace("_", "").upper()
    return job.waits and reason not in NOT_FOR_ROOM and not reason.startswith(LIMITS)


def _as_one(waiting: Iterable[SlurmJob]) -> list[SlurmJob]:
    """Return jobs that wait, the parts of a heterogeneous one as one: they start together."""
    found: dict[str, SlurmJob] = {}
    for job in waiting:
        first = found.get(job.leader or job.id)
        if first is None:
            found[job.leader or job.id] = replace(job, id=job.leader or job.id)
            continue
        partitions = tuple(dict.fromkeys((*first.partitions, *job.partitions)))
        size = (first.size or 0) + (job.size or 0)
        found[first.id] = replace(first, size=size, partitions=partitions)
    return list(found.values())


def _waiting(job: SlurmJob, nodes: Mapping[str, SlurmNode] | None) -> WaitingJob:
    eligible = None  # else the nodes of its partitions; with none of them no room would help it
    if nodes and job.partitions and any(node.partitions for node in nodes.values()):
        asked = set(job.partitions)
        eligible = frozenset(
            name for name, node in nodes.items() if asked.intersection(node.partitions)
        )
    return WaitingJob(job.id, job.size or 0, job.submitted, eligible, job.tasks)


def _hosts(nodes: Iterable[SlurmNode], running: Sequence[RunningJob] | None) -> list[Host]:
    by_jobs: dict[str, list[RunningJob]] = defaultdict(list)
    for job in running or ():
        for name in job.hosts:
            by_jobs[name].append(job)
    found = []
    for node in nodes:
        base = node.states & PLACED_ON
        schedulable = bool(base) and node.states <= PLACED_ON | ALSO
        used = _named(node.used, node.total) if node.used is not None else None
        if running is not None and (used is None or used.indices is None):
            mine = by_jobs[node.name]
            told = [one for job in mine for one in job.accelerators.get(node.name, ())]
            if all(job.known for job in mine) and (used is None or used.count == len(told)):
                used = Gres(len(told), tuple(sorted(map(int, told))))
        used = _with_shards(used, node.shared)
        count = None if used is None else used.count
        held = None if used is None or used.indices is None else tuple(map(str, used.indices))
        found.append(Host(node.name, schedulable, node.total, count, held))
    return found


def _with_shards(used: Gres | None, shared: frozenset[int] | None) -> Gres | None:
    """Return what is in use together with accelerators of which shards are: none is whole."""
    if used is None or shared is None:
        return None
    if used.indices is None:
        return None if shared else used
    every = tuple(sorted({*used.indices, *shared}))
    return Gres(len(every), every)
