"""Where a job fits best: few domains, few racks, little spoilt, nothing behind a sick link."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.domain.placing import Placement, placements
from analyzer.evidence.domain.room import Room


def room(
    free: list[int],
    *,
    domain: str = "pod-0",
    racks: list[str] | None = None,
    fit: list[int] | None = None,
    size: int = 8,
    unknown: int = 0,
) -> Room:
    """Return a domain of trays t0, t1, .. of eight, so many of each free."""
    many = len(free)
    return Room(
        domain,
        tuple(f"{domain}-t{n}" for n in range(many)),
        tuple(racks or [f"{domain}-r"] * many),
        np.full(many, size),
        np.array(free, np.int64),
        np.array(free if fit is None else fit, np.int64),
        np.full(many, unknown, np.int64),
    )


def best(job: int, *rooms: Room, waiting: Mapping[int, int] | None = None) -> Placement:
    return placements(rooms, job, waiting or {})[0]


def taken(one: Placement) -> dict[str, int]:
    return {share.tray: share.accelerators for share in one.shares}


def test_a_small_job_fills_the_tightest_hole() -> None:
    assert taken(best(2, room([8, 3, 2, 6]))) == {"pod-0-t2": 2}


def test_a_job_goes_to_the_one_host_that_is_large_enough_for_it() -> None:
    mixed = replace(room([4, 0, 0, 6], size=4), size=np.array([4, 4, 4, 8]))
    assert taken(best(6, mixed)) == {"pod-0-t3": 6}
    assert placements([mixed], 10, {}) == []  # what is left of the large one is not whole
    smaller = replace(room([4, 4, 0, 2], size=4), size=np.array([4, 4, 4, 8]))
    assert taken(best(6, smaller)) == {"pod-0-t0": 4, "pod-0-t1": 2}


def test_whole_trays_are_kept_for_those_who_want_them() -> None:
    one = best(2, room([8, 5]), waiting={8: 1})
    assert taken(one) == {"pod-0-t1": 2}
    assert one.largest_after == 8


def test_what_waits_decides_what_is_spoilt() -> None:
    # of 4 and 6, three in the six leave three: nothing to a job of four; in the four, one
    assert taken(best(3, room([4, 6]), waiting={6: 1})) == {"pod-0-t0": 3}
    assert taken(best(2, room([4, 6]), waiting={4: 1})) == {"pod-0-t1": 2}


def test_a_large_job_takes_whole_trays_in_few_racks() -> None:
    racks = ["a", "a", "b", "b", "b", "c"]
    one = best(16, room([8] * 6, racks=racks))
    assert one.racks == ("a",)
    assert taken(one) == {"pod-0-t0": 8, "pod-0-t1": 8}
    two = best(32, room([8] * 6, racks=racks))
    assert two.racks == ("b", "c")  # a would do as well, and leave less of it


def test_a_job_of_no_whole_number_of_trays_takes_the_last_in_part() -> None:
    assert sorted(taken(best(12, room([8, 8, 8]))).values()) == [4, 8]


def test_nothing_is_placed_behind_what_is_ill() -> None:
    assert taken(best(8, room([8, 8], fit=[7, 8]))) == {"pod-0-t1": 8}
    assert placements([room([8, 8], fit=[7, 7])], 8, {}) == []


def test_a_job_of_one_has_a_place_behind_what_is_ill_if_there_is_no_other() -> None:
    one = best(1, room([2, 0], fit=[0, 0]))
    assert one.behind_ill
    assert not best(1, room([2, 1], fit=[0, 1])).behind_ill


def test_the_best_domain_comes_first_and_each_has_a_place() -> None:
    tight = room([8, 8, 0, 0], domain="tight", racks=["a", "a", "b", "b"])
    spread = room([8, 0, 8, 0], domain="spread", racks=["a", "a", "b", "b"])
    found = placements([spread, tight], 16, {})
    assert [one.domains for one in found] == [("tight",), ("spread",)]


def test_several_domains_are_the_last_resort() -> None:
    one, two = room([8, 8], domain="one"), room([8, 8, 8], domain="two")
    found = placements([one, two], 32, {})
    assert [place.domains for place in found] == [("two", "one")]
    assert sum(taken(found[0]).values()) == 32
    assert placements([one, two], 48, {}) == []


def test_a_domain_of_which_nobody_speaks_has_no_place() -> None:
    assert placements([room([8], unknown=8)], 1, {}) == []


def test_a_job_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="give 1 or more"):
        placements([room([8])], 0, {})


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=12),
    st.integers(1, 40),
    st.dictionaries(st.integers(1, 40), st.integers(1, 3), max_size=3),
)
def test_a_place_is_there_exactly_where_the_job_fits(
    free: list[int], job: int, waiting: dict[int, int]
) -> None:
    here = room(free, racks=[f"r{n // 3}" for n in range(len(free))])
    found = placements([here], job, waiting)
    assert bool(found) == (here.placeable(job) >= job)
    for one in found:
        had = dict(zip(here.trays, free, strict=True))
        assert sum(taken(one).values()) == job
        assert all(0 < many <= had[tray] for tray, many in taken(one).items())
        assert len(taken(one)) == len(one.shares)
