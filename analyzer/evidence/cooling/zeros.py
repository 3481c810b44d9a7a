"""Zeros: what a coolant unit answers that starts again, or whose controller is half dead.

Level, pressures, flows and temperatures are 0 together: no burst, and no reading either. Water at
0 °C sharp tells it from a loop that stops, whose temperatures stay; where no temperature says 0
(none is read, or they live on), other instruments do: the branches' meters, or chips that work and
stay cool. Such zeros are taken as not read, for however long they come, and so are those that
linger on one meter when others measure again; whoever must know of a unit that says nothing else
asks `answering_zeros`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.places import MEASURED, Places, places
from analyzer.evidence.cooling.staying_cool import stay_cool
from analyzer.evidence.durations import Bools, fresh
from fabrichealth.catalogue.cooling import (
    COOLANT_TEMPERATURE,
    DIFFERENTIAL_PRESSURE,
    FLOW,
    PRESSURE,
    RESERVOIR_LEVEL,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Labels, View, Window
from fabrichealth.model.quantiles import row_median

TOGETHER = (FLOW, PRESSURE, RESERVOIR_LEVEL, DIFFERENTIAL_PRESSURE)
"""What is 0 with the temperatures of a main."""

SORTS = 2
"""So many of them at least; a meter that fails falls alone."""


POLLS = 2
"""So many zeros at least are no slip."""

LINGERS = 300.0
"""Seconds after which a meter that still says 0, while the rest of its unit measures, is right."""

AS_BEFORE = 0.5
"""From this share of what it was on the flow of a branch goes on."""


@dataclass(frozen=True)
class Zeros:
    """A unit that answers nothing but zeros just now."""

    loop: str
    since: float
    at: float
    metric: Metric
    labels: Labels
    """Of the series whose 0 says so: a temperature, or the level where none is read."""
    read: int
    """How many of its main's series say 0."""
    branches: bool
    """Whether its branches' meters say that water flows on; else chips that stay cool do."""


def answering_zeros(view: View) -> Iterator[Zeros]:
    """Yield the units whose newest answers are zeros, since as long as the window reaches."""
    whole = places(view[FLOW].table)
    for loop in _suspects(view, whole):
        moments = _dead(view, whole, loop)
        window, rows = _leads(view, whole, loop)
        rows = rows[fresh(window)[rows]] if len(rows) else rows
        if len(moments) < POLLS or not len(rows):
            continue
        times, values = window.times[rows], window.values[rows]
        alive = np.max(times[np.isfinite(values) & (values != 0.0)], initial=-np.inf)
        run = moments[moments > alive]
        if len(run) >= POLLS:
            yield Zeros(
                whole.loops[loop], float(run[0]), float(run[-1]), window.metric,
                window.labels(int(rows[0])), _count(view, whole, loop),
                _branches_flow(view[FLOW], whole, loop, moments),
            )  # fmt: skip


def without_zeros(view: View) -> View:
    """Return the same view, zeros that are no readings left out of its windows."""
    key = ("zeros of coolant units", view[COOLANT_TEMPERATURE].seconds)
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
        place = _place(whole, window)
        loops, branched = whole.loop[place], whole.branched[place]
        values = window.values.copy()
        for loop, dead in spans.items():
            mine = loops == loop
            # branches that are read by themselves do not start again with the unit: their 0 is one
            apart = ~np.isin(window.clock, window.clock[mine & ~branched])
            rows = np.flatnonzero(mine & ~(branched & apart & (mine & ~branched).any()))
            zero = _zero_at(window, rows, dead)
            values[rows] = np.where(zero | _lingering(window, rows, zero), np.nan, values[rows])
        found[metric] = replace(window, values=values)
    return found


def _suspects(view: View, whole: Places) -> Iterator[int]:
    """Yield loops of whose mains a temperature or the level was 0."""
    zero = np.zeros(len(whole.loops), np.bool_)
    for metric in (COOLANT_TEMPERATURE, RESERVOIR_LEVEL):
        window = view[metric]
        if len(window) and window.values.size:
            place = _place(whole, window)
            mine = ~whole.branched[place]
            loop = whole.loop[place[mine]]
            np.logical_or.at(zero, loop, (window.values[mine] == 0.0).any(axis=1))
    yield from np.flatnonzero(zero).tolist()


def _leads(view: View, whole: Places, loop: int) -> tuple[Window, NDArray[np.intp]]:
    """Return the rows of a main that lead: its temperatures, its level where none was 0."""
    temperatures = view[COOLANT_TEMPERATURE]
    warm = _mains(temperatures, whole, loop)
    if len(warm) and (temperatures.values[warm] == 0.0).any():
        return temperatures, warm
    return view[RESERVOIR_LEVEL], _mains(view[RESERVOIR_LEVEL], whole, loop)


def _count(view: View, whole: Places, loop: int) -> int:
    """Return how many series of a main said 0 last."""
    found = 0
    for metric in MEASURED:
        window = view[metric]
        if len(window):
            found += int((window.last[_mains(window, whole, loop)] == 0.0).sum())
    return found


def _dead(view: View, whole: Places, loop: int) -> Floats:
    """Return when a loop's unit answered zeros ([n], unix seconds, ascending); empty for never."""
    mains = {metric: _mains(view[metric], whole, loop) for metric in TOGETHER}
    leads = _leads(view, whole, loop)
    moments = _all_zero(*leads)
    if not len(moments):
        return moments
    read, fell = 0, 0
    for metric, rows in mains.items():
        window = view[metric]
        if len(rows) and np.isfinite(window.values[rows]).any():
            zero = _zero_at(window, rows, moments)
            read += 1
            fell += bool(zero.any(axis=1).all())
    warm = leads[0].metric is COOLANT_TEMPERATURE
    if warm or _metered(view[FLOW], whole, loop):
        proven = warm or _branches_flow(view[FLOW], whole, loop, moments)
    else:
        proven = stay_cool(view, whole, loop, float(moments[0]))
    return moments if fell == read and fell >= SORTS and proven else moments[:0]


def _all_zero(window: Window, rows: NDArray[np.intp]) -> Floats:
    """Return the moments at which each of some rows said 0, as far as it spoke ([n])."""
    values, times = window.values[rows], window.times[rows]
    zero = np.unique(times[values == 0.0])
    alive = np.unique(times[np.isfinite(values) & (values != 0.0)])
    return np.asarray(np.setdiff1d(zero, alive), np.float64)


def _metered(window: Window, whole: Places, loop: int) -> bool:
    """Return whether a loop's branches have meters of flow, which know better than chips."""
    place = _place(whole, window)
    return bool(((whole.loop[place] == loop) & whole.branched[place]).any())


def _branches_flow(window: Window, whole: Places, loop: int, moments: Floats) -> bool:
    """Return whether most branches of a loop flow on since a moment, as they did before."""
    place = _place(whole, window)
    rows = np.flatnonzero((whole.loop[place] == loop) & whole.branched[place])
    with np.errstate(invalid="ignore"):
        values, later = window.values[rows], window.times[rows] >= moments[0]
        usual = row_median(np.where(later, np.nan, values))[:, None]
        low = later & ~((values > 0.0) & ~(values < AS_BEFORE * usual)) & np.isfinite(values)
        flow = (later & np.isfinite(values)).any(axis=1) & ~low.any(axis=1)
    return bool(2 * flow.sum() > len(rows))


def _zero_at(window: Window, rows: NDArray[np.intp], moments: Floats) -> Bools:
    """Return where rows said 0 within a poll of one of some moments ([row, k])."""
    times, values = window.times[rows], window.values[rows]
    at = np.clip(np.searchsorted(moments, times), 1, len(moments)) - 1
    after = np.minimum(at + 1, len(moments) - 1)
    with np.errstate(invalid="ignore"):
        away = np.fmin(np.abs(times - moments[at]), np.abs(times - moments[after]))
        return np.asarray((values == 0.0) & (away <= window.period[rows][:, None]), np.bool_)


def _lingering(window: Window, rows: NDArray[np.intp], zero: Bools) -> Bools:
    """Return where rows say 0 ever since one of some zeros, not for long after it ([row, k])."""
    times, values = window.times[rows], window.values[rows]
    columns = np.arange(values.shape[1])
    alive = np.maximum.accumulate(
        np.where(np.isfinite(values) & (values != 0.0), columns, -1), axis=1
    )
    dead = np.maximum.accumulate(np.where(zero, columns, -1), axis=1)
    newest = np.take_along_axis(times, np.maximum(dead, 0), axis=1)
    with np.errstate(invalid="ignore"):
        soon = (times - newest <= LINGERS) & (values == 0.0)
    return np.asarray(soon & (dead > alive), np.bool_)


def _mains(window: Window, whole: Places, loop: int) -> NDArray[np.intp]:
    """Return the rows of a loop's main."""
    place = _place(whole, window)
    return np.flatnonzero((whole.loop[place] == loop) & ~whole.branched[place])


def _place(whole: Places, window: Window) -> NDArray[np.intp]:
    """Return the place of each row's series."""
    return whole.of[window.metric][np.searchsorted(window.table.of(window.metric), window.series)]
