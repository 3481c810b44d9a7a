"""What a module showed before and since something began, from its long past alone.

For links that are ill by their errors, that fall, or are down: was their light well? It costs a
few look-ups and no pass over the fleet. The past is kept by the half hour, so what began a
moment ago shows later here than where modules themselves are judged.
"""

from weakref import WeakKeyDictionary

import numpy as np

from analyzer.evidence.optics.features import Feature, LaneFeatures, OpticsEvidence
from analyzer.evidence.optics.fleet import RECALLED, USUAL_T0_KELVIN
from analyzer.evidence.optics.levels import SEVERAL_DAYS
from analyzer.evidence.optics.modules import Identity
from analyzer.evidence.optics.noise import excess_noise
from analyzer.evidence.optics.quantities import (
    BER_MEDIA,
    BIAS,
    HEAT,
    LANE_QUANTITIES,
    SNR_MEDIA,
    Quantity,
)
from analyzer.evidence.optics.roster import Roster, roster
from analyzer.evidence.optics.symptoms import light_signs
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.model import Past, Port, View

LOOKS_BACK = 21 * 86_400.0
"""How far back a detector that asks for this must recall `RECALLED`: a laser ages for weeks."""

NEWEST = 2
"""Bins that make the present level."""


# Derived from closed bins alone: worked out again it is the same.
_kept: WeakKeyDictionary[Past, dict[tuple[tuple[Port, ...], int, int], dict[str, bool]]]
_kept = WeakKeyDictionary()


def recalled_signs(view: View, ends: tuple[Port, ...], since: float) -> dict[str, bool]:
    """Return the signs of light, signal and heat of a link's ends, before against since.

    They stay the same until a bin closes, so a link that is ill for days costs nothing more.
    """
    past = view.past(HEAT.metric)
    kept = _kept.setdefault(past, {})
    closed, begun = (int(np.searchsorted(edge, since)) for edge in (past.ends, past.middles))
    key = (ends, closed, begun)
    found = kept.get(key)
    if found is None:
        found = kept[key] = light_signs({end: recalled(view, end, since) for end in ends})
    return dict(found)


def recalled(view: View, port: Port, since: float) -> OpticsEvidence | None:
    """Return the features of one module; None where nothing is known of it.

    A port that had two modules within the past has none: another one's past is not its own.
    """
    known = _known(view)
    module = known.find(port)
    identity = _identity(view, known, module)
    if identity is None:
        return None
    heat = _feature(view, HEAT, port, "", since)
    lanes: dict[str, LaneFeatures] = {}
    for name in (known.lanes[place] for place in known.places_of(port)):
        found = {one.name: _feature(view, one, port, name, since) for one in LANE_QUANTITIES}
        told = {quantity: feature for quantity, feature in found.items() if feature is not None}
        if told:
            lanes[name] = _lane(port, name, told, heat)
    if not lanes and heat is None:
        return None
    return OpticsEvidence(port, identity, heat, lanes, False, ())


def _known(view: View) -> Roster:
    table = view.past(OPTICS_INFO).table
    found = roster(table)
    for metric in RECALLED:
        found.learn(table, metric)
    return found


def _lane(port: Port, lane: str, known: dict[str, Feature], heat: Feature | None) -> LaneFeatures:
    bias, noise = known.get(BIAS.name), None
    signal, errors = known.get(SNR_MEDIA.name), known.get(BER_MEDIA.name)
    if signal and errors and signal.baseline is not None and errors.baseline:
        now = float(excess_noise(signal.level, errors.level))
        usual = float(excess_noise(signal.baseline, errors.baseline))
        noise = now - usual if np.isfinite(now - usual) else None
    excess = None
    if bias is not None and bias.baseline:
        warmer = max((heat.change if heat else None) or 0.0, 0.0)
        excess = bias.level / (bias.baseline * float(np.exp(min(warmer / USUAL_T0_KELVIN, 2.0))))
    return LaneFeatures(port, lane, known, excess, None, noise)


def _identity(view: View, known: Roster, module: int | None) -> Identity | None:
    """Return what a module says it is; None where there were several."""
    table = view.past(OPTICS_INFO).table
    numbers = table.of(OPTICS_INFO)
    if module is None or not len(numbers):
        return Identity()
    mine = np.flatnonzero(known.places(table, OPTICS_INFO, numbers) == module)
    if len(mine) > 1:
        return None
    if not len(mine):
        return Identity()
    said = dict(zip(OPTICS_INFO.labels, table.labels(int(numbers[mine[0]])), strict=True))
    return Identity(**{name: said[name] for name in Identity.__annotations__})


def _feature(view: View, quantity: Quantity, port: Port, lane: str, since: float) -> Feature | None:
    """Return what one quantity was before a moment and is since, by whole bins on either side."""
    past = view.past(quantity.metric)
    labels = (*port, lane, *quantity.tail) if "lane" in past.metric.labels else tuple(port)
    row = past.row(*labels)
    if row is None and lane and quantity.name.startswith("ber_"):
        row = past.row(*port, "", *quantity.tail)  # some modules tell one ratio for all lanes
    if row is None:
        return None
    values = past.values[row]
    known = np.isfinite(values)
    after = np.flatnonzero(known & (past.middles > since))
    before = known & (past.ends <= since)
    if not len(after) or not before.any():
        return None
    first, last = past.starts[before].min(), past.ends[before].max()
    if last - first >= SEVERAL_DAYS:
        before &= past.ends <= (first + last) / 2
    usual = float(np.median(values[before])) if before.any() else None
    level = float(np.median(values[after[-NEWEST:]]))
    return Feature(level, usual, None, None, None, None, None, None, None)
