"""Coolant that is supplied too warm, and why: the facility, or a control that has no more room.

Beyond an absolute limit it is too warm whatever was meant, and whatever else is in doubt. Below it
only what nobody asked for counts: warmer than usual with a control valve that is wide open, or,
where none is read, because the facility's water became warmer. A new setpoint is no fault. Where
the exchanger passes less heat than it did, by meters of both sides, the trouble is the exchanger's
(cooling.exchanger_fouled), and where the heat balance is off a meter's: there it stays quiet as
long as the limit is kept.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.balance import heat_balance
from analyzer.evidence.cooling.baselines import BASE, raised, since, usual
from analyzer.evidence.cooling.exchanger import exchanger
from analyzer.evidence.cooling.loop_kinds import LOOP_KINDS
from analyzer.evidence.cooling.loops import (
    COLD,
    FLOW_TO,
    METRICS,
    VALVE,
    Cooling,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.saying import last, line
from fabrichealth.kinds import COOLING_SUPPLY_HOT
from fabrichealth.model import Finding, Floats, View


class CoolingSupplyHotSettings(CoolingSettings):
    """Cooling-supply-hot section of the configuration."""

    limit_celsius: float = Field(default=45.0)
    """Warmer than this no supply should be (class S45; typical supplies have 17 to 45 °C)."""

    door_celsius: float = Field(default=32.0)
    """The same of a rear door: no cooler air can come from it (ASHRAE A1 allows 32 °C)."""

    risen_kelvin: float = Field(default=3.0, gt=0)
    """So much warmer than usual is too warm where nobody asked for it."""

    wide_open: float = Field(default=0.95, gt=0, le=1)
    """A control valve that is open so far has no more room."""

    facility_kelvin: float = Field(default=2.0, gt=0)
    """Facility water so much warmer than usual, and half as much as the supply, explains it."""

    fouled: float = Field(default=0.2, gt=0, lt=1)
    """Where the exchanger has lost so much of its conductance, it is to blame."""

    balance_ratio: float = Field(default=0.05, gt=0, lt=1)
    """Where the heat balance is off by so much, its temperatures are not believed."""


class CoolingSupplyHot(CoolingDetector[CoolingSupplyHotSettings]):
    """Supply temperature against limit and past; score 1.0 is the nearer of the two."""

    kinds = (COOLING_SUPPLY_HOT,)
    metrics = METRICS
    settings_type = CoolingSupplyHotSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each loop that is supplied too warm."""
        cooling, own = self.mains(view), self.settings
        cold = cooling[COLD]
        base = usual(cooling, cold, view.before)
        water = _risen(cooling, cooling.of_facility(COLD))
        supply = _risen(cooling, cooling.of_facility(FLOW_TO))
        limit = self._limit(cooling)
        passes, balance = exchanger(cooling), heat_balance(cooling)
        with np.errstate(invalid="ignore", over="ignore"):
            passed = passes.log + passes.doubt - usual(cooling, passes.log, ())[:, None]
            lost = 1.0 - np.exp(passed)
            risen = cold - base[:, None]
            wide, unread = cooling[VALVE] >= own.wide_open, np.isnan(cooling[VALVE])
            unasked = wide | (unread & (water >= np.maximum(own.facility_kelvin, risen / 2.0)))
            risen = np.where(unasked, risen / own.risen_kelvin, 0.0)
            hot = (cold - limit[:, None]) / own.risen_kelvin + 1.0
            fouled = passes.proven[:, None] & (lost >= own.fouled) & ~(water >= own.facility_kelvin)
            # a meter that drifts up is no warm supply
            off = np.abs(balance.settled) >= own.balance_ratio + balance.slack[:, -1]
        risen = np.where(fouled | cooling.places.branched[:, None], 0.0, risen)
        risen[off, -1] = np.nan
        scores = np.where(np.isfinite(cold), np.fmax(risen, hot), np.nan)
        scores[np.isin(np.arange(len(scores)), cooling.facility)] = np.nan
        for place in raised(cooling, scores, view.before).tolist():
            yield self._finding(cooling, scores, base, water, supply, place)

    def _limit(self, cooling: Cooling) -> Floats:
        """Return what no supply should be warmer than, °C ([place])."""
        to_chips = cooling.where(lambda kind: kind is not LOOP_KINDS["rear_door"])
        return np.where(to_chips, self.settings.limit_celsius, self.settings.door_celsius)

    def _finding(
        self,
        cooling: Cooling,
        scores: Floats,
        base: Floats,
        water: Floats,
        supply: Floats,
        place: int,
    ) -> Finding:
        loop, now = cooling.places.names[place][0], last(cooling[COLD], place)
        valve, warmer, less = last(cooling[VALVE], place), last(water, place), last(supply, place)
        says = f"{loop} supplies {now:.1f} °C"
        if np.isfinite(base[place]):
            says += f", usually {base[place]:.1f} °C"
        lines = [line(cooling, COLD, place, now, says, float(base[place]))]
        if not np.isfinite(base[place]):
            lines = [line(cooling, COLD, place, now, says, float(self._limit(cooling)[place]))]
        why = ""
        if warmer >= self.settings.facility_kelvin:
            given = last(cooling.of_facility(COLD), place)
            why = f"; the facility's water is {given:.1f} °C, {warmer:.1f} K warmer than usual"
            lines.append(line(cooling, COLD, int(cooling.facility[place]), given, why[2:]))
        elif np.isfinite(valve) and valve >= self.settings.wide_open:
            why = f"; its control valve is {valve:.0%} open"
            lines.append(line(cooling, VALVE, place, valve, why[2:]))
        if less < 0:
            why += f"; the facility gives {-less:.0f} L/min less than usual"
        return Finding(
            kind=COOLING_SUPPLY_HOT,
            about=cooling.places.about(place),
            score=max(float(scores[place, -1]), 1.0),
            since=since(cooling, scores, place, cooling.view.before),
            at=cooling.view.now,
            evidence=lines,
            because=f"{says}{why}",
            detail={BASE: float(base[place])} if np.isfinite(base[place]) else {},
        )


def _risen(cooling: Cooling, values: Floats) -> Floats:
    """Return by how much each place reads more than usual ([place, bin + 1])."""
    return values - usual(cooling, values, ())[:, None]
