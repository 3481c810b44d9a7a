"""Caps: racks whose power is clipped at their limit, and what their accelerators say of it.

A rack that merely works near its limit wanders; one that is capped is flat at it, and its clocks
fall or its accelerators say that power throttles them while they are busy.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import fresh, unbroken
from analyzer.evidence.power.feeds import Places, heard_lately, lately
from fabrichealth.catalogue.accelerators import CLOCK, THROTTLED, UTILIZATION
from fabrichealth.catalogue.power import RACK_POWER, RACK_POWER_LIMIT
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View, Window
from fabrichealth.model.quantiles import row_quantile

POWER_REASON = "power"
"""The word that every reason holds which is one of power: `power_cap`, `power_brake`."""

BEYOND = 2.0
"""So many times as far above its limit as below it a rack may be: further, nothing holds it."""


@dataclass(frozen=True, eq=False)
class Capped:
    """Racks whose power is clipped: rows of the window of rack power."""

    power: Window
    limit: Floats
    """Of each row ([s]); NaN where nothing says."""
    share: Floats
    """Mean over the span, over the limit ([s])."""
    near: Floats
    """1 where a poll is close to the limit, 0 where not, NaN where nothing is known ([s, k])."""
    since: Floats

    def clipped(self, span: float) -> Floats:
        """Return the share of the polls of a span that are close to the limit ([s])."""
        return lately(self.power, self.near, span)


def capped(view: View, span: float, close: float) -> Capped:
    """Return every rack's power beside its limit."""
    power = view[RACK_POWER]
    limit = _limits(view, power)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = power.values / limit[:, None]
        near = (ratio >= 1.0 - close) & (ratio <= 1.0 + BEYOND * close)
    share = heard_lately(power, ratio, span)
    since, _ = unbroken(near, power)
    return Capped(power, limit, share, np.where(np.isfinite(ratio), near, np.nan), since)


def _limits(view: View, power: Window) -> Floats:
    """Return the limit of each row as it is read, else as it is written."""
    window = view[RACK_POWER_LIMIT]
    read = {
        window.labels(int(row))[0]: float(window.last[row])
        for row in (np.flatnonzero(fresh(window)) if len(window) else ())
    }
    found = np.full(len(power), np.nan)
    for row in range(len(power)):
        (rack,) = power.labels(row)
        written = view.topology.racks.get(rack)
        limit = read.get(rack) or (written.power_limit_watts if written else None)
        if limit is not None and limit > 0:
            found[row] = limit
    return found


@dataclass(frozen=True)
class Slowed:
    """What the accelerators of one rack say while its power is clipped."""

    throttled: tuple[Window, Places]
    """Rows that say that power throttles them."""
    clocks: tuple[Window, Places]
    """Rows whose clock fell since the rack is clipped."""
    fell: float
    """By what share the usual one of these fell."""
    heard: int
    """Accelerators that say anything of either."""

    @property
    def many(self) -> int:
        """How many accelerators are slowed."""
        return max(len(self.throttles), len(self.clocks[1]))

    @property
    def throttles(self) -> set[str]:
        """The accelerators that say that power throttles them, for one reason or several."""
        window, rows = self.throttled
        return {window.labels(int(row))[0] for row in rows}


def slowed(view: View, rack: str, since: float, least: float, busy: float) -> Slowed:
    """Return which accelerators of a rack are throttled by power, or slower than before."""
    throttled, clocks = view[THROTTLED], view[CLOCK]
    rows = for_power(throttled, of_rack(view, THROTTLED, rack))
    limited = rows[np.nan_to_num(lately(throttled, throttled.values, 60.0)[rows]) >= least]
    timed = of_rack(view, CLOCK, rack)
    one = clocks.select(timed)
    with np.errstate(invalid="ignore"):
        before = np.where(one.times < since, one.values, np.nan)
    usual = row_quantile(before, 0.5) if before.size else np.full(len(one), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        fall = 1.0 - lately(one, one.values, 60.0) / usual
    idle = _idle(view, rack, busy)
    working = np.array([clocks.labels(int(row))[0] not in idle for row in timed], np.bool_)
    slow = working & (np.nan_to_num(fall) >= least)
    return Slowed(
        (throttled, limited),
        (clocks, timed[slow]),
        float(np.median(fall[slow])) if slow.any() else 0.0,
        max(len({throttled.labels(int(row))[0] for row in rows}), len(timed)),
    )


def for_power(throttled: Window, rows: Places) -> Places:
    """Return which of some rows of throttling are for want of power."""
    mine = [POWER_REASON in throttled.labels(int(row))[1] for row in rows]
    return rows[np.array(mine, np.bool_)]


def of_rack(view: View, metric: Metric, rack: str) -> Places:
    """Return the rows of a metric, heard now, of devices of a rack."""
    window = view[metric]
    mine = set(view.topology.in_rack.get(rack, ()))
    heard = fresh(window) if len(window) else np.empty(0, np.bool_)
    return np.array(
        [row for row in range(len(window)) if heard[row] and window.labels(row)[0] in mine], np.intp
    )


def _idle(view: View, rack: str, busy: float) -> set[str]:
    window = view[UTILIZATION]
    rows = of_rack(view, UTILIZATION, rack)
    return {window.labels(int(row))[0] for row in rows if window.last[row] < busy}
