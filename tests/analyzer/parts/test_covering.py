"""The fewest groups that explain what is ill: nested and crossing ones, chance, and strata."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.evidence.parts.covering import Attribute, Excess, Rule, Units, covering

PORTS = 256
RULE = Rule(q=0.01, hits=3.0, share=0.25)


def blame(
    groups: Mapping[str, np.ndarray],
    ill: np.ndarray,
    stratum: np.ndarray | None = None,
    known: np.ndarray | None = None,
    rule: Rule = RULE,
) -> list[Excess]:
    """Return what is blamed; every unit is an item of its own."""
    size = len(ill)
    attributes = [
        Attribute(
            name,
            [f"{name}-{n}" for n in range(int(code.max()) + 1)],
            code,
            ill.astype(np.float64),
            np.ones(size, bool) if known is None else known,
        )
        for name, code in groups.items()
    ]
    itself = np.arange(size)
    units = Units(np.zeros(size, np.int64) if stratum is None else stratum, itself, itself)
    return list(covering(attributes, units, [rule] * len(attributes)))


def names(found: list[Excess]) -> list[str]:
    return [one.name for one in found]


NUMBER = np.arange(PORTS)
CARD, SWITCH = NUMBER // 8, NUMBER // 64
SCATTERED = (NUMBER * 101) % PORTS // 16
"""Lots, in no order of place."""


def test_a_card_is_blamed_and_not_the_switch_that_holds_it() -> None:
    (one,) = blame({"card": CARD, "switch": SWITCH}, CARD == 5)
    assert (one.name, one.hits, one.members, one.elsewhere) == ("card-5", 8.0, 8, (0.0, 248))


def test_a_switch_is_blamed_and_not_each_of_its_cards() -> None:
    assert names(blame({"card": CARD, "switch": SWITCH}, SWITCH == 2)) == ["switch-2"]


def test_two_causes_are_two() -> None:
    ill = (CARD == 3) | (SCATTERED == 7)
    assert sorted(names(blame({"card": CARD, "lot": SCATTERED}, ill))) == ["card-3", "lot-7"]


def test_a_lot_that_sits_in_a_bad_trunk_is_not_blamed_for_it() -> None:
    lot = np.where((CARD == 3) | (CARD == 9), 1, 0)
    found = names(blame({"trunk": CARD, "lot": lot}, CARD == 3))
    assert found == ["trunk-3"]


def test_a_habit_of_one_sort_of_link_is_not_a_bad_card() -> None:
    """Most copper errs: of two cards that are all copper each is like the other."""
    copper = np.isin(CARD, (4, 20)).astype(np.int64)
    ill = (copper == 1) & (NUMBER % 8 < 6)
    assert blame({"card": CARD}, ill, stratum=copper) == []
    assert blame({"card": CARD}, ill) != []


def test_what_is_not_known_is_neither_ill_nor_well() -> None:
    known = (CARD != 5) | (NUMBER % 8 < 2)
    assert blame({"card": CARD}, CARD == 5, known=known) == []


def test_nothing_is_said_where_there_is_nothing_to_compare_with() -> None:
    alone = np.zeros(PORTS, np.int64)
    assert blame({"lot": alone}, NUMBER < 100) == []


@pytest.mark.parametrize("share", [0.002, 0.02, 0.1])
def test_chance_is_seldom_blamed(share: float) -> None:
    chance = np.random.default_rng(11)
    groups = {"card": CARD, "switch": SWITCH, "lot": SCATTERED}
    false = sum(bool(blame(groups, chance.random(PORTS) < share)) for _ in range(200))
    assert false <= 6  # of 200, at a rate of one in a hundred: beyond the 99 % quantile


def test_failures_that_come_together_everywhere_accuse_nobody() -> None:
    """A hall in which neighbours always fail together, on every card alike."""
    chance = np.random.default_rng(2)
    ill = chance.random(PORTS // 2) < 0.06
    assert blame({"card": CARD}, np.repeat(ill, 2)) == []


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 40), st.floats(0, 1))
def test_every_group_explains_something_new(seed: int, ill: int, known: float) -> None:
    chance = np.random.default_rng(seed)
    sick = np.zeros(PORTS, bool)
    sick[chance.permutation(PORTS)[:ill]] = True
    sick |= int(chance.integers(0, 40)) == CARD
    heard = chance.random(PORTS) < known
    seen: set[int] = set()
    for one in blame({"card": CARD, "lot": SCATTERED}, sick, known=heard):
        mine = set(one.units.tolist())
        assert len(mine) == one.hits >= RULE.hits
        assert not mine & seen
        assert one.q < RULE.q
        seen |= mine
