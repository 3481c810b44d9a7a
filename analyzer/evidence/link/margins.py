"""Margins: the long past of errors before FEC, in dB between each port and its error limit.

A counter's past is kept as medians of bins; from one bin's middle to the next its rise is the
rate in between. Devices that only report a ratio are taken at their word. Where a port tells
nothing of errors, the light of each lane is held against its module's own low alarm.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.link.limits import Quantity
from analyzer.evidence.link.receivers import Places, Receivers
from analyzer.evidence.optics.limits import limits
from analyzer.evidence.optics.noise import snr_of
from analyzer.evidence.optics.quantities import DARK
from analyzer.evidence.optics.roster import roster
from fabrichealth.catalogue.optics import RX_POWER, THRESHOLD
from fabrichealth.catalogue.ports import (
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    PRE_FEC_BER,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Past, View

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
    series: Ids
    """Whose past each row is."""
    limit: Floats
    """What each row is held against ([n]): an error ratio, or dBm."""


def margins(view: View, ends: Receivers, line: Floats) -> list[Margins]:
    """Return the margins of every port; NaN where nothing was said, or no error was made."""
    error = ends.limit(Quantity.RAW, "error")
    limit = snr_of(error)
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
        mine = places[rows]
        found.append(Margins(metric, mine, at, values, past.series[rows], error[mine]))
    told_of = np.zeros(len(ends), bool)
    for one in found:
        told_of[one.places] = True
    return [*found, *_of_light(view, ends, told_of)]


def _of_light(view: View, ends: Receivers, told_of: Bools) -> Iterator[Margins]:
    """Yield the margins of lanes whose port tells nothing of errors: dB above the low alarm."""
    past = view.past(RX_POWER)
    if not past.values.size:
        return
    lanes = roster(past.table)
    for metric in (RX_POWER, THRESHOLD):
        lanes.learn(past.table, metric)
    port = lanes.port[lanes.places(past.table, RX_POWER, past.series)]
    own = limits(view.changes(THRESHOLD), lanes, "rx_power")
    line = np.where(np.isfinite(own.low_alarm), own.low_alarm, own.low_warning)[port]
    places = ends.places(past.table, RX_POWER, past.series)
    rows = np.flatnonzero(np.isfinite(line) & ~told_of[places])
    with np.errstate(invalid="ignore"):
        lit = np.where(past.values[rows] > DARK, past.values[rows], np.nan)
    values = lit - line[rows][:, None]
    told = np.isfinite(values).any(axis=1)
    rows, values = rows[told], values[told]
    yield Margins(RX_POWER, places[rows], past.middles, values, past.series[rows], line[rows])


def ratios(past: Past, line: Floats) -> tuple[Floats, Floats]:
    """Return times and bit error ratios ([k], [n, k]); `line` is in bit/s ([n])."""
    if past.metric is PRE_FEC_BER:
        return past.middles, past.values
    middles = past.middles
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.diff(past.values, axis=1) / (np.diff(middles) * line[:, None])
    known = np.isfinite(past.values)
    seldom = np.flatnonzero((np.diff(known.astype(np.int8), axis=1) < 0).any(axis=1))
    if len(seldom):  # read less often than bins close
        rate[seldom] = _over_gaps(past.values[seldom], middles) / line[seldom][:, None]
    began = past.first_at[:, None] >= past.starts[None, :-1]  # its first bin may be half empty
    rate = np.where((rate >= 0) & ~began, rate, np.nan)
    return (middles[1:] + middles[:-1]) / 2, rate


def _over_gaps(values: Floats, middles: Floats) -> Floats:
    """Return the rise per second from the bin known before to each bin ([n, k - 1])."""
    place = np.where(np.isfinite(values), np.arange(values.shape[1]), 0)
    before = np.maximum.accumulate(place, axis=1)[:, :-1]
    rise = values[:, 1:] - np.take_along_axis(values, before, axis=1)
    return np.asarray(rise / (middles[1:] - middles[before]), np.float64)


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
