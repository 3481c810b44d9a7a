"""Witnesses of a leak: ropes, levels, flows, pressure and refills, each with how much it weighs.

A weight of 1 is enough alone (a rope that stays wet, a loss that no swing explains); the others
bear witness together (detection reference, E4 and F2).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from analyzer.evidence.cooling.baselines import open_work, place_in
from analyzer.evidence.cooling.lifting import lifted
from analyzer.evidence.cooling.loops import (
    FLOW_BACK,
    FLOW_TO,
    LEVEL,
    REFILLED,
    SUCKED,
    Cooling,
)
from analyzer.evidence.cooling.saying import last, line
from analyzer.evidence.cooling.water import COOLED_KELVIN, Water, water
from analyzer.evidence.durations import fresh, unbroken
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.cooling import LEAK, RESERVOIR_LEVEL
from fabrichealth.model import Evidence, Place, Window
from fabrichealth.model.quantiles import row_median


@dataclass(frozen=True)
class Limits:
    """From what on a witness speaks."""

    wet: float
    """Seconds."""
    liters: float
    fast_liters: float
    short_liters_per_minute: float
    short_ratio: float
    pressure_ratio: float
    refill_factor: float
    refill_liters: float


@dataclass(frozen=True)
class Witness:
    """One sign that water goes, about a loop or one of its branches."""

    about: Place
    kind: str
    weight: float
    since: float
    evidence: Evidence
    says: str
    detail: Mapping[str, float] = field(default_factory=dict)
    """What a later pass must know of it."""


WITH_ANOTHER = 0.5
"""What is not enough alone weighs so much at its limit."""

AT_ONCE = 0.5
"""Of what goes evenly within the window no sixth of it takes such a share."""

HALF_LIMIT = 0.5
"""At so much of its limit a loss of level bears witness beside another."""


def ropes(cooling: Cooling, limits: Limits) -> Iterator[Witness]:
    """Yield ropes that are wet; one that was wet for a moment only bears no witness."""
    window = cooling.view[LEAK]
    since, held = unbroken(window.values >= 0.5, window)
    speaks = fresh(window) & np.isfinite(since)
    for row in np.flatnonzero(speaks & (held > 0)).tolist():
        loop, branch, zone = window.labels(row)
        about = _located(cooling, loop, branch, zone)
        wet = float(held[row])
        weight = max(wet / limits.wet, WITH_ANOTHER)
        if wet < limits.wet:
            weight = WITH_ANOTHER
        says = f"rope {zone or branch or loop} wet for {wet / 60.0:.1f} min"
        told = evidence(LEAK, (loop, branch, zone), 1.0, float(window.last_at[row]), says, 0.0)
        yield Witness(about, "rope", weight, float(since[row]), told, says)


def _located(cooling: Cooling, loop: str, branch: str, zone: str) -> Place:
    """Return the branch of a rope's zone: a branch, or a rack with one; else the loop."""
    row = cooling.view.topology.racks.get(zone)
    racks = (row.branch,) if row and row.loop in {"", loop} else ()
    for name in (branch, zone, *racks):
        if name and (loop, name) in cooling.whole.numbers:
            return Place("branch", f"{loop}/{name}")
    return Place("loop", loop)


def levels(cooling: Cooling, limits: Limits) -> Iterator[Witness]:
    """Yield reservoirs that lose water steadily over hours."""
    found = water(cooling)
    best: dict[int, Witness] = {}
    before = {place_in(cooling, one) for one in cooling.view.before}
    for loss in found.losses:
        limit = np.where(found.compensated, limits.liters, 2.0 * limits.liters)
        limit = np.fmax(np.maximum(limit, loss.limit_noise), found.least(limits.liters))
        with np.errstate(invalid="ignore", over="ignore"):
            weight = loss.liters / limit
            # neither the reservoir nor the loop has a size: its own warmth says what it explains
            weight = np.where(
                found.sized | (found.cooled <= COOLED_KELVIN),
                weight,
                np.where(found.cooled > COOLED_KELVIN, 0.0, np.minimum(weight, 0.9)),
            )
            told = loss.steady & (weight >= HALF_LIMIT) & ~cooling.places.branched
        for place in np.flatnonzero(told).tolist():
            known = best.get(place)
            if known is None or known.weight < weight[place]:
                one = _of_level(cooling, found, place, float(weight[place]), loss.horizon)
                share = float(loss.liters[place] / found.reservoir[place])
                # a leak is told long before it took as much as a server does
                if place in before or not lifted(cooling, place, share, one.since):
                    best[place] = one
    yield from best.values()


def _of_level(cooling: Cooling, found: Water, place: int, weight: float, horizon: float) -> Witness:
    level = last(cooling[LEVEL], place)
    trail = found.corrected[place]
    starts = cooling.starts
    within = np.isfinite(trail) & (starts >= cooling.view.now - horizon)
    before = float(np.median(trail[within][: max(int(within.sum() / 3), 1)]))
    lost = before - float(trail[-1])
    full = np.flatnonzero(within & (trail >= before - 0.1 * lost))
    since = float(cooling.ends[full[-1]]) if len(full) else cooling.view.now - horizon
    since = min(since, cooling.view.now - cooling.hold)
    hours = (cooling.view.now - since) / 3600.0
    how = "temperature allowed for" if found.compensated[place] else "temperature not known"
    says = f"{found.amount(place, lost)} less in the reservoir than {hours:.1f} h ago, {how}"
    if not found.sized[place]:
        says = f"{found.amount(place, lost)} less than {hours:.1f} h ago, its size not written"
    reservoir = float(found.reservoir[place])
    told = line(cooling, LEVEL, place, level, says, level + lost / reservoir)
    return Witness(cooling.places.about(place), "level", weight, since, told, says)


def falling(cooling: Cooling, limits: Limits) -> Iterator[Witness]:
    """Yield reservoirs that fall within minutes, third by third of the window."""
    window = cooling.view[RESERVOIR_LEVEL]
    if window.values.shape[1] < 6:
        return
    every = cooling.whole.of[RESERVOIR_LEVEL]
    at = every[np.searchsorted(window.table.of(RESERVOIR_LEVEL), window.series)]
    place = np.array([cooling.places.numbers[cooling.whole.names[n][0], ""] for n in at], np.intp)
    known = water(cooling)
    reservoir = known.reservoir[place]
    opened = open_work(cooling, cooling.view)[place]
    times = window.at[window.clock]
    edges = window.until - window.seconds * np.array([1.0, 2 / 3, 1 / 3, 0.0])
    with np.errstate(invalid="ignore", over="ignore"):
        thirds = [
            row_median(np.where((times > low) & (times <= high), window.values, np.nan)) * reservoir
            for low, high in pairwise(edges.tolist())
        ]
        lost = thirds[0] - thirds[2]
        halfway = (thirds[0] - thirds[1]) / np.where(lost > 0, lost, np.nan)
        even = (halfway >= 0.25) & (halfway <= 0.75) & fresh(window) & ~opened
        weight = lost / known.least(limits.fast_liters)[place]
        told = even & (weight >= WITH_ANOTHER) & (window.seconds <= 3600.0)
    for row in np.flatnonzero(told).tolist():
        began, share = window.until - window.seconds, float(lost[row] / reservoir[row])
        if _fastest(window, row) * reservoir[row] > AT_ONCE * lost[row]:
            continue  # a step is no leak that goes on: `bursts` weighs it
        if lifted(cooling, int(place[row]), share, began):
            continue
        minutes = window.seconds * 2 / 3 / 60.0
        says = f"{known.amount(int(place[row]), float(lost[row]))} lost within {minutes:.0f} min"
        level = float(window.last[row])
        chosen = line(
            cooling, LEVEL, int(place[row]), level, says, level + lost[row] / reservoir[row]
        )
        about = cooling.places.about(int(cooling.places.main[place[row]]))
        yield Witness(
            about, "level", float(weight[row]), window.until - window.seconds, chosen, says
        )


def _fastest(window: Window, row: int) -> float:
    """Return the most that a row fell within a sixth of its window, or from poll to poll."""
    read = np.isfinite(window.values[row])
    values, times = window.values[row][read], window.times[row][read]
    places = np.arange(len(values))
    then = np.searchsorted(times, times + window.seconds / 6.0, side="right") - 1
    then = np.minimum(np.maximum(then, places + 1), len(values) - 1)
    return float(np.max(values - values[then], initial=0.0))


def flows(cooling: Cooling, limits: Limits) -> Iterator[Witness]:
    """Yield places from which less comes back than goes in; never enough alone."""
    short = water(cooling).short
    flow = cooling[FLOW_TO][:, -1]
    with np.errstate(invalid="ignore", over="ignore"):
        limit = np.maximum(limits.short_liters_per_minute, limits.short_ratio * flow)
        told = np.flatnonzero(short >= limit)
    for place in told.tolist():
        back = last(cooling[FLOW_BACK], place)
        says = f"{short[place]:.1f} L/min go out and do not come back"
        yield Witness(
            cooling.places.about(place),
            "flow",
            min(WITH_ANOTHER * float(short[place] / limit[place]), 0.9),
            cooling.view.now - cooling.hold,
            line(cooling, FLOW_BACK, place, back, says, back + float(short[place])),
            says,
        )


def pressures(cooling: Cooling, limits: Limits) -> Iterator[Witness]:
    """Yield loops whose return pressure decays; never enough alone."""
    depressed = water(cooling).depressed
    with np.errstate(invalid="ignore", over="ignore"):
        told = np.flatnonzero((depressed >= limits.pressure_ratio) & ~cooling.places.branched)
    for place in told.tolist():
        pressure, share = last(cooling[SUCKED], place), float(depressed[place])
        says = f"return pressure {pressure:.0f} kPa, {share:.0%} below its usual"
        yield Witness(
            cooling.places.about(place),
            "pressure",
            min(WITH_ANOTHER * share / limits.pressure_ratio, 0.9),
            cooling.view.now - cooling.hold,
            line(cooling, SUCKED, place, pressure, says, pressure / max(1.0 - share, 0.01)),
            says,
        )


OFTEN = 3
"""Refilled in so many half hours of a day, water goes all the time; once is somebody's work."""


def refills(cooling: Cooling, limits: Limits) -> Iterator[Witness]:
    """Yield loops that are refilled far more than is their norm."""
    much, norm, times = water(cooling).refilled
    with np.errstate(invalid="ignore", over="ignore"):
        limit = np.maximum(limits.refill_factor * np.nan_to_num(norm), limits.refill_liters)
        told = np.flatnonzero((much >= limit) & np.isfinite(norm))
    for place in told.tolist():
        often = times[place] >= OFTEN
        says = f"{much[place]:.1f} L refilled within a day, usually {norm[place]:.1f} L"
        weight = much[place] / limit[place] * (1.0 if often else WITH_ANOTHER)
        total = last(cooling[REFILLED], place)
        yield Witness(
            cooling.places.about(place),
            "refill",
            float(weight if often else min(weight, 0.9)),
            cooling.view.now - cooling.hold,
            line(cooling, REFILLED, place, total, says),
            says,
        )
