"""How long things last when some of them still do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.recovery.survival import kaplan_meier

# Weeks of remission under 6-mercaptopurine (Freireich et al. 1963), the textbooks' example; those
# with a minus were still in remission.
REMISSION = (6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34,
             -35)  # fmt: skip
TABLE = ((6, 0.857), (7, 0.807), (10, 0.753), (13, 0.690), (16, 0.627), (22, 0.538), (23, 0.448))


def test_it_gives_the_table_of_the_textbooks() -> None:
    found = kaplan_meier([abs(week) for week in REMISSION], [week > 0 for week in REMISSION])
    assert (found.number, found.ended) == (21, 9)
    assert list(zip(found.times, found.share.round(3), strict=True)) == list(TABLE)
    assert found.quantile(0.5) == 23.0
    assert found.quantile(0.1) == 6.0
    assert found.quantile(0.9) is None  # nobody was watched for so long


def test_nothing_that_is_over_has_no_quantile() -> None:
    found = kaplan_meier([5.0, 9.0], [False, False])
    assert (found.number, found.ended, found.quantile(0.5)) == (2, 0, None)
    assert kaplan_meier([], []).quantile(0.5) is None


@settings(deadline=None)
@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=40), st.floats(0.05, 1.0))
def test_where_everything_is_over_it_is_the_plain_share(lasted: list[float], share: float) -> None:
    found = kaplan_meier(lasted, [True] * len(lasted))
    ordered = np.sort(lasted)
    place = int(np.ceil(share * len(lasted) - 1e-9)) - 1
    assert found.quantile(share) == pytest.approx(ordered[max(place, 0)])


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 1e6), st.booleans()), min_size=1, max_size=40))
def test_what_goes_on_never_makes_it_shorter(entries: list[tuple[float, bool]]) -> None:
    lasted, over = [one for one, _ in entries], [done for _, done in entries]
    with_them = kaplan_meier(lasted, over).quantile(0.5)
    without = kaplan_meier([one for one, done in entries if done], [d for d in over if d])
    if with_them is not None:
        assert with_them >= (without.quantile(0.5) or 0.0)
