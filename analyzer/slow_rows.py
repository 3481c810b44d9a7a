"""Slow rows: what is read too seldom for a window, beside what is read often enough.

One end of a link may be polled every 10 s and the other every 15 min. A window that suits the
first holds one poll of the second, of which no rate follows; so the slow clocks are looked at
further back, and the others as they were.
"""

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Window
from fabrichealth.model.quantiles import row_median

LEAST_POLLS = 3
"""Two steps between polls are the least that shows something twice."""

FRESH_PERIODS = 3.0
"""What has not answered for so many of its periods is silent, and not slow."""


def lacking(window: Window, many: int) -> bool:
    """Return whether some of `many` series speak too seldom in a window, or not at all."""
    if len(window) < many:
        return True
    read = np.isfinite(window.at).sum(axis=1)
    return bool((read[window.clock] < LEAST_POLLS).any())


def slow_clocks(wide: Window, seconds: float) -> NDArray[np.intp]:
    """Return the clocks of a wide window that poll too seldom for one of so many seconds."""
    if wide.at.shape[1] < 2:
        return np.empty(0, np.intp)
    with np.errstate(invalid="ignore"):
        period = row_median(np.diff(wide.at, axis=1))
        slow = (period * LEAST_POLLS > seconds) & (
            wide.until - wide.at[:, -1] <= FRESH_PERIODS * period
        )
    return np.intersect1d(np.flatnonzero(slow), wide.clock)


def served(wide: Window, clocks: NDArray[np.intp]) -> bool:
    """Return whether a wide window holds enough polls of all its series that speak slowly."""
    read = np.isfinite(wide.at).sum(axis=1)
    return len(clocks) > 0 and bool((read[clocks] >= LEAST_POLLS).all())


def beside(window: Window, wide: Window, clocks: NDArray[np.intp]) -> Window:
    """Return a window in which the rows of some clocks reach as far back as in a wide one."""
    slow = wide.select(np.isin(wide.clock, clocks))
    rest = window.select(~np.isin(window.clock, clocks))
    rest = rest.select(~np.isin(rest.series, slow.series))
    polls = int(np.isfinite(wide.at[clocks]).sum(axis=1).max(initial=0))
    width = max(window.values.shape[1], polls)
    at = np.full((max(len(window.at), len(wide.at)), width), np.nan)
    at[: len(window.at), width - window.at.shape[1] :] = window.at
    at[clocks] = np.nan
    at[clocks, width - polls :] = wide.at[clocks, wide.at.shape[1] - polls :]
    values = np.full((len(rest) + len(slow), width), np.nan)
    values[: len(rest), width - window.values.shape[1] :] = rest.values
    values[len(rest) :, width - polls :] = slow.values[:, slow.values.shape[1] - polls :]
    series = np.concatenate([rest.series, slow.series])
    clock = np.concatenate([rest.clock, slow.clock])
    order = np.argsort(series, kind="stable")
    return Window(
        window.metric, window.table, series[order], values[order], at, clock[order],
        window.until, window.seconds,
    )  # fmt: skip
