"""Baselines of trails, and since when something has left its own.

A trailing baseline would learn the fault. So it is the median of the older half of the past, of a
short past all but the newest; it begins anew after a service, and while something is ill it stays
what it was when it fell ill (the finding's `detail` brings it back).
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.trails import Trails
from fabrichealth.model import Finding, Floats, Place, View
from fabrichealth.model.quantiles import row_median, row_quantile
from fabrichealth.topology import Topology

SEVERAL_DAYS = 2 * 86_400.0
"""Of a past shorter than this the older half would hold half a daily cycle."""

LEAST_BINS = 3
"""Fewer bins make no baseline."""

RENEWED = frozenset({"part_replaced", "repair_end", "maintenance_end"})
"""Events after which a part may be another than before."""

BASE = "baseline"
"""Under this word a finding keeps what was usual when it fell ill."""


def reference(trails: Trails, values: Floats, renewed: Floats | None = None) -> NDArray[np.bool_]:
    """Return which columns of a trail make its baseline ([place, bin + 1])."""
    starts, ends = trails.starts, trails.ends
    known = np.isfinite(values)
    known[:, -1] = False
    if renewed is not None:
        known &= starts[None, :] >= renewed[:, None]
    first = np.where(known, starts, np.inf).min(axis=1)
    last = np.where(known, ends, -np.inf).max(axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        half = np.where(last - first >= SEVERAL_DAYS, (first + last) / 2, np.inf)
    older = known & (ends[None, :] <= half[:, None])
    several = older.sum(axis=1) > LEAST_BINS
    newest = older.shape[1] - 1 - np.argmax(older[:, ::-1], axis=1)
    older[several, newest[several]] = False
    older[older.sum(axis=1) < LEAST_BINS] = False
    return older


def usual(
    trails: Trails,
    values: Floats,
    before: Iterable[Finding],
    renewed: Floats | None = None,
    share: float = 0.5,
) -> Floats:
    """Return the baseline of each place: a quantile of its reference, or as it was frozen."""
    chosen = np.where(reference(trails, values, renewed), values, np.nan)
    base = row_median(chosen) if share == 0.5 else row_quantile(chosen, share)
    for finding in before:
        place = place_in(trails, finding)
        if place is not None and np.isfinite(kept := finding.detail.get(BASE, np.nan)):
            stands = renewed is None or not renewed[place] > finding.since
            base[place] = kept if stands else base[place]
    return base


def place_in(trails: Trails, finding: Finding) -> int | None:
    """Return the place that a finding is about, None if nothing is read of it."""
    about = finding.about
    if not isinstance(about, Place) or about.type not in {"loop", "branch"}:
        return None
    loop, _, branch = about.id.partition("/")
    found = trails.places.numbers.get((loop, branch))
    if found is None and about.type == "loop":
        return trails.places.numbers.get((about.id, ""))
    return found


def renewals(trails: Trails, view: View, kinds: frozenset[str] = RENEWED) -> Floats:
    """Return when each place's parts were last renewed ([place], -inf: never)."""
    found = np.full(len(trails.places), -np.inf)
    begun = {event.id: event.scope for event in view.events if event.id and event.scope}
    for event in view.events:
        scope = event.scope or begun.get(event.id, {})
        if event.kind not in kinds or not scope:
            continue
        branch = scope.get("branch", "")
        for number, name in enumerate(trails.places.loops):
            if _touches(scope, name, view.topology):
                for place in np.flatnonzero(trails.places.loop == number).tolist():
                    mine = trails.places.names[place][1]
                    if not branch or branch in {mine, f"{name}/{mine}"}:
                        found[place] = max(found[place], event.at)
    return found


def open_work(trails: Trails, view: View) -> NDArray[np.bool_]:
    """Return at which places people work just now ([place]): begun, and no end known."""
    begun = renewals(trails, view, frozenset({"maintenance_start", "repair_start"}))
    ended = renewals(trails, view, frozenset({"maintenance_end", "repair_end"}))
    lasts = begun > view.now - WORK_LASTS
    return np.asarray(lasts & (ended < begun), np.bool_)


def _touches(scope: Mapping[str, str], loop: str, topology: Topology) -> bool:
    """Return whether an event's scope holds a loop or a branch of it (contract 4)."""
    row = topology.loops.get(loop)
    for key, name in scope.items():
        if key == "branch":
            if "loop" not in scope and not name.startswith(f"{loop}/"):
                return False
        elif key == "loop":
            if name != loop:
                return False
        elif key == "device":
            if row is None or name != row.device:
                return False
        elif key == "rack":
            rack = topology.racks.get(name)
            if not (row and name in row.racks) and not (rack and rack.loop == loop):
                return False
        else:
            return False
    return True


PLUGGED = RENEWED | {"part_touched"}
"""Events after which a quick connector may not be fully mated."""

PLUGGED_SECONDS = 86_400.0
"""What was plugged in the last day may be why flow changed."""


def plugged(trails: Trails, view: View) -> NDArray[np.bool_]:
    """Return in which places somebody plugged something lately ([place])."""
    return np.asarray(renewals(trails, view, PLUGGED) > view.now - PLUGGED_SECONDS, np.bool_)


WORK_LASTS = 4 * 3600.0
"""Work whose end nobody wrote down is over by then (contract 4)."""

STAYS = 0.8
"""What was found ill is ill until it is back within this share of its limit."""


def settled(scores: Floats, bins: int = 2) -> Floats:
    """Return scores that count now only as far as they were reached in the last bins as well.

    For what takes days: jobs and setpoints that move meanwhile show within one bin.
    """
    found = scores.copy()
    found[:, -1] = np.fmin.reduce(scores[:, -1 - bins :], axis=1)
    found[~np.isfinite(scores[:, -1]), -1] = np.nan
    return found


def raised(trails: Trails, scores: Floats, before: Iterable[Finding]) -> NDArray[np.intp]:
    """Return the places whose score (1.0 is the limit) is beyond it now, with hysteresis."""
    limit = np.ones(len(scores))
    for finding in before:
        place = place_in(trails, finding)
        if place is not None:
            limit[place] = STAYS
    with np.errstate(invalid="ignore", over="ignore"):
        return np.flatnonzero(scores[:, -1] >= limit)


def since(trails: Trails, scores: Floats, place: int, before: Iterable[Finding]) -> float:
    """Return since when a place's score has been beyond its limit, bins included."""
    mine = scores[place]
    known = np.isfinite(mine)
    calm = np.flatnonzero(known & (mine < STAYS))
    after = int(calm[-1]) + 1 if len(calm) else 0
    ill = np.flatnonzero(known[after:]) + after
    first = float(trails.starts[ill[0]]) if len(ill) else trails.view.now - trails.hold
    about = trails.places.about(place)
    return min([first, *(one.since for one in before if one.about == about)])
