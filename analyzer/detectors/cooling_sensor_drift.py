"""A sensor of a loop that contradicts the heat balance, or the water balance.

Heat into the coolant follows the racks' power; when it seems to leave that, some meter drifts.
Which one is tried: each is replaced by what its siblings, its branches or its past resistance say,
and the one whose replacement closes the balance is named. A pressure sensor shows otherwise: head
at speed moves and flow at speed does not. Two flow meters of one loop that part without any water
being lost are told as well. Stays quiet at low load, for short swings, and while water is lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.balance import heat_balance
from analyzer.evidence.cooling.baselines import STAYS, raised, since, usual
from analyzer.evidence.cooling.loops import (
    DROP,
    FLOW_BACK,
    FLOW_TO,
    LEVEL,
    METRICS,
    WARM,
    Cooling,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.pumps import pumps
from analyzer.evidence.cooling.saying import last, line
from analyzer.evidence.cooling.screening import Margins, standing_out
from analyzer.evidence.cooling.suspects import at_fault, suspects
from analyzer.evidence.cooling.water import falls
from fabrichealth.kinds import COOLING_SENSOR_DRIFT
from fabrichealth.model import Evidence, Finding, Floats, Place, View


class CoolingSensorDriftSettings(CoolingSettings):
    """Cooling-sensor-drift section of the configuration."""

    balance_ratio: float = Field(default=0.05, gt=0, lt=1)
    """Heat that leaves the racks' power by more is a meter's; a little more where the rise is not
    the usual one, since sensors may be apart by a constant."""

    drop_ratio: float = Field(default=0.1, gt=0, lt=1)
    """A pressure drop that leaves flow and speed by more is the sensor's."""

    flows_ratio: float = Field(default=0.04, gt=0, lt=1)
    """Supply and return flow that part by more, though no water is lost."""


@dataclass(frozen=True)
class Doubt:
    """One way in which the meters of places contradict each other."""

    scores: Floats
    """[place, bin + 1]."""
    sort: str


class CoolingSensorDrift(CoolingDetector[CoolingSensorDriftSettings]):
    """Balances of each loop; score 1.0 is the ratio of the settings."""

    kinds = (COOLING_SENSOR_DRIFT,)
    metrics = METRICS
    settings_type = CoolingSensorDriftSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield at most one finding per loop, about the meter that is furthest off."""
        best: dict[str, Finding] = {}
        for cooling, doubt in self._doubts(view):
            for place in raised(cooling, doubt.scores, view.before).tolist():
                one = _finding(cooling, doubt, place)
                known = best.get(str(one.about))
                if known is None or one.score > known.score:
                    best[str(one.about)] = one
        yield from best.values()

    def _doubts(self, view: View) -> Iterator[tuple[Cooling, Doubt]]:
        own, mains = self.settings, self.mains(view)
        worth = standing_out(view, own.hold, Margins(balance=STAYS * own.balance_ratio))
        with np.errstate(all="ignore"):
            if worth.any():
                cooling = self.of_loops(view, worth)
                balance = heat_balance(cooling)
                limit = own.balance_ratio + balance.slack
                heat = np.abs(balance.error) / limit
                heat[:, -1] = np.abs(balance.settled) / limit[:, -1]
                yield cooling, Doubt(heat, "heat")
            found = pumps(mains, USUAL_DROOP)
            off = np.abs(np.log1p(-np.clip(found.shortfall, -9.0, 0.9)))
            stayed = np.abs(found.along) <= STAYED * off
            drop = np.where(stayed | np.isnan(off), off / own.drop_ratio, 0.0)
            yield mains, Doubt(drop, "drop")
            apart = np.log(mains[FLOW_TO] / mains[FLOW_BACK])
            away = np.abs(apart - usual(mains, apart, ())[:, None])
        lost = falls(mains)[:, None]
        yield mains, Doubt(np.where(lost, np.nan, away / own.flows_ratio), "flows")


USUAL_DROOP = 0.3
"""Of a pump's head in service; flow at speed hardly moves here, so that it matters little."""

STAYED = 0.1
"""Flow at speed that moved by less of what the head moved by did not follow it."""


def _finding(cooling: Cooling, doubt: Doubt, place: int) -> Finding:
    loop = cooling.places.names[place][0]
    about, scores = Place("loop", loop), doubt.scores
    lines, says = _TELLING[doubt.sort](cooling, place)
    before = [one for one in cooling.view.before if one.about == about]
    began = min([since(cooling, scores, place, ()), *(one.since for one in before)])
    return Finding(
        kind=COOLING_SENSOR_DRIFT,
        about=about,
        score=max(float(scores[place, -1]), 1.0),
        since=began,
        at=cooling.view.now,
        evidence=lines,
        because=f"{cooling.places.about(place)}: {says}",
    )


def _of_heat(cooling: Cooling, place: int) -> tuple[list[Evidence], str]:
    error = float(np.expm1(heat_balance(cooling).error[place, -1]))
    flow = last(cooling[FLOW_TO], place)
    rise = last(cooling[WARM], place) - last(cooling.cold, place)
    suspect, name = at_fault(cooling, suspects(cooling), place)
    says = (
        f"the coolant seems to take {abs(error):.0%} {'more' if error > 0 else 'less'} of the "
        f"racks' power than it used to ({flow:.1f} L/min, {rise:.1f} K)"
    )
    if suspect is None:
        return [line(cooling, FLOW_TO, place, flow, says)], f"{says}; by elimination: {name}"
    off = float(suspect.off[place])
    kelvin = suspect.chosen.metric.unit.value == "celsius"
    by = f"{off:+.1f} K" if kelvin else f"{np.expm1(off):+.0%}"
    value = last(cooling[suspect.chosen], place)
    right = value - off if kelvin else value / float(np.exp(off))
    told = f"the {name} is off by {by}: with {right:.1f} the balance closes"
    return [line(cooling, suspect.chosen, place, value, told, right)], f"{says}; {told}"


def _of_drop(cooling: Cooling, place: int) -> tuple[list[Evidence], str]:
    missing = last(pumps(cooling, USUAL_DROOP).shortfall, place)
    drop = last(cooling.pressure_drop, place)
    says = (
        f"the pressure drop reads {drop:.0f} kPa, {abs(missing):.0%} "
        f"{'less' if missing > 0 else 'more'} than pump speed and flow allow"
    )
    return [line(cooling, DROP, place, drop, says, drop / (1.0 - missing))], says


def _of_flows(cooling: Cooling, place: int) -> tuple[list[Evidence], str]:
    there, back = last(cooling[FLOW_TO], place), last(cooling[FLOW_BACK], place)
    read = np.isfinite(last(cooling[LEVEL], place))
    level = "the level tells of no loss" if read else "no level is read that would tell of a loss"
    says = (
        f"supply reads {there:.1f} L/min and return {back:.1f}, they used to agree better, and "
        f"{level}"
    )
    return [line(cooling, FLOW_TO, place, there, says, back)], says


_TELLING = {"heat": _of_heat, "drop": _of_drop, "flows": _of_flows}
