"""From what both modules of a link show to its causes, each with a probability, and the ill side.

Each row of `SIGNATURES` is one row of the field's table of optical signatures: how likely each
symptom is if that is the cause. Symptoms not known say nothing; the rest are weighed as
independent witnesses, starting from how often each cause is found on links that lose data
(CorrOpt, SIGCOMM 2017, table 2; docs/methods.md). The side is accused only when what speaks for
it outweighs the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import log

import numpy as np

from analyzer.evidence.optics.symptoms import (
    Direction,
    Symptom,
    host_lost,
    is_hot,
    symptoms,
)
from fabrichealth.kinds import Cause
from fabrichealth.model import Port

ACCUSED = 0.6
"""Probability from which a side is accused."""

LEAST_SHARE = 0.02
"""Causes less likely than this are not told."""


class Where(StrEnum):
    """Which part a signature accuses."""

    SENDER = "tx"
    RECEIVER = "rx"
    PATH = ""
    HOT = "hot"
    HOST = "host"


@dataclass(frozen=True)
class Signature:
    """One row of the table: probability of each symptom, and how common it is."""

    cause: Cause
    where: Where
    prior: float
    shows: Mapping[Symptom, float] = field(default_factory=dict)

    def likelihood(self, symptom: Symptom) -> float:
        """Return the probability of a symptom; 0.02 for one that does not belong to it."""
        return self.shows.get(symptom, 0.02)


_S = Symptom
SIGNATURES: Mapping[str, Signature] = {
    "dirty or loose connector": Signature(
        Cause.CONTAMINATED_CONNECTOR, Where.RECEIVER, 0.36,
        {_S.RX_LOW: 0.95, _S.TX_LOW: 0.01, _S.BOTH_WAYS: 0.04, _S.SNR_LOW: 0.6,
         _S.NOISY: 0.1, _S.RESTLESS: 0.1},
    ),
    "bent or crushed fibre": Signature(
        Cause.DAMAGED_FIBER, Where.PATH, 0.28,
        {_S.RX_LOW: 0.95, _S.TX_LOW: 0.01, _S.BOTH_WAYS: 0.8, _S.SNR_LOW: 0.6, _S.NOISY: 0.05,
         _S.RESTLESS: 0.05},
    ),
    "reflections": Signature(
        Cause.CONTAMINATED_CONNECTOR, Where.RECEIVER, 0.05,
        {_S.SNR_LOW: 0.8, _S.NOISY: 0.5, _S.SIGNAL_RESTLESS: 0.95},
    ),
    "laser ageing": Signature(
        Cause.DECAYING_TRANSMITTER, Where.SENDER, 0.03,
        {_S.RX_LOW: 0.5, _S.TX_LOW: 0.5, _S.BIAS_ODD: 0.95, _S.SNR_LOW: 0.4, _S.HOT: 0.05},
    ),
    "laser failed": Signature(
        Cause.DECAYING_TRANSMITTER, Where.SENDER, 0.02,
        {_S.RX_LOW: 0.95, _S.TX_LOW: 0.98, _S.BIAS_ODD: 0.6, _S.SNR_LOW: 0.6},
    ),
    "laser bank": Signature(
        Cause.SHARED_COMPONENT, Where.SENDER, 0.01,
        {_S.RX_LOW: 0.9, _S.TX_LOW: 0.95, _S.BIAS_ODD: 0.05, _S.SNR_LOW: 0.5,
         _S.BOTH_WAYS: 0.3, _S.BANK_DIM: 0.98},
    ),
    "receiver ageing": Signature(
        Cause.DEGRADED_RECEIVER, Where.RECEIVER, 0.05,
        {_S.RX_LOW: 0.04, _S.SNR_LOW: 0.95, _S.NOISY: 0.05},
    ),
    "copper cable": Signature(
        Cause.COPPER_CABLE, Where.PATH, 0.5,
        {_S.SNR_LOW: 0.9, _S.HOST_BAD: 0.05, _S.SIGNAL_RESTLESS: 0.2, _S.NOISY: 0.1},
    ),
    "module hot": Signature(
        Cause.MODULE_OVERHEATING, Where.HOT, 0.05,
        {_S.TX_LOW: 0.15, _S.RX_LOW: 0.1, _S.BIAS_ODD: 0.3, _S.SNR_LOW: 0.5, _S.HOST_BAD: 0.3,
         _S.HOT: 0.97},
    ),
    "host electrical": Signature(
        Cause.HOST_ELECTRICAL, Where.HOST, 0.05, {_S.HOST_BAD: 0.97, _S.SNR_LOW: 0.03},
    ),
    "module's DSP or firmware": Signature(
        Cause.LOOSE_OR_BAD_MODULE, Where.RECEIVER, 0.08,
        {_S.HOST_BAD: 0.9, _S.SNR_LOW: 0.95, _S.NOISY: 0.3, _S.RX_LOW: 0.03},
    ),
    "loose module": Signature(
        Cause.LOOSE_OR_BAD_MODULE, Where.RECEIVER, 0.08,
        {_S.RX_LOW: 0.6, _S.RESTLESS: 0.95, _S.SNR_LOW: 0.4, _S.HOST_BAD: 0.2},
    ),
    "something else": Signature(
        Cause.UNKNOWN, Where.PATH, 0.01, dict.fromkeys(Symptom, 0.2),
    ),
}  # fmt: skip

OF_COPPER = frozenset({"copper cable"})
OF_LIGHT = frozenset(
    {"dirty or loose connector", "bent or crushed fibre", "reflections", "laser ageing"}
    | {"laser failed", "laser bank", "receiver ageing"}
)
"""Signatures that a link without, or with, light cannot have."""


@dataclass(frozen=True)
class Diagnosis:
    """Causes by falling probability, what speaks for them, and the ill side if it is clear."""

    causes: Mapping[Cause, float]
    signature: str
    symptoms: Mapping[Symptom, bool]
    """Those that are known: present or absent."""
    side: Port | None
    direction: str | None


def diagnose(link: Direction) -> Diagnosis:
    """Weigh the symptoms of one direction of a link against every signature."""
    seen = symptoms(link)
    ends = [end for end in (link.sending, link.receiving) if end is not None]
    others = OF_LIGHT if any(end.identity.copper for end in ends) else OF_COPPER
    weights = {name: _weight(one, seen) for name, one in SIGNATURES.items() if name not in others}
    top = max(weights.values())
    shares = {name: float(np.exp(weight - top)) for name, weight in weights.items()}
    whole = sum(shares.values())
    shares = {name: share / whole for name, share in shares.items()}
    causes: dict[Cause, float] = {}
    sides: dict[tuple[Port | None, str | None], float] = {}
    for name, share in shares.items():
        one = SIGNATURES[name]
        causes[one.cause] = causes.get(one.cause, 0.0) + share
        side = _side(one, link)
        sides[side] = sides.get(side, 0.0) + share
    told = {cause: share for cause, share in causes.items() if share >= LEAST_SHARE}
    rest = sum(told.values())
    ordered = sorted(told.items(), key=lambda item: (-item[1], item[0]))
    best = max(sides, key=lambda side: sides[side])
    accused = best if sides[best] >= ACCUSED else (None, None)
    return Diagnosis(
        {cause: share / rest for cause, share in ordered},
        max(shares, key=lambda name: shares[name]),
        seen,
        *accused,
    )


def _weight(one: Signature, seen: Mapping[Symptom, bool]) -> float:
    chances = (
        one.likelihood(symptom) if there else 1.0 - one.likelihood(symptom)
        for symptom, there in seen.items()
    )
    return log(one.prior) + sum(map(log, chances))


def _side(one: Signature, link: Direction) -> tuple[Port | None, str | None]:
    if one.where is Where.SENDER:
        return link.sender, "tx"
    if one.where is Where.RECEIVER:
        return link.receiver, "rx"
    if one.where is Where.HOT:
        hot = is_hot(link.sending) and not is_hot(link.receiving)
        return (link.sender if hot else link.receiver), None
    if one.where is Where.HOST:
        bad = host_lost(link.sending) or 0.0
        mine = host_lost(link.receiving) or 0.0
        return (link.sender if bad > mine else link.receiver), "tx"
    return None, None
