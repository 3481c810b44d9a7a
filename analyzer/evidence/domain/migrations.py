"""Migrations: the fewest jobs to move so that a job that waits finds its place.

Only jobs that lie in one tray are moved, as a whole, into holes that are there already; trays of
which nobody knows the holders stay as they are. Trays that hold least are freed first. A host that
takes no work, and accelerators behind something ill, give no room to who waits, so that nothing is
moved away from there. What does not fit so is not advised at all.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain.allocation import NOBODY, Allocation
from analyzer.evidence.domain.fitness import Fitness
from analyzer.evidence.domain.fragmentation import Counts
from analyzer.evidence.domain.inventory import Inventory
from analyzer.evidence.domain.room import Room


@dataclass(frozen=True, slots=True)
class Piece:
    """What a job has in one tray: so many accelerators, and those of them that are fit."""

    held: int
    fit: int


Pieces = Mapping[str, Mapping[str, Piece]]
"""By tray, what each job has there."""

MOST_TRIED = 64
"""Trays that are looked at for one to free; those that hold least come first."""


@dataclass(frozen=True, slots=True)
class Move:
    """Take a job of so many accelerators from one tray to another."""

    job: str
    accelerators: int
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.job} ({self.accelerators}) from {self.source} to {self.target}"


def pieces(stock: Inventory, held: Allocation, fit: Fitness) -> Pieces:
    """Return which job has how many accelerators on which host."""
    _, job = held.of(stock.names)
    known = np.flatnonzero((job != NOBODY) & (stock.host.code >= 0))
    pairs = np.stack([stock.host.code[known].astype(np.intp), job[known]], axis=1)
    distinct, of, many = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    well = ~(fit.broken | fit.doubtful)[known]
    fine = np.bincount(of.reshape(-1), well, minlength=len(distinct)).astype(int)
    found: dict[str, dict[str, Piece]] = defaultdict(dict)
    for (host, number), *counts in zip(
        distinct.tolist(), many.tolist(), fine.tolist(), strict=True
    ):
        name = held.told.rows[number].name
        mine = found[stock.host.names[host]]
        before = mine.get(name, Piece(0, 0))
        mine[name] = Piece(before.held + counts[0], before.fit + counts[1])
    return found


def migrations(room: Room, own: Pieces, job: int) -> list[Move] | None:
    """Return moves after which a job fits; None where no such are known, empty if it fits now."""
    if room.placeable(job) >= job:
        return []
    usual = room.units("tray").usual
    if not usual or int(room.fit.sum()) < job:
        return None
    plan = _Plan(room, own)
    trays = [tray for tray in plan.fullest_last() if room.at_most[tray] >= job]
    tried = [plan.freed(tray, job) for tray in trays[:MOST_TRIED]]
    tried += [plan.freed_whole(job)] if job > usual else []
    return min((moves for moves in tried if moves is not None), key=_cost, default=None)


def _cost(moves: list[Move]) -> tuple[int, int]:
    return sum(move.accelerators for move in moves), len(moves)


def _spread(own: Pieces) -> frozenset[str]:
    """Return the jobs that lie in several trays, wherever: moving one is no small thing."""
    seen: set[str] = set()
    several: set[str] = set()
    for mine in own.values():
        several |= seen & mine.keys()
        seen |= mine.keys()
    return frozenset(several)


class _Plan:
    """What is where while moves are tried."""

    def __init__(self, room: Room, own: Pieces) -> None:
        self._room = room
        self._own = own
        self._spread = _spread(own)

    def fullest_last(self) -> list[int]:
        """Return the trays that could be freed, those that hold least first."""
        room = self._room
        used = room.size - room.fit
        order = np.lexsort((np.arange(len(used)), used))
        return [tray for tray in order.tolist() if used[tray] > 0 and self._movable(tray)]

    def freed(self, tray: int, wanted: int) -> list[Move] | None:
        """Return moves that leave so many accelerators of a tray to be had."""
        holes = self._room.fit.copy()
        return self._moved(tray, wanted - int(holes[tray]), holes, set())

    def freed_whole(self, job: int) -> list[Move] | None:
        """Return moves that leave so many trays whole that a larger job fits."""
        room = self._room
        holes = room.fit.copy()
        whole = set(np.flatnonzero((holes == room.size) & (room.size > 0)).tolist())
        had = sum(int(room.size[tray]) for tray in whole)
        found: list[Move] = []
        for tray in self.fullest_last():
            if had >= job:
                break
            if room.at_most[tray] < room.size[tray]:
                continue
            before = holes.copy()
            moves = self._moved(tray, int(room.size[tray] - holes[tray]), holes, whole)
            if moves is None:
                holes = before
                continue
            found += moves
            whole.add(tray)
            had += int(room.size[tray])
        return found if had >= job else None

    def _movable(self, tray: int) -> bool:
        """Return whether all that keeps a tray from being had is jobs that may be moved."""
        room, mine = self._room, self._own.get(self._room.trays[tray], {})
        regained = sum(piece.fit for piece in mine.values())
        return int(room.fit[tray]) + regained == int(room.at_most[tray])

    def _moved(
        self,
        tray: int,
        missing: int,
        holes: Counts,
        kept: set[int],
    ) -> list[Move] | None:
        """Move jobs out of a tray until so many more are free; `holes` [t] are used up by it."""
        name = self._room.trays[tray]
        mine = self._own.get(name, {})
        own = sorted(
            (piece.fit, piece.held, job)
            for job, piece in mine.items()
            if piece.fit and job not in self._spread
        )
        enough = [one for one in own if one[0] >= missing]
        chosen = [min(enough, key=lambda one: one[1:])] if enough else []
        had = sum(fit for fit, _, _ in chosen)
        while own and had < missing:  # the fewest jobs
            chosen.append(own.pop())
            had += chosen[-1][0]
        if had < missing:
            return None
        moves = []
        closed = {tray} | kept
        for _, size, job in chosen:
            fitting = [t for t in np.flatnonzero(holes >= size).tolist() if t not in closed]
            if not fitting:
                return None
            target = min(fitting, key=lambda t: (holes[t], -t))  # the last are freed last
            holes[target] -= size
            moves.append(Move(job, size, name, self._room.trays[target]))
        holes[tray] += had
        return moves
