"""A pump that gives less head at the same speed and flow than it did.

A worn impeller or a leaking check valve shows in no single reading: under flow or differential
pressure control the pump just turns faster. So head and flow are normalised to speed and held
against the pump's own curve; the efficiency, where power is read, is a second witness. Stays quiet
where the system before it changed (that moves along the curve, or is the filter's), where the
pressure sensor alone moved (flow at the same speed would have followed), and on other speeds.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.baselines import raised, since
from analyzer.evidence.cooling.loops import (
    DROP,
    FLOW_TO,
    METRICS,
    PUMPS_POWER,
    SPEED,
    Cooling,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.pumps import Pumps, pumps
from analyzer.evidence.cooling.saying import controlled, last, line
from fabrichealth.kinds import COOLING_PUMP_WEAR
from fabrichealth.model import Finding, Floats, View


class CoolingPumpWearSettings(CoolingSettings):
    """Cooling-pump-wear section of the configuration."""

    shortfall: float = Field(default=0.1, gt=0, lt=1)
    """So much less head than its own curve gives is wear to act upon (5 % is the warning)."""

    witnessed_shortfall: float = Field(default=0.05, gt=0, lt=1)
    """And so much where the efficiency has fallen as well."""

    inefficiency: float = Field(default=0.1, gt=0, lt=1)
    """So much of its efficiency lost bears witness."""

    droop: float = Field(default=0.3, gt=0, lt=1)
    """Share of shut-off head that a pump usually loses in service, if its past shows no curve."""


class CoolingPumpWear(CoolingDetector[CoolingPumpWearSettings]):
    """Head at speed against the pump's own curve; score 1.0 is `shortfall`."""

    kinds = (COOLING_PUMP_WEAR,)
    metrics = METRICS
    settings_type = CoolingPumpWearSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each loop whose pumps are worn."""
        cooling, own = self.mains(view), self.settings
        found = pumps(cooling, own.droop)
        with np.errstate(invalid="ignore", over="ignore"):
            inefficient = found.inefficiency >= own.inefficiency
            # a system that did not change takes less flow from a weaker pump: half as much in
            # logarithms; where flow at speed stayed, only the pressure sensor moved
            followed = found.along <= 0.2 * np.log1p(-np.clip(found.shortfall, 0.0, 0.9))
        limit = np.where(inefficient, own.witnessed_shortfall, own.shortfall)
        told = (followed & found.same_system) | (found.shortfall < 0.0)
        scores = np.where(told, found.shortfall / limit, np.nan)
        for place in raised(cooling, scores, view.before).tolist():
            yield self._finding(cooling, found, scores, place)

    def _finding(self, cooling: Cooling, found: Pumps, scores: Floats, place: int) -> Finding:
        speed, flow = last(cooling[SPEED], place), last(cooling[FLOW_TO], place)
        head, missing = last(found.head, place), last(found.shortfall, place)
        lost, power = last(found.inefficiency, place), last(cooling[PUMPS_POWER], place)
        name = cooling.places.names[place][0]
        says = f"{head:.0f} kPa at {speed:.0%} speed and {flow:.0f} L/min, {missing:.0%} too little"
        lines = [
            line(cooling, DROP, place, head, says, head / (1.0 - missing)),
            line(cooling, SPEED, place, speed, f"pump speed {speed:.0%}"),
        ]
        witness = ""
        if np.isfinite(lost) and lost >= self.settings.inefficiency:
            witness = f"; {lost:.0%} of its efficiency is lost"
            lines.append(line(cooling, PUMPS_POWER, place, power, f"{power:.0f} W{witness}"))
        return Finding(
            kind=COOLING_PUMP_WEAR,
            about=cooling.places.about(place),
            score=max(float(scores[place, -1]), 1.0),
            since=since(cooling, scores, place, cooling.view.before),
            at=cooling.view.now,
            evidence=lines,
            because=f"{name}: {says} for its own curve{witness}{controlled(cooling, place)}",
        )
