"""Standstill: which pumps turn, how many a loop needs for what it carries, and what still flows.

A pump turns by its own flag, where there is none by its speed. One that is not read neither turns
nor stands. How many a loop needs is read off its past: the fewest that carried such a load for a
tenth of the time, so that a standby that never runs, pumps that take turns and those that rest at
low load are none too few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.baselines import reference, renewals, usual
from analyzer.evidence.cooling.loops import FLOW_BACK, FLOW_TO, Cooling
from analyzer.evidence.cooling.places import Places
from analyzer.evidence.cooling.trails import Chosen, laid
from analyzer.evidence.durations import Bools, fresh, last_polls, unbroken
from fabrichealth.catalogue.cooling import FLOW, PUMP_RUNNING, PUMP_SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Labels, SeriesTable, Window
from fabrichealth.model.quantiles import row_quantile

TELLERS: tuple[tuple[Metric, float], ...] = ((PUMP_RUNNING, 0.5), (PUMP_SPEED, 0.02))
"""What says whether a pump turns, and from what value on; the first that is read is believed."""

POLLS = 2
"""What stands for so many polls has stopped."""

LIKE = 0.9
"""Bins in which a loop carried this share of what it carries now say how many pumps that takes."""

SELDOM = 0.1
"""Fewer pumps than usual in less than this share of those bins were a service, not a habit."""

GONE = 0.1
"""Less than this share of its usual flow or drop is none."""

STILL_FLOWS = 0.5
"""From this share of its usual flow on, whatever is said of its pumps, something drives it."""


@dataclass(frozen=True)
class Numbered:
    """The pumps of all loops by number, and the number of each series' pump."""

    labels: list[Labels]
    """(loop, branch, pump) of each pump."""
    loop: NDArray[np.intp]
    """Number among `Places.loops` of each pump's loop ([pump])."""
    of: dict[Metric, NDArray[np.intp]]
    """Pump of each series, by place in `table.of(metric)`."""


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


def standstill(cooling: Cooling, before: Sequence[Finding]) -> Standstill:
    """Return what turns and flows; `cooling` has the mains of all loops in their order."""
    pumps = _numbered(cooling.view[PUMP_RUNNING].table, cooling.whole)
    size = len(cooling.whole.loops)
    stands, turns, since, turned = _now(cooling, pumps)
    unread = ~stands & ~turns
    past = _past(cooling, pumps)
    known = past.size > 0
    often = np.nan_to_num(row_quantile(past, 0.5)) >= 0.5 if known else np.zeros(len(stands), bool)
    turning = np.full(size, np.nan)
    turning[pumps.loop] = 0.0
    np.add.at(turning, pumps.loop, (turns | (unread & (turned | often))).astype(np.float64))
    dry, dry_since, flow = _flows(cooling)
    drop = cooling.pressure_drop
    with np.errstate(invalid="ignore", over="ignore"):
        headless = drop[:, -1] < GONE * usual(cooling, drop, ())
    return Standstill(
        pumps, stands, unread, since, np.asarray(turned | often, np.bool_), turning,
        _needs(cooling, pumps, past, turning, before), flow, usual(cooling, cooling[FLOW_TO], ()),
        dry, dry_since, np.asarray(headless, np.bool_), np.isnan(drop[:, -1]),
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
    carried = np.where(reference(cooling, np.where(older, count, np.nan)), load, np.nan)
    high, low = row_quantile(carried, 0.75), row_quantile(carried, SELDOM)
    unloaded = np.asarray(~np.isfinite(load).any(axis=1), np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        # a load that it hardly ever carried says nothing of itself: the higher ones then do
        alike = load >= np.fmin(LIKE * load[:, -1], high)[:, None]
        # but racks that were never so idle do not say how many pumps may rest then
        idle = known & (load[:, -1] < LIKE * low)
    alike = np.logical_or(alike, unloaded[:, None])
    judged = np.where(alike & older & ~idle[:, None], count, np.nan)
    fewest = usual(cooling, judged, before, renewals(cooling, cooling.view), SELDOM)
    return np.floor(fewest + 1e-9)


def _now(cooling: Cooling, pumps: Numbered) -> tuple[Bools, Bools, Floats, Bools]:
    """Return of each pump: stands, turns, since when it stands, turned earlier in the window."""
    size = len(pumps.labels)
    stands, turns, turned = (np.zeros(size, np.bool_) for _ in range(3))
    since = np.full(size, np.nan)
    told = np.zeros(size, np.bool_)
    for metric, least in TELLERS:
        window = cooling.view[metric]
        if not len(window):
            continue
        pump = pumps.of[metric][np.searchsorted(window.table.of(metric), window.series)]
        still = window.values < least
        new = fresh(window) & np.isfinite(window.last) & ~told[pump]
        stopped = last_polls(still, window, POLLS) & new
        began, _ = unbroken(still, window)
        stands[pump[stopped]] = True
        since[pump[stopped]] = began[stopped]
        turns[pump[new & ~stopped]] = True
        turned[pump] |= (window.values >= least).any(axis=1)
        told[pump[new]] = True
    return stands, turns, since, turned


def _past(cooling: Cooling, pumps: Numbered) -> Floats:
    """Return whether each pump turned in each bin of the past ([pump, bin]; NaN: not read)."""
    found = np.full((len(pumps.labels), len(cooling.axis.starts)), np.nan)
    for metric, least in TELLERS:
        past = cooling.view.past(metric)
        if not len(past):
            continue
        pump = pumps.of[metric][: len(past)]
        bins = laid(past.values, past, cooling.axis)
        said = np.where(np.isfinite(bins), bins >= least, np.nan)
        found[pump] = np.where(np.isfinite(found[pump]), found[pump], said)
    return found


def _flows(cooling: Cooling) -> tuple[Bools, Floats, Floats]:
    """Return of each loop: whether its flow is gone, since when, and what flows now (L/min).

    By the meter of its main; where that has none, by the trail, which sums up its branches. A
    meter that says nothing flows while its branches' or the return's say otherwise has failed.
    """
    flow = cooling[FLOW_TO]
    normal = usual(cooling, flow, ())
    with np.errstate(invalid="ignore", over="ignore"):
        dry = flow[:, -1] < GONE * normal
    since = np.full(len(dry), cooling.view.now - cooling.hold)
    now = flow[:, -1].copy()
    window = cooling.view[FLOW]
    if not len(window):
        return np.asarray(dry, np.bool_), since, now
    rows = np.flatnonzero(FLOW_TO.of(cooling.whole, window)[_at(window)])
    of = cooling.whole.of[FLOW][_at(window)[rows]]
    main = ~cooling.whole.branched[of]
    elsewhere = np.fmax(
        _together(cooling, window, FLOW_TO, branches=True),
        _together(cooling, window, FLOW_BACK, branches=False),
    )
    window, loop = window.select(rows[main]), cooling.whole.loop[of[main]]
    still = window.values < GONE * normal[loop][:, None]
    speaks = fresh(window)
    began, _ = unbroken(still, window)
    metered = loop[speaks]
    dry = np.asarray(dry, np.bool_)
    dry[metered] = (last_polls(still, window, POLLS) & speaks)[speaks]
    since[metered] = began[speaks]
    now[metered] = window.last[speaks]
    with np.errstate(invalid="ignore", over="ignore"):
        dry &= ~(elsewhere >= GONE * normal)
    return dry, since, now


def _together(cooling: Cooling, window: Window, chosen: Chosen, *, branches: bool) -> Floats:
    """Return the newest flows of a loop's branches, or of its main, added up ([loop])."""
    of = cooling.whole.of[FLOW][_at(window)]
    mine = chosen.of(cooling.whole, window)[_at(window)] & fresh(window)
    mine &= cooling.whole.branched[of] == branches
    mine &= np.isfinite(window.last)
    found = np.full(len(cooling.whole.loops), np.nan)
    loop = cooling.whole.loop[of[mine]]
    found[loop] = 0.0
    np.add.at(found, loop, window.last[mine])
    return found


def _at(window: Window) -> NDArray[np.intp]:
    return np.searchsorted(window.table.of(window.metric), window.series)


_known: WeakKeyDictionary[SeriesTable, tuple[tuple[int, ...], Numbered]] = WeakKeyDictionary()


def _numbered(table: SeriesTable, whole: Places) -> Numbered:
    """Return the pumps that a table's series tell of; worked out again only when it grows."""
    counts = (*(len(table.of(metric)) for metric, _ in TELLERS), len(whole))
    kept = _known.get(table)
    if kept is not None and kept[0] == counts:
        return kept[1]
    numbers: dict[Labels, int] = {}
    of = {}
    for metric, _ in TELLERS:
        every = [table.labels(int(one)) for one in table.of(metric)]
        of[metric] = np.array([numbers.setdefault(one, len(numbers)) for one in every], np.intp)
    loops = {name: n for n, name in enumerate(whole.loops)}
    made = Numbered(list(numbers), np.array([loops[one[0]] for one in numbers], np.intp), of)
    _known[table] = (counts, made)
    return made
