"""Shares of counters that are refreshed more seldom than they are read."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from analyzer.evidence.pause.shares import spread
from fabrichealth.model import Floats

RATES = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=9),
    elements=st.sampled_from([0.0, 0.5, 0.97, 1.94, 2.91, 40.0, float("nan")]),
)  # fmt: skip


@given(RATES)
def test_nothing_is_added_and_what_is_possible_stays_where_it_was(rate: Floats) -> None:
    found = spread(rate, np.full(rate.shape, 1.0), 1.05)
    assert found.shape == rate.shape
    assert np.nansum(found) <= np.nansum(rate) + 1e-9
    possible = (rate > 0) & (rate <= 1.05)
    assert (found[possible] == rate[possible]).all()
    assert not ((found > 1.05) & (found != rate)).any()


def test_a_rise_is_laid_over_the_polls_in_which_nothing_moved_and_no_further() -> None:
    rate = np.array([[0.5, 0.0, 0.0, 1.94, 0.0], [0.5, 0.3, 0.0, 40.0, 0.0]])
    found = spread(rate, np.ones((2, 5)), 1.05)
    np.testing.assert_allclose(found[0, :4], [0.5, 0.0, 0.97, 0.97])
    assert np.isnan(found[0, 4])
    np.testing.assert_allclose(found[1], rate[1])
