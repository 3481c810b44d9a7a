"""Suspects: which meter of a place drifts when its balance no longer closes.

Each meter is replaced by what its peers and its past say; the one whose replacement closes the
balance is at fault (detection reference, E4). A flow is known again from the pressure drop and the
resistance it always had, a main's from its branches; a supply temperature from that of its
siblings, a main's return from the branches' mixed returns.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.cooling.balance import EXPLAINED, branch_sum, heat_balance
from analyzer.evidence.cooling.baselines import usual
from analyzer.evidence.cooling.loops import COLD, FLOW_TO, WARM, Cooling
from analyzer.evidence.cooling.resistance import less_common, resistance
from analyzer.evidence.cooling.trails import Chosen
from fabrichealth.model import Floats


@dataclass(frozen=True)
class Suspect:
    """One meter, and by how much it seems to be off ([place]; NaN where nothing can tell)."""

    chosen: Chosen
    name: str
    off: Floats
    """Logarithm of reading over truth for flows and drops, kelvin for temperatures."""
    effect: Floats
    """What that does to the heat balance ([place], logarithm)."""


def suspects(cooling: Cooling) -> list[Suspect]:
    """Return the meters that something else can be put in place of."""
    rise = (cooling[WARM] - cooling.cold)[:, -1]
    flow = _flow_off(cooling)
    cold, warm = _cold_off(cooling), _warm_off(cooling)
    with np.errstate(all="ignore"):
        told_cold = np.log(rise / np.clip(rise + cold, 1e-3, None))
        told_warm = np.log(rise / np.clip(rise - warm, 1e-3, None))
    return [
        Suspect(FLOW_TO, "flow meter", flow, flow),
        Suspect(COLD, "supply temperature", cold, told_cold),
        Suspect(WARM, "return temperature", warm, told_warm),
    ]


def at_fault(cooling: Cooling, found: list[Suspect], place: int) -> tuple[Suspect | None, str]:
    """Return the meter that explains the balance of a place, and its name; None: by elimination.

    What nothing can be put in place of is left over when the others are cleared.
    """
    error = heat_balance(cooling).error[place, -1]
    known = [one for one in found if np.isfinite(one.effect[place])]
    best = min(known, key=lambda one: abs(error - one.effect[place]), default=None)
    if best is not None and abs(error - best.effect[place]) < EXPLAINED * abs(error):
        return best, best.name
    names = [one.name for one in found if one not in known]
    return None, " or ".join([*names, "the racks' power meter"])


def _flow_off(cooling: Cooling) -> Floats:
    """Return by what factor (logarithm) each flow reads against what resistance, or sums, say."""
    found = resistance(cooling, cooling.pressure_drop)
    change = found.log - usual(cooling, found.log, ())[:, None]
    of_branches = less_common(cooling, change)[:, -1] / -found.exponent
    with np.errstate(all="ignore"):
        summed = np.log(cooling[FLOW_TO] / branch_sum(cooling))
    of_main = (summed - usual(cooling, summed, ())[:, None])[:, -1]
    told = np.where(np.isfinite(of_main), of_main, change[:, -1] / -found.exponent)
    return np.where(cooling.places.branched, of_branches, told)


def _cold_off(cooling: Cooling) -> Floats:
    """Return by how many kelvin each supply reads against the loop's other supplies ([place])."""
    own = cooling[COLD]
    away = own - cooling.places.among_siblings(own, 3)
    return (away - usual(cooling, away, ())[:, None])[:, -1]


def _warm_off(cooling: Cooling) -> Floats:
    """Return by how many kelvin a main's return reads against its branches' mixed ([place])."""
    flow, warm = cooling[FLOW_TO], cooling[WARM]
    branched = np.flatnonzero(cooling.places.branched)
    mixed = np.zeros(flow.shape)
    np.add.at(mixed, cooling.places.main[branched], flow[branched] * warm[branched])
    with np.errstate(all="ignore"):
        away = warm - mixed / branch_sum(cooling)
    away[cooling.places.branched] = np.nan
    return (away - usual(cooling, away, ())[:, None])[:, -1]
