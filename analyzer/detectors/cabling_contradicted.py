"""A cable that does not lead where the topology says, by what its ends hear of their far ends.

Whoever trusts a wrong cabling accuses the wrong module, so the link is named before anything is
said of its health. Stays quiet where an end hears nothing, hears a device or port that the
topology does not know (another name is no other place), or still hears the written far end too.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import heard
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import NEIGHBOR_INFO
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE
from fabrichealth.model import Changes, Finding, Place, Port, View
from fabrichealth.settings import Duration, seconds
from fabrichealth.topology import Link, Topology


class CablingContradictedSettings(DetectorSettings):
    """Cabling-contradicted section of the configuration."""

    memory: Duration = seconds(3600)
    """What was heard longer ago than this is forgotten."""

    every: Duration = seconds(60)
    """How often it judges: nobody replugs faster."""

    hold: Duration = seconds(600)
    """A far end that is heard for less than this is not yet news: somebody may be plugging."""


class _Claim(NamedTuple):
    """What one end of a link hears, and from when to when."""

    near: Port
    far: Port
    via: str
    since: float
    at: float


class CablingContradicted(Detector[CablingContradictedSettings]):
    """Far ends that are heard, against those that are written."""

    kinds = (WATCH_DATA_IMPLAUSIBLE,)
    metrics = (NEIGHBOR_INFO,)
    settings_type = CablingContradictedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per link whose ends hear others than each other."""
        changes = view.changes(NEIGHBOR_INFO)
        claims, confirmed = _contradictions(changes, view.topology)
        before = {said.about: said.since for said in view.before}
        wrong = {
            name: said
            for name, said in claims.items()
            if name not in confirmed
            and view.now - min(claim.since for claim in said) >= self.settings.hold
        }
        for names in _together(wrong, view.topology):
            for name in names:
                about = Place("link", name)
                since = min(claim.since for claim in wrong[name])
                since = min(since, before.get(about, since))
                others = [one for one in names if one != name]
                yield _finding(view.topology, about, others, wrong[name], since)


def _together(wrong: Mapping[str, list[_Claim]], topology: Topology) -> Iterator[list[str]]:
    """Yield the links of which one's ends hear those of the next: cables that change places."""
    group = {name: {name} for name in wrong}
    for name, said in wrong.items():
        for claim in said:
            far = topology.link_of.get(claim.far)
            if far is not None and far.id in group and group[far.id] is not group[name]:
                joined = group[name] | group[far.id]
                group.update(dict.fromkeys(joined, joined))
    yield from (sorted(names) for names in {id(one): one for one in group.values()}.values())


def _contradictions(
    changes: Changes, topology: Topology
) -> tuple[dict[str, list[_Claim]], set[str]]:
    """Return what contradicts each link, and the links that an end still confirms."""
    claims: dict[str, list[_Claim]] = {}
    confirmed: set[str] = set()
    facing = topology.facing
    for row in np.flatnonzero(heard(changes)).tolist():
        labels = changes.labels(row)
        near, far = Port(*labels[:2]), Port(*labels[2:4])
        if labels[:4] in facing:
            confirmed.add(topology.link_of[near].id)
            continue
        link = topology.link_of.get(near)
        if link is not None and _known(topology, link, near, far):
            times = float(changes.first_at[row]), float(changes.seen_at[row])
            claims.setdefault(link.id, []).append(_Claim(near, far, labels[4], *times))
    return claims, confirmed


def _known(topology: Topology, link: Link, near: Port, far: Port) -> bool:
    """Return whether a far end is another place, and not only another name for the written one."""
    if far.device not in topology.devices:
        return False
    if far in topology.link_of:
        return True
    one, other = link.ends
    return not far.port and far.device != (other if near == one else one).device


def _finding(
    topology: Topology, about: Place, others: list[str], said: list[_Claim], since: float
) -> Finding:
    lines = []
    for claim in said:
        written = topology.peer(claim.near)
        far = str(claim.far) if claim.far.port else claim.far.device
        says = f"{claim.near} hears {far} by {claim.via}, {written} is written"
        labels = (*claim.near, *claim.far, claim.via)
        lines.append(evidence(NEIGHBOR_INFO, labels, 1.0, claim.at, says))
    return Finding(
        kind=WATCH_DATA_IMPLAUSIBLE,
        about=about,
        score=float(len(said)),
        since=since,
        at=max(claim.at for claim in said),
        evidence=lines[:8],
        because=f"{_what(about, others)}: {lines[0].says}",
    )


def _what(about: Place, others: list[str]) -> str:
    if not others:
        return "wrong cabling, or a wrong topology"
    many = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return f"the cables of {about.id}, {others[0]}{many} change places, or a wrong topology"
