"""A domain whose free accelerators do not make the job that waits.

A job takes the accelerators of one tray, or whole trays; a little left on each is nothing to it.
Told while enough are free in number, the job fits nowhere, and it has waited for a while; which
jobs to move is told where few moves would do. Accelerators behind something ill count as free and
not as placeable. Silent where the scheduler is, and where the job fits in another domain.
"""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.domain import fitness
from analyzer.evidence.domain.allocation import allocation
from analyzer.evidence.domain.demand import Demand, demands
from analyzer.evidence.domain.inventory import inventory
from analyzer.evidence.domain.migrations import Move, migrations, pieces
from analyzer.evidence.domain.room import TIERS, Room, rooms
from analyzer.evidence.testimony import evidence
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.accelerators import ALLOCATED, UTILIZATION
from fabrichealth.catalogue.devices import HOST_ALLOCATED, JOBS_PENDING, SCHEDULABLE
from fabrichealth.catalogue.verdicts import (
    DOMAIN_FRAGMENTATION,
    DOMAIN_STRANDED,
    DOMAIN_TIER_FRAGMENTATION,
    LARGEST_PLACEABLE,
)
from fabrichealth.kinds import DOMAIN_FRAGMENTED
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds

MOST_TOLD = 4
"""Moves that are named in a sentence."""


class DomainFragmentedSettings(DetectorSettings):
    """Domain-fragmented section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll."""

    lost: float = Field(default=0.30, gt=0, lt=1)
    """Share of the free accelerators that jobs of the size cannot have."""

    waits: Duration = seconds(600)
    """A job that waits for less is not yet kept waiting."""


class DomainFragmented(Detector[DomainFragmentedSettings]):
    """What is free against what waits, by domain; score 1.0 is `lost`."""

    kinds = (DOMAIN_FRAGMENTED,)
    metrics = (
        ALLOCATED, UTILIZATION, JOBS_PENDING, HOST_ALLOCATED, SCHEDULABLE, *fitness.NEEDED,
    )  # fmt: skip
    settings_type = DomainFragmentedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each domain in which a job that waits fits nowhere."""
        every = {name: room for name, room in rooms(view).items() if room.known}
        kept = [one for one in demands(view) if view.now - one.since >= self.settings.waits]
        before = {str(one.about): one.since for one in view.before}
        for name, room in every.items():
            hurt = [one for one in kept if self._hurts(one, room, every)]
            if name and hurt:
                worst = max(hurt, key=lambda one: (room.lost(one.size) or 0.0) * one.size)
                yield self._finding(view, room, worst, before.get(name, worst.since))

    def verdicts(self, view: View, kept: MutableMapping[str, list[float]]) -> Iterable[Verdict]:
        """Return the fragmentation of every domain for sizes that wait, a tray and a rack."""
        waiting = demands(view)
        for name, room in rooms(view).items():
            if not room.known:
                continue
            asked = {one.size for one in waiting if one.domain in {"", name}}
            yield Verdict(LARGEST_PLACEABLE, (name,), float(room.largest))
            if asked:
                stranded = room.stranded(min(asked))
                yield Verdict(DOMAIN_STRANDED, (name,), float(stranded))
            usual = {room.units(tier).usual for tier in ("tray", "rack")}
            for size in sorted(usual | asked):
                yield from _lost(room, size)

    def _hurts(self, one: Demand, room: Room, every: Mapping[str, Room]) -> bool:
        """Return whether jobs wait that would fit here if what is free lay together."""
        if one.size < 2 or one.domain not in {"", room.domain} or room.free.sum() < one.size:
            return False
        choice = every.values() if not one.domain else [room]
        if sum(other.placeable(one.size) for other in choice) >= one.size * one.many:
            return False
        lost = room.lost(one.size)
        return (
            lost is not None and lost > self.settings.lost and room.placeable(one.size) < one.size
        )

    def _finding(self, view: View, room: Room, one: Demand, since: float) -> Finding:
        free, total = int(room.free.sum()), int(room.size.sum())
        lost = room.lost(one.size) or 0.0
        regardless = room.lost(one.size, healthy=False) or 0.0
        stock = inventory(view)
        own = pieces(stock, allocation(view), fitness.fitness(view, stock))
        moves = migrations(room, own, one.size)
        minutes = (view.now - min(since, one.since)) / 60
        most = int(room.free.argmax())
        ill = free - int(room.fit.sum())
        who = f"{one.many} jobs of {one.size} have" if one.many > 1 else f"a job of {one.size} has"
        waits = f"{who} waited for {minutes:.0f} min"
        return Finding(
            kind=DOMAIN_FRAGMENTED,
            about=Place("domain", room.domain),
            score=lost / self.settings.lost,
            since=min(since, one.since),
            at=one.at,
            evidence=[
                evidence(
                    JOBS_PENDING, (one.domain, str(one.size)), float(one.many), one.at,
                    waits, 0.0,
                ),
                evidence(
                    HOST_ALLOCATED, (room.trays[most],),
                    float(room.size[most] - room.free[most]), one.at,
                    f"no tray has more room: {room.free[most]} of {room.size[most]} free; "
                    f"{_advice(moves)}",
                ),
            ],
            because=(
                f"{free} of {total} accelerators are free"
                + (f" ({ill} of them behind something ill)" if ill else "")
                + f", yet {waits}: {lost:.0%} of what is free is lost to that size"
                + (f" ({regardless:.0%} if all were well)" if regardless < lost - 0.005 else "")
                + f", {room.stranded(one.size)} lie in too small pieces, and the largest job that "
                f"fits is {room.largest}; {_advice(moves)}"
            ),
        )  # fmt: skip


def _lost(room: Room, size: int) -> Iterator[Verdict]:
    """Yield what jobs of a size cannot have: tray by tray, and of every tier, ill ones or not."""
    lost = room.lost(size)
    if lost is None:
        return
    yield Verdict(DOMAIN_FRAGMENTATION, (room.domain, str(size)), lost)
    for tier in TIERS:
        for counted, healthy in (("free", False), ("fit", True)):
            share = room.lost(size, tier, healthy=healthy)
            if share is not None:
                labels = (room.domain, str(size), tier, counted)
                yield Verdict(DOMAIN_TIER_FRAGMENTATION, labels, share)


def _advice(moves: Sequence[Move] | None) -> str:
    """Return which jobs to move, in a few words."""
    if not moves:
        return "no few moves of jobs would make room"
    told = ", ".join(map(str, moves[:MOST_TOLD]))
    more = f" and {len(moves) - MOST_TOLD} more" if len(moves) > MOST_TOLD else ""
    return f"moving {told}{more} makes room"
