"""Supply so close to the dew point of the air around it that water may form on hoses and plates.

The dew point follows from temperature and humidity of the air (Magnus). Supply below it is water
dripping on electronics soon, and pages. Stays quiet where either is not read.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.baselines import raised, since
from analyzer.evidence.cooling.fluids import dew_point
from analyzer.evidence.cooling.loops import (
    AIR,
    COLD,
    HUMIDITY,
    METRICS,
    Cooling,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.saying import last, line
from analyzer.evidence.cooling.trails import highest
from fabrichealth.kinds import COOLING_CONDENSATION_RISK, Severity
from fabrichealth.model import Finding, Floats, View


class CoolingCondensationRiskSettings(CoolingSettings):
    """Cooling-condensation-risk section of the configuration."""

    margin_kelvin: float = Field(default=2.0, gt=0)
    """Supply closer to the dew point than this is a risk (practice: 2 to 3 K above)."""


class CoolingCondensationRisk(CoolingDetector[CoolingCondensationRiskSettings]):
    """Kelvin between supply and dew point; score 1.0 is the margin, 2.0 the dew point itself."""

    kinds = (COOLING_CONDENSATION_RISK,)
    metrics = METRICS
    settings_type = CoolingCondensationRiskSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each loop at risk, about where the margin is smallest."""
        cooling = self.having(view, COLD, AIR, HUMIDITY)
        main = cooling.places.main
        dew = dew_point(cooling.nearest(AIR), cooling.nearest(HUMIDITY))
        margin = self.settings.margin_kelvin
        scores = 2.0 - (cooling.cold - dew) / margin
        scores = np.where(np.isfinite(dew), scores, np.nan)
        of_loop = highest(scores, main, len(scores))
        for place in raised(cooling, of_loop, view.before).tolist():
            every = np.where(main == place, np.nan_to_num(scores[:, -1], nan=-np.inf), -np.inf)
            yield _finding(cooling, of_loop, dew, place, int(np.argmax(every)))


def _finding(cooling: Cooling, scores: Floats, dew: Floats, place: int, where: int) -> Finding:
    """Return what is said of a loop, by the place in which its margin is smallest."""
    cold, point = last(cooling.cold, where), last(dew, where)
    air, humidity = (last(cooling.nearest(one), where) for one in (AIR, HUMIDITY))
    says = (
        f"supply {cold:.1f} °C, dew point {point:.1f} °C (air {air:.1f} °C, {humidity:.0%} humid)"
    )
    wet = cold < point
    return Finding(
        kind=COOLING_CONDENSATION_RISK,
        about=cooling.places.about(place),
        score=max(float(scores[place, -1]), 1.0),
        since=since(cooling, scores, place, cooling.view.before),
        at=cooling.view.now,
        evidence=[
            line(cooling, COLD, where, cold, says, point),
            line(cooling, HUMIDITY, where, humidity, f"air of {air:.1f} °C, {humidity:.0%} humid"),
        ],
        because=f"{cooling.places.about(where)}: {says}, "
        + (f"{point - cold:.1f} K below it" if wet else f"{cold - point:.1f} K above it"),
        severity=Severity.PAGE if wet else None,
    )
