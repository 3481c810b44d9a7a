"""Clocks of a history: which series were read together.

A history has time stamps but does not say what polled whom. The rule: series belong to the
thing their first label names (device, loop, rack, link ..; source and target for the watchers).
Of one thing, series are on one clock if their time stamps coincide: at least half of those of
the one with fewer, where both were recorded. Otherwise (modules swept at other moments than
counters) they are on clocks of their own. Periods may differ: every sixth poll coincides.

A series keeps the clock that its first piece got.
"""

from hashlib import blake2b

import numpy as np

from fabrichealth.metric import Metric, Subject
from fabrichealth.model import Floats, Labels, SeriesTable

SOURCE = "history"
"""What polls, in the names of these clocks; the target is `device=leaf-01`, then `#2`, .."""

SHARED = 0.5
MOST_CLOCKS = 128
"""Beyond so many of one thing the first are shared in turn: ports that are read one by one have
time stamps of their own each, but where nothing coincides more clocks do not help."""


class Clocks:
    """Gives each series of a history its clock."""

    def __init__(self, table: SeriesTable) -> None:
        self._table = table
        self._of_series: dict[int, int] = {}
        self._of_owner: dict[tuple[str, ...], list[tuple[int, Floats]]] = {}
        self._exact: dict[tuple[tuple[str, ...], bytes], int] = {}
        """Clock by the very time stamps: nearly every series has those of another."""
        self._digested, self._digest = np.empty(0), b""
        """Of the time stamps that were looked at last; neighbours have the very same."""
        self._shared: dict[tuple[str, ...], int] = {}
        """How many series of a thing have a clock that is not theirs."""

    def clock(self, series: int, at: Floats) -> int:
        """Return the clock of a series first seen at these times (unix seconds, ascending)."""
        found = self._of_series.get(series)
        if found is None:
            metric = self._table.metric(series)
            owner = owner_of(metric, self._table.labels(series))
            if at is not self._digested:
                self._digested, self._digest = at, blake2b(at.tobytes()).digest()
            exact = (owner, self._digest)
            if exact not in self._exact:
                self._exact[exact] = self._together(owner, at)
            found = self._of_series[series] = self._exact[exact]
        return found

    def _together(self, owner: tuple[str, ...], at: Floats) -> int:
        known = self._of_owner.setdefault(owner, [])
        for place, (clock, times) in enumerate(known):
            if coincide(times, at):
                if at[0] < times[0] or at[-1] > times[-1]:
                    known[place] = (clock, np.union1d(times, at))
                return clock
        if len(known) >= MOST_CLOCKS:
            turn = self._shared[owner] = self._shared.get(owner, -1) + 1
            return known[turn % MOST_CLOCKS][0]
        name = "=".join(owner) + (f"#{len(known) + 1}" if known else "")
        clock = self._table.clock(SOURCE, name)
        known.append((clock, at))
        return clock


def owner_of(metric: Metric, labels: Labels) -> tuple[str, ...]:
    """Return (label, value) of the thing that a series belongs to."""
    if metric.subject is Subject.TARGET:
        return ("target", "/".join(labels[:2]))
    return (metric.labels[0], labels[0]) if labels else ("fleet",)


def coincide(one: Floats, other: Floats) -> bool:
    """Return whether half of the time stamps of the sparser are the other's too.

    Only the time that both cover counts; if they share none, they may well be pieces of one.
    """
    start, end = max(one[0], other[0]), min(one[-1], other[-1])
    a = one[(one >= start) & (one <= end)]
    b = other[(other >= start) & (other <= end)]
    fewer = min(len(a), len(b))
    return len(np.intersect1d(a, b, assume_unique=True)) >= SHARED * fewer
