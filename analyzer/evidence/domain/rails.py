"""Rails: which host, rail or single link of a job is slow, by what passes its ports.

A host has a port to each rail, and each rail joins the same ports of all hosts. In a synchronous
job all ports carry the same; two-way effects tell a host that stops its switches from a rail that
carries less on every host, and both from one link. A port that carries less counts only if it was
once seen to carry as much while the job worked: one for storage, and that of an idle accelerator,
never do.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from analyzer.evidence.domain.cabling import Cables, cables, wholly
from analyzer.evidence.domain.distribution import Bools
from analyzer.evidence.domain.jobs import Job
from analyzer.evidence.domain.polish import polished
from analyzer.evidence.domain.standing_out import (
    FEWEST_TICKS,
    Lead,
    began,
    deviations,
    lead,
    scored,
)
from analyzer.evidence.domain.ticks import held, moments
from fabrichealth.catalogue.congestion import PFC_TX_PAUSE
from fabrichealth.catalogue.ports import TRANSMIT_WAIT, TX_BYTES
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Labels, Port, SeriesTable, View
from fabrichealth.model.quantiles import row_median

IN_STEP = 60.0
"""Seconds for which a port that carries less must have been seen to carry as much as the others."""
ROUNDS = 3
"""Ports that never do are left out so many times: without them the usual is another."""
TICKS = 40
PRIORITIES = tuple("01234567")


@dataclass(frozen=True)
class RailSignal:
    """One way in which what passes a port accuses somebody."""

    metric: Metric
    facing: bool
    """Whether it is read at the switch's port that faces the host's."""
    worse: int
    floor: float
    relative: bool
    accuses: frozenset[str]
    """Who may stand out by it: host, rail, link."""
    says: str


STOPS = RailSignal(
    PFC_TX_PAUSE, False, 1, 0.02, False, frozenset({"host", "link"}), "it stops its switch"
)
WAITED_FOR = RailSignal(
    TRANSMIT_WAIT, True, 1, 0.02, False, frozenset({"host", "link"}), "its switch waits for it"
)
CARRIES_LESS = RailSignal(
    TX_BYTES, False, -1, 0.05, True, frozenset({"rail", "link"}), "it carries less than the others"
)
SIGNALS = (STOPS, WAITED_FOR, CARRIES_LESS)


@dataclass(frozen=True, eq=False)
class Slow:
    """One host, switch of a rail, or link that stands out by what passes its ports."""

    signal: RailSignal
    device: str
    """The host, or the switch that a rail hangs on."""
    port: Port
    """A port that shows it, as it is read."""
    what: str
    """host, rail or link."""
    score: float
    value: float
    """Mean while it lasts: share of the time, or bytes a second."""
    usual: float
    since: float
    at: float


def slow_rails(
    view: View,
    job: Job,
    hosts: Sequence[str],
    start: float,
    rules: tuple[float, float, float],
    accused: Container[str] = (),
) -> Iterator[Slow]:
    """Yield who stands out among the ports of a job's hosts since `start`, signal by signal.

    `rules` are the least deviation, for how long (seconds), and how often it must be the first;
    `accused` are the switches of rails and the ports that were found to be slow a pass before.
    """
    bound, lasting, first = rules
    own = tuple(wholly(hosts, job.accelerators, view.topology))
    for signal in SIGNALS:
        laid = cables(view.topology, own if signal is CARRIES_LESS else tuple(hosts))
        if laid is None:
            continue
        rates, at = _rates(view, laid, signal)
        if signal is CARRIES_LESS and len(at) > 1:
            rates = _once_in_step(rates, at, laid, (bound, lasting), accused)
        rates, at = rates[:, :, at >= start], at[at >= start]
        if len(at) < 2 or not np.isfinite(rates).any():
            continue
        flat = rates.reshape(-1, len(at))
        away = signal.worse * deviations(flat, signal.floor, signal.relative)
        found = _leading(away.reshape(rates.shape), signal, at, bound, lasting, first)
        if found is None:
            continue
        what, leader, host, rail = found
        device = laid.switch(rail) if what == "rail" else laid.hosts[host]
        port = (laid.facing if signal.facing else laid.own)[host][rail]
        if device is None or port is None:
            continue
        mine = np.zeros(rates.shape[:2], np.bool_)
        mine[host if what != "rail" else slice(None), rail if what != "host" else slice(None)] = (
            True
        )
        recent = at > at[-1] - max(lasting, 3 * (at[1] - at[0]))
        known = np.isfinite(rates).any(axis=2)
        level = np.nanmean(rates[mine & known], axis=0)
        usual = np.nanmedian(rates[~mine & known], axis=0)
        half = (level + usual)[recent].mean() / 2 if recent.any() else np.nan
        beyond = signal.worse * level >= signal.worse * half
        yield Slow(
            signal, device, port, what, leader.score, float(level[recent].mean()),
            float(usual[recent].mean()), began(beyond, at), float(at[-1]),
        )  # fmt: skip


def _leading(
    away: Floats, signal: RailSignal, at: Floats, bound: float, lasting: float, first: float
) -> tuple[str, Lead, int, int] | None:
    """Return who stands out: what it is, how, and a host and a rail that show it."""
    effects = polished(away)
    step = float(at[1] - at[0])
    rules = (at, lasting, bound, first)
    if "rail" in signal.accuses and (rail := lead(scored(effects.column, step), *rules)):
        shown = np.nan_to_num(away[:, rail.row, -1], nan=-np.inf)
        return "rail", rail, int(np.argmax(shown)), rail.row
    if "host" in signal.accuses and (host := lead(scored(effects.line, step), *rules)):
        shown = np.nan_to_num(away[host.row, :, -1], nan=-np.inf)
        return "host", host, host.row, int(np.argmax(shown))
    hosts, rails, _ = away.shape
    cell = lead(scored(effects.cell.reshape(hosts * rails, -1), step), *rules)
    if cell is None:
        return None
    return "link", cell, *divmod(cell.row, rails)


def _once_in_step(
    rates: Floats, at: Floats, laid: Cables, rules: tuple[float, float], accused: Container[str]
) -> Floats:
    """Return the rates without those of ports that never were seen to do as the others.

    Before it fell behind for good a port of a rail did so at most of the moments, or for a minute
    on end. Only moments count at which the others carry what they do now: while a job pauses or
    begins they carry as little as anybody. `rules` are the least deviation, and for how long.
    """
    bound, lasting = rules
    _, rails, ticks = rates.shape
    flat = rates.reshape(-1, ticks).copy()
    by_rail = np.array([laid.switch(rail) in accused for rail in range(rails)])
    by_port = np.array([[str(port) in accused for port in line] for line in laid.own])
    kept = (by_port | by_rail).reshape(-1)
    least = IN_STEP / max(float(at[1] - at[0]), 1e-3)
    for _ in range(ROUNDS):
        usual = row_median(flat.T)
        now = usual[at > at[-1] - lasting]
        with np.errstate(invalid="ignore"):
            level = float(np.nanmedian(now)) if np.isfinite(now).any() else 0.0
            moved = flat[:, usual >= level / 2]
        away = -deviations(moved, CARRIES_LESS.floor, CARRIES_LESS.relative)
        known = np.isfinite(flat).any(axis=1)
        never = ~kept & known & ~(_mostly(away, bound, least) | _on_end(away, bound, least))
        if not never.any():
            break
        flat[never] = np.nan
    return flat.reshape(rates.shape)


def _mostly(away: Floats, bound: float, least: float) -> Bools:
    """Return which ports did as the others at most moments before they last did ([p])."""
    ticks = away.shape[1]
    if not ticks:
        return np.zeros(len(away), np.bool_)
    with np.errstate(invalid="ignore"):
        alike = away < bound / 2  # who carries more does
    last = ticks - np.argmax(alike[:, ::-1], axis=1)  # moments until it fell behind for good
    before = np.where(np.arange(ticks) < last[:, None], np.isfinite(away), False).sum(axis=1)
    many = alike.sum(axis=1)
    return np.asarray((many >= least) & (2 * many >= before), np.bool_)


def _on_end(away: Floats, bound: float, least: float) -> Bools:
    """Return which ports carried the same as the others at so many moments on end ([p]).

    No less and no more: storage that is written for a minute carries what it likes.
    """
    many = max(int(np.ceil(least)), FEWEST_TICKS)
    if away.shape[1] < many:
        return np.zeros(len(away), np.bool_)
    with np.errstate(invalid="ignore"):
        same = np.abs(away) < bound
    on_end: Bools = np.asarray(sliding_window_view(same, many, axis=1).all(axis=2), np.bool_)
    return np.asarray(on_end.any(axis=1), np.bool_)


def _rates(view: View, laid: Cables, signal: RailSignal) -> tuple[Floats, Floats]:
    """Return what passes each port a second at a few dozen moments ([h, p, j]), and those ([j])."""
    window = view[signal.metric]
    table = window.table
    every = table.of(signal.metric)
    grid = _series(table, laid, signal, len(every))
    place = np.searchsorted(window.series, grid)
    place = np.where(place < len(window.series), place, 0)
    there = (grid >= 0) & (window.series[place] == grid) if len(window) else grid < -1
    hosts, rails = grid.shape[:2]
    if not there.any():
        return np.full((hosts, rails, 0), np.nan), np.empty(0)
    own = window.select(np.unique(place[there]))
    at = moments(own)
    at = at[:: -max(len(at) // TICKS, 1)][::-1]  # whole polls apart, so rates are even
    if len(at) < 2:
        return np.full((hosts, rails, 0), np.nan), np.empty(0)
    counted = held(own, at)
    passed = np.diff(counted, axis=1) / np.diff(at)
    with np.errstate(invalid="ignore"):
        passed[passed < 0] = np.nan  # a counter that began anew
    found = np.full((*grid.shape, len(at) - 1), np.nan)
    found[there] = passed[np.searchsorted(own.series, grid[there])]
    known = np.isfinite(found).any(axis=2)
    summed = np.where(known, np.nansum(found, axis=2), np.nan)
    return summed, at[1:]


@lru_cache(maxsize=64)
def _series(table: SeriesTable, laid: Cables, signal: RailSignal, many: int) -> NDArray[np.int32]:
    """Return the series of each port ([h, p, priority]), -1 where there is none.

    `many`, how many series the metric has, makes the answer anew when there are more.
    """
    priorities = PRIORITIES if "priority" in signal.metric.labels else ("",)

    def number(port: Port | None, priority: str) -> int:
        if port is None or not many:
            return -1
        labels: Labels = (*port, priority) if priority else tuple(port)
        found = table.find(signal.metric, labels)
        return -1 if found is None else found

    ports = laid.facing if signal.facing else laid.own
    return np.array(
        [[[number(port, each) for each in priorities] for port in line] for line in ports], np.int32
    )
