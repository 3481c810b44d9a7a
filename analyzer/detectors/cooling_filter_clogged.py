"""The filter of a coolant distribution unit fills up.

Its resistance (drop over it at the flow through it) rises, slowly; under flow or pressure control
the pump makes up for it, so that nothing else shows. Clean is the lowest that the past knows, so
it is judged against the last service whether anybody wrote that down or not. Stays quiet while
flow changes, since only the resistance counts, where the filter has no meter of its own, and where
the heat that is taken away says that it is the meter of flow that changed.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.balance import meter_at_fault
from analyzer.evidence.cooling.baselines import BASE, raised, renewals, since, usual
from analyzer.evidence.cooling.loops import (
    FILTER_DROP,
    FLOW_TO,
    METRICS,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.resistance import resistance
from analyzer.evidence.cooling.saying import controlled, last, line
from fabrichealth.kinds import COOLING_FILTER_CLOGGED
from fabrichealth.model import Finding, View


class CoolingFilterCloggedSettings(CoolingSettings):
    """Cooling-filter-clogged section of the configuration."""

    resistance_ratio: float = Field(default=1.5, gt=1)
    """A filter so many times as hard to flow through as when it was clean is due (our estimate)."""

    clean_quantile: float = Field(default=0.2, ge=0, le=0.5)
    """Clean is this quantile of its past resistance."""


class CoolingFilterClogged(CoolingDetector[CoolingFilterCloggedSettings]):
    """Resistance of the filter against its clean past; score 1.0 is `resistance_ratio`."""

    kinds = (COOLING_FILTER_CLOGGED,)
    metrics = METRICS
    settings_type = CoolingFilterCloggedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each loop whose filter is due."""
        cooling, own = self.mains(view), self.settings
        found = resistance(cooling, cooling[FILTER_DROP])
        renewed = renewals(cooling, view)
        base = usual(cooling, found.log, view.before, renewed, own.clean_quantile)
        scores = (found.log - base[:, None]) / np.log(own.resistance_ratio)
        scores[cooling.places.branched] = np.nan
        wrong = meter_at_fault(cooling, (found.log - base[:, None]) / found.exponent[:, None])
        for place in raised(cooling, scores, view.before).tolist():
            if wrong[place]:
                continue
            ratio = float(np.exp(found.log[place, -1] - base[place]))
            drop, flow = last(cooling[FILTER_DROP], place), last(cooling[FLOW_TO], place)
            clean = drop / ratio
            says = f"{drop:.1f} kPa over the filter at {flow:.0f} L/min, {clean:.1f} when clean"
            yield Finding(
                kind=COOLING_FILTER_CLOGGED,
                about=cooling.places.about(place),
                score=max(float(scores[place, -1]), 1.0),
                since=since(cooling, scores, place, view.before),
                at=view.now,
                evidence=[
                    line(cooling, FILTER_DROP, place, drop, says, clean),
                    line(cooling, FLOW_TO, place, flow, f"{flow:.0f} L/min through it"),
                ],
                because=f"{cooling.places.names[place][0]}: {says}: {ratio:.2f} times as hard to "
                f"flow through{controlled(cooling, place)}",
                detail={BASE: float(base[place])},
            )
