"""What a start and an end belong to each other by."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.incidents.spans import spans
from fabrichealth.events import Event

HERE, THERE = {"rack": "r1"}, {"rack": "r2"}


@pytest.mark.parametrize(
    ("start", "end", "ends"),
    [
        pytest.param((HERE, "d1"), ({}, "d1"), True, id="its id"),
        pytest.param((HERE, "drill-made-up"), (HERE, ""), True, id="its scope; the end has no id"),
        pytest.param((HERE, ""), (HERE, "d1"), True, id="its scope; the start has no id"),
        pytest.param(({}, "drill-made-up"), ({}, ""), True, id="the whole site"),
        pytest.param((HERE, "d1"), (HERE, "d2"), False, id="another id of the same scope"),
        pytest.param((HERE, ""), (THERE, ""), False, id="another scope"),
        pytest.param((HERE, "d1"), ({}, ""), False, id="the whole site ends no part of it"),
    ],
)
def test_an_end_ends_what_it_belongs_to(
    start: tuple[dict[str, str], str], end: tuple[dict[str, str], str], ends: bool
) -> None:
    told = [Event(0.0, "drill_start", *start), Event(5.0, "drill_end", *end)]
    (one,) = spans(told, "drill")
    assert (one.start, one.end) == (0.0, 5.0 if ends else inf)


def test_what_nobody_ends_lasts_as_long_as_it_may_and_no_longer() -> None:
    started = Event(0.0, "maintenance_start", HERE)
    late = Event(90.0, "maintenance_end", HERE)
    assert [one.end for one in spans([started, late], "maintenance", 60.0)] == [60.0]
    assert spans([started, late], "drill") == []


def test_one_end_ends_both_of_one_scope() -> None:
    told = [Event(at, "drill_start", HERE, f"drill-{at}") for at in (0.0, 1.0)]
    assert [one.end for one in spans([*told, Event(5.0, "drill_end", HERE)], "drill")] == [5.0, 5.0]


@given(st.lists(st.tuples(st.sampled_from(["start", "end"]), st.sampled_from("ab"),
                          st.sampled_from(["", "1"])), max_size=10))  # fmt: skip
def test_no_order_of_events_makes_a_time_end_before_it_began(
    told: list[tuple[str, str, str]],
) -> None:
    events = [
        Event(float(at), f"drill_{what}", {"rack": rack}, name)
        for at, (what, rack, name) in enumerate(told)
    ]
    found = spans(events, "drill")
    assert len(found) == sum(what == "start" for what, *_ in told)
    assert all(one.start < one.end for one in found)
