"""Pages of exporters: what is read, what a broken line costs, and that a known page reads alike."""

import math
import string
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from collectors.protocols.exposition import Dialect, Page, Reader
from collectors.protocols.exposition_line import reading_of, series_of
from fabrichealth.errors import MalformedReply

Told = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def told(page: Page) -> Told:
    """Return the values of a page by name and sorted labels; the last of equal ones wins."""
    return {
        (series.name, tuple(sorted(series.labels.items()))): value
        for series, value in zip(page.series, page.values.tolist(), strict=True)
    }


def read(text: str, dialect: Dialect = Dialect.TEXT) -> Page:
    return Reader().read(text.encode(), dialect)


@pytest.mark.parametrize(
    ("line", "labels", "value"),
    [
        pytest.param("up 1", {}, 1.0, id="no labels"),
        pytest.param("up{} 1", {}, 1.0, id="empty braces"),
        pytest.param('up{a="x",} 1', {"a": "x"}, 1.0, id="comma before the brace"),
        pytest.param('up { a = "x" , b="y" }\t 1 ', {"a": "x", "b": "y"}, 1.0, id="blanks"),
        pytest.param('up{a="7, \\"n\\" {B}"} 1', {"a": '7, "n" {B}'}, 1.0, id="quotes in quotes"),
        pytest.param('up{a="b\\\\n\\nc"} 1', {"a": "b\\n\nc"}, 1.0, id="backslash, then line feed"),
        pytest.param('up{a="b\\x"} 1', {"a": "b\\x"}, 1.0, id="an escape that is none"),
        pytest.param('up{a="b=c,d"}1', {"a": "b=c,d"}, 1.0, id="no blank before the value"),
        pytest.param('up{a="é"} 7.2e+03', {"a": "é"}, 7200.0, id="UTF-8, exponent"),
        pytest.param('up{a="x"} 1 # {t="9"} 0.5 1.2', {"a": "x"}, 1.0, id="an exemplar"),
        pytest.param("up -Inf", {}, -math.inf, id="minus infinity"),
        pytest.param("up +Inf\r", {}, math.inf, id="a carriage return"),
        pytest.param("up .5", {}, 0.5, id="no digit before the point"),
        pytest.param("up 18446744073709551615", {}, 2.0**64, id="more than a float holds exactly"),
    ],
)
def test_a_line_says_its_labels_and_value(line: str, labels: dict[str, str], value: float) -> None:
    reader = Reader()
    for page in (reader.read(f"{line}\n".encode()), reader.read(f"{line}\n".encode())):
        assert [(series.name, dict(series.labels)) for series in page.series] == [("up", labels)]
        assert page.values.tolist() == [value]
        assert not page.broken


def test_no_number_is_read_as_none() -> None:
    page = read("fec NaN\n")
    assert np.isnan(page.values).all()
    assert not page.broken


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('up{port="a} 5', id="quote missing"),
        pytest.param('up{port="a" b="c"} 5', id="comma missing"),
        pytest.param('up{port="a",port="b"} 5', id="label twice"),
        pytest.param("up", id="no value"),
        pytest.param("up 1_000", id="underscore"),
        pytest.param("up 0x10", id="hexadecimal"),
        pytest.param("up 1 2 3", id="a number too many"),
        pytest.param("up null", id="JSON, not a number"),
        pytest.param("up [1]", id="a JSON list"),
        pytest.param("7up 1", id="name begins with a digit"),
        pytest.param("<html>", id="not an exporter"),
    ],
)
def test_a_broken_line_costs_itself_alone(line: str) -> None:
    reader = Reader()
    text = f'before{{a="1"}} 1\n{line}\nafter{{a="2"}} 2\n'.encode()
    for page in (reader.read(text), reader.read(text)):
        kept = {series.name: v for series, v in zip(page.series, page.values, strict=True)}
        assert (kept["before"], kept["after"]) == (1.0, 2.0)
        assert [(broken.line, broken.text) for broken in page.broken] == [(2, line.encode())]
        assert np.isnan(kept.get("up", math.nan))


@pytest.mark.parametrize(
    ("dialect", "text", "at"),
    [
        pytest.param(Dialect.TEXT, "up 1 1764410399000", 1764410399.0, id="0.0.4: milliseconds"),
        pytest.param(Dialect.OPENMETRICS, "up 1 1764410399.5", 1764410399.5, id="seconds"),
        pytest.param(Dialect.TEXT, "up 1 -5", -0.005, id="before the epoch"),
    ],
)
def test_time_stamps_become_seconds(dialect: Dialect, text: str, at: float) -> None:
    reader = Reader()
    for page in (reader.read(text.encode(), dialect), reader.read(text.encode(), dialect)):
        assert page.at.tolist() == [at]


def test_a_page_without_its_end_is_not_whole() -> None:
    assert read("up 1\n# EOF\n", Dialect.OPENMETRICS).whole
    assert not read("up 1\n", Dialect.OPENMETRICS).whole
    assert read("up 1\n").whole


def test_a_known_page_keeps_its_series_and_a_changed_one_does_not() -> None:
    reader = Reader()
    first = reader.read(b'# HELP a b\na{x="1"} 1\na{x="2"} 2 5\n')
    same = reader.read(b'# HELP a b\na{x="1"} 17\na{x="2"} 2.25 6\n')
    assert same.series is first.series
    assert same.values.tolist() == [17.0, 2.25]
    assert same.at.tolist()[1] == 0.006
    swapped = reader.read(b'# HELP a b\na{x="2"} 3\na{x="1"} 4\n')
    assert told(swapped) == {("a", (("x", "2"),)): 3.0, ("a", (("x", "1"),)): 4.0}
    assert {id(series) for series in swapped.series} == {id(series) for series in first.series}


def test_a_value_that_is_no_number_does_not_move_the_others() -> None:
    reader = Reader()
    first = reader.read(b"a 1\nb 2\nc 3\n")
    page = reader.read(b"a 4\nb oops\nc NaN\n")
    assert page.series is first.series
    assert page.values[0] == 4.0
    assert np.isnan(page.values[1:]).all()
    assert [(broken.line, broken.text) for broken in page.broken] == [(2, b"b oops")]


def test_padding_is_not_taken_for_text() -> None:
    reader = Reader()
    reader.read(b"a 12\nb 1\n")
    page = reader.read(b"a 1\x002\nb 1\n")
    assert np.isnan(page.values[0])
    assert len(page.broken) == 1


def test_a_target_whose_series_churn_does_not_fill_the_memory() -> None:
    reader = Reader()
    for pod in range(30):
        text = "".join(f'up{{pod="{pod}-{row}"}} 1\n' for row in range(1000))
        reader.read(text.encode())
    assert len(reader._known) <= 2 * 1000 + 10_000 + 1000


names = st.text(string.ascii_letters + "_:", min_size=1, max_size=6)
label_names = st.text(string.ascii_letters + "_", min_size=1, max_size=4).filter(
    lambda name: not name.startswith("__")  # kept for Prometheus itself; its client refuses them
)
label_values = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=6)
numbers = st.floats(allow_nan=False) | st.integers(-(2**63), 2**64)


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@st.composite
def pages(draw: st.DrawFn) -> tuple[list[str], list[float]]:
    """Draw what stands before the values of a page, and its values."""
    heads = draw(
        st.lists(
            st.tuples(names, st.dictionaries(label_names, label_values, max_size=3)), max_size=12
        )
    )
    lines = [
        name + "{" + ",".join(f'{key}="{escaped(value)}"' for key, value in labels.items()) + "}"
        for name, labels in heads
    ]
    values = draw(st.lists(numbers, min_size=len(lines), max_size=len(lines)))
    return lines, [float(value) for value in values]


@given(page=pages(), stamped=st.lists(st.none() | st.integers(0, 2**42), min_size=12))
def test_first_and_second_reading_agree(
    page: tuple[list[str], list[float]], stamped: list[int | None]
) -> None:
    lines, values = page
    text = "".join(
        f"{line} {value!r}{'' if stamp is None else f' {stamp}'}\n"
        for line, value, stamp in zip(lines, values, stamped, strict=False)
    ).encode()
    reader = Reader()
    reader.read("".join(f"{line} 0\n" for line in lines).encode())  # the same shape
    known, fresh = reader.read(text), Reader().read(text)
    assert known.values.tolist() == fresh.values.tolist() == values
    np.testing.assert_array_equal(known.at, fresh.at)
    assert told(known) == told(fresh)
    assert not known.broken
    assert not fresh.broken


@given(pages())
def test_the_reference_parser_reads_the_same(page: tuple[list[str], list[float]]) -> None:
    lines, values = page
    text = "".join(f"{line} {value!r}\n" for line, value in zip(lines, values, strict=True))
    reference = {
        (sample.name, tuple(sorted(sample.labels.items()))): float(sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert told(read(text)) == reference


alphabet = st.sampled_from(
    [b"up", b"{", b"}", b'a="b"', b",", b" ", b"1", b"\n", b"#", b"\\", b'"']
)


@settings(max_examples=150)
@given(
    first=st.binary(max_size=60) | st.lists(alphabet, max_size=30).map(b"".join),
    second=st.binary(max_size=60) | st.lists(alphabet, max_size=30).map(b"".join),
)
def test_any_bytes_give_a_page(first: bytes, second: bytes) -> None:
    reader = Reader()
    for body in (first, first, second):
        page, fresh = reader.read(body), Reader().read(body)
        np.testing.assert_array_equal(page.values, fresh.values)
        assert [broken.line for broken in page.broken] == [broken.line for broken in fresh.broken]
        assert len(page.series) == len(page.values) == len(page.at)


@given(st.binary(max_size=40))
def test_any_line_gives_a_sample_or_is_malformed(line: bytes) -> None:
    for decode in (series_of, reading_of):
        with suppress(MalformedReply):
            assert decode(line)
