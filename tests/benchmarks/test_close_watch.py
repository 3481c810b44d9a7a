"""The benchmark of the close watch: a case lives at each pace, and reading closely is no worse."""

import logging

import pytest

from benchmarks.close_watch import Named, Pace, cost, named, page


def test_a_storm_is_named_no_later_where_few_are_read_closely(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        seldom, closely = (named("broken_nic", 1, pace) for pace in (Pace.NOBODY, Pace.WATCHED))
    assert seldom.after is not None
    assert closely.after is not None
    assert closely.after <= seldom.after
    assert seldom.polls < closely.polls < 2 * seldom.polls
    assert seldom.false == closely.false == 0


def test_the_table_has_a_row_for_each_case_and_pace() -> None:
    rows = [
        Named("storm", False, Pace.NOBODY, 30.0, 0, 100),
        Named("storm", False, Pace.NOBODY, None, 1, 100),
        Named("quiet", True, Pace.NOBODY, None, 0, 50),
    ]
    text = page(rows)
    assert "1 of 2" in text
    assert "30 s, 30 s" in text
    assert "200" in text
    quiet = next(line for line in text.splitlines() if "quiet" in line)
    assert quiet.count(" - ") >= 1


def test_what_the_trigger_costs_is_told() -> None:
    assert cost(ports=2, polls=3).startswith("2 ports x 8 priorities, 96 readings: ")
