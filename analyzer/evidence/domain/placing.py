"""Placing: where a job of some size fits best, domain by domain.

One domain before several, few racks before many; among equals what leaves least of the room in
pieces that those who wait cannot use (the increase of what FGD calls expected fragmentation), and
then the tightest fit. Nothing is placed behind what is ill but a job of one, and that only where
there is no other place.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain import fgd
from analyzer.evidence.domain.fragmentation import Counts, Units, by_demand
from analyzer.evidence.domain.room import Room
from fabrichealth.model import Floats

Sizes = Mapping[int, int]
"""How many jobs of each size wait."""


@dataclass(frozen=True, slots=True)
class Share:
    """So many accelerators of one tray."""

    domain: str
    rack: str
    tray: str
    accelerators: int


@dataclass(frozen=True, eq=False)
class Placement:
    """One place for the whole job."""

    shares: tuple[Share, ...]
    lost_before: float | None
    """Share of the free accelerators that those who wait cannot have, in the domains it uses."""
    lost_after: float | None
    largest_after: int
    """The largest job that fits afterwards in these domains."""
    spoilt: float
    """By how many accelerators the expected fragmentation grows."""
    behind_ill: bool = False
    """A job of one that has no place but behind something ill."""

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that it uses."""
        return tuple(dict.fromkeys(share.domain for share in self.shares))

    @property
    def racks(self) -> tuple[str, ...]:
        """The racks that it uses; trays of no known rack count as one each."""
        return tuple(dict.fromkeys(share.rack or share.tray for share in self.shares))


def placements(rooms: Iterable[Room], job: int, waiting: Sizes) -> list[Placement]:
    """Return a place in each domain that has one, the best first; else one over several, if any.

    Raises:
        ValueError: a job wants at least one.
    """
    known = [room for room in rooms if room.known]
    typical = _typical(known, waiting)
    found = [one for room in known if (one := placed(room, job, waiting, typical)) is not None]
    if not found and job > 1:
        several = _over_several(known, job, waiting, typical)
        found = [] if several is None else [several]
    return sorted(found, key=_worth)


def placed(room: Room, job: int, waiting: Sizes, typical: fgd.Tasks) -> Placement | None:
    """Return the best place of one domain, None where it has none."""
    ill = job == 1 and not room.fit.any()
    had = room.free if ill else room.fit
    if Units(room.size, had).placeable(job) < job:
        return None
    inside = bool((had >= job).any())
    trays = [_tightest(room, had, job, typical)] if inside else _whole(room, job)
    return _placement([(room, _shares(room, had, trays, job))], waiting, typical, ill=ill)


def _typical(rooms: Sequence[Room], waiting: Sizes) -> fgd.Tasks:
    """Return those who wait as classes of tasks of one tray; if nobody does, jobs of 1, 2, 4 ..

    Of larger ones a whole tray is what they want of each.
    """
    usual = max((room.units("tray").usual for room in rooms), default=1) or 1
    powers = [1 << power for power in range(usual.bit_length()) if 1 << power <= usual]
    jobs = {size: many for size, many in waiting.items() if size > 0} or dict.fromkeys(powers, 1)
    sizes = np.array([min(size, usual) for size in jobs], np.int64)
    wanted = np.array([size * many for size, many in jobs.items()], np.float64)
    nothing = np.zeros(len(sizes))
    return fgd.Tasks(nothing, nothing, sizes, np.ones(len(sizes)), wanted / wanted.sum())


def _tightest(room: Room, had: Counts, job: int, typical: fgd.Tasks) -> int:
    """Return the tray in which a small job spoils least."""
    fitting = np.flatnonzero(had >= job)
    spoilt = _expected(had[fitting] - job, typical) - _expected(had[fitting], typical)
    beside = _fullness(room, had)[room.rack_of[fitting]]
    return int(fitting[np.lexsort((fitting, beside, had[fitting], np.round(spoilt, 9)))[0]])


def _whole(room: Room, job: int) -> list[int]:
    """Return whole trays in as few racks as can be, and of those the ones with least room left."""
    whole = np.flatnonzero((room.fit == room.size) & (room.size > 0))
    held = np.bincount(room.rack_of[whole], weights=room.size[whole]).astype(np.int64)
    chosen: list[int] = []
    missing = job
    left = held.copy()
    while missing > 0:
        enough = np.flatnonzero(left >= missing)
        # the last rack is the smallest that suffices; before it the largest are taken
        rack = int(enough[np.argmin(left[enough])]) if len(enough) else int(np.argmax(left))
        for tray in whole[room.rack_of[whole] == rack].tolist():
            if missing <= 0:
                break
            chosen.append(tray)
            missing -= int(room.size[tray])
        left[rack] = 0
    return chosen


def _fullness(room: Room, had: Counts) -> Counts:
    """Return how much may be had in each rack: small jobs go where least is left."""
    return np.bincount(room.rack_of, weights=had).astype(np.int64)


def _shares(room: Room, had: Counts, trays: Iterable[int], job: int) -> list[Share]:
    found = []
    for tray in trays:
        taken = min(int(had[tray]), job)
        found.append(Share(room.domain, room.racks[tray], room.trays[tray], taken))
        job -= taken
    return found


def _over_several(
    rooms: Sequence[Room], job: int, waiting: Sizes, typical: fgd.Tasks
) -> Placement | None:
    """Return a place over as few domains as can be, whole trays of each; None if all lack room."""
    parts: list[tuple[Room, list[Share]]] = []
    missing = job
    rest = sorted(rooms, key=lambda room: (-room.units("tray").whole, room.domain))
    while missing > 0 and rest:
        enough = [room for room in rest if room.units("tray").whole >= missing]
        room = min(enough, key=lambda one: one.units("tray").whole) if enough else rest[0]
        rest.remove(room)
        part = min(missing, room.units("tray").whole)
        if not part:
            return None
        parts.append((room, _shares(room, room.fit, _whole(room, part), part)))
        missing -= part
    return _placement(parts, waiting, typical) if missing <= 0 else None


def _placement(
    parts: Sequence[tuple[Room, Sequence[Share]]],
    waiting: Sizes,
    typical: fgd.Tasks,
    *,
    ill: bool = False,
) -> Placement:
    before = [room.units("tray") for room, _ in parts]
    after = [_without(room, shares) for room, shares in parts]
    jobs = {size: many for size, many in waiting.items() if size > 0}
    grown = sum(
        float(_expected(new.free, typical).sum() - _expected(old.free, typical).sum())
        for old, new in zip(before, after, strict=True)
    )
    return Placement(
        tuple(share for _, shares in parts for share in shares),
        _lost(_joined(before), jobs),
        _lost(_joined(after), jobs),
        max(one.largest for one in after),
        grown,
        ill,
    )


def _lost(units: Units, jobs: Sizes) -> float | None:
    """Return the share lost to those who wait; if nobody does, to jobs of a tray."""
    return by_demand(units, jobs or ({units.usual: 1} if units.usual else {}))


def _without(room: Room, shares: Iterable[Share]) -> Units:
    taken = np.zeros_like(room.fit)
    place = {tray: number for number, tray in enumerate(room.trays)}
    for share in shares:
        taken[place[share.tray]] += share.accelerators
    return Units(room.size, np.maximum(room.fit - taken, 0))


def _joined(units: Sequence[Units]) -> Units:
    return Units(
        np.concatenate([one.size for one in units]), np.concatenate([one.free for one in units])
    )


def _expected(free: Counts, typical: fgd.Tasks) -> Floats:
    """Return what a typical task could not use of so many free accelerators of a tray ([t])."""
    nothing = np.zeros(len(free))
    widest = int(free.max(initial=0))
    had = (np.arange(widest) < free[:, None]).astype(np.float64)
    return fgd.expected(fgd.Nodes(nothing, nothing, had), typical)


def _worth(one: Placement) -> tuple[bool, int, int, float, str]:
    return (
        one.behind_ill,
        len(one.domains),
        len(one.racks),
        round(one.spoilt, 9),
        one.domains[0],
    )
