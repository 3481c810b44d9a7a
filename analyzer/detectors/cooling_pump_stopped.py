"""A pump that does not turn though its loop needs it, and loops in which nothing flows any more.

A worn pump still turns (cooling.pump_wear by its curve); one that tripped, lost its drive or was
left off takes the spare with it, and the last one takes the racks: chips throttle within seconds.
One pump less than such a load has always taken is a ticket; none at all, or a flow that is gone,
pages while the racks draw power (of a spare unit without racks it is a ticket). A loop in which
most meters say that much flows is driven, whatever its pumps say, and one in which three and more
say that nothing does stands. Stays quiet on a standby that never ran, on pumps that take turns,
rest at low load or only flushed a loop, on a loop whose racks were switched off first, on pumps
that are not read, on a unit that starts again and answers zeros meanwhile, and on meters of flow
that say nothing flows while chips work and stay cool.
"""

from collections.abc import Iterator

import numpy as np

from analyzer.evidence.cooling.balance import LEAST_LOAD
from analyzer.evidence.cooling.baselines import BASE, place_in
from analyzer.evidence.cooling.loops import (
    FLOW_TO,
    METRICS,
    Cooling,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.saying import controlled, last, line, moment
from analyzer.evidence.cooling.standstill import WITNESSES, Standstill, standstill
from analyzer.evidence.cooling.staying_cool import stay_cool
from analyzer.evidence.durations import Bools
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.cooling import PUMP_RUNNING
from fabrichealth.kinds import COOLING_PUMP_WEAR, Severity
from fabrichealth.model import Evidence, Finding, Floats, View
from fabrichealth.model.quantiles import row_quantile
from fabrichealth.settings import Duration, seconds

NONE = "none turns"
"""Key under which a finding keeps that nothing turned or flowed when it was told."""


class CoolingPumpStoppedSettings(CoolingSettings):
    """Cooling-pump-stopped section of the configuration."""

    every: Duration = seconds(0)
    """Chips without flow throttle within seconds: it is judged at every pass."""

    hold: Duration = seconds(300)
    """A pump less is told after so long: pumps that take turns do not overlap. None at all is
    told at the second poll."""


class CoolingPumpStopped(CoolingDetector[CoolingPumpStoppedSettings]):
    """Pumps that turn against those that the load takes; score 1.0 is one too few."""

    kinds = (COOLING_PUMP_WEAR,)
    metrics = (PUMP_RUNNING, *(one for one in METRICS if one is not PUMP_RUNNING))
    settings_type = CoolingPumpStoppedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each loop that has too few pumps, or no flow."""
        cooling = self.mains(view)
        if not len(cooling.places):
            return
        before = {place_in(cooling, one): one for one in view.before}
        found = standstill(cooling, view.before)
        known = np.isin(np.arange(len(cooling.places)), [one for one in before if one is not None])
        none = self._none(cooling, found, _kept(before, len(known)))
        stopped = found.stands & (found.turned | known[found.pumps.loop])
        newest = np.full(len(known), -np.inf)
        np.fmax.at(newest, found.pumps.loop[stopped], found.since[stopped])
        held = known | (view.now - newest >= self.settings.hold)
        with np.errstate(invalid="ignore", over="ignore"):
            some = (found.turning >= 1.0) & (found.turning < found.needs)
        fewer = some & held & np.isfinite(newest)
        for loop in np.flatnonzero(none | fewer).tolist():
            pumps = np.flatnonzero(stopped & (found.pumps.loop == loop)).tolist()
            yield _finding(cooling, found, loop, pumps, bool(none[loop]), before.get(loop))

    def _none(self, cooling: Cooling, found: Standstill, kept: Bools) -> Bools:
        """Return in which loops nothing turns, or nothing flows, under load ([loop])."""
        size = len(cooling.places)
        turned, read, unread = (np.zeros(size, np.bool_) for _ in range(3))
        turned[found.pumps.loop[found.turned]] = True
        read[found.pumps.loop[~found.unread]] = True
        unread[found.pumps.loop[found.unread & found.turned]] = True
        load = _served(cooling)
        with np.errstate(invalid="ignore", over="ignore"):
            # racks that trip for want of flow were under load just before
            recent = np.fmax.reduce(load[:, -2:], axis=1)
            idle = recent < LEAST_LOAD * row_quantile(load, 0.9)
            still = read & ~unread & (found.turning == 0) & (turned | kept) & ~found.driven
        # a side whose valve closes at low load has no flow, and no fault (cooling.supply_hot knows)
        side = np.isin(np.arange(size), cooling.facility)
        dry = found.dry & ~side & (found.headless | found.agreed | (found.no_drop & ~read))
        for loop in np.flatnonzero(dry & ~still).tolist():
            dry[loop] = not _cooled(cooling, loop, float(found.dry_since[loop]))
        return np.asarray((still | dry) & (~idle | kept), np.bool_)


def _cooled(cooling: Cooling, loop: int, moment: float) -> bool:
    """Return whether chips work and stay cool since their flow is said to be gone.

    Then water flows, and it is the meters of flow that say otherwise; a large bath warms too slowly
    to tell.
    """
    if cooling.kinds[loop].is_its_reservoir:
        return False
    return stay_cool(cooling.view, cooling.whole, loop, moment)


def _served(cooling: Cooling) -> Floats:
    """Return what the racks draw whose heat each main takes away, watts ([place, bin + 1])."""
    load, side = cooling.load, cooling.facility
    found = load.copy()
    mine = np.flatnonzero(side >= 0)
    found[side[mine]] = 0.0
    np.add.at(found, side[mine], load[mine])
    return found


def _cools(cooling: Cooling, loop: int, load: float) -> bool:
    """Return whether a loop takes heat away: its racks draw power, or it has racks at all.

    A spare unit that no rack is written of may stop because another took over.
    """
    if np.isfinite(load):
        return True
    topology = cooling.view.topology
    mine = np.flatnonzero((cooling.facility == loop) | (np.arange(len(cooling.places)) == loop))
    names = {cooling.places.names[one][0] for one in mine.tolist()}
    written = any(row.racks for name in names if (row := topology.loops.get(name)))
    return written or any(rack.loop in names for rack in topology.racks.values())


def _kept(before: dict[int | None, Finding], size: int) -> Bools:
    """Return in which loops nothing turned or flowed already in the last pass ([loop])."""
    loops = [loop for loop, one in before.items() if NONE in one.detail]
    return np.isin(np.arange(size), [loop for loop in loops if loop is not None])


def _finding(
    cooling: Cooling, found: Standstill, loop: int, pumps: list[int], none: bool,
    before: Finding | None,
) -> Finding:  # fmt: skip
    name, turning, needs = cooling.places.names[loop][0], found.turning[loop], found.needs[loop]
    flow, normal = float(found.flow[loop]), float(found.usual_flow[loop])
    flows = ""
    if np.isfinite(flow):
        usually = f" of usually {normal:.0f}" if np.isfinite(normal) else ""
        flows = f"; {flow:.0f}{usually} L/min flow"
    words = " and ".join(found.pumps.labels[one][2] or "its pump" for one in pumps)
    if none and pumps:
        says = f"none of its pumps turns ({words} did){flows}"
    elif none:
        says = f"nothing flows any more, though no pump says that it stopped{flows}"
    else:
        which = f"pump {words} does" if len(pumps) == 1 else f"pumps {words} do"
        says = f"{which} not turn: {turning:.0f} of the {needs:.0f} that this load takes{flows}"
    load = last(_served(cooling), loop)
    if none and np.isfinite(load):
        says += f"; its racks draw {load / 1000.0:.0f} kW"
    lines = [_line(cooling, found, one) for one in pumps]
    if np.isfinite(flow):
        expected = normal if np.isfinite(normal) else None
        lines.append(line(cooling, FLOW_TO, loop, flow, f"{flow:.0f} L/min", expected))
    began = [float(found.since[one]) for one in pumps] or [float(found.dry_since[loop])]
    stopped = before.detail.get(NONE, max(began)) if before else max(began)
    detail = {NONE: stopped} if none else {}
    # with its moment: that everything stands again later is another ground
    nothing = (f"{NONE} since {moment(stopped)}",) if none else ()
    if np.isfinite(needs):
        detail[BASE] = float(needs)
    return Finding(
        kind=COOLING_PUMP_WEAR,
        about=cooling.places.about(loop),
        score=max(float(needs - turning) if np.isfinite(needs - turning) else 1.0, 1.0),
        since=before.since if before else max(began),
        at=cooling.view.now,
        evidence=lines[:8],
        because=f"{name}: {says}{controlled(cooling, loop)}",
        severity=Severity.PAGE if none and _cools(cooling, loop, load) else None,
        grounds=(*(found.pumps.labels[one][2] for one in pumps), *nothing),
        detail=detail,
    )


def _line(cooling: Cooling, found: Standstill, pump: int) -> Evidence:
    """Return what a pump that stands says of itself."""
    labels = found.pumps.labels[pump]
    says = f"pump {labels[2]} does not turn".replace("  ", " ")
    metric = WITNESSES[int(found.by[pump])]
    window = cooling.view[metric]
    row = window.row(*labels)
    if row is None:
        raise LookupError(f"{labels}: a pump that stands has said so")
    at, value = float(window.last_at[row]), float(window.last[row])
    return evidence(metric, labels, value, at, says, 1.0 if metric is PUMP_RUNNING else None)
