"""Complaints about lasers: bias beyond what the temperature explains, ageing, flagged faults."""

from collections.abc import Iterator
from math import log

import numpy as np

from analyzer.evidence.durations import heard
from analyzer.evidence.optics.complaints import (
    HALF_WAY,
    Complaint,
    common,
    complaint,
    judged,
    sustained,
    told,
)
from analyzer.evidence.optics.fleet import Optics
from analyzer.evidence.optics.quantities import BIAS, TX
from fabrichealth.catalogue.optics import TX_FAULT
from fabrichealth.model import Forecast

END_OF_LIFE = 1.5
"""A laser that needs so much more bias than when it was new is at its end (Telcordia GR-468)."""

EIGHTY_PERCENT = 1.2816
"""Standard errors to the 10 and 90 % quantile."""


def hungry(optics: Optics, excess: float) -> Iterator[Complaint]:
    """Yield lasers that need `excess` times the bias that they needed at the same temperature."""
    mine, ratio = optics[BIAS], optics.bias_excess
    with np.errstate(invalid="ignore"):
        beyond = ratio >= excess
    if not beyond.any():
        return
    beyond &= judged(optics, BIAS) & ~common(optics, BIAS, beyond)
    line = optics.bias_expected * (1.0 + HALF_WAY * (excess - 1.0))
    for place, since in sustained(optics, BIAS, beyond, line, low=False):
        expected = float(optics.bias_expected[place])
        says = (
            f"laser bias {told(BIAS, float(mine.level[place]))} is {ratio[place]:.2f} times "
            f"the {told(BIAS, expected)} that it needed at this temperature"
        )
        score = (float(ratio[place]) - 1.0) / (excess - 1.0)
        yield complaint(optics, BIAS, place, expected, score, since, says)


def aged(optics: Optics, excess: float, days: float, doubt: float) -> Iterator[Complaint]:
    """Yield lasers whose bias, the temperature taken out, grew by `excess` over weeks.

    At least so many days of past are needed, and a p-value below `doubt`.
    """
    found = optics.ageing
    with np.errstate(invalid="ignore"):
        beyond = (found.grown >= excess) & (found.doubt < doubt) & (found.days >= days)
    if not beyond.any():
        return
    beyond &= np.isfinite(optics[BIAS].level) & judged(optics, BIAS)
    beyond &= ~common(optics, BIAS, beyond)
    began = optics.view.past(BIAS.metric).starts
    for place in np.flatnonzero(beyond).tolist():
        grown = float(found.grown[place])
        level = float(optics[BIAS].level[place])
        says = (
            f"laser bias {told(BIAS, level)} grew by {grown - 1:.0%} in {found.days[place]:.0f} "
            f"days at the same temperature"
        )
        score = (grown - 1.0) / (excess - 1.0)
        since = max(float(began[0]), optics.view.now - float(found.days[place]) * 86_400.0)
        yield complaint(optics, BIAS, place, level / grown, score, since, says)


def faulty(optics: Optics) -> Iterator[Complaint]:
    """Yield lanes whose transmitter the module itself calls faulty, for as long as the hold."""
    flags = optics.view.changes(TX_FAULT)
    if not len(flags.rows):
        return
    places = optics.lanes.places(flags.table, TX_FAULT, flags.rows)
    since = np.where(np.isfinite(flags.changed_at), flags.changed_at, flags.first_at)
    raised = (flags.value == 1) & heard(flags) & (flags.seen_at - since >= optics.look.hold)
    raised &= optics.modules.settled[optics.lanes.port[places]]
    for row in np.flatnonzero(raised).tolist():
        place = int(places[row])
        yield Complaint(
            optics.lanes.ports[int(optics.lanes.port[place])],
            optics.lanes.lanes[place],
            TX,
            1.0,
            0.0,
            1.5,
            float(since[row]),
            float(flags.seen_at[row]),
            "the module flags a fault of the transmitter",
            TX_FAULT,
        )


def end_of_life(optics: Optics, worst: Complaint) -> Forecast | None:
    """Return when an ageing laser reaches 1.5 times its bias, or its own limit if that is first."""
    place = optics.lanes.find(worst.port, worst.lane)
    if worst.quantity is not BIAS or place is None:
        return None
    aging, now = optics.ageing, float(optics[BIAS].level[place])
    rate, error = float(aging.per_day[place]), float(aging.error[place])
    slow, fast = rate - EIGHTY_PERCENT * error, rate + EIGHTY_PERCENT * error
    if not np.isfinite([rate, error, now]).all() or slow <= 0 or now <= 0:
        return None
    limits = optics.limit(BIAS)
    alarm = float(limits.high_alarm[optics.lanes.port[place]]) if limits else np.nan
    end = float(np.fmin(END_OF_LIFE * now / float(aging.grown[place]), alarm))
    if end <= now:
        return None
    left = log(end / now) * 86_400.0
    at = optics.view.now
    return Forecast("limit_reached", at + left / fast, at + left / rate, at + left / slow)
