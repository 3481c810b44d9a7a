"""Losses: feeds without voltage, feeds whose load went over to their partner, meters that died.

A meter says itself that the voltage is gone; or its current falls to nothing while the partner
takes over at the same moment; or the meter, fed by what it measures, falls silent while the
partner takes over. A rack that is switched off loses its current too, and nobody takes it over; of
one whose machines brake in that moment (`braking`) the partner takes over less. A phase on which
current flows has voltage, whatever its meter says; and a meter that says that all is gone while
the partner carries what it did may only be starting again, so that it is waited for.
What was usual before is remembered with the finding: a loss may last longer than the window.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from analyzer.evidence.durations import Bools, fresh, last_polls, unbroken
from analyzer.evidence.power.braking import braked
from analyzer.evidence.power.feeds import PHASES, Feeds, Places
from analyzer.evidence.power.takeover import (
    POLLS,
    STANDS_OUT,
    before_it,
    gain,
    half_a_period,
    swing,
)
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
LIVES = 0.5
"""A meter that lives and says that nothing flows needs so much of a takeover beside it."""
RESTARTS = 180.0
"""Seconds within which an agent that starts again says what it measures."""
NO_VOLTAGE, EMPTY, SILENT = "no voltage", "nothing carried", "silent meter"
"""What a loss is known by: once it is called false, another one of them is news."""
TAKEN = "taken"
"""Key of the amperes that the partner took over."""
BRAKED = "braked"
"""Key of how many accelerators braked in the moment of the loss."""
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
    known_by: str
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
    gone = _without_voltage(volts, found, share, before)
    for one in (*gone, *_taken(view, found, share, before)):
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


def _without_voltage(
    window: Window, found: Feeds, share: float, before: Mapping[str, Finding]
) -> Iterator[Loss]:
    usual = _usual(window, "volts", before)
    low = window.values < DEAD * usual[:, None]
    dead = last_polls(low, window, POLLS) & fresh(window) & (usual > 0)
    if not dead.any():
        return
    since, held = unbroken(low, window)
    names = [window.labels(row)[1] for row in range(len(window))]
    flowing = _flowing(found, before)
    dead &= [window.labels(row)[1:] not in flowing for row in range(len(window))]
    for name in dict.fromkeys(name for row, name in enumerate(names) if dead[row]):
        rows = [row for row, one in enumerate(names) if one == name]
        gone = [row for row in rows if dead[row]]
        first = gone[int(np.argmin(since[gone]))]
        young = name not in before and held[first] < RESTARTS
        if young and _nobody_took(found, name, float(since[first]), share):
            continue
        phases = " and ".join(window.labels(row)[2] for row in gone)
        had = _said(window.values[first], float(usual[first]))
        what = "" if len(gone) == len(rows) else f" on phase {phases} of {len(rows)}"
        yield Loss(
            name, float(since[first]), float(window.last_at[first]), FEED_VOLTAGE,
            window.labels(first), float(window.last[first]), had,
            f"{window.last[first]:.0f} V{what}, {had:.0f} V before", NO_VOLTAGE,
            detail=_remembered(window, rows, usual, "volts"),
        )  # fmt: skip


def _said(values: Floats, usual: float) -> float:
    """Return the reading that is just as high as usual: a quantile of few lies between two."""
    with np.errstate(invalid="ignore"):
        higher = values[values >= usual]
    return float(np.min(higher)) if len(higher) else usual


def _flowing(found: Feeds, before: Mapping[str, Finding]) -> set[tuple[str, ...]]:
    """Return the (feed, phase) on which a current flows that is no rest of a meter's."""
    current, rating = found.current, np.nan_to_num(found.breaker[found.feed_of])
    least = np.fmax(LEFT * _usual(current, "amperes", before), LEAST * rating)
    with np.errstate(invalid="ignore"):
        flows = np.flatnonzero(found.heard & (current.last > least))
    return {current.labels(row)[1:] for row in flows.tolist()}


def _nobody_took(found: Feeds, name: str, moment: float, share: float) -> bool:
    """Return whether a feed's own current is gone and its partner carries what it did."""
    feed = found.names.index(name) if name in found.names else -1
    mine = np.flatnonzero(found.feed_of == feed) if feed >= 0 else np.empty(0, np.intp)
    if not len(mine) or found.partner[feed] < 0 or not len(its := found.others(feed)):
        return False
    current = found.current
    carried = float(np.nansum(before_it(current.select(mine), moment, after=False)))
    # what is not known yet (its second poll is not there) is waited for as well
    return carried > 0 and not gain(current, its, moment, after=False) >= share * carried


def _alive(window: Window, before: Mapping[str, Finding]) -> set[str]:
    """Return the feeds of which every phase that is read has voltage: whoever carries the load."""
    if not len(window):
        return set()
    usual = _usual(window, "volts", before)
    with np.errstate(invalid="ignore"):
        live = fresh(window) & (window.last >= DEAD * usual) & (usual > 0)
    names = [window.labels(row)[1] for row in range(len(window))]
    return set(names) - {name for name, well in zip(names, live.tolist(), strict=True) if not well}


def _taken(view: View, found: Feeds, share: float, before: Mapping[str, Finding]) -> Iterator[Loss]:
    """Yield feeds that carry nothing, or say nothing, since their partners took over."""
    current = found.current
    usual = _usual(current, "amperes", before)
    low = current.values < LEFT * usual[:, None]
    empty = np.asarray(last_polls(low, current, POLLS) & found.heard, np.bool_)
    since, _ = unbroken(low, current)
    used = _used(found, usual)
    lost = _lost_themselves(found, empty | ~used)
    for feed in np.flatnonzero(found.partner >= 0).tolist():
        mine = np.flatnonzero(found.feed_of == feed)
        its = found.others(feed)
        if not len(its):
            continue
        known = before.get(found.names[feed])
        silent = not found.heard[mine].any()
        if not silent and not (used[mine].any() and empty[mine[used[mine]]].all()):
            continue
        if not len(mine):
            if known is not None and TAKEN in known.detail:
                yield _still_silent(found, feed, its, known, lost)
            continue
        moment = float(
            np.max(current.last_at[mine]) if silent else np.nanmin(since[mine[used[mine]]])
        )
        former, slowed = _former(found, its, moment, after=silent), {}
        if known is not None:
            former, slowed = {**former, **_kept(known, BEFORE)}, _kept(known, BRAKED)
        if known is not None and TAKEN in known.detail:
            moment, gained = min(moment, known.since), known.detail[TAKEN]
            carried = float(np.nansum(usual[mine]))
        else:
            carried = float(np.nansum(before_it(current.select(mine), moment, after=silent)))
            gained = gain(current, its, moment, after=silent)
            rating = np.nan_to_num(found.breaker[feed]) * len(mine)
            usually = swing(current, its, moment)
            needed = share if silent else LIVES * share
            least = max(needed * carried, STANDS_OUT * usually)
            if carried <= LEAST * rating:
                continue
            short, period = not gained >= least, 2.0 * half_a_period(current.select(mine))
            if short or silent:
                one = braked(view, found.racks[feed], moment + period * silent, period)
                amperes = carried, sum(former.values()), gained
                if short and not one.took(*amperes, usually, share, silent=silent):
                    continue
                if not short and one.began(*amperes, share):
                    continue
                slowed = {BRAKED: float(one.many)} if short else {}
        row = int(mine[0])
        yield Loss(
            found.names[feed], moment, float(np.max(current.last_at[its])), FEED_CURRENT,
            current.labels(row), float(current.last[row]), float(usual[row]),
            f"carried {carried:.0f} A over its phases, and "
            + ("says nothing any more" if silent else "carries nothing now"),
            SILENT if silent else EMPTY,
            _took(found, its, former, lost, slowed.get(BRAKED, 0.0)),
            {TAKEN: gained, **former, **slowed,
             **_remembered(current, mine.tolist(), usual, "amperes")},
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
        f"carried {carried:.0f} A over its phases, and says nothing any more", SILENT,
        _took(found, its, _kept(known, BEFORE), lost, known.detail.get(BRAKED, 0.0)), known.detail,
    )  # fmt: skip


def _kept(known: Finding, word: str) -> dict[str, float]:
    return {key: one for key, one in known.detail.items() if key.startswith(word)}


def _used(found: Feeds, usual: Floats) -> Bools:
    """Return which phases carry anything beside the fullest of their feed ([s])."""
    fullest = np.zeros(len(found.names))
    np.fmax.at(fullest, found.feed_of, usual)
    return np.asarray((usual > 0) & (usual >= LEFT * fullest[found.feed_of]), np.bool_)


def _lost_themselves(found: Feeds, empty: Bools) -> frozenset[str]:
    """Return the feeds that carry nothing on any phase: they take nothing over from others."""
    carries = np.zeros(len(found.names), np.bool_)
    carries[found.feed_of[~empty & found.heard]] = True
    return frozenset(name for name, well in zip(found.names, carries, strict=True) if not well)


def _former(found: Feeds, its: Places, moment: float, *, after: bool) -> dict[str, float]:
    """Return what each feed that carries on carried before a moment, amperes over its phases."""
    earlier = before_it(found.current.select(its), moment, after=after)
    of = found.feed_of[its]
    former = {found.names[feed]: float(np.sum(earlier[of == feed])) for feed in np.unique(of)}
    return {BEFORE + name: amperes for name, amperes in former.items() if np.isfinite(amperes)}


def _took(
    found: Feeds, its: Places, former: Mapping[str, float], lost: frozenset[str], slowed: float
) -> str:
    """Return what those that carry on carry more than before; those lost since are none of them.

    `slowed` is how many accelerators braked in that moment.
    """
    more, others = 0.0, []
    for feed in np.unique(found.feed_of[its]).tolist():
        name = found.names[feed]
        if name not in lost and BEFORE + name in former:
            now = float(np.sum(found.current.last[its[found.feed_of[its] == feed]]))
            others.append(name)
            more += now - former[BEFORE + name]
    carry = "carries" if len(others) == 1 else "carry"
    brakes = f"{slowed:.0f} accelerators of the rack brake since then" if slowed else ""
    if not others or not more > 0:
        return f"{brakes}, {' and '.join(others)} {carry} on" if others and brakes else ""
    said = f"{' and '.join(others)} {carry} {more:.0f} A more since then"
    return f"{said}, {brakes.replace(' since then', '')}" if brakes else said
