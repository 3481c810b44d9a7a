"""Standstill: which pumps turn, how many a loop needs for what it carries, and what still flows.

A pump turns by what most of its flag, speed and power say (a flag is often the command, and no
answer); where they are even, by the flag. One that is not read neither turns nor stands. How many a
loop needs is read off its past: the fewest that carried such a load for a tenth of the time, so
that a standby that never runs, pumps that take turns and those that rest at low load are none too
few. A loop that was flushed without load says nothing of the load to come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.baselines import reference, renewals, usual
from analyzer.evidence.cooling.flows import AGREE, GONE, POLLS, flows
from analyzer.evidence.cooling.fluids import WATER
from analyzer.evidence.cooling.loops import FLOW_TO, Cooling
from analyzer.evidence.cooling.places import Places
from analyzer.evidence.cooling.trails import laid
from analyzer.evidence.durations import Bools, fresh, last_polls, unbroken
from fabrichealth.catalogue.cooling import PUMP_POWER, PUMP_RUNNING, PUMP_SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Labels, Past, SeriesTable, Window
from fabrichealth.model.quantiles import row_quantile

TELLERS: tuple[tuple[Metric, float], ...] = ((PUMP_RUNNING, 0.5), (PUMP_SPEED, 0.02))
"""What says whether a pump turns, and from what value on; the first counts where they are even.

Beside them its power, from `GONE` of the most that it drew."""

WITNESSES = (*(metric for metric, _ in TELLERS), PUMP_POWER)


LIKE = 0.9
"""Bins in which a loop carried this share of what it carries now say how many pumps that takes."""

SEEN = 0.96
"""Below this share of the least that it usually carried, nothing says how many pumps may rest."""

LOADED = 0.1
"""Bins with less than this share of the most that it carried took no pumps: it was flushed."""

WARMED = 1.0
"""Nor did bins whose load would warm what flowed by less than so many kelvin."""

HABIT = 4 * 3600.0
"""Seconds under load from which on the past says how many pumps it takes."""

SELDOM = 0.1
"""Fewer pumps than usual in less than this share of those bins were a service, not a habit."""


@dataclass(frozen=True)
class Numbered:
    """The pumps of all loops by number, and the number of each series' pump."""

    labels: list[Labels]
    """(loop, branch, pump) of each pump."""
    loop: NDArray[np.intp]
    """Number among `Places.loops` of each pump's loop ([pump])."""
    of: dict[Metric, NDArray[np.intp]]
    """Pump of each series, by place in `table.of(metric)`; -1 for the power of no known pump."""


@dataclass(frozen=True)
class Standstill:
    """What turns and what flows in each loop; pumps are [pump], loops [loop] of `Places.loops`."""

    pumps: Numbered
    stands: Bools
    """Pumps that have said for two polls that they do not turn ([pump])."""
    unread: Bools
    """Pumps that say nothing now ([pump])."""
    since: Floats
    """Since when those stand, as far as the window reaches ([pump])."""
    by: NDArray[np.intp]
    """Number among `WITNESSES` of what says so first ([pump])."""
    turned: Bools
    """Pumps that turned in most of the past, or earlier in the window ([pump])."""
    turning: Floats
    """How many may turn now, those that say nothing included ([loop]); NaN without any pump."""
    needs: Floats
    """How many such a load takes by the loop's past ([loop]); NaN where that is too short."""
    flow: Floats
    """What flows now, L/min ([loop]); NaN where it is not read."""
    usual_flow: Floats
    dry: Bools
    """Loops whose flow is gone, by two polls ([loop])."""
    dry_since: Floats
    headless: Bools
    """Loops whose pressure drop is gone as well ([loop])."""
    no_drop: Bools
    """Loops of which no pressure drop is read ([loop])."""
    driven: Bools
    """Loops of which most meters say that much flows, whatever is said of the pumps ([loop])."""
    agreed: Bools
    """Loops of which several meters of flow are read, and none says that anything flows."""


def standstill(cooling: Cooling, before: Sequence[Finding]) -> Standstill:
    """Return what turns and flows; `cooling` has the mains of all loops in their order."""
    pumps = _numbered(cooling.view[PUMP_RUNNING].table, cooling.whole)
    size = len(cooling.whole.loops)
    draw = _draw(cooling, pumps)
    stands, turns, since, by, turned = _now(cooling, pumps, draw)
    unread = ~stands & ~turns
    past = _past(cooling, pumps, draw)
    known = past.size > 0
    often = np.nan_to_num(row_quantile(past, 0.5)) >= 0.5 if known else np.zeros(len(stands), bool)
    turning = np.full(size, np.nan)
    turning[pumps.loop] = 0.0
    np.add.at(turning, pumps.loop, (turns | (unread & (turned | often))).astype(np.float64))
    usual_flow, drop = usual(cooling, cooling[FLOW_TO], ()), cooling.pressure_drop
    heard = flows(cooling, usual_flow)
    with np.errstate(invalid="ignore", over="ignore"):
        headless = np.asarray(drop[:, -1] < GONE * usual(cooling, drop, ()), np.bool_)
    return Standstill(
        pumps, stands, unread, since, by, np.asarray(turned | often, np.bool_), turning,
        _needs(cooling, pumps, past, turning, before), heard.now, usual_flow,
        heard.dry, heard.since, headless, np.isnan(drop[:, -1]),
        heard.for_flow > heard.against + headless, heard.dry & (heard.against >= AGREE),
    )  # fmt: skip


def _needs(
    cooling: Cooling, pumps: Numbered, past: Floats, turning: Floats, before: Sequence[Finding]
) -> Floats:
    """Return how many pumps each loop needs for what it carries now ([loop])."""
    count = np.zeros((len(turning), past.shape[1] + 1))
    np.add.at(count[:, :-1], pumps.loop, past)  # NaN where one of them was not read
    count[:, -1] = turning
    count[np.isnan(turning)] = np.nan
    # what has stood ever since more of them turned is what is judged, and no habit
    older = np.zeros(count.shape, np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        more = count[:, :-1] > turning[:, None]
    older[:, :-1] = np.logical_or.accumulate(more[:, ::-1], axis=1)[:, ::-1]
    known = np.isfinite(cooling.load[:, -1])
    load = np.where(known[:, None], cooling.load, cooling[FLOW_TO])
    older &= ~(known[:, None] & _unloaded(cooling, load))
    carried = np.where(reference(cooling, np.where(older, count, np.nan)), load, np.nan)
    high, low = row_quantile(carried, 0.75), row_quantile(carried, SELDOM)
    unloaded = np.asarray(~np.isfinite(load).any(axis=1), np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        # a load that it hardly ever carried says nothing of itself: the higher ones then do
        alike = load >= np.fmin(LIKE * load[:, -1], high)[:, None]
        # but racks that were never so idle do not say how many pumps may rest then
        idle = known & (load[:, -1] < SEEN * low)
    alike = np.logical_or(alike, unloaded[:, None])
    judged = np.where(alike & older & ~idle[:, None], count, np.nan)
    loaded = older & np.isfinite(count)
    seconds = np.where(loaded, cooling.ends - cooling.starts, 0.0).sum(axis=1)
    judged[seconds < HABIT] = np.nan
    fewest = usual(cooling, judged, before, renewals(cooling, cooling.view), SELDOM)
    return np.floor(fewest + 1e-9)


def _unloaded(cooling: Cooling, load: Floats) -> Bools:
    """Return in which columns a loop ran without a load that takes pumps ([loop, bin + 1])."""
    flow = cooling[FLOW_TO]
    each = WATER.watts(np.ones(1), np.ones(1), np.full(1, 30.0))  # W for 1 L/min and 1 K
    with np.errstate(invalid="ignore", over="ignore"):
        most = np.fmax.reduce(load, axis=1, initial=-np.inf)
        return np.asarray((load < LOADED * most[:, None]) | (load < WARMED * each * flow), np.bool_)


def _draw(cooling: Cooling, pumps: Numbered) -> Floats:
    """Return from what power on each pump turns, watts ([pump]); NaN where it never drew any."""
    most = np.full(len(pumps.labels), np.nan)
    window, past = cooling.view[PUMP_POWER], cooling.view.past(PUMP_POWER)
    for series, values in ((window, window.values), (past, past.values)):
        pump, mine = _pumps_of(pumps, PUMP_POWER, series)
        if len(pump) and values.shape[1]:
            np.fmax.at(most, pump, np.fmax.reduce(values[mine], axis=1))
    return np.where(most > 0, GONE * most, np.nan)


def _pumps_of(
    pumps: Numbered, metric: Metric, read: Window | Past
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pump of each series that is one's, and the rows of those series."""
    if isinstance(read, Window):
        every = pumps.of[metric][np.searchsorted(read.table.of(metric), read.series)]
    else:
        every = pumps.of[metric][: len(read)]
    rows = np.flatnonzero(every >= 0)
    return every[rows], rows


def _now(
    cooling: Cooling, pumps: Numbered, draw: Floats
) -> tuple[Bools, Bools, Floats, NDArray[np.intp], Bools]:
    """Return of each pump: stands, turns, since when it stands, by what, turned in the window."""
    size = len(pumps.labels)
    said, began = (np.full((len(WITNESSES), size), np.nan) for _ in range(2))
    turned = np.zeros(size, np.bool_)
    for number, metric in enumerate(WITNESSES):
        window = cooling.view[metric]
        pump, rows = _pumps_of(pumps, metric, window)
        if not len(pump):
            continue
        window, least = window.select(rows), _least(metric, draw)[pump]
        still = window.values < least[:, None]
        new = fresh(window) & np.isfinite(window.last) & np.isfinite(least)
        stopped = last_polls(still, window, POLLS)
        said[number, pump[new]] = ~stopped[new]
        began[number, pump], _ = unbroken(still, window)
        turned[pump] |= (window.values >= least[:, None]).any(axis=1)
    turns = _by_most(said)
    stands = turns == 0
    by = np.argmax(said == 0, axis=0)
    since = np.where(stands, began[by, np.arange(size)], np.nan)
    return np.asarray(stands, np.bool_), np.asarray(turns == 1, np.bool_), since, by, turned


def _least(metric: Metric, draw: Floats) -> Floats:
    """Return from what value of a metric on each pump turns ([pump])."""
    least = dict(TELLERS).get(metric)
    return draw if least is None else np.full(len(draw), least)


def _by_most(said: Floats) -> Floats:
    """Return what most witnesses say, where they are even the first ([witness, ..]: 1, 0, NaN)."""
    votes = np.nansum(2.0 * said - 1.0, axis=0)
    first = np.take_along_axis(said, np.argmax(np.isfinite(said), axis=0)[None], axis=0)[0]
    return np.where(votes == 0, first, np.where(votes > 0, 1.0, 0.0))


def _past(cooling: Cooling, pumps: Numbered, draw: Floats) -> Floats:
    """Return whether each pump turned in each bin of the past ([pump, bin]; NaN: not read)."""
    found = np.full((len(WITNESSES), len(pumps.labels), len(cooling.axis.starts)), np.nan)
    for number, metric in enumerate(WITNESSES):
        past = cooling.view.past(metric)
        pump, rows = _pumps_of(pumps, metric, past)
        if not len(pump):
            continue
        bins, least = laid(past.values, past, cooling.axis)[rows], _least(metric, draw)[pump]
        known = np.isfinite(bins) & np.isfinite(least)[:, None]
        found[number, pump] = np.where(known, bins >= least[:, None], np.nan)
    return _by_most(found)


_known: WeakKeyDictionary[SeriesTable, tuple[tuple[int, ...], Numbered]] = WeakKeyDictionary()


def _numbered(table: SeriesTable, whole: Places) -> Numbered:
    """Return the pumps that a table's series tell of; worked out again only when it grows."""
    counts = (*(len(table.of(metric)) for metric in WITNESSES), len(whole))
    kept = _known.get(table)
    if kept is not None and kept[0] == counts:
        return kept[1]
    numbers: dict[Labels, int] = {}  # power alone makes no pump: it may be that of all together
    of = {}
    for metric, _ in TELLERS:
        every = [table.labels(int(one)) for one in table.of(metric)]
        of[metric] = np.array([numbers.setdefault(one, len(numbers)) for one in every], np.intp)
    powers = (table.labels(int(one)) for one in table.of(PUMP_POWER))
    of[PUMP_POWER] = np.array([numbers.get(one, -1) for one in powers], np.intp)
    loops = {name: n for n, name in enumerate(whole.loops)}
    made = Numbered(list(numbers), np.array([loops[one[0]] for one in numbers], np.intp), of)
    _known[table] = (counts, made)
    return made
