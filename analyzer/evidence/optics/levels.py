"""Levels: what each lane says of one quantity now, and everything it can be compared with.

In this order: the module's own limits (`limits`), its peers of the same part, its own long
baseline. The baseline is the median of the older half of weeks; where nothing is older than the
window, its earliest third; and while something is ill, what it was when it fell ill. What is not
known is NaN.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import FRESH_POLLS, FRESH_SECONDS
from analyzer.evidence.optics.modules import Modules, warmed
from analyzer.evidence.optics.quantities import HEAT, Quantity
from analyzer.evidence.optics.roster import Places, Roster
from analyzer.evidence.optics.unrest import deviation, possible
from analyzer.evidence.robust import NORMAL_PER_MAD, group_quantiles
from fabrichealth.model import Floats, Past, View, Window
from fabrichealth.model.quantiles import row_median


@dataclass(frozen=True)
class Levels:
    """One quantity at every place of the roster ([place]), in its unit; NaN is not known."""

    quantity: Quantity
    window: Window
    row: Places
    """Row of the window, -1 where there is none."""
    level: Floats
    """Median of the last `hold` seconds of what is fresh."""
    at: Floats
    """When it was read last, unix seconds."""
    values: Floats
    """The window's values without what is impossible, stale or of a module that warms up."""
    baseline: Floats
    lanes: Roster
    group: NDArray[np.int64]
    """Equal for places that are peers ([place])."""
    least: int
    """Fewer peers than this have no percentile."""

    @cached_property
    def siblings(self) -> Floats:
        """Level less the median of the module's other lanes ([place])."""
        return _against_siblings(self.level, self.lanes)

    @property
    def peer_middle(self) -> Floats:
        """Median of the peers' usual levels ([place]); usual: the baseline, else the level."""
        return self._peers[:, 1]

    @property
    def peer_low(self) -> Floats:
        """Their 5th percentile ([place])."""
        return self._peers[:, 0]

    @cached_property
    def peer_spread(self) -> Floats:
        """Their robust standard deviation ([place])."""
        away = np.abs(self._usual - self.peer_middle)
        return NORMAL_PER_MAD * group_quantiles(away, self.group, (0.5,), self.least)[:, 0]

    @property
    def _usual(self) -> Floats:
        return np.where(np.isfinite(self.baseline), self.baseline, self.level)

    @cached_property
    def _peers(self) -> Floats:
        return group_quantiles(self._usual, self.group, (0.05, 0.5), self.least)

    @property
    def change(self) -> Floats:
        """Level less baseline ([place])."""
        return self.level - self.baseline

    @cached_property
    def unrest(self) -> Floats:
        """How it goes up and down in this window, as a standard deviation ([place])."""
        known = self.row >= 0
        found = np.full(len(self.row), np.nan)
        found[known] = deviation(self.values)[self.row[known]]
        return found

    @cached_property
    def moved(self) -> Floats:
        """Between which bounds it moved in this window, highest less lowest ([place])."""
        return self._of_rows(np.fmax) - self.lowest

    @cached_property
    def lowest(self) -> Floats:
        """The lowest that it was in this window ([place])."""
        return self._of_rows(np.fmin)

    def _of_rows(self, bound: np.ufunc) -> Floats:
        known = self.row >= 0
        found = np.full(len(self.row), np.nan)
        if self.values.shape[1]:
            found[known] = bound.reduce(self.values, axis=1)[self.row[known]]
        return found


@dataclass(frozen=True)
class Look:
    """How levels are looked at; seconds, and a number of peers."""

    hold: float
    warm_up: float
    peers: int


def levels(
    view: View,
    lanes: Roster,
    built: Modules,
    quantity: Quantity,
    look: Look,
    frozen: Mapping[tuple[str, int], float],
) -> Levels:
    """Return the levels of a quantity; `frozen` has baselines by its name and place."""
    window = _window(view, lanes, quantity)
    places = lanes.places(window.table, quantity.metric, window.series)
    size = len(lanes)
    row = np.full(size, -1, np.intp)
    row[places] = np.arange(len(places))
    values = possible(warmed(window, look.warm_up), quantity)
    speaks = _fresh(window)
    if quantity.light:
        speaks &= ~built.copper[lanes.port[places]]
    times = window.at[window.clock]
    with np.errstate(invalid="ignore"):
        recent = times >= (window.last_at - look.hold)[:, None]
        now = row_median(np.where(recent, values, np.nan))
    level = _spread_out(size, places, np.where(speaks, now, np.nan))
    baseline = _long(view, lanes, built, quantity).copy()
    young = np.flatnonzero(~np.isfinite(baseline[places]))
    if len(young):
        start = _earliest(values[young], times[young], window.last_at[young] - look.hold)
        baseline[places[young]] = start
    for (name, place), value in frozen.items():
        if name == quantity.name and place < size:
            baseline[place] = value
    group = built.group[lanes.port]
    if quantity is HEAT:  # air differs between devices far more than between parts
        group = group * (int(lanes.device.max(initial=0)) + 1) + lanes.device[lanes.port]
    return Levels(
        quantity,
        window,
        row,
        level,
        _spread_out(size, places, window.last_at),
        np.where(speaks[:, None], values, np.nan),
        baseline,
        lanes,
        group,
        look.peers,
    )


def _window(view: View, lanes: Roster, quantity: Quantity) -> Window:
    whole = view[quantity.metric]
    lanes.learn(whole.table, quantity.metric)
    if not quantity.side:
        return whole
    return whole.select(
        lanes.having(whole.table, quantity.metric, whole.series, quantity.tail)
    )  # fmt: skip


def _fresh(window: Window) -> NDArray[np.bool_]:
    """Return which rows were read within a few polls of their target ([s])."""
    if not window.at.size:
        return np.zeros(len(window), np.bool_)
    period = row_median(np.diff(window.at, axis=1))  # there are far fewer targets than rows
    limit = np.maximum(FRESH_POLLS * period, FRESH_SECONDS)
    limit = np.where(np.isfinite(limit), limit, window.seconds / 2)
    with np.errstate(invalid="ignore"):
        return np.asarray(window.until - window.last_at <= limit[window.clock], np.bool_)


def _earliest(values: Floats, times: Floats, until: Floats) -> Floats:
    """Return the median of the first third of each row's readings, before `until` ([s])."""
    if not times.shape[1]:
        return np.full(len(times), np.nan)
    known = np.isfinite(values)
    first = np.where(known, times, np.inf).min(axis=1)
    last = np.where(known, times, -np.inf).max(axis=1)
    with np.errstate(invalid="ignore"):
        end = np.minimum(first + (last - first) / 3.0, np.nextafter(until, -np.inf))
        return row_median(np.where(times <= end[:, None], values, np.nan))


def _spread_out(size: int, places: Places, values: Floats) -> Floats:
    found = np.full(size, np.nan)
    found[places] = values
    return found


# Worked out once for each past and each set of modules, which stay until a bin closes.
_kept: WeakKeyDictionary[Past, dict[str, tuple[bytes, Floats]]] = WeakKeyDictionary()


def _long(view: View, lanes: Roster, built: Modules, quantity: Quantity) -> Floats:
    """Return the median of the bins of each place, without the newest ([place])."""
    past = view.past(quantity.metric)
    size = len(lanes)
    key = built.since.tobytes() + bytes(str(size), "ascii")
    kept = _kept.setdefault(past, {}).get(quantity.name)
    if kept is not None and kept[0] == key:
        return kept[1]
    if not past.values.size:
        return np.full(size, np.nan)
    rows = lanes.having(past.table, quantity.metric, past.series, quantity.tail)
    places = lanes.places(past.table, quantity.metric, past.series[rows])
    values = past.values[rows]
    mine = past.starts[None, :] >= built.since[lanes.port[places]][:, None]
    values = np.where(mine, values, np.nan)
    older = np.where(_older(past, values), values, np.nan)
    middle = _spread_out(size, places, row_median(older))
    _kept[past][quantity.name] = (key, middle)
    return middle


SEVERAL_DAYS = 2 * 86_400.0
"""With a past shorter than this the daily cycle would show if only half of it were taken."""


def _older(past: Past, values: Floats) -> NDArray[np.bool_]:
    """Return which bins make the baseline of each row ([s, k]).

    The older half of the time in which it said something, so that a slow decline shows; of a
    short past all but the newest bin, which may be ill already; the only one if there is no other.
    """
    known = np.isfinite(values)
    starts = np.where(known, past.starts, np.inf).min(axis=1)
    ends = np.where(known, past.ends, -np.inf).max(axis=1)
    with np.errstate(invalid="ignore"):
        half = np.where(ends - starts >= SEVERAL_DAYS, (starts + ends) / 2, np.inf)
    older = past.ends[None, :] <= half[:, None]
    several = known[:, :-1].any(axis=1)
    older[several, -1] = False
    return older


def _against_siblings(level: Floats, lanes: Roster) -> Floats:
    """Return each lane's level less the median of the module's other lanes ([place])."""
    found = np.full(len(level), np.nan)
    known = np.flatnonzero(np.isfinite(level) & lanes.laned)
    if not len(known):
        return found
    order = known[np.lexsort((level[known], lanes.port[known]))]
    port = lanes.port[order]
    start = np.flatnonzero(np.diff(port, prepend=-1))
    number = np.diff(start, append=len(port))
    begin, count = np.repeat(start, number), np.repeat(number, number)
    rank = np.arange(len(port)) - begin
    # the median of the others: ranks are shifted by one beyond the lane's own
    low, high = (count - 2) // 2, (count - 1) // 2
    low, high = low + (low >= rank), high + (high >= rank)
    several = count > 1
    ordered = level[order]
    top = len(port) - 1
    middle = (
        ordered[np.minimum(begin + np.maximum(low, 0), top)]
        + ordered[np.minimum(begin + high, top)]
    ) / 2
    found[order] = np.where(several, ordered - middle, np.nan)
    return found
