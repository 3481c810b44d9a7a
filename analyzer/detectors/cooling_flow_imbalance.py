"""A branch that does not get the flow that its load needs, though nothing in it clogs.

Valves set wrongly starve one branch and spoil others. Where the racks' power is read, flow per
kilowatt counts, against what cold plates need; else the branches' flow among themselves. A
resistance that changed at once, up or down, with no water lost, is a valve that moved. What grows
little by little is clogging, what came with a plug is the plug's (cooling.clogged), and a loop that
starves all its branches is not out of balance.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.balance import meter_at_fault
from analyzer.evidence.cooling.baselines import STAYS, plugged, raised, since, usual
from analyzer.evidence.cooling.loops import (
    FLOW_TO,
    METRICS,
    Cooling,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.resistance import PEERS, less_common, resistance
from analyzer.evidence.cooling.saying import controlled, last, line
from analyzer.evidence.cooling.screening import Margins, standing_out
from analyzer.evidence.cooling.steps import stepped
from analyzer.evidence.cooling.water import water
from fabrichealth.kinds import COOLING_FLOW_IMBALANCE
from fabrichealth.model import Finding, Floats, View
from fabrichealth.model.quantiles import row_quantile


class CoolingFlowImbalanceSettings(CoolingSettings):
    """Cooling-flow-imbalance section of the configuration."""

    liters_per_minute_per_kilowatt: float = Field(default=1.0, gt=0)
    """Less flow than this for its load starves a branch (guidance: 1.0 to 1.5)."""

    loaded: float = Field(default=0.7, gt=0, le=1)
    """Flow is held against load where a branch has this share of its usual high load."""

    flow_ratio: float = Field(default=0.7, gt=0, lt=1)
    """Where no power is read: less than this share of its siblings' flow starves a branch."""

    step_ratio: float = Field(default=1.25, gt=1)
    """A resistance that became so many times as high, or as low, at once: a valve moved."""


class CoolingFlowImbalance(CoolingDetector[CoolingFlowImbalanceSettings]):
    """Flow of branches against load, siblings and themselves; score 1.0 is the limit met."""

    kinds = (COOLING_FLOW_IMBALANCE,)
    metrics = METRICS
    settings_type = CoolingFlowImbalanceSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each branch that is out of balance."""
        own = self.settings
        margins = Margins(
            resistance=STAYS * np.log(own.step_ratio) / 2.0,
            liters_per_minute_per_kilowatt=own.liters_per_minute_per_kilowatt,
            flow_ratio=own.flow_ratio,
        )
        worth = standing_out(view, own.hold, margins)
        if not worth.any():
            return
        cooling = self.of_loops(view, worth)
        found = resistance(cooling, cooling.drive)
        change = less_common(cooling, found.log - usual(cooling, found.log, ())[:, None])
        starved, moved = self._starved(cooling), self._moved(cooling, change)
        scores = np.where(cooling.places.branched[:, None], np.fmax(starved, moved), np.nan)
        wrong = meter_at_fault(cooling, change / found.exponent[:, None])
        with np.errstate(invalid="ignore", over="ignore"):
            leaks = water(cooling).short >= 2.0
        touched = plugged(cooling, view)
        for place in raised(cooling, scores, view.before).tolist():
            sudden = stepped(change[place])
            clogs = change[place, -1] >= 0.8 * np.log(self.settings.step_ratio) and not sudden
            if wrong[place] or leaks[place] or clogs or (sudden and touched[place]):
                continue
            yield self._finding(cooling, scores, float(change[place, -1]), sudden, place)

    def _starved(self, cooling: Cooling) -> Floats:
        """Return the score of branches with too little flow for what they cool ([place, k])."""
        own, flow = self.settings, cooling[FLOW_TO]
        high = row_quantile(cooling.load, 0.9)[:, None]
        with np.errstate(all="ignore"):
            loaded = cooling.load >= own.loaded * high
            rate = np.where(loaded & (cooling.load > 0), flow / (cooling.load / 1000.0), np.nan)
            rest = cooling.places.among_siblings(rate, 2)
            by_load = own.liters_per_minute_per_kilowatt / rate
            enough = rest >= own.liters_per_minute_per_kilowatt
            by_load = np.where(enough | np.isnan(rate), by_load, 0.0)
            siblings = cooling.places.among_siblings(flow, PEERS - 1)
            by_flow = np.log(flow / siblings) / np.log(own.flow_ratio)
        return np.where(np.isfinite(high), by_load, by_flow)

    def _moved(self, cooling: Cooling, change: Floats) -> Floats:
        """Return the score of branches whose resistance changed at once ([place, k])."""
        score = np.abs(change) / np.log(self.settings.step_ratio)
        with np.errstate(invalid="ignore", over="ignore"):
            ill = (score[:, -1] >= 0.8) & cooling.places.branched
        for place in np.flatnonzero(ill).tolist():
            ill[place] = stepped(change[place])
        return np.where(ill[:, None], score, 0.0)

    def _finding(
        self, cooling: Cooling, scores: Floats, change: float, sudden: bool, place: int
    ) -> Finding:
        about, flow, load = (
            cooling.places.about(place),
            last(cooling[FLOW_TO], place),
            last(cooling.load, place),
        )
        siblings = float(cooling.places.among_siblings(cooling[FLOW_TO][:, -1:], 2)[place, 0])
        known = np.isfinite(siblings)
        says = f"{flow:.1f} L/min" + (f", its siblings {siblings:.1f}" if known else "")
        if np.isfinite(load) and load > 0:
            says += f"; {flow / load * 1000.0:.2f} L/min for each of its {load / 1000.0:.0f} kW"
        if sudden:
            says += f"; {np.exp(change):.2f} times as hard to flow through at once: a valve moved"
        return Finding(
            kind=COOLING_FLOW_IMBALANCE,
            about=about,
            score=max(float(scores[place, -1]), 1.0),
            since=since(cooling, scores, place, cooling.view.before),
            at=cooling.view.now,
            evidence=[line(cooling, FLOW_TO, place, flow, says, siblings if known else None)],
            because=f"{about}: {says}{controlled(cooling, place)}",
        )
