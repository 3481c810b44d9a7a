"""Differences between what is written and what was discovered: every one, none resolved silently.

A written link is missing only where somebody who would see it speaks: LLDP sees Ethernet,
ibnetdiscover InfiniBand. What nobody looked at is no difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fabrichealth.model.place import Port
from fabrichealth.topology.discovery import Doubt, Found
from fabrichealth.topology.inventory import Topology
from fabrichealth.topology.merging import NOTHING, TECHNOLOGY, Facts, PortSaid
from fabrichealth.topology.rows import Link, Module

SPEED_TOLERANCE = 0.01
"""Speeds that differ by less are the same: 25.78 and 25 Gbit/s are two ways to say it."""

LENGTH_TOLERANCE = 0.5
"""Metres by which records of one cable may differ."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs; `written` and `found` are empty where that side says nothing."""

    kind: str
    """missing extra other_far_end stale, the kinds of `Doubt`, or the field that differs."""
    about: str
    """A link's id or a port."""
    written: str
    found: str
    says: str

    def __str__(self) -> str:
        text = " ".join(f"{self.kind}: {self.about}: {self.says}".split())  # one line, whatever
        return "".join(c if c.isprintable() else "_" for c in text)  # a device called itself


def differences(written: Topology, found: Found, facts: Facts) -> list[Difference]:
    """Return how discovery differs from what is written, in the order of kinds and names."""
    every = [
        *_missing(written, found),
        *_extra(written, found),
        *_other_far_end(written, found),
        *map(_doubted, found.doubts),
        *_stale(found),
        *(one for link in written.links.values() for one in _facts(link, facts)),
        *_ends(written, found, facts),
    ]
    return list(dict.fromkeys(every))


def disputes(written: Topology, found: Found) -> list[Difference]:
    """Return the differences that somebody must see to: cabling that cannot be as it is told."""
    doubts = (doubt for doubt in found.doubts if doubt.kind == "contradiction")
    every = [*_other_far_end(written, found), *map(_doubted, doubts)]
    return list(dict.fromkeys(every))


def _doubted(doubt: Doubt) -> Difference:
    return Difference(doubt.kind, str(doubt.about), "", "", doubt.says)


def _missing(written: Topology, found: Found) -> Iterator[Difference]:
    """Yield written links that nobody speaks of though somebody there does speak."""
    claimed = {claim.here for claim in found.claims}
    claimed |= {there for claim in found.claims if (there := claim.there) is not None}
    speakers = found.speakers
    ways = {via for _, via in speakers}
    for name, link in sorted(written.links.items()):
        if any(end in claimed for end in link.ends):
            continue
        heard = sorted(
            {
                f"{end.device} by {via}"
                for end in link.ends
                for via in ways
                if (end.device, via) in speakers and _sees(via, link.technology)
            }
        )
        if heard:
            says = f"written, but not heard of at either end ({', '.join(heard)})"
            yield Difference("missing", name, name, "", says)


def _sees(via: str, technology: str) -> bool:
    if via == "lldp":
        return technology == "roce"
    return TECHNOLOGY.get(via, technology) == technology


def _extra(written: Topology, found: Found) -> Iterator[Difference]:
    for link in sorted(found.links, key=lambda one: one.id):
        if link.id not in written.links:
            says = f"found by {', '.join(sorted(link.via))}, not written"
            yield Difference("extra", link.id, "", link.id, says)


def _other_far_end(written: Topology, found: Found) -> Iterator[Difference]:
    """Yield ports that face another port or device than is written."""
    for claim in found.claims:
        for here, device, port in _both_ways(claim.here, claim.far):
            peer = written.peer(here)
            if peer is None or claim.stale or (peer.device == device and not port):
                continue
            facing = f"{device}/{port}" if port else device
            if facing != str(peer):
                says = f"written to face {peer}, faces {facing} by {claim.via}"
                yield Difference("other_far_end", str(here), str(peer), facing, says)


def _both_ways(here: Port, far: tuple[str, str]) -> Iterator[tuple[Port, str, str]]:
    yield here, *far
    if far[1]:
        yield Port(*far), *here


def _stale(found: Found) -> Iterator[Difference]:
    for link in sorted(found.links, key=lambda one: one.id):
        if link.stale:
            says = f"last heard of at {link.at:.0f} by {', '.join(sorted(link.via))}; kept"
            yield Difference("stale", link.id, "", link.id, says)


def _facts(link: Link, facts: Facts) -> Iterator[Difference]:
    """Yield what the devices know better, or a record knows otherwise, than what is written."""
    for end, module in zip(link.ends, (link.module_a, link.module_b), strict=True):
        said = facts.get(end, NOTHING)
        if said.speed_gbps and link.speed_gbps and _apart(said.speed_gbps, link.speed_gbps):
            yield _fact("speed", end, f"{link.speed_gbps:g} Gbit/s", f"{said.speed_gbps:g} Gbit/s")
        if said.lanes and link.lanes and said.lanes != link.lanes:
            yield _fact("lanes", end, str(link.lanes), str(said.lanes))
        if said.fec and link.fec and said.fec != link.fec:
            yield _fact("fec", end, link.fec, said.fec)
        if said.technology and said.technology != link.technology:
            yield _fact("technology", end, link.technology, said.technology)
        if said.medium and link.medium and said.medium != link.medium:
            yield _fact("medium", end, link.medium, said.medium)
        if (
            said.length_m
            and link.length_m
            and abs(said.length_m - link.length_m) > max(LENGTH_TOLERANCE, 0.05 * link.length_m)
        ):
            yield _fact("length", end, f"{link.length_m:g} m", f"{said.length_m:g} m")
        yield from _module(end, module, said)


def _module(end: Port, written: Module | None, said: PortSaid) -> Iterator[Difference]:
    if written is None or said.module is None:
        return
    for key in Module.model_fields:
        mine, theirs = getattr(written, key), getattr(said.module, key)
        if mine and theirs and mine.strip().casefold() != theirs.strip().casefold():
            yield _fact("module", end, f"{key} {mine}", f"{key} {theirs}")


def _ends(written: Topology, found: Found, facts: Facts) -> Iterator[Difference]:
    """Yield links whose two ends do not say the same of their speed or FEC."""
    links = {name: link.ends for name, link in written.links.items()}
    links |= {link.id: link.ends for link in found.links}
    for name, (one, other) in sorted(links.items()):
        near, far = facts.get(one, NOTHING), facts.get(other, NOTHING)
        if near.speed_gbps and far.speed_gbps and _apart(near.speed_gbps, far.speed_gbps):
            says = f"{one} runs {near.speed_gbps:g} Gbit/s, {other} {far.speed_gbps:g}"
            yield Difference("ends_differ", name, "", "", says)
        if near.fec and far.fec and near.fec != far.fec:
            says = f"{one} has FEC {near.fec}, {other} {far.fec}"
            yield Difference("ends_differ", name, "", "", says)


def _apart(one: float, other: float) -> bool:
    return abs(one - other) > SPEED_TOLERANCE * max(one, other)


def _fact(kind: str, end: Port, written: str, found: str) -> Difference:
    return Difference(kind, str(end), written, found, f"written {written}, found {found}")
