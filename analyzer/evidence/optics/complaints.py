"""Complaints: which lanes are ill, by which comparison, since when; all lanes at once.

The module's own limits come first, then its own long baseline together with its peers ("low" is
2 dB below its own baseline and below the peers' 5th percentile: CorrOpt, SIGCOMM 2017), then its
siblings. What most modules of a part show alike is how they are made or read, and no complaint.
A condition counts when it holds without a break for as long as the detector's hold.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import Bools, unbroken
from analyzer.evidence.optics.fleet import Optics
from analyzer.evidence.optics.quantities import (
    BIAS,
    DARK,
    HEAT,
    RX,
    SNR_HOST,
    SNR_MEDIA,
    TX,
    Quantity,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Port
from fabrichealth.units import Unit

COMMON = 0.5
"""What such a share of a part's lanes shows alike is no illness of one of them."""

MANY = 8
"""So many lanes make a part's habit."""

RELEASE = 0.5
"""A complaint goes on until its quantity has come back by such a share of the depth at which it
scores twice: who sits at a limit crosses it all day."""

STILL_WARM = 0.75
"""And while a module is such a share of the kelvin above its siblings."""

HALF_WAY = 0.5
"""A fall counts from the moment at which half of the margin was lost."""

CLEAN_SIGNAL = 27.0
"""dB of signal to noise at which nothing errs: PAM4 is wrong once in 1e12 bits at 23.9 dB (Gray,
white noise: docs/methods.md), other formats of modules at less, and three more are no loss."""

WORDS = {
    "rx_power": "light received", "tx_power": "light sent", "tx_bias": "laser bias",
    "snr_media": "SNR of the receiver", "snr_host": "SNR of the host side",
    "temperature": "temperature",
}  # fmt: skip


@dataclass(frozen=True)
class Complaint:
    """One lane (or module) and what is wrong with one quantity of it."""

    port: Port
    lane: str
    quantity: Quantity
    value: float
    expected: float
    score: float
    """1.0 is the detector's threshold."""
    since: float
    at: float
    says: str
    metric: Metric
    unit: str = ""


def beyond_limit(
    optics: Optics, quantity: Quantity, bound: str, depth: float, usual: float = np.nan
) -> Iterator[Complaint]:
    """Yield what lies beyond the module's own limit (`bound` low or high), else the `usual` one.

    The score is 1 at the limit and 2 at `depth` (in the unit) beyond it. What was complained of
    goes on until it is well within.
    """
    limits = optics.limit(quantity)
    if limits is None:
        return
    low = bound == "low"
    line = optics.lanes.of_places(limits.low if low else limits.high)
    own = np.isfinite(line)
    line = np.where(own, line, usual)
    limit = line
    slack = np.where(optics.complained, RELEASE * depth, 0.0)
    line = limit + slack if low else limit - slack
    level = optics[quantity].level
    with np.errstate(invalid="ignore"):
        beyond = (level < line) if low else (level > line)
    if not beyond.any():
        return
    beyond &= judged(optics, quantity) & ~(common(optics, quantity, beyond))
    for place, since in sustained(optics, quantity, beyond, line, low):
        value, at = float(level[place]), float(limit[place])
        over = (at - value if low else value - at) / depth
        where = ("below" if low else "above") if over > 0 else "still near"
        says = (
            f"{WORDS[quantity.name]} {told(quantity, value)} is {where} "
            f"{'its own' if own[place] else 'the usual'} limit of {told(quantity, at)}"
        )
        yield complaint(optics, quantity, place, at, 1.0 + max(over, 0.0), since, says)


def fallen(optics: Optics, quantity: Quantity, margin: float, sudden: float) -> Iterator[Complaint]:
    """Yield what is `margin` dB below its own baseline and below its peers' 5th percentile.

    Beyond `sudden` dB the peers are not asked; without enough peers half a margin more is needed.
    """
    mine = optics[quantity]
    lost = -mine.change
    with np.errstate(invalid="ignore"):
        if not (lost >= margin).any():
            return
        among = np.where(
            np.isfinite(mine.peer_low), mine.level <= mine.peer_low, lost >= 1.5 * margin
        )
        beyond = (lost >= margin) & (among | (lost >= sudden))
        alike = common(optics, quantity, lost >= margin)
    beyond &= judged(optics, quantity) & ~alike
    line = mine.baseline - HALF_WAY * margin
    for place, since in sustained(optics, quantity, beyond, line, low=True):
        usual, gone = float(mine.baseline[place]), float(lost[place])
        says = (
            f"{WORDS[quantity.name]} {told(quantity, float(mine.level[place]))} is "
            f"{gone:.1f} dB below its usual {told(quantity, usual)}"
        )
        yield complaint(optics, quantity, place, usual, gone / margin, since, says)


def behind_siblings(
    optics: Optics, quantity: Quantity, margin: float, deviations: float
) -> Iterator[Complaint]:
    """Yield lanes that are far dimmer than the module's others, as lanes of no peer are.

    Where lanes of a part differ by build (wavelengths, length) the peers' lanes do so too.
    """
    mine = optics[quantity]
    gap = -mine.siblings
    with np.errstate(invalid="ignore"):
        if not (gap >= margin).any():
            return
    middle, spread = optics.among_peers(gap)
    with np.errstate(invalid="ignore"):
        beyond = (gap >= margin) & (gap >= middle + deviations * np.maximum(spread, 0.25))
    beyond &= judged(optics, quantity)
    line = mine.level + HALF_WAY * gap
    for place, since in sustained(optics, quantity, beyond, line, low=True):
        expected = float(mine.level[place] + gap[place])
        says = (
            f"{WORDS[quantity.name]} {told(quantity, float(mine.level[place]))} is "
            f"{gap[place]:.1f} dB below the module's other lanes"
        )
        yield complaint(optics, quantity, place, expected, gap[place] / margin, since, says)


def warmer(
    optics: Optics, kelvin: float, deviations: float, risen: float, least: float
) -> Iterator[Complaint]:
    """Yield modules that are far hotter than those of the same part in the same device.

    They must have risen by `risen` kelvin themselves, where their past is known, and be at least
    `least` degrees Celsius hot: a seat that was always warm, and warmth alone, are no illness.
    """
    mine = optics[HEAT]
    usual = mine.peer_middle
    above = mine.level - usual
    wanted = np.where(optics.complained, STILL_WARM * kelvin, kelvin)
    with np.errstate(invalid="ignore"):
        if not (above >= wanted).any():
            return
        beyond = (above >= wanted) & (above >= deviations * mine.peer_spread)
        beyond &= (mine.level >= least) & ~(mine.change < risen) & judged(optics, HEAT)
    line = mine.level - HALF_WAY * above
    for place, since in sustained(optics, HEAT, beyond, line, low=False):
        says = (
            f"temperature {told(HEAT, float(mine.level[place]))} is {above[place]:.0f} K above "
            f"the {told(HEAT, float(usual[place]))} of modules of its part in the same device"
        )
        score = float(above[place]) / kelvin
        yield complaint(optics, HEAT, place, float(usual[place]), score, since, says)


def complaint(
    optics: Optics,
    quantity: Quantity,
    place: int,
    expected: float,
    score: float,
    since: float,
    says: str,
) -> Complaint:
    """Return a complaint about one quantity of one place."""
    return Complaint(
        optics.lanes.ports[int(optics.lanes.port[place])],
        optics.lanes.lanes[place],
        quantity,
        float(optics[quantity].level[place]),
        expected,
        float(score),
        since,
        float(optics[quantity].at[place]),
        says,
        quantity.metric,
    )


def judged(optics: Optics, quantity: Quantity) -> Bools:
    """Return which places can be ill in a quantity ([place]).

    What warms up or belongs to a link that is down is not, nor are lasers switched off as a
    whole, receivers without any light, lanes that never had light, and signals that were too good
    all the time for what they lost to matter.
    """
    port = optics.lanes.port
    settled = optics.modules.settled[port]
    if quantity is HEAT:
        return settled
    blank = optics.off if quantity in {TX, BIAS} else optics.unlit
    judged = settled & ~blank[port]
    if quantity in {TX, RX}:
        mine = optics[quantity]
        with np.errstate(invalid="ignore"):
            lit = (mine.level > DARK) | (mine.baseline > DARK)
        judged = judged & lit
    if quantity in {SNR_MEDIA, SNR_HOST}:
        with np.errstate(invalid="ignore"):
            judged = judged & ~(optics[quantity].lowest >= CLEAN_SIGNAL)
    if quantity is BIAS:
        with np.errstate(invalid="ignore"):
            never = (optics[BIAS].level == 0) & ~(optics[BIAS].baseline > 0)
        judged = judged & ~never
    return np.asarray(judged, np.bool_)


def common(optics: Optics, quantity: Quantity, beyond: Bools) -> Bools:
    """Return where a condition is met by most lanes of the same part ([place])."""
    if quantity is HEAT:  # a hot room is not a habit of the part
        return np.zeros(len(beyond), np.bool_)
    group = optics.modules.group[optics.lanes.port]
    told = np.isfinite(optics[quantity].level)
    size = int(group.max(initial=-1)) + 1
    every = np.bincount(group[told], minlength=size)
    met = np.bincount(group[told & beyond], minlength=size)
    habit = (every >= MANY) & (met >= COMMON * every)
    return np.asarray(habit[group], np.bool_)


def sustained(
    optics: Optics, quantity: Quantity, beyond: Bools, line: Floats, low: bool
) -> Iterator[tuple[int, float]]:
    """Yield place and onset of what has been beyond a line ([place]) for the whole hold."""
    mine = optics[quantity]
    places = np.flatnonzero(beyond & (mine.row >= 0))
    places = places[np.argsort(mine.row[places])]
    if not len(places):
        return
    window = mine.window.select(mine.row[places])
    at_line = line[places][:, None]
    with np.errstate(invalid="ignore"):
        holds = window.values < at_line if low else window.values > at_line
    since, held = unbroken(holds, window)
    for index in np.flatnonzero(held >= optics.look.hold).tolist():
        yield int(places[index]), float(since[index])


def told(quantity: Quantity, value: float) -> str:
    """Return a value in words, with the unit that the field uses."""
    unit = quantity.metric.unit
    if unit is Unit.AMPERES:
        return f"{value * 1e3:.1f} mA"
    words = {Unit.DBM: "dBm", Unit.DB: "dB", Unit.CELSIUS: "degrees C"}
    return f"{value:.1f} {words.get(unit, unit.value)}"
