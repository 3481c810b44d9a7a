"""A branch that has become harder to flow through than it was: cold plates or hoses clog.

The resistance of a branch rises while that of its siblings does not. It is worked out from flow
and pressure drop, so it is the same whatever the loop's control holds steady: under flow control
the drop rises, under differential pressure or speed control the flow falls. Stays quiet where the
flow meter contradicts the heat (that is the meter), where a branch never had more flow (that is
balancing), and where all branches change alike (that is the coolant, or the main's meter).
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.balance import meter_at_fault
from analyzer.evidence.cooling.baselines import (
    BASE,
    STAYS,
    plugged,
    raised,
    renewals,
    since,
    usual,
)
from analyzer.evidence.cooling.loops import (
    DROP,
    FLOW_TO,
    METRICS,
    Cooling,
    CoolingDetector,
    CoolingSettings,
)
from analyzer.evidence.cooling.resistance import less_common, resistance
from analyzer.evidence.cooling.saying import controlled, last, line
from analyzer.evidence.cooling.screening import Margins, standing_out
from analyzer.evidence.cooling.steps import stepped
from fabrichealth.kinds import COOLING_CLOGGED
from fabrichealth.model import Finding, Floats, View


class CoolingCloggedSettings(CoolingSettings):
    """Cooling-clogged section of the configuration."""

    resistance_ratio: float = Field(default=1.25, gt=1)
    """A branch so many times as hard to flow through as it was clogs (an estimate of ours)."""


class CoolingClogged(CoolingDetector[CoolingCloggedSettings]):
    """Resistance of branches against their own past; score 1.0 is `resistance_ratio`."""

    kinds = (COOLING_CLOGGED,)
    metrics = METRICS
    settings_type = CoolingCloggedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each branch that clogs."""
        margin = STAYS * np.log(self.settings.resistance_ratio)
        worth = standing_out(view, self.settings.hold, Margins(resistance=margin / 2.0))
        if not worth.any():
            return
        cooling = self.of_loops(view, worth)
        found = resistance(cooling, cooling.drive)
        base = usual(cooling, found.log, view.before, renewals(cooling, view, REPLACED))
        change = less_common(cooling, found.log - base[:, None])
        change[~cooling.places.branched] = np.nan
        scores = change / np.log(self.settings.resistance_ratio)
        wrong = meter_at_fault(cooling, change / found.exponent[:, None])
        known = {str(one.about) for one in view.before}
        touched = plugged(cooling, view)
        for place in raised(cooling, scores, view.before).tolist():
            about = cooling.places.about(place)
            sudden = stepped(change[place]) and str(about) not in known
            if wrong[place] or (sudden and not touched[place]):
                continue
            yield _finding(cooling, place, scores, change, float(base[place]), bool(touched[place]))


REPLACED = frozenset({"part_replaced"})
"""Only new parts have a new resistance; what was merely plugged must have its old one."""


def _finding(
    cooling: Cooling, place: int, scores: Floats, change: Floats, base: float, touched: bool
) -> Finding:
    view, about = cooling.view, cooling.places.about(place)
    ratio = float(np.exp(change[place, -1]))
    flow, drop = last(cooling[FLOW_TO], place), last(cooling.pressure_drop, place)
    measured = np.isfinite(drop)
    under = f"a drop of {drop:.1f} kPa" if measured else "its pump's speed, no drop is measured"
    says = f"{about}: {ratio:.2f} times as hard to flow through as it was"
    siblings = cooling.places.among_siblings(cooling[FLOW_TO][:, -1:], 2)[place, 0]
    others = ", its siblings are not" if np.isfinite(siblings) else ""
    reason = "; a part of it was plugged just before: is it fully mated?" if touched else ""
    lines = [
        line(cooling, FLOW_TO, place, ratio, says, 1.0, "times its own resistance"),
        line(cooling, FLOW_TO, place, flow, f"{flow:.1f} L/min now"),
    ]
    if measured:
        lines.append(line(cooling, DROP, place, drop, f"at {under}"))
    return Finding(
        kind=COOLING_CLOGGED,
        about=about,
        score=max(float(scores[place, -1]), 1.0),
        since=since(cooling, scores, place, view.before),
        at=view.now,
        evidence=lines,
        because=f"{says}{others}: {flow:.1f} L/min at {under}{controlled(cooling, place)}{reason}",
        detail={BASE: base},
    )
