"""Bursts: a reservoir that empties within minutes, or between two polls, while its loop runs.

Who drains a loop on purpose stops it first, or writes down that he works on it; a hose that comes
off does neither. A small step of the level alone is still nobody's alarm (a sample, a bleed), and
nor is a meter that says 0 from one poll to the next, as a broken one does: they need another
witness, such as flow or pressure that collapse with them. Of a tank much may go with its servers
that are lifted out, and less is enough where they stay (`lifting`).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.baselines import open_work, place_in, renewals
from analyzer.evidence.cooling.lifting import lifted, taken
from analyzer.evidence.cooling.loops import COLD, FLOW_TO, LEVEL, SUCKED, WARM, Cooling
from analyzer.evidence.cooling.saying import line
from analyzer.evidence.cooling.standstill import TELLERS
from analyzer.evidence.cooling.trails import Chosen
from analyzer.evidence.cooling.water import OPENED, water
from analyzer.evidence.cooling.witnesses import WITH_ANOTHER, Limits, Witness
from analyzer.evidence.durations import fresh
from fabrichealth.catalogue.cooling import RESERVOIR_LEVEL
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Window

QUARTER = 0.25
"""So much of a reservoir lost at once is enough alone."""

EMPTY = 0.02
"""A level below this is an empty reservoir, or a meter that failed."""

NOT_ALONE = 0.9
"""The most that a witness weighs which is not enough alone."""

POLLS = 2
"""So many polls must say that it is gone."""

WORKED = OPENED - {"part_touched"}
"""Events after which a loop may have been drained; a plug that was touched drains nothing."""

QUICK = 300.0
"""Seconds within which half of it went; what takes longer is told by `witnesses.falling`."""

AT_ONCE = 600.0
"""Seconds; polls further apart do not show whether the loop was stopped before it was drained."""

COLLAPSED = 0.5
"""Flow or return pressure below this share of what it was when the level fell."""

LEAST_FLOW, LEAST_PRESSURE = 0.5, 10.0
"""L/min and kPa below which there was nothing to collapse."""

BEFORE, LOST, WHEN = "level before", "level lost", "burst at"
"""Keys under which a finding keeps a burst, which lasts longer than the window."""

BACK = 0.1
"""A level that came back to where it was before it rose, by this share of the rise."""

ROSE = 3600.0
"""Seconds: what rose longer ago is a reservoir that was filled."""

RECOVERED = 0.5
"""A reservoir that has so much of what it lost again was refilled."""


def bursts(cooling: Cooling, limits: Limits, before: Sequence[Finding]) -> Iterator[Witness]:
    """Yield reservoirs that emptied at once, and what collapsed with them."""
    window = cooling.view[RESERVOIR_LEVEL]
    if not len(window) or window.values.shape[1] < POLLS + 1:
        return
    known, mains = water(cooling), _mains(cooling, window)
    worked = renewals(cooling, cooling.view, WORKED)
    open_now = open_work(cooling, cooling.view)
    told = set()
    for finding in before:
        stands = place_in(cooling, finding)
        place = -1 if stands is None else int(cooling.places.main[stands])
        if LOST not in finding.detail or place < 0:
            continue
        rows = np.flatnonzero((mains == place) & fresh(window))
        if len(rows) and not worked[place] > finding.since and not open_now[place]:
            for one in _still_gone(cooling, window, int(rows[0]), place, finding):
                told.add(place)
                yield one
    for row, was, at in _falls(window, known.reservoir[mains], limits):
        place = int(mains[row])
        worked_on = open_now[place] or worked[place] >= at
        if place not in told and not worked_on and _ran(cooling, place, at):
            yield from _burst(cooling, limits, window, row, place, was, at)


def _falls(window: Window, reservoir: Floats, limits: Limits) -> Iterator[tuple[int, float, float]]:
    """Yield rows that fell at once: row, level before, and when it was last read before."""
    values = window.values
    finite = np.isfinite(values)
    rank = np.cumsum(finite[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(invalid="ignore", over="ignore"):
        older = np.where(rank > POLLS, values, np.nan)
        newest = np.fmax.reduce(np.where(rank <= POLLS, values, -np.inf), axis=1, initial=-np.inf)
        highest = np.fmax.reduce(older, axis=1, initial=-np.inf)
        beyond = (highest - newest) * reservoir >= WITH_ANOTHER * limits.fast_liters
    for row in np.flatnonzero(beyond & fresh(window) & (finite.sum(axis=1) > POLLS)).tolist():
        mine, at = values[row][finite[row]], window.times[row][finite[row]]
        low = float(mine[-POLLS:].max())
        full = np.flatnonzero(mine >= low + 0.9 * (highest[row] - low))
        first = int(full[-1])
        was = float(np.median(mine[max(first - 2, 0) : first + 1]))
        half = was - (was - low) / 2.0
        took = float(at[np.flatnonzero(mine[first:] <= half)[0] + first] - at[first])
        within = max(QUICK, 2.0 * float(window.period[row]) + 1.0)  # a poll may fall in its middle
        if took <= within or first >= len(mine) - POLLS - 1:
            yield row, was, float(at[first])


def _burst(
    cooling: Cooling, limits: Limits, window: Window, row: int, place: int, was: float, at: float
) -> Iterator[Witness]:
    known, level = water(cooling), float(window.last[row])
    lost = (was - level) * float(known.reservoir[place])
    reservoir = float(known.reservoir[place])
    after = window.times[row][window.times[row] > at]
    weight = lost / (QUARTER * reservoir)
    alone = level > EMPTY and float(np.nanmin(after)) - at <= AT_ONCE
    if weight < 1.0 or not alone:
        weight = min(WITH_ANOTHER * lost / limits.fast_liters, NOT_ALONE)
    if alone and taken(cooling, place, lost / reservoir, at):
        weight = max(weight, 1.0)
    if _came_back(cooling, window, row, place, was, at) or (
        level > EMPTY and lifted(cooling, place, lost / reservoir, at)
    ):
        weight = min(weight, NOT_ALONE / 2.0)
    minutes = max((float(np.nanmin(after)) - at) / 60.0, 1.0)
    says = f"{known.amount(place, lost)} lost within {minutes:.0f} min while the loop ran"
    about, shown = cooling.places.about(place), line(cooling, LEVEL, place, level, says, was)
    kept = {BEFORE: was, LOST: was - level, WHEN: at}
    yield Witness(about, "level", weight, at, shown, says, kept)
    # meters of one unit that all say 0, and none that lives, are one witness: a unit without power
    dead = level <= EMPTY and not any(_at(cooling, one, place, np.inf) > 0 for one in (COLD, WARM))
    for chosen, least, word, unit in (
        (SUCKED, LEAST_PRESSURE, "return pressure", "kPa"),
        (FLOW_TO, LEAST_FLOW, "flow", "L/min"),
    ):
        then, now = _at(cooling, chosen, place, at), _at(cooling, chosen, place, np.inf)
        if then > least and now < COLLAPSED * then and not (now == 0.0 and dead):
            told = f"{word} fell from {then:.0f} to {now:.0f} {unit} with it"
            shown = line(cooling, chosen, place, now, told, then)
            yield Witness(about, "collapse", WITH_ANOTHER, at, shown, told)
            return


def _came_back(
    cooling: Cooling, window: Window, row: int, place: int, was: float, at: float
) -> bool:
    """Return whether a level only came back to what it was before it rose, within the hour.

    A meter that read too high for a while; a reservoir that was filled may burst, and says so by
    what collapses with it, or by falling below where it was.
    """
    level, first = float(window.last[row]), float(np.nanmin(window.times[row]))
    trail = np.where(cooling.ends <= first, cooling[LEVEL][place], np.nan)
    values = np.concatenate([trail, window.values[row]])
    times = np.concatenate([cooling.ends, window.times[row]])
    with np.errstate(invalid="ignore"):
        then = np.isfinite(values) & (times >= at - ROSE) & (times < at)
        lower = np.flatnonzero(then & (values <= was - (1.0 - BACK) * (was - level)))
    return len(lower) > 0 and float(values[lower[-1]]) <= level + BACK * (was - level)


def _still_gone(
    cooling: Cooling, window: Window, row: int, place: int, finding: Finding
) -> Iterator[Witness]:
    """Yield a burst told before, as long as its reservoir was not refilled."""
    level, was, lost = float(window.last[row]), finding.detail[BEFORE], finding.detail[LOST]
    if level > was - RECOVERED * lost:
        return
    gone = water(cooling).amount(place, (was - level) * float(water(cooling).reservoir[place]))
    says = f"{gone} lost at once and not refilled"
    shown = line(cooling, LEVEL, place, level, says, was)
    kept = {BEFORE: was, LOST: lost, WHEN: finding.detail.get(WHEN, finding.since)}
    yield Witness(cooling.places.about(place), "level", 1.0, finding.since, shown, says, kept)


def _ran(cooling: Cooling, place: int, at: float) -> bool:
    """Return whether a loop ran at a moment: water flowed, or a pump turned."""
    if _at(cooling, FLOW_TO, place, at) > LEAST_FLOW:
        return True
    loop = cooling.places.names[place][0]
    return any(
        cooling.whole.names[int(number)][0] == loop and _value(window, row, at) >= least
        for metric, least in TELLERS
        if len(window := cooling.view[metric])
        for row, number in enumerate(_numbers(cooling, metric, window))
    )


def _at(cooling: Cooling, chosen: Chosen, place: int, at: float) -> float:
    """Return what a main's own meter said last at a moment; NaN where it said nothing."""
    window = cooling.view[chosen.metric]
    if not len(window):
        return float("nan")
    every = np.searchsorted(window.table.of(chosen.metric), window.series)
    chosen_rows = chosen.of(cooling.whole, window)[every]
    main = cooling.whole.numbers[cooling.places.names[place]]
    mine = chosen_rows & (_numbers(cooling, chosen.metric, window) == main)
    said = [_value(window, int(row), at) for row in np.flatnonzero(mine)]
    known = [one for one in said if np.isfinite(one)]
    return float(np.mean(known)) if known else float("nan")


def _value(window: Window, row: int, at: float) -> float:
    """Return the newest value of a row that is not younger than a moment."""
    with np.errstate(invalid="ignore"):
        then = np.flatnonzero(window.times[row] <= at)
    return float(window.values[row][then[-1]]) if len(then) else float("nan")


def _numbers(cooling: Cooling, metric: Metric, window: Window) -> NDArray[np.intp]:
    """Return the place of each row's series among all places."""
    return cooling.whole.of[metric][np.searchsorted(window.table.of(metric), window.series)]


def _mains(cooling: Cooling, window: Window) -> NDArray[np.intp]:
    """Return the main of each row's loop among the places looked at."""
    names = cooling.whole.names
    return np.array(
        [
            cooling.places.numbers[names[one][0], ""]
            for one in _numbers(cooling, window.metric, window).tolist()
        ],
        np.intp,
    )
