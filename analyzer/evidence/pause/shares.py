"""Shares: for how much of the time a priority was paused, poll by poll.

Time is read off the counters of duration. Where there are only counts of frames, each stops the
other end for 65,535 quanta of 512 bit times at most (IEEE 802.1Qbb), so that they bound the
share from above; frames that let go again (XON) are counted alike, so that the bound may be far
off. Frames beside a duration that stands still let go and do not stop.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import FRESH_POLLS
from analyzer.evidence.pause.waiting import Bools, Places
from fabrichealth.counters import increases
from fabrichealth.model import Floats, Window

QUANTUM_BITS = 512
MOST_QUANTA = 65_535

NEWEST = 3
"""A row without a value in so many of its clock's last polls is not read any more."""

IMPOSSIBLE = 1.05
"""More than this share of the time cannot be paused: the unit or the counter is wrong."""


@dataclass(frozen=True, eq=False, slots=True)
class Shares:
    """Paused share of queues, [n, k]: the last k polls of each, the newest last; NaN unknown."""

    share: Floats
    exact: Bools
    """Whether it comes from a counter of time ([n]); else it is an upper bound."""
    pace: Floats
    """Seconds between these polls ([n]); NaN unknown."""
    read: Floats
    """When the newest was read, unix seconds ([n]); NaN unknown."""
    anew: Bools
    """Whether its counter moves, but was not read twice since it began anew ([n])."""

    def take(self, queue: Places, other: "Shares", source: Places) -> None:
        """Let some queues say what others of another direction or counter say."""
        self.share[queue], self.exact[queue] = other.share[source], other.exact[source]
        self.pace[queue], self.read[queue] = other.pace[source], other.read[source]

    def polled(self, queue: Places, window: Window) -> None:
        """Note how the rows of a window, each of some queue (-1: none), were polled."""
        known = queue >= 0
        self.pace[queue[known]] = window.period[known]
        self.read[queue[known]] = window.last_at[known]


def nothing(n: int, polls: int) -> Shares:
    """Return the shares of queues of which nothing is known."""
    return Shares(
        np.full((n, polls), np.nan), np.zeros(n, bool), np.full(n, np.nan), np.full(n, np.nan),
        np.zeros(n, bool),
    )  # fmt: skip


def most_per_frame(bits_per_second: Floats) -> Floats:
    """Return for how many seconds one pause frame can stop a port of some speed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(QUANTUM_BITS * MOST_QUANTA / bits_per_second, np.float64)


def spread(rate: Floats, spent: Floats, most: float) -> Floats:
    """Return rates with those beyond `most` laid over the polls before in which nothing moved.

    A device that refreshes its counters more seldom than it is asked shows nothing for some polls
    and then all of it at once. Over as few polls as make it possible; what never is stays. That it
    has not moved again within as many polls is no news yet: NaN.
    """
    found = rate.copy()
    with np.errstate(invalid="ignore"):
        seldom = np.flatnonzero((rate > most).any(axis=1))
    if len(seldom):  # nearly all are refreshed as often as they are read
        found[seldom] = _laid_back(rate[seldom], spent[seldom], most)
    return found


def _laid_back(rate: Floats, spent: Floats, most: float) -> Floats:
    """Return the rates of rows that are each beyond `most` somewhere, as `spread` says."""
    found, width = rate.copy(), rate.shape[1]
    seldom = np.zeros(len(rate), np.intp)
    for lag in range(1, rate.shape[1]):
        with np.errstate(invalid="ignore"):
            row, late = np.nonzero(found > most)
            row, late = row[late >= lag], late[late >= lag]
            back = late[:, None] - np.arange(1, lag + 1)[None, :]
            still = (rate[row[:, None], back] == 0).all(axis=1)
            row, late, back = row[still], late[still], back[still]
            grown = rate[row, late] * spent[row, late]
            mean = grown / (spent[row, late] + spent[row[:, None], back].sum(axis=1))
        fits = mean <= most
        found[row[fits], late[fits]] = mean[fits]
        found[row[fits][:, None], back[fits]] = mean[fits][:, None]
        seldom[row[fits]] = lag
    quiet = np.argmax(~(found[:, ::-1] == 0), axis=1)
    pending = np.arange(width)[None, :] >= (width - np.minimum(quiet, seldom))[:, None]
    found[pending & (quiet <= seldom)[:, None]] = np.nan
    return found


def rates(window: Window, polls: int, most: float = np.inf) -> tuple[Places, Floats]:
    """Return the rows of a counter that moved in its last polls, and their rates ([r, polls]).

    What cannot move by more than `most` a second is laid over the polls before (`spread`).

    Per second; NaN over a reset, where nothing was read, and before a gap after which a row would
    not have been heard: what is so old says nothing about now. Rows that are not heard of now are
    left out. Most queues of a fabric never move, so only the others are worked out.
    """
    # what came all at once at the window's edge is laid over polls before it
    wide = 2 * polls if np.isfinite(most) else polls
    values = window.values[:, -wide - 1 :]
    known = np.isfinite(values)
    low = np.min(values, axis=1, where=known, initial=np.inf)
    moves = np.max(values, axis=1, where=known, initial=-np.inf) > low
    moved = np.flatnonzero(moves & heard(window, polls))
    times = window.at[:, -wide - 1 :][window.clock[moved]]
    steps = increases(values[moved], np.where(known[moved], times, np.nan))
    rate = steps.rate()[:, 1:]
    with np.errstate(invalid="ignore"):
        gap = steps.seconds[:, 1:] > FRESH_POLLS * window.period[moved, None]
    if np.isfinite(most):
        rate = spread(rate, steps.seconds[:, 1:], most)
    gaps = np.flatnonzero(gap.any(axis=1))
    if len(gaps):  # nearly all were read all the time
        width = gap.shape[1]
        latest = width - 1 - np.argmax(gap[gaps, ::-1], axis=1)
        rate[gaps] = np.where(np.arange(width) < latest[:, None], np.nan, rate[gaps])
    rate = rate[:, -polls:]
    if rate.shape[1] < polls:
        rate = np.concatenate([np.full((len(rate), polls - rate.shape[1]), np.nan), rate], axis=1)
    return moved, rate


def heard(window: Window, polls: int) -> Bools:
    """Return which rows were read twice in the last polls, and lately: no pause means none."""
    known = np.isfinite(window.values[:, -polls - 1 :])
    lately = known[:, -NEWEST:].any(axis=1) & (known.sum(axis=1) > 1)
    age = window.until - window.at[window.clock, -1]
    with np.errstate(invalid="ignore"):
        fresh = age <= FRESH_POLLS * window.period
    return np.asarray(lately & fresh, np.bool_)


def placed(
    window: Window, place: Places, polls: int, most: float = np.inf
) -> tuple[Places, Places, Floats]:
    """Return the places that are heard, those that moved, and the rates of these.

    `place` is that of each row, -1 for none.
    """
    told = place[heard(window, polls) & (place >= 0)]
    moved, rate = rates(window, polls, most)
    known = place[moved] >= 0
    return told, place[moved[known]], rate[known]


def paused(
    n: int,
    polls: int,
    seconds: tuple[Window, Places],
    frames: tuple[Window, Places],
    speed: Floats,
) -> Shares:
    """Return the paused share of `n` queues.

    `seconds` and `frames` are the counters of time and of frames of one direction, each with
    the queue of every row (-1: none); `speed` is each queue's in bit/s ([n]), NaN unknown.
    """
    found = nothing(n, polls)
    window, queue = frames
    if len(window):
        told, moved, rate = placed(window, queue, polls)
        found.polled(queue, window)
        found.share[told] = 0.0
        found.anew[moved] = ~np.isfinite(rate).any(axis=1)
        found.share[moved] = np.minimum(rate * most_per_frame(speed[moved])[:, None], 1.0)
    window, queue = seconds
    if len(window):
        count_time(found, window, queue, polls)
    return found


def count_time(found: Shares, window: Window, queue: Places, polls: int) -> None:
    """Let a counter of time, each row of some queue (-1: none), say what it says."""
    told, moved, rate = placed(window, queue, polls, IMPOSSIBLE)
    found.share[told], found.exact[told] = 0.0, True
    found.anew[told] = False
    found.anew[moved] = ~np.isfinite(rate).any(axis=1)
    found.polled(np.where(found.exact[queue] & (queue >= 0), queue, -1), window)
    with np.errstate(invalid="ignore"):
        found.share[moved] = np.where(rate > IMPOSSIBLE, np.nan, np.minimum(rate, 1.0))
