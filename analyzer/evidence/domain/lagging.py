"""Lagging: which accelerator or host holds its peers back, by what it does differently from them.

In a synchronous job all wait for the slowest. The one that is waited for is not the one that looks
tired: it computes while the others spin (its matrix units are the busiest), or it is held up
outside its kernels (it is the least busy), or its clock is low. Who waits most is its victim.

Two things look like it and are none. While one writes a checkpoint, or computes alone, the others
do nothing at all: it must last longer than such a pause. And whoever plays another role does other
work: where a job tells of no roles a host is accused of the work it does only if it once did as the
others in this job, for a low clock is nobody's role and work may be.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain.distribution import Bools
from analyzer.evidence.domain.inventory import Inventory, Rows
from analyzer.evidence.domain.peers import ABSENT, Peers
from analyzer.evidence.domain.polish import polished
from analyzer.evidence.domain.standing_out import Lead, began, deviations, leads, scored
from analyzer.evidence.domain.ticks import moments, sampled
from analyzer.evidence.domain.waited_for import (
    SIGNALS,
    SLOW_CLOCK,
    Bounds,
    Signal,
    may_be_role,
    mean_of,
    median_of,
    others_of,
    stands_still,
    waited_for,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View
from fabrichealth.model.quantiles import row_median

TICKS = 40
"""So many moments of a window are compared; it is read more often than it need be."""

SETTLING = 120.0
"""Seconds that a job needs to get into step."""

IN_STEP = 60.0
"""Seconds for which whoever fell behind must have been seen to do as its peers do."""

MOST_OF_HOST = 0.75
"""A host is accused where this share of its accelerators deviates."""

FEW, ONE_IN = 3, 8
"""So many at most may have low clocks at a time, and one in so many: more are another kind."""


@dataclass(frozen=True, eq=False)
class Lagging:
    """One accelerator or host that stands out of its peers in one way."""

    group: Peers
    signal: Signal
    host: str
    """Name of the host where all of it lags; empty for one accelerator."""
    rows: Rows
    """Accelerators that lag, as rows of the inventory."""
    score: float
    """Smoothed robust deviations."""
    value: float
    """Mean of what they have while it lasts, in the metric's unit."""
    usual: float
    """The same of their peers, the median."""
    since: float
    at: float


@dataclass(frozen=True, eq=False)
class Readings:
    """What all accelerators of the inventory said at a few moments."""

    at: Floats
    of: Mapping[Metric, Floats]
    """[n, j] by metric; a metric that nobody reads is all NaN."""

    @property
    def step(self) -> float:
        """Seconds between two moments."""
        return float(self.at[1] - self.at[0]) if len(self.at) > 1 else 0.0


def readings(view: View, stock: Inventory) -> Readings:
    """Return what accelerators said at a few dozen moments of the window."""
    widest = max((view[one.metric] for one in SIGNALS), key=lambda window: window.values.size)
    at = moments(widest, TICKS)
    return Readings(at, {one.metric: sampled(view[one.metric], stock, at) for one in SIGNALS})


def lagging(
    view: View,
    stock: Inventory,
    group: Peers,
    told: Readings,
    bounds: Bounds,
    accused: Container[str] = (),
) -> Iterator[Lagging]:
    """Yield who holds one group of peers back, for each way in which it shows.

    `accused` are the devices that were found to do so a pass before.
    """
    inside = told.at >= group.job.since + SETTLING
    at = told.at[inside]
    if len(at) < 2:
        return
    own = {metric: values[group.rows][:, inside] for metric, values in told.of.items()}
    away = {
        one: one.worse * deviations(own[one.metric], one.floor, one.relative) for one in SIGNALS
    }
    recent = at > at[-1] - max(bounds.lasting, 2.5 * told.step)
    for signal in SIGNALS:
        found = _standing_out(signal, away[signal], group, at, told.step, bounds)
        every = np.concatenate([np.empty(0, np.intp), *(places for places, _, _ in found)])
        for places, host, score in found:
            if not waited_for(signal, own, away, places, recent, bounds):
                continue
            values = own[signal.metric][:, recent]
            level = max(mean_of(away[signal][places][:, recent]), bounds.deviations) / 2
            since, fell = _since(view, stock, group, signal, places, level, bounds.lasting)
            if at[-1] - since < bounds.pause and stands_still(
                signal, own, places, recent & _deviates(away[signal][places], bounds)
            ):
                continue
            device = host or stock.names[int(group.rows[places[0]])]
            if not fell and device not in accused and may_be_role(group, signal, host):
                continue
            yield Lagging(
                group, signal, host, group.rows[places], score,
                mean_of(values[places]), median_of(others_of(values, every)),
                since, float(at[-1]),
            )  # fmt: skip


def _standing_out(
    signal: Signal, away: Floats, group: Peers, at: Floats, step: float, bounds: Bounds
) -> list[tuple[Rows, str, float]]:
    """Return who stands out as places in the group, the host if it is all of it, and the score.

    A low clock is nobody's role, so a few at a time may have one; else it is one alone.
    """
    there = group.grid != ABSENT
    table = np.full((*group.grid.shape, away.shape[1]), np.nan)
    table[there] = away[group.grid[there]]
    if not np.isfinite(table).any():
        return []

    def first(effects: Floats) -> list[Lead]:
        rules = bounds.lasting, bounds.deviations, bounds.first
        most = min(FEW, len(effects) // ONE_IN) if signal is SLOW_CLOCK else 1
        return leads(scored(effects, step), at, rules, max(most, 1))

    effects = polished(table)
    hosts = []
    for one in first(effects.line) if len(group.hosts) > 2 else ():
        own = there[one.row]
        ill = np.nan_to_num(table[one.row, own, -one.ticks :]).mean(axis=1)
        if (ill >= bounds.deviations / 2).mean() >= MOST_OF_HOST:
            hosts.append((group.grid[one.row][own], group.hosts[one.row], one.score))
    if hosts:
        return hosts
    places = group.grid[there]
    return [(places[[one.row]], "", one.score) for one in first(effects.cell[there])]


def _deviates(away: Floats, bounds: Bounds) -> Bools:
    """Return at which ticks somebody deviates now, and not only by what is remembered ([j])."""
    with np.errstate(invalid="ignore"):
        beyond = away >= bounds.deviations / 2
    return np.asarray(beyond.mean(axis=0) >= 0.5, np.bool_)


def _since(
    view: View,
    stock: Inventory,
    group: Peers,
    signal: Signal,
    places: Rows,
    level: float,
    lasting: float,
) -> tuple[float, bool]:
    """Return since when it deviates by more than a level, and whether it did not before.

    Looked at poll by poll. Before counts while its peers do half of what they do now or more: while
    a job loads or stands still all do as little.
    """
    window = view[signal.metric]
    own = window.select(np.flatnonzero(np.isin(stock.places(window), group.rows)))
    at = moments(own)
    at = at[at >= group.job.since + SETTLING]
    values = sampled(own, stock, at)[group.rows]
    away = signal.worse * deviations(values, signal.floor, signal.relative)[places]
    with np.errstate(invalid="ignore"):
        below = (away < level).sum(axis=0) * 2 > np.isfinite(away).sum(axis=0)
    since = began(~below, at)
    usual = row_median(others_of(values, places).T)
    with np.errstate(invalid="ignore"):
        moved = usual >= median_of(usual[at > at[-1] - lasting]) / 2
    before = moved & (at < since)
    step = median_of(np.diff(at)) if len(at) > 1 else 0.0
    fell = before.sum() * step >= IN_STEP and bool(below[before].mean() >= 0.5)
    return since, fell
