"""Draining: whether a culprit may be taken out of service now, and in which order (B5).

Safe is what leaves every device, rack and domain the site's share of its capacity, leaves no
device one failure away from being cut off, takes no more than a few links at once and one of a
trunk or card, and takes no link from under a job that cannot do without it. Otherwise the first
constraint that forbids it is named.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analyzer.incidents.capacity import TOWARDS, Group, Live, is_scale_up, links_behind
from fabrichealth.kinds import (
    LINK_DEGRADED_SPEED,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    LINK_WILL_FAIL,
    OPTICS_DEGRADING,
    OPTICS_OVERHEATING,
    WATCH_DATA_IMPLAUSIBLE,
    WATCH_SOURCE_SILENT,
    Severity,
)
from fabrichealth.model import Incident, Place
from fabrichealth.topology import Link, Topology

AT_ONCE, SHARE_AT_ONCE = 10, 0.005
"""Drained links at a time: ten, or half a percent of the fabric (detection reference, B5)."""

NOT_ILL = frozenset({WATCH_DATA_IMPLAUSIBLE, WATCH_SOURCE_SILENT})
"""Kinds that speak of what is read, not of what carries data: no draining helps."""

Jobs = Mapping[str, frozenset[str]]
"""Devices that each running job holds."""


@dataclass(frozen=True)
class Judgement:
    """Whether something may be drained, and the constraint that decides."""

    safe: bool
    because: str


def judgement(
    culprit: Place, now: Live, topology: Topology, jobs: Jobs, floor: float
) -> Judgement | None:
    """Return whether a culprit may be drained now; None where draining it means nothing."""
    names = links_behind(culprit, topology)
    if not names:
        return None
    if now.drained.issuperset(names):
        return Judgement(True, "it is drained already")
    if now.dark.issuperset(names):
        return Judgement(True, "it is down and carries nothing")
    carrying = [name for name in names if name not in now.drained | now.dark]
    own = culprit.id if culprit.type == "device" else ""
    links = [topology.links[name] for name in carrying]
    forbids = (
        _by_jobs(links, own, topology, jobs)
        or _by_capacity(carrying, own, now, floor)
        or _by_cutting_off(carrying, own, now)
        or _by_number(links, now, topology)
    )
    if forbids:
        return Judgement(False, forbids)
    return Judgement(True, _tightest(carrying, own, now, floor))


def running(jobs: Iterable[tuple[str, Iterable[str]]], topology: Topology) -> Jobs:
    """Return the devices of each job: its accelerators, and the hosts that hold them."""
    found: dict[str, frozenset[str]] = {}
    for name, held in jobs:
        devices = set(held)
        devices |= {topology.devices[one].host for one in held if one in topology.devices}
        found[name] = frozenset(devices - {""})
    return found


def _by_jobs(links: Sequence[Link], own: str, topology: Topology, jobs: Jobs) -> str:
    """Name a job on the very device, or on an end of a scale-up link."""
    under = {own, *topology.hosted.get(own, ())} if own else set()
    ends = {end.device for link in links if is_scale_up(link) for end in link.ends}
    for job, devices in sorted(jobs.items()) if under or ends else ():
        if under & devices:
            return f"job {job} runs on {own}; wait for its end or a checkpoint"
        if held := ends & devices:
            return (
                f"job {job} runs on {min(held)}, which cannot do without this link; "
                "wait for its end or a checkpoint"
            )
    return ""


def _groups(names: Iterable[str], own: str, now: Live) -> list[Group]:
    """Return the groups that a drain touches, but those of the very device that is drained."""
    found = dict.fromkeys(group for name in names for group in now.capacity.groups(name))
    return [group for group in found if not (group.type == "device" and group.name == own)]


def _by_capacity(names: Sequence[str], own: str, now: Live, floor: float) -> str:
    for group in _groups(names, own, now):
        links, share = now.left(group, names)
        if share < floor - 1e-9:
            already = now.gone[group]
            also = f", {already} lost already" if already else ""
            return (
                f"{links} of {now.capacity.whole(group)[0]} {group} would be left "
                f"({share:.0%}{also}); the floor is {floor:.0%}"
            )
    return ""


def _by_cutting_off(names: Sequence[str], own: str, now: Live) -> str:
    """Name a device that would hang by one link, of those that have more when all is well."""
    for group in _groups(names, own, now):
        if group.type != "device":
            continue
        every = [one for towards in TOWARDS
                 if now.capacity.whole(one := group._replace(towards=towards))[0]]  # fmt: skip
        left = sum(now.left(one, names)[0] for one in every)
        if left <= 0:
            return f"{group.name} would be cut off"
        if left == 1 and sum(now.capacity.whole(one)[0] for one in every) > 1:
            return f"{group.name} would hang by one link: one more failure cuts it off"
    return ""


def _by_number(links: Sequence[Link], now: Live, topology: Topology) -> str:
    most = max(AT_ONCE, int(SHARE_AT_ONCE * len(topology.links)))
    if len(links) == 1 and len(now.drained) + 1 > most:
        return f"{len(now.drained)} links are drained already; {most} at a time"
    shared = {part for link in links for part in (link.bundle, link.card_a, link.card_b) if part}
    for name in sorted(now.drained - {link.id for link in links}):
        other = topology.links.get(name)
        if other and len(links) == 1:
            both = shared & {other.bundle, other.card_a, other.card_b}
            if both:
                return f"{name} of the same {min(both)} is drained already; one at a time"
    return ""


def _tightest(names: Sequence[str], own: str, now: Live, floor: float) -> str:
    groups = _groups(names, own, now)
    if not groups:
        return "nothing else depends on it"
    share, group = min((now.left(group, names)[1], group) for group in groups)
    links = now.left(group, names)[0]
    return (
        f"{links} of {now.capacity.whole(group)[0]} {group} stay ({share:.0%}, floor {floor:.0%})"
    )


HARM = {
    LINK_DOWN: 0.0,  # it carries nothing: draining only keeps it from coming back ill
    LINK_FLAPPING: 1.0,  # each fall stalls the job that crosses it
    LINK_DEGRADED_SPEED: 0.5,
    LINK_SUBHEALTHY: 0.2,
    LINK_WILL_FAIL: 0.1,
    OPTICS_OVERHEATING: 0.05,
    OPTICS_DEGRADING: 0.03,
}
"""Share of what crosses a link that is lost or late per unit of time, by kind; our estimates."""

BEYOND = 0.6
"""The same of a link whose errors are proven to be beyond the limit."""


@dataclass(frozen=True)
class Candidate:
    """One step of a drain plan."""

    incident: Incident
    judgement: Judgement
    loss_avoided_gbps: float
    capacity_lost_gbps: float
    jobs: tuple[str, ...]

    @property
    def worth(self) -> float:
        """Loss avoided per capacity lost."""
        return self.loss_avoided_gbps / max(self.capacity_lost_gbps, 1e-9)


def harm(incident: Incident) -> float:
    """Return the share of what crosses the culprit that is lost or late, 0..1."""
    if incident.kind is LINK_SUBHEALTHY and incident.severity >= Severity.PAGE:
        return BEYOND
    return HARM.get(incident.kind, 0.2 if incident.severity >= Severity.PAGE else 0.05)


def plan(
    incidents: Iterable[Incident], now: Live, topology: Topology, jobs: Jobs, floor: float
) -> list[Candidate]:
    """Return what could be drained, the most loss avoided per capacity lost first.

    A link slows the whole job that crosses it: what is lost counts once for each host of that
    job. Each step is judged with those before it drained. `now` is changed by that.
    """
    found = []
    for incident in incidents:
        names = links_behind(incident.culprit, topology)
        if not names or incident.closed_at is not None or incident.kind in NOT_ILL:
            continue
        hit, hosts = _jobs_on(names, topology, jobs)
        lost = sum(now.capacity.speed[name] for name in names if name not in now.dark)
        avoided = harm(incident) * lost * max(1, hosts)
        found.append((incident, names, avoided, lost, hit))
    found.sort(key=lambda one: (-one[2] / max(one[3], 1e-9), one[0].opened_at))
    steps: list[Candidate] = []
    for incident, names, avoided, lost, hit in found:
        said = judgement(incident.culprit, now, topology, jobs, floor)
        if said is None:
            continue
        steps.append(Candidate(incident, said, avoided, lost, hit))
        if said.safe:
            for name in names:
                now.lose(name)
                now.drained.add(name)
    return steps


def _jobs_on(names: Iterable[str], topology: Topology, jobs: Jobs) -> tuple[tuple[str, ...], int]:
    """Return the jobs that cross some links, and how many hosts they hold."""
    ends = {end.device for name in names for end in topology.links[name].ends}
    ends |= {held for device in ends for held in topology.hosted.get(device, ())}
    hit = tuple(sorted(job for job, devices in jobs.items() if devices & ends))
    held = {one for job in hit for one in jobs[job]} & topology.devices.keys()
    return hit, sum(not topology.devices[name].host for name in held)
