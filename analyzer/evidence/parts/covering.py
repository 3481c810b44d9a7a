"""Covering: the fewest groups that explain what is ill.

Attributes nest and cross: lot within part within vendor, card within switch, trunk beside card.
Every group of every attribute is held against the others of its stratum; all tests are one
family. Of those that stand out the one that explains most goes first, what it explains is taken
out, and the rest is judged anew, so that a lot that sits in one bad trunk is not blamed for it
(greedy, with half a logarithm of the fleet's size as the price of a group).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools
from analyzer.evidence.parts.chances import (
    false_discovery,
    least_excess,
    likeness,
    of_members,
)
from fabrichealth.model import Floats

Codes = NDArray[np.int64]

OTHERS = 8
"""With fewer others in a stratum there is nothing that a group could be held against."""

ALIKE = 0.005
"""Members of a group are so alike at the least, whatever the other groups show."""

IMPLAUSIBLE, FEW = 1e-4, 0.1
"""Groups less likely than this, were members independent, do not say how alike members usually
are, unless they are more than a tenth of all groups: then that is how things are here."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """What units can share; arrays are [u], `code` -1 where a unit has none of it."""

    name: str
    names: Sequence[str]
    """Of the groups, by code."""
    code: Codes
    ill: Floats
    """1 ill, 0 well, between: ill, and this or another part is the reason."""
    known: Bools


@dataclass(frozen=True)
class Rule:
    """From when on a group is blamed."""

    q: float
    hits: float
    share: float = 0.0
    """Of its known members."""
    excess: float = 0.0
    """Times worse than others, proven (EB05)."""


@dataclass(frozen=True, eq=False)
class Excess:
    """One group that explains ill units better than chance does."""

    attribute: Attribute
    name: str
    hits: float
    members: int
    expected: float
    elsewhere: tuple[float, int]
    """Ill and known units outside the group, in its strata."""
    q: float
    units: NDArray[np.intp]
    """Its ill members."""


@dataclass(frozen=True, eq=False)
class _Counted:
    """Groups of one attribute that were tested ([g])."""

    group: Codes
    hits: Floats
    members: Floats
    expected: Floats
    others: Floats
    others_ill: Floats
    usual: Floats
    """What chance gives each member: expected over members."""
    gain: Floats


@dataclass(frozen=True, eq=False)
class Units:
    """What is counted ([u]), and what it is compared and explained with."""

    stratum: Codes
    """Equal for units that may be held against each other."""
    item: Codes
    """What is ill as a whole (the link of a port): explained once, it is explained."""
    partner: NDArray[np.intp]
    """The other unit of the same item: it is no witness for how well others are."""


def covering(
    attributes: Sequence[Attribute], units: Units, rules: Sequence[Rule]
) -> Iterator[Excess]:
    """Yield the groups that explain what is ill, the one that explains most first."""
    item = units.item
    explained = np.zeros(int(item.max(initial=-1)) + 1, bool)
    while True:
        free = ~explained[item]
        found = _best(attributes, units, free, rules)
        if found is None:
            return
        yield found
        explained[item[found.units]] = True


def _best(
    attributes: Sequence[Attribute], units: Units, free: Bools, rules: Sequence[Rule]
) -> Excess | None:
    counted = [_count(one, units, free) for one in attributes]
    chances = [
        _chances(one, has, units, free) for one, has in zip(attributes, counted, strict=True)
    ]
    tests = sum(int((one.members >= rule.hits).sum())
                for one, rule in zip(counted, rules, strict=True))  # fmt: skip
    q = false_discovery(np.concatenate(chances), max(tests, 1))
    best: tuple[float, int, int, float] | None = None
    start = 0
    for number, (one, rule) in enumerate(zip(counted, rules, strict=True)):
        mine = q[start : start + len(one.group)]
        start += len(one.group)
        blamed = (mine < rule.q) & (one.hits >= rule.hits) & (one.gain > 0)
        blamed &= one.hits >= rule.share * one.members
        blamed &= least_excess(one.hits, one.expected) >= rule.excess
        for place in np.flatnonzero(blamed).tolist():
            if best is None or one.gain[place] > best[0]:
                best = float(one.gain[place]), number, place, float(mine[place])
    if best is None:
        return None
    _, number, place, doubt = best
    one, attribute = counted[number], attributes[number]
    group = int(one.group[place])
    return Excess(
        attribute,
        attribute.names[group],
        float(one.hits[place]),
        int(one.members[place]),
        float(one.expected[place]),
        (float(one.others_ill[place]), int(one.others[place])),
        doubt,
        np.flatnonzero(free & attribute.known & (attribute.ill > 0) & (attribute.code == group)),
    )


def _count(attribute: Attribute, every: Units, free: Bools) -> _Counted:
    """Count ill and known members of every group, and what its strata would give elsewhere."""
    mine = attribute.known & free
    units = np.flatnonzero(mine)
    strata, s = np.unique(every.stratum[units], return_inverse=True)
    ill = attribute.ill[units]
    ill_of = np.bincount(s, ill).astype(np.float64)
    all_of = np.bincount(s).astype(np.float64)
    held = attribute.code[units] >= 0
    pair = attribute.code[units][held] * max(len(strata), 1) + s[held]
    pairs, place = np.unique(pair, return_inverse=True)
    hits = np.bincount(place, ill[held], minlength=len(pairs)).astype(np.float64)
    members = np.bincount(place, minlength=len(pairs)).astype(np.float64)
    of = pairs % max(len(strata), 1)
    partner = every.partner[units][held]
    beside = mine[partner] & (attribute.code[partner] != attribute.code[units][held])
    with_ill = np.bincount(place, attribute.ill[partner] * beside, minlength=len(pairs))
    with_them = np.bincount(place, beside, minlength=len(pairs))
    others, others_ill = all_of[of] - members - with_them, ill_of[of] - hits - with_ill
    fair = others >= OTHERS  # half a hit of one in doubt: none of few is not never
    share = (others_ill + 0.5) / (others + 1.0)
    group, where = np.unique((pairs // max(len(strata), 1))[fair], return_inverse=True)
    size = len(group)

    def summed(values: Floats) -> Floats:
        return np.bincount(where, values[fair], minlength=size).astype(np.float64)

    k, m, expected = summed(hits), summed(members), summed(members * share)
    with np.errstate(invalid="ignore", divide="ignore"):
        usual = expected / m
    gain = _gain(k, m, usual) - 0.5 * np.log(max(len(units), 2))
    return _Counted(group, k, m, expected, summed(others), summed(others_ill), usual, gain)


def _chances(attribute: Attribute, has: _Counted, units: Units, free: Bools) -> Floats:
    """Return how likely so many ill members are, by chance, of each group ([g])."""
    p = np.ones(len(has.group))
    some = has.hits >= 1
    if not some.any():
        return p
    alike = max(_alike(attribute, has, units, free), ALIKE)
    p[some] = of_members(has.hits[some], has.members[some], has.usual[some], alike)
    return p


def _alike(attribute: Attribute, has: _Counted, units: Units, free: Bools) -> float:
    """Return how alike members are in groups that nobody would accuse.

    The worst groups, and what is ill in them, are left out: they would excuse each other.
    """
    alone = of_members(has.hits, has.members, has.usual, 0.0)
    order = np.argsort(alone, kind="stable")[: max(1, int(FEW * len(alone)))]
    worst = has.group[order[alone[order] < IMPLAUSIBLE]]
    theirs = np.isin(attribute.code, worst) & (attribute.ill > 0)
    items = np.zeros(int(units.item.max(initial=-1)) + 1, bool)
    items[units.item[theirs & attribute.known & free]] = True
    rest = _count(attribute, units, free & ~items[units.item])
    return likeness(rest.hits, rest.members, rest.usual)


def _gain(hits: Floats, members: Floats, usual: Floats) -> Floats:
    """Return the gain in log-likelihood if a group has a rate of its own ([g])."""
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.clip(hits / members, 1e-9, 1 - 1e-9)
        gain = hits * np.log(own / usual) + (members - hits) * np.log((1 - own) / (1 - usual))
    return np.where(own > usual, gain, -np.inf)
