"""Claims: findings of one pass, lifted to the culprit that their kind's row names, and joined.

All findings about one link (both ends, speed and errors) are one claim; so are devices of one
rack that went dark together.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fabrichealth.kinds import (
    DEVICE_DOWN,
    LINK_DOWN,
    WATCH_DATA_IMPLAUSIBLE,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Finding, Incident, Place, Port, place_of
from fabrichealth.topology import Topology

TOGETHER = 120.0
"""Seconds within which devices of a rack went dark together; two polls, if those are longer."""

DARK_SECONDS = 60.0
"""What was last seen down longer ago may be back; nobody knows."""

SLACK = 180.0
"""Seconds by which a victim may seem to come first: polls and clocks differ."""

WORDS_OF_DARKNESS = ("answers", "by_hand")
"""Details of a dark device that hold for a rack only if they do for all in it."""

RACK_SHARE = 0.6
"""Share of a rack's cabled hosts and switches that must be dark for the rack to be accused."""


class Rival(NamedTuple):
    """Something else that is ill, and is held to be a victim."""

    place: Place
    kind: str
    since: float


@dataclass
class Claim:
    """One suspected cause: a culprit, what was found of it, and what it explains."""

    culprit: Place
    findings: list[Finding]
    victims: list[Place] = field(default_factory=list)
    joined: list[Finding] = field(default_factory=list)
    """Findings of victims that say how grave the cause is: links of a shared part."""
    rivals: list[Rival] = field(default_factory=list)
    warm: bool = False
    """Whether something at its culprit is known to be too hot, by findings that are left out."""
    spoken: frozenset[Place] = frozenset()
    """Culprits of everything that stands in the same pass: what is still said is no mere victim."""
    held_back: str | None = None
    """Why it is a ticket though a finding asks for a page."""

    @property
    def kind(self) -> IncidentKind:
        """The gravest kind among its own findings."""
        return max((finding.kind for finding in self.findings), key=lambda kind: kind.gravity)

    @property
    def severity(self) -> Severity:
        """The highest severity among its findings; at most a ticket while it is held back."""
        highest = max(finding.rank for finding in (*self.findings, *self.joined))
        return highest if self.held_back is None else min(highest, Severity.TICKET)

    @property
    def since(self) -> float:
        """First evidence counted."""
        return min(finding.since for finding in self.findings)

    @property
    def seen(self) -> float:
        """Last time the cause was present."""
        return max(finding.at for finding in self.findings)

    @property
    def slack(self) -> float:
        """Seconds by which a victim of it may seem to come first: two of its own polls at least."""
        return max(SLACK, *(2 * finding.detail.get("period", 0.0) for finding in self.findings))

    @property
    def lead(self) -> Finding:
        """The finding that names it: gravest kind, then highest score."""
        return max(self.findings, key=lambda one: (one.kind.gravity, one.rank, one.score))


def weight(kind: IncidentKind, culprit: Place) -> int:
    """Return what decides between two causes: gravity, and a rack before its devices."""
    return 2 * kind.gravity + (culprit.type == "rack")


def lift(finding: Finding, topology: Topology) -> Place:
    """Return the culprit of a finding by its kind's row."""
    about = finding.about
    if isinstance(about, Port):
        if finding.kind.culprit == "link" and (link := topology.link_of.get(about)):
            return Place("link", link.id)
        if finding.kind.culprit == "device" and finding.kind.name != "watch.data_implausible":
            return Place("device", about.device)
    return place_of(about)


def of_readings(kind: IncidentKind, culprit: Place) -> bool:
    """Return whether an incident is about what is read of a device, and not about the device.

    A clock that stands apart, readings that are refused: what befalls the device is neither their
    cause nor their end.
    """
    return kind is WATCH_DATA_IMPLAUSIBLE and culprit.type == "device"


def subject(culprit: Place, kind: IncidentKind) -> tuple[Place, str]:
    """Return what is one incident: a culprit; of a domain, which has no one fault, each kind.

    So is what is read of a device, beside what it is ill of.
    """
    alone = culprit.type == "domain" or of_readings(kind, culprit)
    return culprit, kind.name if alone else ""


def claims(findings: Iterable[Finding], topology: Topology) -> list[Claim]:
    """Return one claim per culprit, racks put together."""
    found: dict[tuple[Place, str], Claim] = {}
    for finding in findings:
        place = lift(finding, topology)
        claim = found.setdefault(subject(place, finding.kind), Claim(place, []))
        claim.findings.append(finding)
        claim.victims = list(dict.fromkeys([*claim.victims, *finding.victims]))
    return _racks(list(found.values()), topology)


def _racks(every: list[Claim], topology: Topology) -> list[Claim]:
    """Join devices of one rack that went dark together into one claim about the rack."""
    dark: dict[str, list[Claim]] = {}
    for claim in every:
        if claim.kind is DEVICE_DOWN and (rack := topology.rack_of(claim.culprit.id)):
            dark.setdefault(rack, []).append(claim)
    joined: list[Claim] = []
    gone: set[int] = set()
    for rack, fallen in dark.items():
        first = min(member.since for member in fallen)
        together = max(TOGETHER, *(member.slack for member in fallen if member.slack > SLACK), 0.0)
        members = [member for member in fallen if member.since - first <= together]
        heads = [n for n in topology.in_rack[rack] if _is_head(n, topology)]
        darkened = {member.culprit.id for member in members}
        if len(darkened) < 2 or len(darkened & set(heads)) < RACK_SHARE * len(heads):
            continue
        victims = [member.culprit for member in members]
        joined.append(Claim(Place("rack", rack), [_of_rack(rack, members, heads)], victims))
        gone.update(id(member) for member in members)
    return [claim for claim in every if id(claim) not in gone] + joined


def _of_rack(rack: str, members: list[Claim], heads: list[str]) -> Finding:
    """Return one finding about a rack from those about its devices."""
    findings = [finding for member in members for finding in member.findings]
    first = min(findings, key=lambda one: one.since)
    last = max(finding.at for finding in findings)
    return replace(
        first,
        about=Place("rack", rack),
        at=last,
        evidence=[finding.evidence[0] for finding in findings[:8]],
        detail={
            **first.detail,
            **{word: min(f.detail.get(word, 0.0) for f in findings) for word in WORDS_OF_DARKNESS},
        },
        because=(
            f"rack {rack} is dark for {(last - first.since) / 60:.1f} min: {len(members)} of "
            f"{len(heads)} cabled devices in it went down within {TOGETHER:.0f} s"
        ),
    )


def _is_head(name: str, topology: Topology) -> bool:
    """Return whether a device stands for itself: cabled, and not held by a host that is."""
    host = topology.devices[name].host
    cabled = topology.links_of
    return name in cabled and not (host and host in cabled)


def dark_now(claim: Claim, incident: Incident, now: float) -> bool:
    """Return whether a claim says that an incident's culprit is down at this moment.

    An incident stays open while what fell is back, or falls and comes back: then it carries. A
    part is down if all the links that it ever took along are.
    """
    if claim.culprit != incident.culprit:
        return False
    if not claim.joined:
        return any(_lasts(one, now) for one in claim.findings)
    links = {one for one in incident.victims if one.type == "link"}
    if any(one.detail.get("down") for one in claim.findings):
        return links.issubset(claim.victims) and all(_lasts(one, now) for one in claim.joined)
    fallen = {one.about for one in claim.joined if one.kind is LINK_DOWN and _lasts(one, now)}
    return len(fallen) >= len(links) > 0


def _lasts(one: Finding, now: float) -> bool:
    """Return whether a finding says that something is down, and did not come back since."""
    down = one.kind in {DEVICE_DOWN, LINK_DOWN} and not one.detail.get("back")
    return down and now - one.at <= DARK_SECONDS
