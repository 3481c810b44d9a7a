"""The heat exchanger between a loop and its facility side passes less heat than it did.

Its conductance (heat over the mean temperature difference of the two sides) falls as scale and
slime grow. Under a controlled supply temperature the facility valve opens to make up for it, so the
approach alone tells little; the conductance, allowed for both flows, does. Stays quiet at low load,
where the facility's water just became warmer (cooling.supply_hot), and without its temperature;
where the facility has neither flow nor return meter, at openings of its valve that are new too.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.balance import heat_balance
from analyzer.evidence.cooling.baselines import BASE, raised, renewals, settled, since, usual
from analyzer.evidence.cooling.exchanger import exchanger
from analyzer.evidence.cooling.loops import (
    COLD,
    METRICS,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.saying import last, line
from fabrichealth.kinds import COOLING_EXCHANGER_FOULED
from fabrichealth.model import Finding, View


class CoolingExchangerFouledSettings(CoolingSettings):
    """Cooling-exchanger-fouled section of the configuration."""

    loss: float = Field(default=0.2, gt=0, lt=1)
    """Conductance lost at which it wants cleaning (an estimate: an approach a quarter wider)."""

    balance_ratio: float = Field(default=0.05, gt=0, lt=1)
    """Where the heat balance is off by so much, temperatures are not believed."""


class CoolingExchangerFouled(CoolingDetector[CoolingExchangerFouledSettings]):
    """Conductance of exchangers against their own past; score 1.0 is `loss`."""

    kinds = (COOLING_EXCHANGER_FOULED,)
    metrics = METRICS
    settings_type = CoolingExchangerFouledSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each loop whose exchanger is fouled."""
        cooling, own = self.mains(view), self.settings
        found, balance = exchanger(cooling), heat_balance(cooling)
        base = usual(cooling, found.log, view.before, renewals(cooling, view))
        lost = base[:, None] - found.log
        scores = settled((lost - found.doubt) / -np.log(1.0 - own.loss))
        with np.errstate(
            invalid="ignore", over="ignore"
        ):  # a meter that is off looks like an exchanger
            off = np.abs(balance.settled) >= own.balance_ratio + balance.slack[:, -1]
            scores[off, -1] = np.nan
        for place in raised(cooling, scores, view.before).tolist():
            share = -float(np.expm1(-lost[place, -1]))
            cold = last(cooling.cold, place)
            water = last(cooling.of_facility(COLD), place)
            kilowatts = last(cooling.heat, place) / 1000.0
            says = (
                f"approach {cold - water:.1f} K at {kilowatts:.0f} kW: the exchanger passes "
                f"{share:.0%} less heat per kelvin than it did"
            )
            loop = cooling.places.names[place][0]
            side = int(cooling.facility[place])
            yield Finding(
                kind=COOLING_EXCHANGER_FOULED,
                about=cooling.places.about(place),
                score=max(float(scores[place, -1]), 1.0),
                since=since(cooling, scores, place, view.before),
                at=view.now,
                evidence=[
                    line(cooling, COLD, place, cold, says, water + (cold - water) * (1.0 - share)),
                    line(cooling, COLD, side, water, f"facility supplies {water:.1f} °C"),
                ],
                because=f"{loop}: {says}; the facility supplies {water:.1f} °C",
                detail={BASE: float(base[place])},
            )
