"""Heat: what a breaker remembers of its load, and when it will trip.

A thermal breaker follows tau theta' = i^2 - theta, with i the current over its rating: it trips
when theta reaches 1 (inverse-time curve; the memory of IEC 60255-149). Tau depends on the breaker
and is a setting.
"""

import numpy as np

from fabrichealth.model import Floats, Window


def heat(load: Floats, window: Window, tau: float) -> Floats:
    """Return theta of each row at its newest value ([s] from currents over ratings [s, k]).

    Before the window the load is taken to have been what its first value is. NaN where nothing
    is known.
    """
    theta = np.full(len(load), np.nan)
    before = np.full(len(load), np.nan)
    times = window.times
    for column in range(load.shape[1]):
        squared, at = load[:, column] ** 2, times[:, column]
        known = np.isfinite(squared)
        kept = np.exp(-np.where(np.isfinite(before), at - before, 0.0) / tau)
        grown = np.where(np.isfinite(theta), squared + (theta - squared) * kept, squared)
        theta = np.where(known, grown, theta)
        before = np.where(known, at, before)
    return theta


def borne_out(load: Floats) -> Floats:
    """Return loads in which no reading is higher than both of its neighbours ([s, k]).

    One wild reading is none; a load that rose just now counts from its second reading on.
    """
    known = np.isfinite(load)
    place = np.arange(load.shape[1])
    before = np.maximum.accumulate(np.where(known, place, -1), axis=1)
    after = np.minimum.accumulate(np.where(known, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    padded = np.concatenate([load, np.full((len(load), 1), -np.inf)], axis=1)  # beyond either end
    past = np.concatenate([np.full((len(load), 1), -1), before[:, :-1]], axis=1)
    ahead = np.concatenate([after[:, 1:], np.full((len(load), 1), len(place))], axis=1)
    beside = np.maximum(
        np.take_along_axis(padded, past, axis=1), np.take_along_axis(padded, ahead, axis=1)
    )
    return np.where(np.isfinite(beside), np.minimum(load, beside), np.nan)


def seconds_to_trip(theta: Floats, load: Floats, tau: float) -> Floats:
    """Return after how many seconds theta reaches 1 if the load stays so ([n]).

    0 where it has; infinite where such a load never trips the breaker.
    """
    squared = np.asarray(load, np.float64) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        ahead = tau * np.log((squared - theta) / (squared - 1.0))
        found = np.where(squared > 1.0, ahead, np.inf)
        return np.where(theta >= 1.0, 0.0, np.where(np.isnan(theta), np.nan, found))
