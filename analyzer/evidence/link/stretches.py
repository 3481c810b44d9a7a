"""Stretches: since when a ratio has been beyond its limit, for the few ports where it may be.

A window dilutes what has just begun and remembers what has ended; so of a port that is beyond
its limit now only the unbroken stretch counts, with its bursts widening the interval.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.exposure import fano_factor, garwood
from analyzer.evidence.link.counting import Counted, possible, steps
from analyzer.evidence.link.measures import Reading
from analyzer.evidence.link.receivers import Places
from fabrichealth.model import Floats, Window

LEAST = 2
"""Polls: what was said once may be a glitch, or a plug that was touched; beyond the error limit one
long poll is proof."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where the trouble of one port lies in time, unix seconds."""

    since: float
    until: float
    bursts: bool
    """Whether the counts vary far more than chance gives."""
    after_quiet: bool = False
    """Whether it was seen well just before `since`."""
    once: bool = False
    """Whether it was seen in one poll only: no proof, unless it happened before."""


BURSTY = 5.0
"""Fano factor from which errors are said to come in bursts."""


def counted_stretches(
    raw: Reading, said: Counted, places: Places, line: Floats, settled: Floats, hold: float
) -> tuple[Reading, dict[int, Stretch]]:
    """Return a reading in which ports beyond their warning limit tell of that stretch only.

    `places` are the ports of the counter's rows that were used, -1 for rows that were not.
    """
    used = np.flatnonzero(places >= 0)
    port = places[used]
    with np.errstate(invalid="ignore"):
        now = said.latest[used] / line[port] > raw.bands.warning[port]
    rows = used[now | raw.ill[port]]
    if not len(rows):
        return raw, {}
    port = places[rows]
    every = steps(said.window, rows, settled[port])
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = every.increase / (every.seconds * line[port][:, None])
        beyond = ratio > raw.bands.warning[port][:, None]
    known = np.isfinite(ratio)
    begins = _unbroken(beyond, known)
    taken = known & (np.arange(known.shape[1]) >= begins[:, None])
    held = np.where(taken, every.seconds, 0.0).sum(axis=1)
    lasting = (held >= hold) & (taken.sum(axis=1) >= 1)
    taken = np.where(lasting[:, None], taken, known)
    columns = _totals(taken, every.increase, every.seconds)
    events, seconds = columns
    fano = fano_factor(np.where(taken, every.increase, np.nan))
    interval = garwood(events, seconds * line[port], fano)
    proven = interval.lower > raw.bands.warning[port]
    once = (beyond & known).sum(axis=1) < LEAST
    single = proven & once & lasting
    proven &= ~once | (lasting & (interval.lower > raw.bands.error[port]))
    lower = np.where(proven, interval.lower, np.minimum(interval.lower, raw.bands.warning[port]))
    found = {}
    for place, row in enumerate(port.tolist()):
        mine = np.flatnonzero(taken[place] & beyond[place])
        if (proven[place] or single[place]) and len(mine):
            found[row] = Stretch(
                float(every.began[place, mine[0]]),
                float(every.ended[place, mine[-1]]),
                bool(fano[place] > BURSTY * max(1.0, _drift(every.increase[place][taken[place]]))),
                bool((known[place] & ~beyond[place])[: mine[0]].any()),
                not proven[place],
            )
    new = {
        "events": events, "seconds": seconds, "exposure": seconds * line[port],
        "rate": interval.rate, "lower": lower, "upper": interval.upper,
    }  # fmt: skip
    return _put(raw, port, new), found


def reported_stretches(
    said: Reading, window: Window, places: Places, hold: float
) -> tuple[Reading, dict[int, Stretch]]:
    """Return the same of ratios that devices report: beyond for `hold`, and in two polls."""
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero((said.rate > said.bands.warning)[places] & said.known[places])
    if not len(rows):
        return said, {}
    port = places[rows]
    values, times = possible(window, rows), window.times[rows]
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        beyond = values > said.bands.warning[port][:, None]
    begins = _unbroken(beyond, known)
    taken = known & (np.arange(known.shape[1]) >= begins[:, None])
    found: dict[int, Stretch] = {}
    lower, rate = said.bands.warning[port].copy(), said.rate[port].copy()
    for place, row in enumerate(port.tolist()):
        at = times[place, taken[place]]
        if len(at) >= LEAST and at[-1] - at[0] >= hold:
            lower[place] = float(values[place, taken[place]].min())
            rate[place] = float(np.median(values[place, taken[place]]))
            found[row] = Stretch(float(at[0]), float(at[-1]), bursts=False)
    new = {"lower": lower, "rate": rate, "upper": np.maximum(rate, said.upper[port])}
    return _put(said, port, new), found


def _unbroken(beyond: NDArray[np.bool_], known: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first column after the last one that is known and not beyond ([n])."""
    broken = known & ~beyond
    width = broken.shape[1]
    last = width - 1 - np.argmax(broken[:, ::-1], axis=1)
    return np.where(broken.any(axis=1), last + 1, 0)


def _totals(taken: NDArray[np.bool_], *columns: Floats) -> list[Floats]:
    return [np.where(taken, column, 0.0).sum(axis=1) for column in columns]


def _drift(counts: Floats) -> float:
    """Return the Fano factor that a steady rise or fall alone would give; 1 at the least."""
    if len(counts) < 3 or counts.sum() <= 0:
        return 1.0
    line = np.polyval(np.polyfit(np.arange(len(counts)), counts, 1), np.arange(len(counts)))
    return max(1.0, float(np.var(line) / max(counts.mean(), 1e-9)))


def _put(old: Reading, places: Places, new: dict[str, Floats]) -> Reading:
    columns = {}
    for name, values in new.items():
        column = getattr(old, name).copy()
        column[places] = values
        columns[name] = column
    return replace(old, **columns)
