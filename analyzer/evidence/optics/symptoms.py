"""Symptoms of one direction of a link, read off the features of both its modules.

A symptom is present, absent or not known; the last says nothing.
"""

from dataclasses import dataclass
from enum import StrEnum

from analyzer.evidence.optics.features import Feature, LaneFeatures, OpticsEvidence
from fabrichealth.model import Port

VISIBLE_DB = 1.0
"""Less change than this is within what readings of light are off by (SFF-8636: 3 dB absolute,
far better against themselves)."""

SAME_LOSS = 0.4
"""A sender explains a receiver's loss if it has lost such a share of it itself."""

VISIBLE_EXCESS = 1.1
VISIBLE_KELVIN = 8.0
ERRORS_TENFOLD = 10.0
UNREST_DB = 0.5
UNREST_TIMES = 4.0


class Symptom(StrEnum):
    """What can be seen of a link in one direction, from a sender to a receiver."""

    RX_LOW = "light received is low"
    TX_LOW = "light sent is low"
    BIAS_ODD = "the laser needs more bias, or gets none"
    BOTH_WAYS = "light received is low in the other direction too, that sent is not"
    SNR_LOW = "the receiver's signal is worse"
    HOST_BAD = "the electrical side is worse"
    HOT = "a module is hot"
    NOISY = "more errors than the signal explains"
    RESTLESS = "light received goes up and down"
    SIGNAL_RESTLESS = "the receiver's signal goes up and down, its light does not"
    BANK_DIM = "ports of the same laser bank are dim too"


@dataclass(frozen=True)
class Direction:
    """Both modules of a link as sender and receiver of one direction, and the lane looked at."""

    sender: Port | None
    receiver: Port | None
    sending: OpticsEvidence | None
    receiving: OpticsEvidence | None
    lane: str
    """Empty: no lane in particular."""
    bank_dim: bool | None = None
    """Whether the sender's laser bank is ill; None where it has none."""


def symptoms(link: Direction) -> dict[Symptom, bool]:
    """Return the symptoms of one direction that are known, present or absent."""
    sent = _lane(link.sending, link.lane)
    got = _lane(link.receiving, link.lane)
    rx, tx = _lost(got.rx if got else None), _lost(sent.tx if sent else None)
    restless = _restless(got.rx if got else None)
    found: dict[Symptom, bool | None] = {
        Symptom.RX_LOW: None if rx is None else rx >= VISIBLE_DB,
        Symptom.TX_LOW: None if tx is None else tx >= max(VISIBLE_DB, SAME_LOSS * (rx or 0.0)),
        Symptom.BIAS_ODD: _bias_odd(sent),
        Symptom.BOTH_WAYS: _both_ways(link) if rx is not None and rx >= VISIBLE_DB else None,
        Symptom.SNR_LOW: _at_least(_lost(got.snr_media if got else None), VISIBLE_DB),
        Symptom.HOST_BAD: _host_bad(link),
        Symptom.HOT: _any(is_hot(link.sending), is_hot(link.receiving)),
        Symptom.NOISY: None if got is None else _at_least(got.noise_change, VISIBLE_DB),
        Symptom.RESTLESS: restless,
        Symptom.SIGNAL_RESTLESS: None if restless else _restless(got.snr_media if got else None),
        Symptom.BANK_DIM: link.bank_dim,
    }
    return {symptom: there for symptom, there in found.items() if there is not None}


def _lane(module: OpticsEvidence | None, lane: str) -> LaneFeatures | None:
    return module.lanes.get(lane) if module else None


def _lost(feature: Feature | None) -> float | None:
    """Return how far a quantity has fallen, or lies below its own limit if that is more."""
    if feature is None:
        return None
    below = None if feature.low is None else feature.low - feature.level
    if below is not None and below > 0:
        return max(feature.lost or 0.0, below + VISIBLE_DB)
    return feature.lost


def _at_least(value: float | None, least: float) -> bool | None:
    return None if value is None else value >= least


def _any(*known: bool | None) -> bool | None:
    told = [one for one in known if one is not None]
    return any(told) if told else None


def _bias_odd(sent: LaneFeatures | None) -> bool | None:
    if sent is None or sent.bias is None:
        return None
    bias = sent.bias
    if bias.high is not None and bias.level > bias.high:
        return True
    gone = bias.baseline is not None and bias.level < 0.1 * bias.baseline
    excess = _at_least(sent.bias_excess, VISIBLE_EXCESS)
    return gone or excess


def _both_ways(link: Direction) -> bool | None:
    """Return whether the other direction loses light as well that its sender does not lack."""
    if link.sending is None:
        return None
    back = link.receiving.lanes if link.receiving else {}
    known = []
    for lane, got in link.sending.lanes.items():
        rx = _lost(got.rx)
        if rx is None:
            continue
        source = back.get(lane)
        tx = _lost(source.tx) if source else None
        known.append(rx >= VISIBLE_DB and not (tx is not None and tx >= SAME_LOSS * rx))
    return any(known) if known else None


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


def _host_bad(link: Direction) -> bool | None:
    return _any(
        _at_least(host_lost(link.sending), VISIBLE_DB),
        _at_least(host_lost(link.receiving), VISIBLE_DB),
    )


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
    return feature.unrest >= max(UNREST_DB, UNREST_TIMES * usual)
