"""Symptoms of both modules of a link, read off their features: light, signal, bias, heat.

Each belongs to one end; it is present, absent or not known, and the last is left out. Whose part
is ill follows from both ends together (`analyzer.evidence.causes`).
"""

from collections.abc import Iterable, Mapping

from analyzer.evidence.causes.signs import Symptom, told
from analyzer.evidence.optics.features import VISIBLE_DB, Feature, LaneFeatures, OpticsEvidence
from fabrichealth.model import Port

SAME_LOSS = 0.4
"""A sender explains a receiver's loss if it has lost such a share of it itself."""

ALIKE = 0.5
"""Lanes lose alike if the least of them has lost such a share of what the worst has."""

VISIBLE_EXCESS = 1.1
VISIBLE_KELVIN = 8.0
ERRORS_TENFOLD = 10.0
UNREST_DB = 0.5
UNREST_TIMES = 4.0
DIPS = 3
"""So many dips, in both halves of two dozen polls: it was not touched once, it moves."""


def light_signs(
    ends: Mapping[Port, OpticsEvidence | None], dim_banks: Mapping[Port, bool] | None = None
) -> dict[str, bool]:
    """Return the signs of both ends of a link, each with what is known of its module.

    `dim_banks` says of ends with a laser bank whether that is ill.
    """
    found: dict[str, bool] = {}
    for end, mine in ends.items():
        far = next((other for port, other in ends.items() if port != end), None)
        if mine is not None:
            found |= told(end, _of_end(mine, far))
        if dim_banks and end in dim_banks:
            found |= told(end, {Symptom.BANK_DIM: dim_banks[end]})
    return found


def _of_end(mine: OpticsEvidence, far: OpticsEvidence | None) -> dict[Symptom, bool | None]:
    lanes = list(mine.lanes.values())
    received = _losses(one.rx for one in lanes)
    signal = _losses(one.snr_media for one in lanes)
    restless = _any(_restless(one.rx) for one in lanes)
    dim, weak = _visible(received), _visible(signal)
    return {
        Symptom.RX_LOW: dim,
        Symptom.RX_LANES_ALIKE: _alike(received) if dim else None,
        Symptom.TX_LOW: _any(_sends_less(one, far) for one in lanes),
        Symptom.BIAS_ODD: _any(_bias_odd(one) for one in lanes),
        Symptom.SNR_LOW: weak,
        Symptom.SNR_LANES_ALIKE: _alike(signal) if weak else None,
        Symptom.HOST_BAD: _at_least(host_lost(mine), VISIBLE_DB),
        Symptom.HOT: is_hot(mine),
        Symptom.NOISY: _any(_at_least(one.noise_change, VISIBLE_DB) for one in lanes),
        Symptom.COMES_AND_GOES: True if any(map(_dips, lanes)) else None,
        Symptom.RX_RESTLESS: restless,
        Symptom.SNR_RESTLESS: (
            None if restless else _any(_restless(one.snr_media) for one in lanes)
        ),
    }


def _losses(features: Iterable[Feature | None]) -> list[float]:
    """Return by how many dB each lane has fallen, of those where it is known."""
    return [lost for one in features if (lost := _lost(one)) is not None]


def _lost(feature: Feature | None) -> float | None:
    """Return how far a quantity has fallen, or lies below its own limit if that is more."""
    if feature is None:
        return None
    below = None if feature.low is None else feature.low - feature.level
    if below is not None and below > 0:
        return max(feature.lost or 0.0, below + VISIBLE_DB)
    return feature.lost


def _visible(losses: list[float]) -> bool | None:
    return max(losses) >= VISIBLE_DB if losses else None


def _alike(losses: list[float]) -> bool | None:
    return min(losses) >= ALIKE * max(losses) if len(losses) > 1 else None


def _at_least(value: float | None, least: float) -> bool | None:
    return None if value is None else value >= least


def _any(known: Iterable[bool | None]) -> bool | None:
    told_of = [one for one in known if one is not None]
    return any(told_of) if told_of else None


def _sends_less(lane: LaneFeatures, far: OpticsEvidence | None) -> bool | None:
    """Return whether a lane sends less, by enough to explain what its receiver lacks."""
    sent = _lost(lane.tx)
    if sent is None:
        return None
    got = far.lanes.get(lane.lane) if far else None
    missing = _lost(got.rx) if got else None
    return sent >= max(VISIBLE_DB, SAME_LOSS * (missing or 0.0))


def _bias_odd(lane: LaneFeatures) -> bool | None:
    if lane.bias is None:
        return None
    bias = lane.bias
    if bias.high is not None and bias.level > bias.high:
        return True
    gone = bias.baseline is not None and bias.level < 0.1 * bias.baseline
    excess = _at_least(lane.bias_excess, VISIBLE_EXCESS)
    return gone or excess


def host_lost(module: OpticsEvidence | None) -> float | None:
    """Return how many dB the electrical side of a module has lost, on the worst of its lanes."""
    if module is None:
        return None
    found = []
    for one in module.lanes.values():
        if (lost := _lost(one.snr_host)) is not None:
            found.append(lost)
        errors = one.features.get("ber_host")
        if errors is not None and errors.baseline:
            tenfold = errors.level / errors.baseline >= ERRORS_TENFOLD
            found.append(VISIBLE_DB if tenfold else 0.0)
    return max(found, default=None)


def is_hot(module: OpticsEvidence | None) -> bool | None:
    """Return whether a module is beyond its own limit or far warmer than it used to be."""
    if module is None or module.temperature is None:
        return None
    heat = module.temperature
    if heat.high is not None and heat.level > heat.high:
        return True
    return _at_least(heat.change, VISIBLE_KELVIN)


def _restless(feature: Feature | None) -> bool | None:
    if feature is None or feature.unrest is None:
        return None
    usual = feature.usual_unrest or 0.0
    return feature.dips >= DIPS or feature.unrest >= max(UNREST_DB, UNREST_TIMES * usual)


def _dips(lane: LaneFeatures) -> bool:
    """Return whether light or signal of a lane fell and came back, again and again."""
    return any(one is not None and one.dips >= DIPS for one in (lane.rx, lane.snr_media))
