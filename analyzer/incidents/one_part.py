"""One part: links that fell ill together because one module, trunk or card carries all of them.

Where a fabric is large enough a detector holds the ill links of a part against all others
(`parts_shared_component`). Here speaks what needs no comparison: what one module carries, and
what falls at one moment with half of its trunk, card or switch. A module of which one link is ill
is well: that link is the news. What a dark device, a lot or a larger part explains is left to
those.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from analyzer.evidence.ends import PortStates
from analyzer.evidence.parts.cages import TYPE, Cages
from analyzer.evidence.parts.findings import BEYOND
from analyzer.incidents.alternatives import links_of_parts, shared_by
from analyzer.incidents.claims import SLACK, TOGETHER, Claim, Rival
from fabrichealth.kinds import (
    DEVICE_DOWN,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    PARTS_SHARED_COMPONENT,
    Severity,
)
from fabrichealth.model import Finding, Place
from fabrichealth.narrative import span
from fabrichealth.topology import Link, Topology

DOWN = frozenset({LINK_DOWN, DEVICE_DOWN})
FALLS = DOWN | {LINK_FLAPPING}
"""Kinds that have a moment, by which what fell together is known."""

LINES = 8

SETTLE, POLLS_TO_SETTLE = 30.0, 4.0
"""Seconds, or polls if those are longer, within which all ends of a part have spoken."""

ASKED = 64
"""Links of a part that are asked whether it lives."""

CROWD = 3
"""So many links that fall at one moment, half of their trunk, card or switch, fell with it."""

OF_A_PIPE = 8
"""Of a switch a quarter will do if it is so many: its chip has four pipes, or two."""


class Part(NamedTuple):
    """What carries several links."""

    place: Place
    name: str
    links: Sequence[Link]
    """Those that it carries."""
    sure: bool = True
    """They are written, or tell one serial number: not only names that may mean something else."""
    came: str = ""
    """Where it was before, in words."""

    def falls_with(self, many: int) -> bool:
        """Return whether so many of its links, at one moment, are no accidents of their own."""
        size = len(self.links)
        pipe = self.place.type == "device" and many >= OF_A_PIPE and 4 * many >= size
        return many >= CROWD and (2 * many >= size or pipe)


class _Member(NamedTuple):
    """A claim that a part may explain: of a link, or of a host that answers and is cut off."""

    claim: Claim
    links: frozenset[str]


class _Suspect(NamedTuple):
    """A part and what is ill of it."""

    part: Part
    members: tuple[_Member, ...]

    @property
    def links(self) -> frozenset[str]:
        """The ill links."""
        return frozenset().union(*(one.links for one in self.members))

    def falls(self, kinds: frozenset[object] = frozenset(FALLS)) -> bool:
        """Return whether all of it fell at one moment."""
        times = [one.claim.since for one in self.members]
        slack = max(one.claim.slack for one in self.members)
        apart = max(times) - min(times)
        together = apart <= max(TOGETHER, slack if slack > SLACK else 0.0)
        return together and all(one.claim.kind in kinds for one in self.members)

    def guilty(self) -> bool:
        """Return whether it explains its members better than as many accidents do."""
        ill, size = len(self.links), len(self.part.links)
        least = CROWD if self.part.place.type == "device" else 2
        if len(self.members) < 2 or ill < least:
            return False
        if self.part.place.type != TYPE:
            return (ill == size or self.part.falls_with(ill)) and self.falls(frozenset(DOWN))
        if not self.part.sure:
            return ill == size and (ill > 2 or self.falls())
        return 2 * ill > size or (2 * ill == size and self.falls())

    def rank(self) -> tuple[int, float, bool, int, str]:
        """Return what puts one before another that explains the same links.

        It explains more, more of it is ill, it is a module, more of its links accuse its side.
        """
        device = self.part.place.id.partition("/")[0]
        sides = [one.claim.lead.side for one in self.members]
        accuse = sum(side is not None and side.device == device for side in sides)
        ill, place = len(self.links), self.part.place
        return ill, ill / len(self.part.links), place.type == TYPE, accuse, place.id


def by_part(
    standing: list[Claim], topology: Topology, cages: Cages, states: PortStates, now: float
) -> list[Claim]:
    """Return the claims with those that one part explains joined into one about the part.

    A link that just fell is not told yet while it may be that its whole part did.
    """
    members = list(_members(standing, topology))
    if not members:
        return standing
    joined: list[Claim] = []
    gone: set[int] = set()
    suspects = [one for one in _suspects(members, topology, cages) if one.guilty()]
    same: dict[frozenset[str], list[str]] = defaultdict(list)
    for one in suspects:
        same[one.links].append(one.part.name)
    while suspects:
        rest = []
        for one in sorted(suspects, key=_Suspect.rank, reverse=True):
            free = tuple(mine for mine in one.members if id(mine.claim) not in gone)
            if len(free) < len(one.members):
                rest.append(_Suspect(one.part, free))
                continue
            others = [name for name in same[one.links] if name != one.part.name]
            joined.append(_claim(one, others))
            gone.update(id(mine.claim) for mine in free)
        suspects = [one for one in rest if one.guilty()]
    for member in members:
        claim = member.claim
        if id(claim) not in gone and all(one.kind is LINK_DOWN for one in claim.findings):
            parts = _parts_of(topology.links[claim.culprit.id], topology, cages)
            if any(
                (_crowd if part.place.type == "device" else _may_fall)(part, claim, states, now)
                for part in parts
            ):
                gone.add(id(claim))
    if not gone:
        return standing
    left = [*joined, *(one for one in standing if id(one) not in gone)]
    spoken = frozenset(one.culprit for one in left)
    for claim in left:
        claim.spoken = spoken
    return left


def _members(standing: list[Claim], topology: Topology) -> Iterator[_Member]:
    for claim in standing:
        if claim.kind is DEVICE_DOWN and all(one.detail.get("answers") for one in claim.findings):
            links = topology.links_of.get(claim.culprit.id, ())
            yield _Member(claim, frozenset(link.id for link in links))
        elif _is_of_link(claim) and claim.culprit.id in topology.links:
            yield _Member(claim, frozenset({claim.culprit.id}))


def _is_of_link(claim: Claim) -> bool:
    return bool(claim.kind.causes) and claim.severity >= Severity.TICKET


def _may_fall(part: Part, claim: Claim, states: PortStates, now: float) -> bool:
    """Return whether it is too early to say that a link fell alone, and its part lives."""
    ends = [end for link in part.links[:ASKED] if link.id != claim.culprit.id for end in link.ends]
    rows = [row for end in ends if (row := states.row(end)) is not None]
    if not rows or any(states.up_since(end, claim.since) for end in ends):
        return False
    if _settled(claim, rows, states, now):
        return False
    with np.errstate(invalid="ignore"):
        lately = states.fallen_at[rows] >= claim.since - TOGETHER
    return bool((lately | (states.up.value[rows] == 1)).any())


def _crowd(part: Part, claim: Claim, states: PortStates, now: float) -> bool:
    """Return whether much of a switch fell with a link, and not all of that was told yet."""
    down = 0
    for link in part.links:
        rows = [row for end in link.ends if (row := states.row(end)) is not None]
        fell = states.fallen_at[rows][states.up.value[rows] == 0]
        down += bool((np.abs(fell - claim.since) <= TOGETHER).any())
        if _settled(claim, rows, states, now):
            return False
    return part.falls_with(down)


def _settled(claim: Claim, rows: list[int], states: PortStates, now: float) -> bool:
    """Return whether ports, by their rows, have had the time to tell of a fall."""
    period = float(np.nanmax(states.up.period[rows], initial=0.0))
    return now - claim.since >= max(SETTLE, POLLS_TO_SETTLE * period)


def _suspects(members: Sequence[_Member], topology: Topology, cages: Cages) -> list[_Suspect]:
    parts: dict[Place, Part] = {}
    held: dict[Place, list[_Member]] = defaultdict(list)
    for member in members:
        carried = [_parts_of(topology.links[name], topology, cages) for name in member.links]
        for mine in carried:
            parts.update((part.place, part) for part in mine)
        common = [{part.place for part in mine} for mine in carried]
        for place in set.intersection(*common) if common else ():
            held[place].append(member)
    return [_Suspect(parts[place], tuple(mine)) for place, mine in held.items()]


def _parts_of(link: Link, topology: Topology, cages: Cages) -> list[Part]:
    """Return the modules, the trunk, the cards and the switches of a link that carry others too.

    Of a host or an accelerator others speak: it is dark, cut off, or restarts (`device_down`).
    """
    found = []
    for end in link.ends:
        if (cage := cages.of(end)) is not None:
            mine = {topology.link_of[port].id for port in cage.ports}
            links = [topology.links[name] for name in sorted(mine)]
            found.append(Part(cage.place, str(cage), links, cage.sure, cages.came(cage)))
    every = links_of_parts(topology)
    for place in shared_by(link):
        if place.type != "device":
            found.append(Part(place, f"{place.type} {place.id}", every[place]))
        elif (device := topology.devices.get(place.id)) is not None and device.role == "switch":
            found.append(Part(place, f"switch {place.id}", topology.links_of[place.id]))
    return found


def _beyond(finding: Finding) -> bool:
    return finding.kind is LINK_SUBHEALTHY and finding.rank >= Severity.PAGE


def _claim(suspect: _Suspect, same: Sequence[str]) -> Claim:
    """Return one claim about a part; `same` are others that carry the very same links."""
    findings = [finding for one in suspect.members for finding in one.claim.findings]
    first = min(one.since for one in findings)
    links, part = sorted(suspect.links), suspect.part
    leads = [one.claim.lead for one in suspect.members]
    lines = [line for one in leads[:LINES] for line in one.evidence[:1]]
    when = ""
    if suspect.falls() and len(part.links) > 1:
        when = f" and fell within {span(max(max(one.since for one in leads) - first, 1.0))}"
    other = f"; {' and '.join(same)} carries the same" if same else ""
    lead = max(leads, key=lambda one: (one.kind.gravity, one.score))
    finding = Finding(
        kind=PARTS_SHARED_COMPONENT,
        about=part.place,
        score=max(one.score for one in findings),
        since=first,
        at=max(one.at for one in findings),
        evidence=lines,
        because=f"{len(links)} of {len(part.links)} links of {part.name} are ill{when}{other}; "
        f"{lead.because}{part.came}",
        severity=max(one.rank for one in findings),
        grounds=(BEYOND,) if any(_beyond(one) for one in findings) else (),
        detail={"down": float(all(one.kind in DOWN for one in findings))},
    )
    victims = [Place("link", name) for name in links]
    victims += [place for one in suspect.members for place in (one.claim.culprit,
                                                               *one.claim.victims)]  # fmt: skip
    rivals = [Rival(one.claim.culprit, one.claim.kind.name, one.claim.since)
              for one in suspect.members]  # fmt: skip
    return Claim(part.place, [finding], list(dict.fromkeys(victims)), findings, rivals)
