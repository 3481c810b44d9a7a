"""Feeds: every feed that is read or written, its breaker, its partner, and its phases' currents.

A current is a row of its own; `feed_of` and `phase_of` say whose. What has not been read within a
few of its own polls is absent, and a feed whose breaker nobody knows cannot be judged against it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.durations import Bools, fresh
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View, Window
from fabrichealth.topology import Topology

Places = NDArray[np.intp]

PHASES = ("1", "2", "3")

HIGHEST = 100.0
"""Load beyond this is the same: no breaker carries it."""


@dataclass(frozen=True, eq=False)
class Feeds:
    """The feeds of a pass, in order of their names."""

    names: tuple[str, ...]
    racks: tuple[str, ...]
    """Of each feed; empty where nothing says."""
    breaker: Floats
    """Rating in amperes ([f]); NaN where neither the device nor the topology says."""
    partner: Places
    """The feed that carries on when this one is lost ([f]), -1 for none."""
    current: Window
    """Currents, row by row ([s, k])."""
    feed_of: Places
    """Feed of each row of `current` ([s])."""
    phase_of: Places
    """Phase of each row of `current` ([s]): 0, 1, 2."""

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def heard(self) -> Bools:
        """Which rows of `current` were read within a few of their polls ([s])."""
        return fresh(self.current)

    @cached_property
    def load(self) -> Floats:
        """Currents over the breaker's rating ([s, k]); NaN where either is unknown."""
        with np.errstate(over="ignore"):
            ratio = self.current.values / self.breaker[self.feed_of][:, None]
        return np.clip(ratio, 0.0, HIGHEST)

    def by_phase(self, values: Floats) -> Floats:
        """Return one value per row as [f, 3]; NaN where a feed has no such phase."""
        found = np.full((len(self), len(PHASES)), np.nan)
        found[self.feed_of, self.phase_of] = values
        return found

    @cached_property
    def group(self) -> Places:
        """Number of the feeds that carry each other ([f]): two as a rule, three in a ring."""
        size = len(self)
        ends = np.flatnonzero(self.partner >= 0)
        held = coo_array((np.ones(len(ends)), (ends, self.partner[ends])), (size, size))
        _, number = connected_components(held, directed=False)
        return np.asarray(number, np.intp)

    def others(self, feed: int) -> Places:
        """Return the rows of `current`, heard now, of the feeds that carry on for one."""
        mine = (self.group[self.feed_of] == self.group[feed]) & (self.feed_of != feed)
        return np.flatnonzero(mine & self.heard)

    def phase_name(self, row: int) -> str:
        """Return what a row of `current` is called."""
        return f"phase {PHASES[int(self.phase_of[row])]}"


def feeds(view: View) -> Feeds:
    """Return the feeds of a pass."""
    return view.once(("feeds", view[FEED_CURRENT].seconds), lambda: _feeds(view))


def _feeds(view: View) -> Feeds:
    current = view[FEED_CURRENT]
    labels_of = [current.labels(row) for row in range(len(current))]
    breakers = view[FEED_BREAKER]
    rack_of = {name: feed.rack for name, feed in view.topology.feeds.items()}
    for rack, name, *_ in (*map(breakers.labels, range(len(breakers))), *labels_of):
        rack_of.setdefault(name, rack)
    names = tuple(sorted(rack_of))
    number = {name: place for place, name in enumerate(names)}
    known = np.array([one[2] in PHASES for one in labels_of], np.bool_)
    current = current.select(known)
    mine = [one for one, kept in zip(labels_of, known.tolist(), strict=True) if kept]
    return Feeds(
        names,
        tuple(rack_of[name] for name in names),
        _breakers(view, names),
        _partners(view.topology, names, number),
        current,
        np.array([number[one[1]] for one in mine], np.intp),
        np.array([PHASES.index(one[2]) for one in mine], np.intp),
    )


def _breakers(view: View, names: tuple[str, ...]) -> Floats:
    """Return what devices say of their breakers, else what is written; nothing is no rating."""
    said = by_feed(view, FEED_BREAKER)
    written = view.topology.feeds
    found = np.full(len(names), np.nan)
    for place, name in enumerate(names):
        own = said.get(name)
        rating = own or (written[name].breaker_amperes if name in written else None)
        if rating is not None and rating > 0:
            found[place] = rating
    return found


def _partners(topology: Topology, names: tuple[str, ...], number: dict[str, int]) -> Places:
    """Return partners as written at either end."""
    found = np.full(len(names), -1, np.intp)
    for name, feed in topology.feeds.items():
        other = number.get(feed.redundant_with)
        if other is not None and names[other] != name:
            found[number[name]] = other
            if found[other] < 0:
                found[other] = number[name]
    return found


def by_feed(view: View, metric: Metric) -> dict[str, float]:
    """Return the newest value of a metric of feeds, by name, where it is fresh."""
    window = view[metric]
    if not len(window):
        return {}
    known = np.flatnonzero(fresh(window) & np.isfinite(window.last))
    return {window.labels(int(row))[1]: float(window.last[row]) for row in known}


def lately(window: Window, values: Floats, seconds: float, least: int = 2) -> Floats:
    """Return the mean of each row over its last so many seconds ([s] from [s, k]).

    Over its last `least` values where polls are further apart; NaN where there are fewer.
    """
    finite = np.isfinite(values)
    rank = np.cumsum(finite[:, ::-1], axis=1)[:, ::-1]  # 1 for the newest value
    with np.errstate(invalid="ignore"):
        recent = finite & ((window.until - window.times < seconds) | (rank <= least))
    many = recent.sum(axis=1)
    total = np.where(recent, values, 0.0).sum(axis=1)
    return np.where(many >= least, total / np.maximum(many, 1), np.nan)


def heard_lately(window: Window, values: Floats, seconds: float) -> Floats:
    """Return the same of rows that were read within a few of their polls, NaN for the others."""
    if not len(window):
        return np.empty(0)
    return np.where(fresh(window), lately(window, values, seconds), np.nan)
