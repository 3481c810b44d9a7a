"""Slurm's JSON: nodes and jobs of squeue, sinfo, scontrol and slurmrestd, of any version.

Versions differ in whether states are words or lists of words, numbers plain or objects
`{set, infinite, number}`, and whether `sinfo` lists nodes or groups of nodes that are alike. (Slurm
OpenAPI v0.0.37 to v0.0.42; `squeue --json`, `sinfo --json`, `scontrol show nodes --json`.)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.protocols.json_tree import document
from collectors.protocols.slurm_words import (
    Gres,
    gres,
    hosts,
    number,
    numbers,
    shared,
    tres,
    words,
)
from fabrichealth.errors import MalformedReply

HOLDS = frozenset({"RUNNING", "SUSPENDED", "CONFIGURING", "STAGE_OUT", "STOPPED"})
"""States in which a job has its accelerators; one that is completing gave them back."""

GIVEN_BACK = "COMPLETING"

PENDING = "PENDING"


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node: its states in capitals, its accelerators, and those in use (None: not told).

    `shared` are those of which jobs hold shards (None: some, and not told which).
    """

    name: str
    states: frozenset[str]
    total: int | None
    used: Gres | None
    partitions: tuple[str, ...] = ()
    shared: frozenset[int] | None = frozenset()


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """A job: what it asks for and, where it runs, its nodes in order.

    `per_node` are its accelerators on each of `nodes`, empty where that is not told. An array of
    tasks that still wait is one row of `tasks` jobs.
    """

    id: str
    states: frozenset[str]
    nodes: tuple[str, ...]
    per_node: tuple[Gres, ...]
    size: int | None
    started: float | None
    submitted: float | None
    ended: float | None
    partitions: tuple[str, ...] = ()
    reason: str = ""
    tasks: int = 1
    name: str = ""
    user: str = ""
    leader: str = ""
    """Job of which this is a part that starts with it only (heterogeneous jobs); else empty."""

    @property
    def holds(self) -> bool:
        """Whether it has its nodes now."""
        return bool(self.states & HOLDS) and GIVEN_BACK not in self.states

    @property
    def waits(self) -> bool:
        """Whether it is in the queue."""
        return PENDING in self.states and not self.holds


@dataclass(slots=True)
class Listing:
    """What one reply lists; None where it is no list of that kind."""

    nodes: list[SlurmNode] | None = None
    jobs: list[SlurmJob] | None = None
    statistics: Mapping[str, int] = field(default_factory=dict)
    """Of sdiag: counts of jobs, without their sizes."""
    at: float | None = None
    """When the controller says it was, unix seconds."""
    malformed: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Lists that are not whole, because the controller says that something failed."""
    unread: set[str] = field(default_factory=set)
    """Ids of jobs whose rows could not be read; empty for one that has no id either."""


def listing(body: bytes | str, kinds: tuple[str, ...]) -> Listing:
    """Read one reply; `kinds` are the generic resources that are accelerators.

    Raises:
        MalformedReply: no JSON, or not of Slurm.
    """
    plain = document(body)
    if not isinstance(plain, dict):
        raise MalformedReply("JSON, but no reply of Slurm")
    found = Listing(at=_stamped(plain))
    for wrong in plain.get("errors") or []:
        text = wrong.get("description") or wrong.get("error") if isinstance(wrong, dict) else wrong
        found.errors.append(str(text)[:200])
    for key, what in (("nodes", "node"), ("sinfo", "group"), ("jobs", "job")):
        if not isinstance(rows := plain.get(key), list):
            continue
        if found.errors:
            # squeue and slurmrestd answer with an empty list where the controller does not
            found.lost.append("jobs" if what == "job" else "nodes")
            if not rows:
                continue
        if what == "job":
            found.jobs = []
        else:
            found.nodes = found.nodes or []
        for row in rows:
            _each(row, what, found, kinds)
    if isinstance(counts := plain.get("statistics"), dict):
        known = {state: number(counts.get(f"jobs_{state}")) for state in ("pending", "running")}
        found.statistics = {state: count for state, count in known.items() if count is not None}
    nothing = found.nodes is None and found.jobs is None and not found.statistics
    if nothing and not found.lost and not (found.errors and "meta" in plain):
        raise MalformedReply("JSON without nodes or jobs of Slurm")
    return found


def _each(row: Any, what: str, found: Listing, kinds: tuple[str, ...]) -> None:
    """Take one row; one that cannot be read costs no other."""
    plain = row if isinstance(row, dict) else {}  # which lacks whatever is needed
    told = _Resources(kinds, found.malformed)
    try:
        if what == "job" and found.jobs is not None:
            found.jobs.append(_job(plain, told))
        elif found.nodes is not None:
            found.nodes += [_node(plain, told)] if what == "node" else _group(plain, told)
    except MalformedReply as wrong:
        found.malformed.append((what, f"{wrong}: {str(row)[:120]}"))
        if what == "job":
            own = number(plain.get("job_id"))
            found.unread.add("" if own is None else str(own))


@dataclass(frozen=True, slots=True)
class _Resources:
    """Reads counts of accelerators; one that is no such count is not told, and said."""

    kinds: tuple[str, ...]
    malformed: list[tuple[str, str]]

    def gres(self, plain: Any) -> Gres | None:
        """Return what one list of generic resources holds of them."""
        if not isinstance(plain, str):
            return None
        try:
            return gres(plain, self.kinds)
        except MalformedReply as wrong:
            self.malformed.append(("gres", str(wrong)))
            return None

    def count(self, plain: Any) -> int | None:
        """Return how many a list holds, whichever they are."""
        held = self.gres(plain)
        return None if held is None else held.count

    def shared(self, plain: Any) -> frozenset[int] | None:
        """Return those of which shards are held."""
        return shared(plain) if isinstance(plain, str) else frozenset()


def _node(row: Mapping[str, Any], told: _Resources) -> SlurmNode:
    name = next((one for key in ("name", "hostname") if isinstance(one := row.get(key), str)), "")
    states = _states(row.get("state")) | _states(row.get("state_flags"))
    if not name or not states:
        raise MalformedReply("a node without name or state")
    return SlurmNode(
        name,
        states,
        told.count(row.get("gres")),
        told.gres(row.get("gres_used")),
        words(row.get("partitions")),
        told.shared(row.get("gres_used")),
    )


def _group(row: Mapping[str, Any], told: _Resources) -> list[SlurmNode]:
    """Return the nodes of a group that sinfo lists as alike."""
    node, listed = _object(row, "node"), _object(row, "nodes")
    states = _states(node.get("state"))
    names = [one for text in _strings(listed.get("nodes")) for one in hosts(text)]
    if not names or not states:
        raise MalformedReply("a group of nodes without names or state")
    held = _object(row, "gres")
    total, used = told.count(held.get("total")), told.gres(held.get("used"))
    shards, partitions = told.shared(held.get("used")), words(_object(row, "partition").get("name"))
    return [SlurmNode(name, states, total, used, partitions, shards) for name in names]


def _job(row: Mapping[str, Any], told: _Resources) -> SlurmJob:
    own = number(row.get("job_id"))
    states = _states(row.get("job_state"))
    if own is None or not states:
        raise MalformedReply("a job without id or state")
    running = bool(states & HOLDS)
    nodes = tuple(hosts(row["nodes"])) if isinstance(row.get("nodes"), str) and running else ()
    each = [told.gres(one) for one in _strings(row.get("gres_detail"))] if running else []
    per_node = tuple(one for one in each if one is not None)
    return SlurmJob(
        str(own),
        states,
        nodes,
        per_node if len(per_node) == len(nodes) else (),
        _size(row, told),
        _time(row, "start_time"),
        _time(row, "submit_time"),
        _time(row, "end_time"),
        words(row.get("partition")),
        str(row.get("state_reason") or ""),
        _tasks(row.get("array_task_string")),
        str(row.get("name") or ""),
        str(row.get("user_name") or ""),
        str(number(row.get("het_job_id")) or ""),
    )


def _size(row: Mapping[str, Any], told: _Resources) -> int | None:
    """Return how many accelerators a job has, or asks for; None where that is not told.

    Sites that do not account for accelerators name them in what was asked for only: for the job,
    or for each node, task or socket of it.
    """
    lists = (str(row.get(key) or "") for key in ("tres_alloc_str", "tres_req_str"))
    accounted = [many for text in lists if (many := tres(text, told.kinds)) is not None]
    if any(accounted):
        return max(accounted)
    nodes, tasks = number(row.get("node_count")) or 1, number(row.get("tasks")) or 1
    sockets = (number(row.get("sockets_per_node")) or 1) * nodes
    asked = ("job", 1), ("node", nodes), ("task", tasks), ("socket", sockets)
    for whole, times in asked:
        each = told.count(row.get(f"tres_per_{whole}"))
        if each:
            return each * times
    return accounted[0] if accounted else None


def _tasks(plain: Any) -> int:
    """Return how many tasks of an array one row stands for."""
    if not isinstance(plain, str) or not plain.strip():
        return 1
    try:
        return max(sum(1 for _ in numbers(plain)), 1)
    except MalformedReply:
        return 1  # a long list of tasks is cut short with dots: at least this one waits


def _states(plain: Any) -> frozenset[str]:
    """Return states in capitals; old versions mark what is more than a state by a sign."""
    each = (part for word in words(plain) for part in word.split("+"))
    return frozenset(one.strip("*~#!%$@^-").upper() for one in each if one.strip("*~#!%$@^-"))


def _time(row: Mapping[str, Any], key: str) -> float | None:
    return float(moment) if (moment := number(row.get(key))) else None


def _stamped(plain: Mapping[str, Any]) -> float | None:
    return _time(plain, "last_update") or _time(_object(plain, "statistics"), "req_time")


def _object(plain: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = plain.get(key)
    return found if isinstance(found, dict) else {}


def _strings(plain: Any) -> tuple[str, ...]:
    return tuple(one for one in plain if isinstance(one, str)) if isinstance(plain, list) else ()
