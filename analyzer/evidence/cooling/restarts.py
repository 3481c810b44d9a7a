"""Restarts: a coolant unit that starts again answers zeros for a few polls.

Level, pressures, flows and temperatures fall to 0 together: no burst, and no reading either. Water
at 0 °C sharp tells it from a loop that stops, whose temperatures stay; where no temperature is
read, the branches' meters do, which are other instruments. Such zeros are taken as not read. A unit
that says nothing else for longer than the window is believed: it is no restart.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.places import MEASURED, Places, places
from analyzer.evidence.durations import Bools
from fabrichealth.catalogue.cooling import (
    COOLANT_TEMPERATURE,
    DIFFERENTIAL_PRESSURE,
    FLOW,
    PRESSURE,
    RESERVOIR_LEVEL,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View, Window

TOGETHER = (FLOW, PRESSURE, RESERVOIR_LEVEL, DIFFERENTIAL_PRESSURE)
"""What falls to 0 with the temperatures of a main."""

SORTS = 2
"""So many of them at least; a meter that fails falls alone."""


def without_restarts(view: View) -> View:
    """Return the same view, the zeros of units that start again left out of its windows."""
    key = ("restarts of coolant units", view[COOLANT_TEMPERATURE].seconds)
    windows = view.once(key, lambda: _windows(view))
    return view.but(windows) if windows else view


def _windows(view: View) -> dict[Metric, Window]:
    """Return the windows in which something is left out."""
    whole = places(view[FLOW].table)
    spans = {
        loop: polls for loop in _suspects(view, whole) if len(polls := _dead(view, whole, loop))
    }
    if not spans:
        return {}
    found = {}
    for metric in MEASURED:
        window = view[metric]
        if not len(window):
            continue
        loops = whole.loop[_place(whole, window)]
        values = window.values.copy()
        for loop, dead in spans.items():
            rows = np.flatnonzero(loops == loop)
            values[rows] = np.where(_zero_at(window, rows, dead), np.nan, values[rows])
        found[metric] = replace(window, values=values)
    return found


def _suspects(view: View, whole: Places) -> Iterator[int]:
    """Yield loops of whose mains a temperature or the level fell to 0 within the window."""
    found: set[int] = set()
    for metric in (COOLANT_TEMPERATURE, RESERVOIR_LEVEL):
        window = view[metric]
        if len(window) and window.values.size:
            fell = (window.values == 0.0).any(axis=1) & (window.values > 0.0).any(axis=1)
            place = _place(whole, window)[fell]
            found.update(whole.loop[place[~whole.branched[place]]].tolist())
    yield from sorted(found)


def _dead(view: View, whole: Places, loop: int) -> Floats:
    """Return when a loop's unit answered zeros ([n], unix seconds, ascending); empty for never."""
    mains = {metric: _mains(view[metric], whole, loop) for metric in TOGETHER}
    temperatures = view[COOLANT_TEMPERATURE]
    warm = _mains(temperatures, whole, loop)
    heard = bool(np.isfinite(temperatures.values[warm]).any()) if len(warm) else False
    leads = (temperatures, warm) if heard else (view[RESERVOIR_LEVEL], mains[RESERVOIR_LEVEL])
    moments = _all_zero(*leads)
    if not len(moments):
        return moments
    read, fell = 0, 0
    for metric, rows in mains.items():
        window = view[metric]
        if len(rows) and np.isfinite(window.values[rows]).any():
            zero = _zero_at(window, rows, moments)
            read += 1
            fell += bool(zero.any(axis=1).all() and (window.values[rows] > 0).any())
    proven = heard or _branches_flow(view[FLOW], whole, loop, moments)
    return moments if fell == read and fell >= SORTS and proven else moments[:0]


def _all_zero(window: Window, rows: NDArray[np.intp]) -> Floats:
    """Return the moments at which each of some rows said 0, as far as it spoke ([n])."""
    values, times = window.values[rows], window.times[rows]
    zero = np.unique(times[values == 0.0])
    alive = np.unique(times[np.isfinite(values) & (values != 0.0)])
    return np.asarray(np.setdiff1d(zero, alive), np.float64)


def _branches_flow(window: Window, whole: Places, loop: int, moments: Floats) -> bool:
    """Return whether most branches of a loop have flow since a moment, none of them at zero."""
    place = _place(whole, window)
    rows = np.flatnonzero((whole.loop[place] == loop) & whole.branched[place])
    with np.errstate(invalid="ignore"):
        since = np.where(window.times[rows] >= moments[0], window.values[rows], np.nan)
        flow = (since > 0.0).any(axis=1) & ~(since == 0.0).any(axis=1)
    return bool(2 * flow.sum() > len(rows))


def _zero_at(window: Window, rows: NDArray[np.intp], moments: Floats) -> Bools:
    """Return where rows said 0 within a poll of one of some moments ([row, k])."""
    times, values = window.times[rows], window.values[rows]
    at = np.clip(np.searchsorted(moments, times), 1, len(moments)) - 1
    after = np.minimum(at + 1, len(moments) - 1)
    with np.errstate(invalid="ignore"):
        away = np.fmin(np.abs(times - moments[at]), np.abs(times - moments[after]))
        return np.asarray((values == 0.0) & (away <= window.period[rows][:, None]), np.bool_)


def _mains(window: Window, whole: Places, loop: int) -> NDArray[np.intp]:
    """Return the rows of a loop's main."""
    place = _place(whole, window)
    return np.flatnonzero((whole.loop[place] == loop) & ~whole.branched[place])


def _place(whole: Places, window: Window) -> NDArray[np.intp]:
    """Return the place of each row's series."""
    return whole.of[window.metric][np.searchsorted(window.table.of(window.metric), window.series)]
