"""How long something has been so, by time stamps, whatever the poll period."""

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Changes, Floats, Window

Bools = NDArray[np.bool_]


def unbroken(condition: Bools, window: Window) -> tuple[Floats, Floats]:
    """Return since when, and for how many seconds, a condition has held without a break ([s]).

    `condition[s, k]` is looked at where `window.values` is finite; a missing poll breaks
    nothing. `since` is NaN and the duration 0 where it does not hold at the last value.
    """
    if not window.values.size:
        return np.full(len(window), np.nan), np.zeros(len(window))
    finite = np.isfinite(window.values)
    broken = finite & ~condition
    width = broken.shape[1]
    last_break = np.where(broken.any(axis=1), width - 1 - np.argmax(broken[:, ::-1], axis=1), -1)
    after = finite & (np.arange(width) > last_break[:, None])
    holds = after.any(axis=1)
    first = np.argmax(after, axis=1)
    since = np.where(holds, window.times[np.arange(len(first)), first], np.nan)
    held = np.where(holds, window.last_at - since, 0.0)
    return since, held


def last_polls(condition: Bools, window: Window, polls: int) -> Bools:
    """Return whether the last so many values of each row all meet a condition ([s])."""
    finite = np.isfinite(window.values)
    rank = np.cumsum(finite[:, ::-1], axis=1)[:, ::-1]  # 1 for the newest value of the row
    recent = finite & (rank <= polls)
    enough = finite.sum(axis=1) >= polls
    return np.asarray(enough & ~(recent & ~condition).any(axis=1), np.bool_)


def fresh(window: Window, polls: float = 3.5) -> Bools:
    """Return which rows were read within so many of their own periods ([s]).

    A row with one value only has no period; it is fresh if it is as young as the window's
    median row.
    """
    age = window.until - window.last_at
    period = window.period
    known = np.isfinite(period)
    usual = float(np.median(period[known])) if known.any() else window.seconds
    limit = polls * np.where(known, period, usual)
    with np.errstate(invalid="ignore"):
        return np.asarray(age <= limit, np.bool_)


FRESH_POLLS = 3.5
"""A series is heard while it was read within so many of its own periods."""

FRESH_SECONDS = 15.0
"""And it may always be so old: judging lags a little behind reading."""


def heard(changes: Changes) -> Bools:
    """Return which rows of `changes` speak now ([r]); one read only once has no period yet.

    It counts as heard if it is as young as the usual row, and in any case for a minute.
    """
    known = np.isfinite(changes.period)
    usual = float(np.median(changes.period[known])) if known.any() else 60.0 / FRESH_POLLS
    limit = FRESH_POLLS * np.where(known, changes.period, usual)
    age = changes.until - changes.seen_at
    return np.asarray(age <= np.maximum(limit, FRESH_SECONDS), np.bool_)
