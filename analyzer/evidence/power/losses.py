"""Losses: feeds without voltage, feeds whose load went over to their partner, meters that died.

A meter says itself that the voltage is gone; or its current falls to nothing while the partner
takes over at the same moment; or the meter, fed by what it measures, falls silent while the
partner takes over. A rack that is switched off loses its current too, and nobody takes it over.
What was usual before is remembered with the finding: a loss may last longer than the window.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from analyzer.evidence.durations import Bools, fresh, last_polls, unbroken
from analyzer.evidence.power.feeds import PHASES, Feeds, Places
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_VOLTAGE
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Labels, Place, View, Window
from fabrichealth.model.quantiles import row_quantile

DEAD = 0.5
"""A phase below this share of its usual voltage is dead."""
USUAL = 0.9
"""Quantile of the window that is taken for what was usual before."""
LEFT = 0.05
"""A feed whose current fell below this share of what it carried carries nothing."""
LEAST = 0.01
"""A feed that carried less than this share of its rating cannot be seen to lose it."""
LITTLE = 0.05
"""Of one that carried less than this, what its partner took over must stand out of its swings."""
STANDS_OUT = 3.0
"""So many standard deviations from poll to poll do."""
POLLS = 2
SOON = 3
"""Polls within which a partner takes over: what it carries more later is another load. So many
before that say what it carried."""
TAKEN = "taken"
"""Key of the amperes that the partner took over."""
BEFORE = "before "
"""Key, with its name, of the amperes that each feed which carries on carried before."""


@dataclass(frozen=True)
class Loss:
    """One feed that is lost, and how that is known."""

    name: str
    since: float
    at: float
    metric: Metric
    labels: Labels
    value: float
    usual: float
    says: str
    taken: str = ""
    """What the partner says."""
    detail: Mapping[str, float] = field(default_factory=dict)
    """What a later pass must know of it."""


def losses(view: View, found: Feeds, share: float) -> Iterator[Loss]:
    """Yield each feed that is lost; a partner took over at least this share of its load."""
    before = {one.about.id: one for one in view.before if isinstance(one.about, Place)}
    told: set[str] = set()
    volts = view[FEED_VOLTAGE]
    alive = _alive(volts, before)
    for one in (*_without_voltage(volts, before), *_taken(found, share, before)):
        if one.name not in told and one.name not in alive:
            told.add(one.name)
            yield one


def _usual(window: Window, word: str, before: Mapping[str, Finding]) -> Floats:
    """Return what each row usually says ([s]), as now or as remembered, whatever is more."""
    usual = row_quantile(window.values, USUAL) if window.values.size else np.empty(len(window))
    for row in range(len(window) if before else 0):
        _, name, phase = window.labels(row)
        if name in before:
            usual[row] = np.fmax(usual[row], before[name].detail.get(f"{word} {phase}", np.nan))
    return np.asarray(usual, np.float64)


def _remembered(window: Window, rows: list[int], usual: Floats, word: str) -> dict[str, float]:
    return {
        f"{word} {window.labels(row)[2]}": float(usual[row])
        for row in rows
        if np.isfinite(usual[row])
    }


def _without_voltage(window: Window, before: Mapping[str, Finding]) -> Iterator[Loss]:
    usual = _usual(window, "volts", before)
    low = window.values < DEAD * usual[:, None]
    dead = last_polls(low, window, POLLS) & fresh(window) & (usual > 0)
    if not dead.any():
        return
    since, _ = unbroken(low, window)
    names = [window.labels(row)[1] for row in range(len(window))]
    for name in dict.fromkeys(name for row, name in enumerate(names) if dead[row]):
        rows = [row for row, one in enumerate(names) if one == name]
        gone = [row for row in rows if dead[row]]
        first = gone[int(np.argmin(since[gone]))]
        phases = " and ".join(window.labels(row)[2] for row in gone)
        what = "" if len(gone) == len(rows) else f" on phase {phases} of {len(rows)}"
        yield Loss(
            name, float(since[first]), float(window.last_at[first]), FEED_VOLTAGE,
            window.labels(first), float(window.last[first]), float(usual[first]),
            f"{window.last[first]:.0f} V{what}, {usual[first]:.0f} V before",
            detail=_remembered(window, rows, usual, "volts"),
        )  # fmt: skip


def _alive(window: Window, before: Mapping[str, Finding]) -> set[str]:
    """Return the feeds of which every phase that is read has voltage: whoever carries the load."""
    if not len(window):
        return set()
    usual = _usual(window, "volts", before)
    with np.errstate(invalid="ignore"):
        live = fresh(window) & (window.last >= DEAD * usual) & (usual > 0)
    names = [window.labels(row)[1] for row in range(len(window))]
    return set(names) - {name for name, well in zip(names, live.tolist(), strict=True) if not well}


def _taken(found: Feeds, share: float, before: Mapping[str, Finding]) -> Iterator[Loss]:
    """Yield feeds that carry nothing, or say nothing, since their partners took over."""
    current = found.current
    usual = _usual(current, "amperes", before)
    low = current.values < LEFT * usual[:, None]
    empty = last_polls(low, current, POLLS) & found.heard
    since, _ = unbroken(low, current)
    lost = _lost_themselves(found, np.asarray(empty, np.bool_))
    for feed in np.flatnonzero(found.partner >= 0).tolist():
        mine = np.flatnonzero(found.feed_of == feed)
        its = found.others(feed)
        if not len(its):
            continue
        known = before.get(found.names[feed])
        silent = not found.heard[mine].any()
        if not silent and not empty[mine].all():
            continue
        if not len(mine):
            if known is not None and TAKEN in known.detail:
                yield _still_silent(found, feed, its, known, lost)
            continue
        moment = float(np.max(current.last_at[mine]) if silent else np.min(since[mine]))
        if known is not None and TAKEN in known.detail:
            moment, gained = min(moment, known.since), known.detail[TAKEN]
            carried = float(np.nansum(usual[mine]))
        else:
            carried = float(np.nansum(_just_before(current.select(mine), moment, after=silent)))
            gained = _gain(current, its, moment, after=silent)
            rating = np.nan_to_num(found.breaker[feed]) * len(mine)
            least = share * carried
            if carried <= LITTLE * rating:
                least = max(least, STANDS_OUT * _swing(current, its, moment, after=silent))
            if carried <= LEAST * rating or not gained >= least:
                continue
        row = int(mine[0])
        former = _former(found, its, moment, after=silent)
        if known is not None:
            former = {**former, **_kept(known, BEFORE)}
        yield Loss(
            found.names[feed], moment, float(np.max(current.last_at[its])), FEED_CURRENT,
            current.labels(row), float(current.last[row]), float(usual[row]),
            f"carried {carried:.0f} A over its phases, and "
            + ("says nothing any more" if silent else "carries nothing now"),
            _took(found, its, former, lost),
            {TAKEN: gained, **former, **_remembered(current, mine.tolist(), usual, "amperes")},
        )  # fmt: skip


def _still_silent(
    found: Feeds, feed: int, its: Places, known: Finding, lost: frozenset[str]
) -> Loss:
    """Return the loss of a feed whose meter has said nothing for longer than the window."""
    name = found.names[feed]
    carried = sum(one for key, one in known.detail.items() if key.startswith("amperes"))
    return Loss(
        name, known.since, float(np.max(found.current.last_at[its])), FEED_CURRENT,
        (found.racks[feed], name, PHASES[0]), 0.0, carried,
        f"carried {carried:.0f} A over its phases, and says nothing any more",
        _took(found, its, _kept(known, BEFORE), lost), known.detail,
    )  # fmt: skip


def _kept(known: Finding, word: str) -> dict[str, float]:
    return {key: one for key, one in known.detail.items() if key.startswith(word)}


def _lost_themselves(found: Feeds, empty: Bools) -> frozenset[str]:
    """Return the feeds that carry nothing on any phase: they take nothing over from others."""
    carries = np.zeros(len(found.names), np.bool_)
    carries[found.feed_of[~empty & found.heard]] = True
    return frozenset(name for name, well in zip(found.names, carries, strict=True) if not well)


def _former(found: Feeds, its: Places, moment: float, *, after: bool) -> dict[str, float]:
    """Return what each feed that carries on carried before a moment, amperes over its phases."""
    earlier = _just_before(found.current.select(its), moment, after=after)
    of = found.feed_of[its]
    former = {found.names[feed]: float(np.sum(earlier[of == feed])) for feed in np.unique(of)}
    return {BEFORE + name: amperes for name, amperes in former.items() if np.isfinite(amperes)}


def _took(found: Feeds, its: Places, former: Mapping[str, float], lost: frozenset[str]) -> str:
    """Return what those that carry on carry more than before; those lost since are none of them."""
    more, others = 0.0, []
    for feed in np.unique(found.feed_of[its]).tolist():
        name = found.names[feed]
        if name not in lost and BEFORE + name in former:
            now = float(np.sum(found.current.last[its[found.feed_of[its] == feed]]))
            others.append(name)
            more += now - former[BEFORE + name]
    if not others or not more > 0:
        return ""
    carry = "carries" if len(others) == 1 else "carry"
    return f"{' and '.join(others)} {carry} {more:.0f} A more since then"


def _earlier(window: Window, moment: float, *, after: bool) -> Floats:
    """Return what rows said before a moment, NaN since ([s, k]); `after` as in `_gain`."""
    step = _half_a_period(window)
    with np.errstate(invalid="ignore"):
        return np.where(window.times <= moment + (step if after else -step), window.values, np.nan)


def _just_before(window: Window, moment: float, *, after: bool) -> Floats:
    """Return what rows said in their last polls before a moment ([s]); `after` as in `_gain`.

    Not what they said for half an hour: a job may have begun or ended meanwhile.
    """
    values = _earlier(window, moment, after=after)
    rank = np.cumsum(np.isfinite(values)[:, ::-1], axis=1)[:, ::-1]  # 1 for the newest of each row
    return row_quantile(np.where(rank <= SOON, values, np.nan), 0.5)


def _swing(window: Window, rows: Places, moment: float, *, after: bool) -> float:
    """Return the standard deviation of a sum of rows from poll to poll before a moment, amperes."""
    steps = np.abs(np.diff(_earlier(window.select(rows), moment, after=after), axis=1))
    return float(np.nansum(row_quantile(steps, 0.5))) if steps.size else float("nan")


def _half_a_period(window: Window) -> float:
    period = window.period[np.isfinite(window.period)]
    return float(np.median(period)) / 2 if len(period) else 0.0


def _gain(window: Window, rows: Places, moment: float, *, after: bool) -> float:
    """Return by how much the sum of rows grew at a moment (NaN if either side is unknown).

    `after`: the moment is the last one before it happened, not the first one of it.
    """
    one = window.select(rows)
    step, earlier = _half_a_period(one), _just_before(one, moment, after=after)
    if not np.isfinite(earlier).all():
        return float("nan")
    with np.errstate(invalid="ignore"):
        later = (one.times > moment + (step if after else -step)) & np.isfinite(one.values)
    soon = later & (np.cumsum(later, axis=1) <= SOON)
    if (soon.sum(axis=1) < POLLS).any():
        return float("nan")
    took = row_quantile(np.where(soon, one.values, np.nan), 0.5)
    return float(np.sum(took - earlier))
