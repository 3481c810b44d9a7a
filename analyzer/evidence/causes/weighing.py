"""Weighing: from the signs of a link to its causes, each with a probability, and the ill side.

Naive Bayes over hypotheses: each signature at each end that it can be at, or between the ends.
Signs are weighed as witnesses who are not quite independent (errors follow from lost signal,
which follows from lost light), so the shares are tempered by one exponent, which was chosen on
simulated corpora (docs/methods.md, Cause and side). A side is accused only when what speaks for
it outweighs the path and the other end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

import numpy as np

from analyzer.evidence.causes.signatures import SIGNATURES, On, kind_of_link
from analyzer.evidence.causes.signs import Signs, Symptom, read
from fabrichealth.kinds import Cause
from fabrichealth.model import Floats, Port
from fabrichealth.topology import Link

TEMPER = 0.8
"""Exponent on all shares; 1 takes signs for independent. It moves no cause before another."""

ACCUSED = 0.4
"""Probability from which an end is accused, if it is likelier than the path between the ends .."""

CLEARLY = 1.4
""".. and by such a factor likelier than the other end."""

LEAST_SHARE = 0.02
"""Causes less likely than this are not told."""


@dataclass(frozen=True)
class Diagnosis:
    """Causes by falling probability, the likeliest signature, and the ill side if it is clear."""

    causes: Mapping[Cause, float]
    signature: str
    side: Port | None
    direction: str | None

    @property
    def cause(self) -> Cause:
        """The likeliest cause."""
        return next(iter(self.causes))


def diagnose(signs: Signs, ends: tuple[Port, ...], on: On) -> Diagnosis:
    """Weigh what the ends of a link show against every signature that such a link can have."""
    return _diagnosed(tuple(signs.items()), ends, on)


@lru_cache(maxsize=16_384)  # what an ill link shows stays the same from pass to pass
def _diagnosed(signs: tuple[tuple[str, bool], ...], ends: tuple[Port, ...], on: On) -> Diagnosis:
    shares = _shares(list(read(dict(signs))), ends, on)
    causes: dict[Cause, float] = {}
    sides: dict[Port | None, float] = {}
    ways: dict[tuple[Port | None, str | None], float] = {}
    names: dict[str, float] = {}
    for (name, end), share in shares.items():
        one = SIGNATURES[name]
        causes[one.cause] = causes.get(one.cause, 0.0) + share
        sides[end] = sides.get(end, 0.0) + share
        names[name] = names.get(name, 0.0) + share
        way = (end, one.where.direction)
        ways[way] = ways.get(way, 0.0) + share
    told = {cause: share for cause, share in causes.items() if share >= LEAST_SHARE}
    rest = sum(told.values())
    ordered = sorted(told.items(), key=lambda item: (-item[1], item[0]))
    accused = _accused(sides)
    direction = None
    if accused is not None:
        mine = {way: share for (end, way), share in ways.items() if end == accused}
        direction = max(mine, key=lambda way: (mine[way], way or ""))
    return Diagnosis(
        {cause: share / rest for cause, share in ordered},
        max(names, key=lambda name: (names[name], name)),
        accused,
        direction,
    )


def _accused(sides: Mapping[Port | None, float]) -> Port | None:
    """Return the end whose part is ill, if that is clear; None in `sides` lies between them."""
    ends = sorted((share, str(end), end) for end, share in sides.items() if end is not None)
    if not ends:
        return None
    share, _, end = ends[-1]
    others = max((one for one, _, _ in ends[:-1]), default=0.0)
    clear = share >= max(ACCUSED, CLEARLY * others) and share > sides.get(None, 0.0)
    return end if clear else None


def diagnose_link(signs: Signs, link: Link | None, about: Port | None = None) -> Diagnosis:
    """Weigh the signs of a link; of a port without a cable only that port can be ill.

    What a module says of itself (that it is copper) goes before what is written.
    """
    ends = link.ends if link is not None else () if about is None else (about,)
    on = kind_of_link(link.medium, link.technology) if link is not None else On.LIGHT
    return diagnose(signs, tuple(ends), on)


def _shares(
    seen: list[tuple[Symptom, str, bool]], ends: tuple[Port, ...], on: On
) -> dict[tuple[str, Port | None], float]:
    """Return the share of each signature at each place; None lies between the ends."""
    symptom = np.array([_PLACE[one] for one, _, _ in seen], np.intp)
    there = np.array([present for _, _, present in seen], np.intp)
    weights: dict[tuple[str, Port | None], float] = {}
    for ill in (*ends, None):
        here = np.array([end == str(ill) for _, end, _ in seen], np.intp)
        support = _LOGS[:, symptom, here, there].sum(axis=1)
        for (name, one), spoken in zip(SIGNATURES.items(), support.tolist(), strict=True):
            if on in one.on and one.where.of_end is (ill is not None):
                places = len(ends) if one.where.of_end else 1
                weights[name, ill] = TEMPER * (log(one.prior / places) + spoken)
    top = max(weights.values())
    shares = {key: exp(weight - top) for key, weight in weights.items()}
    whole = sum(shares.values())
    return {key: share / whole for key, share in shares.items()}


def _logs() -> Floats:
    """Return the logarithm of each chance: [signature, symptom, at the ill end, present]."""
    found = np.empty((len(SIGNATURES), len(Symptom), 2, 2))
    for row, one in enumerate(SIGNATURES.values()):
        for column, symptom in enumerate(Symptom):
            for here in (False, True):
                chance = one.chance(symptom, here=here)
                found[row, column, int(here)] = log(1.0 - chance), log(chance)
    return found


_PLACE = {symptom: place for place, symptom in enumerate(Symptom)}
_LOGS = _logs()
