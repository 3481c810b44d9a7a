"""Series by number, and windows over them, against slow references."""

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import RX_BYTES, UP
from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable, Window, aligned

words = st.sampled_from(["a", "b", "c", "leaf-01", ""])
ports = st.lists(st.tuples(words, words), max_size=30)


@given(ports)
def test_a_series_has_one_number_and_a_number_one_series(labels: list[tuple[str, str]]) -> None:
    table = SeriesTable()
    numbers = {one: table.intern(UP, one) for one in labels}
    assert len(table) == len(set(labels)) == len(set(numbers.values()))
    for one, number in numbers.items():
        assert table.intern(UP, one) == table.find(UP, one) == number
        assert (table.metric(number), table.labels(number)) == (UP, one)
        assert table.find(RX_BYTES, one) is None
    assert table.of(UP).tolist() == sorted(numbers.values())


@given(st.lists(st.tuples(st.sampled_from([UP, RX_BYTES]), words, words), max_size=30))
def test_the_series_of_a_metric_are_its_own(wanted: list[tuple[Metric, str, str]]) -> None:
    table = SeriesTable()
    for metric, device, port in wanted:
        table.intern(metric, (device, port))
        table.of(metric)  # asked in between, as live
    for metric in (UP, RX_BYTES):
        own = [number for number in range(len(table)) if table.metric(number) is metric]
        assert table.of(metric).tolist() == own


@pytest.mark.parametrize("labels", [(), ("a",), ("a", "b", "c")])
def test_labels_that_do_not_fit_are_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        SeriesTable().intern(UP, labels)


@given(
    st.lists(st.tuples(words, words, words), min_size=1, max_size=25),
    st.sampled_from([("device",), ("device", "port"), ("lane",), ("lane", "device")]),
)
def test_codes_are_equal_where_the_named_labels_are(
    labels: list[tuple[str, str, str]], names: tuple[str, ...]
) -> None:
    table = SeriesTable()
    for one in labels:
        table.intern(RX_POWER, one)
        table.codes(table.of(RX_POWER), RX_POWER, names)  # grown in between
    series = table.of(RX_POWER)
    codes = table.codes(series, RX_POWER, names)
    columns = [RX_POWER.labels.index(name) for name in names]
    parts = [tuple(table.labels(int(n))[column] for column in columns) for n in series]
    for row in range(len(parts)):
        for other in range(row):
            assert (codes[row] == codes[other]) == (parts[row] == parts[other])


def test_a_label_that_a_metric_has_not_is_refused() -> None:
    table = SeriesTable()
    table.intern(UP, ("a", "b"))
    with pytest.raises(ValueError, match="lane"):
        table.codes(table.of(UP), UP, ["lane"])


def test_a_target_has_one_clock() -> None:
    table = SeriesTable()
    one, other = table.clock("prom", "a"), table.clock("host", "a")
    assert one != other
    assert table.clock("prom", "a") == one
    assert table.clocks() == [("prom", "a"), ("host", "a")]


def window(rows: list[dict[float, float]], seconds: float = 600.0, until: float = 600.0) -> Window:
    """Return the window of series each on a clock of its own, from value by time."""
    table = SeriesTable()
    samples = []
    for number, row in enumerate(rows):
        series = table.intern_all([(UP, ("d", str(number)))])
        clock = table.clock("s", str(number))
        samples += [(clock, at, series, np.array([value])) for at, value in row.items()]
    return aligned(UP, table, samples, until, seconds)


def regular(period: float, lost: Iterable[int] = ()) -> dict[float, float]:
    """Return value by time of a row that came each `period` seconds, but for those lost."""
    polls = set(range(math.ceil(600.0 / period))) - set(lost)
    return {600.0 - period * k: float(k) for k in sorted(polls)}


@pytest.mark.parametrize("period", [1.0, 7.5, 60.0, 299.0])
def test_a_row_that_came_whole_is_covered_whatever_its_period(period: float) -> None:
    one = window([regular(period)])
    assert one.period[0] == pytest.approx(period)
    assert one.coverage[0] == 1.0


def test_each_row_is_held_to_its_own_period() -> None:
    one = window([regular(10.0), regular(60.0), regular(10.0, lost=range(10, 40))])
    assert one.period.tolist() == [10.0, 60.0, 10.0]
    assert one.coverage.tolist() == [1.0, 1.0, 0.5]


@pytest.mark.parametrize("rows", [[{600.0: 1.0}], [{599.0: np.nan, 600.0: 1.0}]])
def test_of_one_value_no_period_is_known(rows: list[dict[float, float]]) -> None:
    one = window(rows)
    assert np.isnan(one.period[0])
    assert one.coverage[0] == 0.0
    assert one.last[0] == 1.0


def test_the_newest_value_is_the_last_one_that_is_there() -> None:
    one = window([{100.0: 1.0, 200.0: 2.0, 300.0: np.nan}, {50.0: 7.0}])
    assert one.last.tolist() == [2.0, 7.0]
    assert one.last_at.tolist() == [200.0, 50.0]


def test_a_window_ends_with_its_end_and_begins_after_its_beginning() -> None:
    one = window([{0.0: 1.0, 0.1: 2.0, 600.0: 3.0, 600.1: 4.0}])
    assert one.values[0].tolist() == [2.0, 3.0]


def test_an_empty_window_has_no_rows_and_no_words() -> None:
    one = window([])
    assert len(one) == 0
    for column in (one.period, one.coverage, one.last, one.last_at):
        assert len(column) == 0


rows_of = st.lists(
    st.dictionaries(st.integers(1, 600).map(float), st.floats(-1e9, 1e9) | st.just(np.nan)),
    max_size=5,
)


@given(rows_of)
def test_columns_are_what_a_slow_reader_would_write(rows: list[dict[float, float]]) -> None:
    one = window(rows)
    for row in range(len(one)):
        said = rows[int(one.labels(row)[1])]
        finite = {at: value for at, value in sorted(said.items()) if not np.isnan(value)}
        times = list(finite)
        assert one.row(*one.labels(row)) == row
        if not finite:
            assert np.isnan(one.last[row])
            continue
        assert one.last[row] == finite[times[-1]]
        assert one.last_at[row] == times[-1]
        kept = one.values[row][np.isfinite(one.values[row])]
        assert kept.tolist() == list(finite.values())
        if len(times) > 1:
            assert one.period[row] == pytest.approx(float(np.median(np.diff(times))))
            expected = max(1.0, np.floor(600.0 / one.period[row] + 1e-9))
            assert one.coverage[row] == pytest.approx(min(1.0, len(times) / expected))


@given(rows_of, st.data())
def test_some_rows_of_a_window_say_the_same(
    rows: list[dict[float, float]], data: st.DataObject
) -> None:
    one = window(rows)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(one), max_size=len(one))), bool)
    some = one.select(keep)
    for column in ("period", "coverage", "last", "last_at", "series"):
        np.testing.assert_array_equal(getattr(some, column), getattr(one, column)[keep])


def test_a_series_that_is_not_in_the_window_has_no_row() -> None:
    one = window([{600.0: 1.0}])
    one.table.intern(UP, ("d", "later"))
    assert one.row("d", "later") is None
    assert one.row("d", "never") is None
