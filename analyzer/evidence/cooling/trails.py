"""Trails: what each place said of a quantity, bin by bin over the long past, and now.

A trail is [place, bin + 1]: medians of the bins of the past, oldest first, and in the last column
the median of the last `hold` seconds of what is still read. Quantities of one loop come from
several meters at their own pace; as trails they can be put into one formula. Absent is NaN.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.places import Places, places
from analyzer.evidence.durations import FRESH_POLLS, FRESH_SECONDS
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Past, View, Window
from fabrichealth.model.quantiles import row_median

T = TypeVar("T")

Merge = Callable[[Floats, NDArray[np.intp], int], Floats]
"""Makes one row a place of the rows of its series: (values [s, k], place [s], places)."""


def mean(values: Floats, place: NDArray[np.intp], size: int) -> Floats:
    """Return the mean of what the series of each place say ([place, k])."""
    known = np.isfinite(values)
    if len(place) == len(np.unique(place)):  # one series each
        found = np.full((size, values.shape[1]), np.nan)
        found[place] = values
        return found
    total, count = np.zeros((size, values.shape[1])), np.zeros((size, values.shape[1]))
    np.add.at(total, place, np.where(known, values, 0.0))
    np.add.at(count, place, known)
    return np.asarray(np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))


def total(values: Floats, place: NDArray[np.intp], size: int) -> Floats:
    """Return the sum of what the series of each place say ([place, k]); of none NaN."""
    found, known = np.zeros((size, values.shape[1])), np.zeros((size, values.shape[1]), np.bool_)
    np.add.at(found, place, np.nan_to_num(values))
    np.logical_or.at(known, place, np.isfinite(values))
    return np.where(known, found, np.nan)


def highest(values: Floats, place: NDArray[np.intp], size: int) -> Floats:
    """Return the highest of what the series of each place say ([place, k])."""
    found = np.full((size, values.shape[1]), np.nan)
    np.fmax.at(found, place, values)
    return found


@dataclass(frozen=True)
class Chosen:
    """Some series of a metric: those whose label has one of these values."""

    metric: Metric
    label: str = ""
    values: tuple[str, ...] = ()
    merge: Merge = mean

    def of(self, known: Places, window: Window | Past) -> NDArray[np.bool_]:
        """Return which of all series of the metric are meant ([s] of `table.of(metric)`)."""
        every = window.table.of(self.metric)
        if not self.label:
            return np.ones(len(every), np.bool_)
        kept = _masks.setdefault(known, {}).get((self.metric, self.label, self.values))
        if kept is None or len(kept) != len(every):
            at = self.metric.labels.index(self.label)
            said = (window.table.labels(int(number))[at] for number in every)
            kept = np.fromiter((word in self.values for word in said), np.bool_, len(every))
            _masks[known][self.metric, self.label, self.values] = kept
        return kept


_masks: WeakKeyDictionary[Places, dict[tuple[Metric, str, tuple[str, ...]], NDArray[np.bool_]]] = (
    WeakKeyDictionary()
)

# Worked out once for each past, which stays until a bin closes.
_kept: WeakKeyDictionary[Past, dict[tuple[Chosen, int, int, bytes], Floats]] = WeakKeyDictionary()


class Trails:
    """Trails of all quantities of one view, on one axis of time."""

    def __init__(
        self,
        view: View,
        hold: float,
        axis_metrics: Sequence[Metric],
        some: Places | None = None,
        bins: int | None = None,
    ) -> None:
        """`axis_metrics` are recalled; the one with most bins gives the axis.

        Of some places only, and of so many of the newest bins only, where that is asked for.
        """
        self.view, self.hold, self._bins = view, hold, bins
        self.whole = places(view[FLOW].table)
        self.places = self.whole if some is None else some
        self._axis_metrics = axis_metrics
        self._known: dict[Chosen, Floats] = {}
        self._worked: dict[str, Any] = {}

    def once(self, name: str, work: Callable[[], T]) -> T:
        """Return what `work` gives, worked out once for these trails."""
        if name not in self._worked:
            self._worked[name] = work()
        found: T = self._worked[name]
        return found

    @cached_property
    def axis(self) -> Past:
        """The past whose bins all trails are laid on."""
        every = (self.view.past(one) for one in self._axis_metrics)
        return max(every, key=lambda past: len(past.starts))

    @cached_property
    def _columns(self) -> slice:
        count = len(self.axis.starts)
        return slice(0 if self._bins is None else max(count - self._bins, 0), count)

    @property
    def starts(self) -> Floats:
        """When each column begins ([bin + 1], unix seconds)."""
        return np.append(self.axis.starts[self._columns], self.view.now - self.hold)

    @property
    def ends(self) -> Floats:
        """When each column ends ([bin + 1], unix seconds)."""
        return np.append(self.axis.ends[self._columns], self.view.now)

    def __getitem__(self, chosen: Chosen) -> Floats:
        """Return the trail of a quantity ([place, bin + 1])."""
        found = self._known.get(chosen)
        if found is None:
            found = self._known[chosen] = self.picked(chosen, self.places.rows)
        return found

    def picked(self, chosen: Chosen, rows: NDArray[np.intp] | None) -> Floats:
        """Return the trail of a quantity at some of all places ([row, bin + 1])."""
        past, now = self._past(chosen)[:, self._columns], self._now(chosen)
        if rows is not None:
            past, now = past[rows], now[rows]
        return np.concatenate([past, now[:, None]], axis=1)

    def _now(self, chosen: Chosen) -> Floats:
        window = self.view[chosen.metric]
        key = ("cooling now", chosen, window.seconds, self.hold)
        return self.view.once(key, lambda: self._read_now(chosen, window))

    def _read_now(self, chosen: Chosen, window: Window) -> Floats:
        numbers = window.table.of(chosen.metric)
        at = np.searchsorted(numbers, window.series)
        known = self.whole.of[chosen.metric]  # what a reading made known since is not yet among it
        mine = chosen.of(self.whole, window)[at] & (at < len(known))
        place = known[at[mine]]
        level = present(window.select(mine), self.hold)
        return chosen.merge(level[:, None], place, len(self.whole))[:, 0]

    def _past(self, chosen: Chosen) -> Floats:
        past, axis, size = self.view.past(chosen.metric), self.axis, len(self.whole)
        known = self.whole.of[chosen.metric][: len(past)]
        key = (chosen, size, len(known), axis.starts.tobytes())
        kept = _kept.setdefault(past, {})
        if key not in kept:
            mine = np.flatnonzero(chosen.of(self.whole, past)[: len(known)])
            merged = chosen.merge(past.values[mine], known[mine], size)
            kept[key] = laid(merged, past, axis)
        return kept[key]


def laid(values: Floats, past: Past, axis: Past) -> Floats:
    """Return columns of a past where they stand on the axis of another ([s, bin])."""
    if past is axis or np.array_equal(past.starts, axis.starts):
        return _bridged(values)
    found = np.full((len(values), len(axis.starts)), np.nan)
    if len(axis.starts) and len(past.starts):
        at = np.minimum(np.searchsorted(axis.starts, past.starts), len(axis.starts) - 1)
        same = (axis.starts[at] == past.starts) & (axis.ends[at] == past.ends)
        found[:, at[same]] = values[:, same]
    return _bridged(found)


def _bridged(values: Floats) -> Floats:
    """Return a past in which a bin without a reading repeats the one before it, once.

    What is read by the hour has every other bin of half an hour, and two meters not the same ones.
    """
    found = values.copy()
    gap = ~np.isfinite(values[:, 1:])
    found[:, 1:][gap] = values[:, :-1][gap]
    return found


LEAST_POLLS = 2.5
"""What is said now rests on three polls at least, however seldom a meter is read."""


def present(window: Window, hold: float) -> Floats:
    """Return the median of the last `hold` seconds of each row, NaN where it is not read now."""
    if not window.values.size:
        return np.full(len(window), np.nan)
    period = row_median(np.diff(window.at, axis=1)) if window.at.shape[1] > 1 else None
    known = np.full(len(window.at), np.nan) if period is None else period
    limit = np.maximum(FRESH_POLLS * known, FRESH_SECONDS)
    limit = np.where(np.isfinite(limit), limit, window.seconds / 2)[window.clock]
    reach = np.where(np.isfinite(known), np.maximum(hold, LEAST_POLLS * known), hold)
    newest = np.fmax.reduce(np.where(np.isfinite(window.at), window.at, -np.inf), axis=1)
    within = window.at >= (newest - reach)[:, None]  # [clock, k]
    first = int(np.argmax(within.any(axis=0))) if within.any() else 0
    values = window.values[:, first:]
    low, high = window.metric.valid
    with np.errstate(invalid="ignore", over="ignore"):
        usable = within[window.clock, first:] & (values >= low) & (values <= high)
        fresh = window.until - window.last_at <= limit
    enough = usable.sum(axis=1) >= 2
    middle = row_median(np.where(usable, values, np.nan))
    return np.where(fresh & enough, middle, np.nan)
