"""Sparklines and keys: what is drawn of a series, and what a terminal sends for a key."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrichealth.cli._keys import keys
from fabrichealth.cli._sparkline import BLOCKS, PLAIN, sparkline

AT = np.arange(1.0, 9.0)


def test_a_gauge_is_drawn_from_its_least_to_its_most() -> None:
    spark = sparkline(AT, np.arange(8.0), (0.0, 8.0), 8)
    assert spark == (BLOCKS, 0.0, 7.0)


def test_a_counter_is_drawn_by_how_much_it_grew_and_lies_low_while_it_stands() -> None:
    spark = sparkline(AT, np.array([5.0, 5, 5, 5, 6, 8, 8, 8]), (0.0, 8.0), 8, counter=True)
    assert spark.drawn == " ▁▁▁▅█▁▁"
    assert (spark.low, spark.high) == (0.0, 2.0)


def test_where_nothing_was_read_nothing_is_drawn() -> None:
    values = np.array([1.0, np.nan, np.nan, np.nan, 1.0, 1.0, 1.0, 2.0])
    assert sparkline(AT, values, (0.0, 8.0), 8).drawn == "▁   ▁▁▁█"
    nothing = sparkline(np.empty(0), np.empty(0), (0.0, 8.0), 8)
    assert nothing.drawn == " " * 8
    assert math.isnan(nothing.high)


def test_a_terminal_without_blocks_gets_plain_characters() -> None:
    assert sparkline(AT, np.arange(8.0), (0.0, 8.0), 8, shades=PLAIN).drawn == PLAIN


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(st.floats(allow_infinity=False), max_size=20),
    width=st.integers(0, 40),
    counter=st.booleans(),
)
def test_any_series_is_drawn_as_wide_as_asked(
    values: list[float], width: int, counter: bool
) -> None:
    at = np.arange(len(values), dtype=float)
    with np.errstate(all="ignore"):
        spark = sparkline(at, np.array(values), (-1.0, 20.0), width, counter=counter)
    assert len(spark.drawn) == width


@pytest.mark.parametrize(
    ("sent", "pressed", "half"),
    [
        ("\x1b[A\x1bOB", ["up", "down"], ""),
        ("jk\rq", ["down", "up", "enter", "quit"], ""),
        ("\x1b[5~\x1b[1;5C\x1b[6~", ["page up", "page down"], ""),
        ("\x1b", [], "\x1b"),
        ("x\x1b[1", [], "\x1b[1"),
        ("\x1bq", ["back", "quit"], ""),
    ],
    ids=["arrows", "letters", "unknown between", "lone escape", "half", "escape, then a key"],
)
def test_keys_are_read_from_what_a_terminal_sends(sent: str, pressed: list[str], half: str) -> None:
    assert keys(sent) == (pressed, half)


@settings(max_examples=40, deadline=None)
@given(sent=st.text(alphabet="\x1b[O0;~AB q\r\x00é", max_size=12), cut=st.integers(0, 12))
def test_a_key_that_comes_in_pieces_is_the_same_key(sent: str, cut: int) -> None:
    first, half = keys(sent[:cut])
    second, rest = keys(half + sent[cut:])
    assert (first + second, rest) == keys(sent)
