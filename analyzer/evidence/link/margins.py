"""Margins: the long past of errors before FEC, in dB between each port and its error limit.

A counter's past is kept as medians of bins; from one bin's middle to the next its rise is the
rate in between. Devices that only report a ratio are taken at their word.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.link.limits import Quantity
from analyzer.evidence.link.receivers import Places, Receivers
from analyzer.evidence.optics.noise import snr_of
from fabrichealth.catalogue.ports import (
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    PRE_FEC_BER,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Past, View

RECALLED = (FEC_CORRECTED_BITS, FEC_CORRECTED_SYMBOLS, PRE_FEC_BER, FEC_CORRECTED_CODEWORDS)
"""The best first; of a port only one is used. A mended codeword has one wrong bit at the least,
which is what it has while errors are rare; the margin is then no wider than it seems."""

DAY = 86_400.0
LEAST_POINTS = 10
CLEAR = 4.0
"""Naive standard errors by which a slope is clear enough to be looked at closely."""


@dataclass(frozen=True)
class Margins:
    """Margins of the ports that one metric tells of: `values[n, k]` in dB at `at[k]`."""

    metric: Metric
    places: Places
    at: Floats
    values: Floats


def margins(view: View, ends: Receivers, line: Floats) -> list[Margins]:
    """Return the margins of every port; NaN where nothing was said, or no error was made."""
    limit = snr_of(ends.limit(Quantity.RAW, "error"))
    free = np.isfinite(limit)
    found: list[Margins] = []
    for metric in RECALLED:
        past = view.past(metric)
        if not past.values.size:
            continue
        places = ends.places(past.table, metric, past.series)
        rows = np.flatnonzero(free[places])
        at, ratio = ratios(past, line[places])
        values = snr_of(ratio[rows]) - limit[places[rows]][:, None]
        told = np.isfinite(values).any(axis=1)
        rows, values = rows[told], values[told]
        free[places[rows]] = False
        found.append(Margins(metric, places[rows], at, values))
    return found


def ratios(past: Past, line: Floats) -> tuple[Floats, Floats]:
    """Return times and bit error ratios ([k], [n, k]); `line` is in bit/s ([n])."""
    if past.metric is PRE_FEC_BER:
        return past.middles, past.values
    middles = past.middles
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.diff(past.values, axis=1) / (np.diff(middles) * line[:, None])
    began = past.first_at[:, None] >= past.starts[None, :-1]  # its first bin may be half empty
    rate = np.where((rate >= 0) & ~began, rate, np.nan)
    return (middles[1:] + middles[:-1]) / 2, rate


def shrinking(one: Margins, now: float, horizon: float, recent: float) -> Places:
    """Return the rows whose margin seems to be used up within `horizon` seconds.

    A screen: plain least squares over the whole past, and over the last `recent` seconds.
    """
    chosen = np.zeros(len(one.values), bool)
    for columns in (np.ones(len(one.at), bool), one.at > now - recent):
        chosen |= _falling(one.at[columns], one.values[:, columns], now, horizon)
    return np.flatnonzero(chosen)


def _falling(at: Floats, values: Floats, now: float, horizon: float) -> Bools:
    known = np.isfinite(values)
    number = known.sum(axis=1)
    enough = number >= LEAST_POINTS
    if not enough.any():
        return np.zeros(len(values), bool)
    days = np.broadcast_to((at - now) / DAY, values.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(known, days, 0.0)
        y = np.where(known, values, 0.0)
        mean_t, mean_y = t.sum(axis=1) / number, y.sum(axis=1) / number
        t = np.where(known, days - mean_t[:, None], 0.0)
        y = np.where(known, values - mean_y[:, None], 0.0)
        tt = (t * t).sum(axis=1)
        slope = (t * y).sum(axis=1) / tt
        rest = (y * y).sum(axis=1) - slope * slope * tt
        error = np.sqrt(np.maximum(rest, 0.0) / np.maximum(number - 2, 1) / tt)
        level = mean_y - slope * mean_t
        clear = slope < -CLEAR * error
        soon = level + slope * horizon / DAY < 0
        return np.asarray(enough & clear & (soon | (level < 1.0)), np.bool_)
