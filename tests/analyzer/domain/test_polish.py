"""What a host, a place and a single accelerator do by themselves, told apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.domain.polish import polished
from fabrichealth.model import Floats

HOSTS, PLACES = 6, 5


def table(seed: int = 1) -> Floats:
    return 0.01 * np.random.default_rng(seed).standard_normal((HOSTS, PLACES, 3))


@given(st.integers(0, HOSTS - 1), st.integers(0, PLACES - 1), st.floats(1.0, 50.0))
def test_a_host_a_place_and_a_cell_are_told_apart(host: int, place: int, by: float) -> None:
    line, column, cell = table(), table(), table()
    line[host] += by
    column[:, place] += by
    cell[host, place] += by
    for given_table, told in ((line, "line"), (column, "column"), (cell, "cell")):
        found = polished(given_table)
        effects = {
            "line": found.line[host, 0],
            "column": found.column[place, 0],
            "cell": found.cell[host, place, 0],
        }
        assert max(effects, key=effects.__getitem__) == told
        assert np.isclose(effects[told], by, atol=0.1)


def test_effects_add_up_to_what_was_read() -> None:
    values = table() + 3.0
    found = polished(values)
    whole = found.line[:, None, :] + found.column[None, :, :] + found.cell
    assert np.allclose(whole, values)


def test_one_of_two_accelerators_of_a_host_is_not_its_host() -> None:
    values = np.zeros((4, 2, 1))
    values[1, 0] = 9.0
    found = polished(values)
    assert (found.line[1, 0], found.cell[1, 0, 0]) == (0.0, 9.0)
    values[1, 1] = 8.0
    assert polished(values).line[1, 0] >= 8.0


def test_what_is_missing_moves_nothing() -> None:
    values = table()
    values[2, :, :] = np.nan
    values[0, 1, 0] = np.nan
    found = polished(values)
    assert (np.abs(found.line) < 0.05).all()
    assert np.isnan(found.cell[2]).all()
