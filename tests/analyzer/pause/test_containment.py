"""How much of one queue's pauses another explains, whatever the pace at which either is read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.pause.containment import by_time, contained, unlike

POLLS, NOW = 8, 1000.0


def polls(begins: float, read: float, pace: float) -> list[float]:
    """Return the share of each poll for which a queue was stopped that stands since a moment."""
    ends = read - pace * np.arange(POLLS - 1, -1, -1)
    return list(np.clip((ends - begins) / pace, 0.0, 1.0))


def each_in_the_other(one: list[float], other: list[float], pace: float, read: float) -> np.ndarray:
    """Return how much of `one`, read each second, lies in `other`, and of this in `one`."""
    pair = np.array([one, other]), np.array([1.0, pace]), np.array([NOW, read])
    return by_time(*pair, np.array([0, 1]), np.array([1, 0]))


@given(pace=st.floats(1.6, 30.0), age=st.floats(0.0, 0.99), stood=st.floats(1.0, 30.0))
def test_two_queues_that_stand_since_the_same_moment_explain_each_other(
    pace: float, age: float, stood: float
) -> None:
    """The seldom one was read `age` of its polls ago, and had stood for `stood` seconds then."""
    read = NOW - age * pace
    begins = read - stood
    found = each_in_the_other(polls(begins, NOW, 1.0), polls(begins, read, pace), pace, read)
    assert (found >= 1.0 - 1.0 / stood).all()  # one poll of the other does not say when it began
    assert (found <= 1.0 + 1e-9).all()


@given(pace=st.integers(2, 30), age=st.integers(0, 29), stood=st.integers(1, 30))
def test_where_it_began_between_two_polls_nothing_of_it_is_left_over(
    pace: int, age: int, stood: int
) -> None:
    read = NOW - age % pace
    begins = read - stood
    found = each_in_the_other(polls(begins, NOW, 1.0), polls(begins, read, pace), pace, read)
    assert found == pytest.approx([1.0, 1.0])


@given(pace=st.floats(1.6, 30.0), age=st.floats(0.0, 0.99))
def test_what_was_never_stopped_explains_nothing(pace: float, age: float) -> None:
    found = each_in_the_other([1.0] * POLLS, [0.0] * POLLS, pace, NOW - age * pace)
    assert found.tolist() == [0.0, 0.0]


def test_polls_of_which_the_other_tells_nothing_do_not_count() -> None:
    nan = np.nan
    paused = np.array([[1.0] * 4, [nan, nan, nan, 1.0], [nan, nan, 1.0, 0.0], [nan] * 4])
    one, other = np.zeros(3, int), np.array([1, 2, 3])
    assert contained(paused, one, other).tolist() == [1.0, 0.5, 0.0]


def test_queues_of_one_pace_are_compared_poll_by_poll_and_others_by_time() -> None:
    paused = np.array([[0.0] * 4 + [1.0] * 4, [1.0] * 4 + [0.0] * 4, [0.5] * 8])
    one, other = np.array([0, 0]), np.array([1, 2])
    assert contained(paused, one, other).tolist() == [0.0, 0.5]
    assert unlike(np.array([1.0, 1.1, 2.0, np.nan]), np.zeros(4, int), np.arange(4)).tolist() == [2]
