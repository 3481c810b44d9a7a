"""Histories: what recorders write, in whatever order, comes into a store; and out again."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrichealth import history
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import PORT_INFO, SPEED, SYMBOL_ERRORS, UP
from fabrichealth.catalogue.verdicts import LINK_HEALTH
from fabrichealth.catalogue.watchers import SOURCE_UP
from fabrichealth.errors import SiteError
from fabrichealth.history import HistoryReport, clocks
from fabrichealth.metric import Metric
from fabrichealth.model import Reason
from fabrichealth.store.embedded import EmbeddedStore

PORT = {"device": "leaf-01", "port": "Ethernet0"}
EVER = 1e12
BASE = 1_767_225_600
"""Unix seconds; times in these tests count from here."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    kept = EmbeddedStore.open(tmp_path / "store")
    yield kept
    kept.close()


def line(metric: Metric | str, values: list[Any], seconds: list[float], **labels: str) -> str:
    """Return one line of a history, of port leaf-01/Ethernet0 where labels say nothing else."""
    return json.dumps(
        {
            "metric": {"__name__": str(metric), **PORT, **labels},
            "values": values,
            "timestamps": [round((BASE + at) * 1000) for at in seconds],
        }
    )


def read(store: EmbeddedStore, folder: Path, *lines: str) -> HistoryReport:
    """Write lines to a file and read it into the store."""
    path = folder / "history.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return history.read([path], store)


def held(store: EmbeddedStore, metric: Metric, *labels: str) -> list[tuple[float, float]]:
    """Return (at, value) of a series of leaf-01/Ethernet0, or of other labels."""
    series = store.table.find(metric, labels or tuple(PORT.values()))
    assert series is not None
    at, values = store.one(series, -EVER, EVER)
    since = [round(moment - BASE, 3) for moment in at.tolist()]
    return list(zip(since, values.tolist(), strict=True))


def test_a_line_is_a_series(store: EmbeddedStore, tmp_path: Path) -> None:
    report = read(store, tmp_path, line(SYMBOL_ERRORS, [5, 6.0, 9], [10, 20.5, 30]))
    assert held(store, SYMBOL_ERRORS) == [(10.0, 5.0), (20.5, 6.0), (30.0, 9.0)]
    assert (report.samples, report.series, report.warnings) == (3, 1, [])


def test_lines_and_samples_come_in_any_order_and_the_last_wins(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    read(
        store,
        tmp_path,
        line(UP, [1, 0, 1], [30, 20, 30]),
        line(UP, [0, 1], [40, 10]),
        line(UP, [0], [20.0]),
        line(UP, [0], [30.0]),
    )
    assert held(store, UP) == [(10.0, 1.0), (20.0, 0.0), (30.0, 0.0), (40.0, 0.0)]


def test_null_is_missing_and_text_is_refused(store: EmbeddedStore, tmp_path: Path) -> None:
    values = [1, None, "Infinity", "NaN", True, 0]
    report = read(store, tmp_path, line(UP, values, [10, 20, 30, 40, 50, 60]))
    assert held(store, UP) == [(10.0, 1.0), (60.0, 0.0)]
    assert (report.missing, report.refused, report.malformed) == (1, {Reason.MALFORMED: 3}, 0)
    assert report.warnings == [
        "history.jsonl: fabric_port_up: 3 values refused, not a finite number"
    ]


def test_what_no_instrument_can_say_is_refused_and_said_once_a_metric(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    report = read(
        store,
        tmp_path,
        line(UP, [1, 7, 0, -1], [10, 20, 30, 40]),
        line(UP, [2], [10], port="Ethernet4"),
        line(SYMBOL_ERRORS, [5, 1e308], [10, 20]),
        line(SPEED, [-4e11, 4e11], [10, 20]),
    )
    assert held(store, UP) == [(10.0, 1.0), (30.0, 0.0)]
    assert held(store, SYMBOL_ERRORS) == [(10.0, 5.0)]
    assert held(store, SPEED) == [(20.0, 4e11)]
    assert (report.refused, report.samples) == ({Reason.IMPLAUSIBLE: 5}, 4)
    assert report.warnings == [
        "history.jsonl: fabric_port_up: 3 values outside 0 .. 1 refused",
        "history.jsonl: fabric_port_symbol_errors_total: 1 value outside 0 .. 1.84467e+19 refused",
        "history.jsonl: fabric_port_speed_bits_per_second: 1 value outside "
        f"{SPEED.valid[0]:g} .. {SPEED.valid[1]:g} refused",
    ]


def test_what_is_refused_does_not_displace_a_good_sample_of_its_time(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    read(store, tmp_path, line(UP, [1, 7], [10, 10]), line(UP, [9], [10]))
    assert held(store, UP) == [(10.0, 1.0)]


def test_light_below_the_floor_is_dark_not_refused(store: EmbeddedStore, tmp_path: Path) -> None:
    report = read(store, tmp_path, line(RX_POWER, [-2, -55.5, 21], [10, 20, 30], lane="1"))
    assert held(store, RX_POWER, *PORT.values(), "1") == [(10.0, -2.0), (20.0, -40.0)]
    assert report.refused == {Reason.IMPLAUSIBLE: 1}


@pytest.mark.parametrize(
    "milliseconds",
    [
        pytest.param("-1000", id="before the epoch"),
        pytest.param("4102444800000", id="the first of 2100"),
        pytest.param("1767225615000000", id="microseconds for milliseconds"),
        pytest.param("1e300", id="no time at all"),
    ],
)
def test_an_impossible_time_stamp_costs_only_its_sample(
    store: EmbeddedStore, tmp_path: Path, milliseconds: str
) -> None:
    good = line(UP, [1, 0, 1], [10, 15, 20])
    report = read(store, tmp_path, good.replace("1767225615000", milliseconds))
    assert held(store, UP) == [(10.0, 1.0), (20.0, 1.0)]
    assert (report.refused, report.malformed) == ({Reason.IMPLAUSIBLE: 1}, 0)
    assert report.warnings == [
        "history.jsonl: 1 value with a time stamp outside 1970 .. 2100 refused; "
        "JSON lines have milliseconds, text has seconds"
    ]


def test_a_time_far_from_the_rest_is_history_if_it_is_possible(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    year = 365 * 86_400.0
    report = read(store, tmp_path, line(UP, [1, 1, 0], [10, 20, year]))
    assert held(store, UP) == [(10.0, 1.0), (20.0, 1.0), (year, 0.0)]
    assert (report.refused, report.warnings) == ({}, [])


def test_text_is_screened_as_json_is(store: EmbeddedStore, tmp_path: Path) -> None:
    port = 'fabric_port_up{device="leaf-01",port="Ethernet0"}'
    (tmp_path / "h.om").write_text(
        f"{port} 7 {BASE}\n{port} 1 {BASE + 10}\n{port} 1 -1\n{port} 0 +Inf\n{port} 0 1e14\n"
    )
    report = history.read([tmp_path / "h.om"], store)
    assert held(store, UP) == [(10.0, 1.0)]
    assert report.refused == {Reason.IMPLAUSIBLE: 4}
    assert [warning.partition(" refused")[0] for warning in report.warnings] == [
        "h.om: fabric_port_up: 1 value outside 0 .. 1",
        "h.om: 3 values with a time stamp outside 1970 .. 2100",
    ]


def test_refusals_are_said_file_by_file_however_many_lines_are_bad(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        path.write_text("\n".join(["{bad"] * 150 + [line(UP, [2, 3], [10, 20])]))
    report = history.read(paths, store)
    assert (report.malformed, report.refused) == (300, {Reason.IMPLAUSIBLE: 4})
    said = [f"{path.name}: fabric_port_up: 2 values outside 0 .. 1 refused" for path in paths]
    assert [warning for warning in report.warnings if "outside" in warning] == said
    assert len(report.warnings) == 100 + 1 + 2


def test_labels_that_a_metric_does_not_declare_are_ignored(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    report = read(
        store,
        tmp_path,
        line(UP, [0, 0], [10, 20], job="x", instance="a:1"),
        line(UP, [1, 1], [20, 30], job="x", instance="b:1"),
        line(UP, [1], [40], job="x", instance="b:1"),
    )
    assert held(store, UP) == [(10.0, 0.0), (20.0, 1.0), (30.0, 1.0), (40.0, 1.0)]
    assert (report.clashes, report.series) == (1, 1)


def test_an_absent_label_is_an_empty_one(store: EmbeddedStore, tmp_path: Path) -> None:
    read(store, tmp_path, line(PORT_INFO, [1], [10], fec=""), line(PORT_INFO, [1], [20]))
    assert len(held(store, PORT_INFO, *PORT.values(), *[""] * 12)) == 2


def test_a_name_that_the_catalogue_lacks_is_counted_and_said_once(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    report = read(store, tmp_path, *[line("up", [1], [10])] * 3, line(UP, [1], [10]))
    assert report.unknown == {"up": 3}
    assert report.warnings == ["history.jsonl:1: metric 'up' is not in the catalogue; skipped"]
    assert len(held(store, UP)) == 1


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ('{"metric": {"__name__": "fabric_port_up", "dev', "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ('{"values": [1], "timestamps": [1]}', "no `metric`"),
        ('{"metric": {"__name__": "x", "a": 1}, "values": [], "timestamps": []}', "no text"),
        (line(UP, [1, 2], [10]), "equal length"),
        (
            line(UP, [1], [10]).replace("[1767225610000]", '["1767225610000"]'),
            "timestamp that is no number",
        ),
        (line(UP, [1], [10]).replace("[1]", "[1" + "0" * 400 + "]"), "line"),
    ],
)
def test_a_bad_line_costs_only_itself_and_is_named(
    store: EmbeddedStore, tmp_path: Path, bad: str, says: str
) -> None:
    report = read(store, tmp_path, line(UP, [1], [10]), bad, line(UP, [0], [20]))
    assert held(store, UP) == [(10.0, 1.0), (20.0, 0.0)]
    if says != "line":
        assert report.malformed == 1
        assert report.warnings[0].startswith("history.jsonl:2: ")
        assert says in report.warnings[0]
    else:
        assert report.malformed + report.refused.total() == 1


def test_a_torn_gzip_gives_what_came_before(store: EmbeddedStore, tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    lines = [line(UP, [1], [at + chance.random()], port=f"p{at}") for at in range(3000)]
    packed = gzip.compress("\n".join(lines).encode())
    (tmp_path / "torn.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    report = history.read([tmp_path / "torn.jsonl.gz"], store)
    assert 500 < report.samples < 2500
    assert "torn.jsonl.gz: gzip ends in the middle; what came before it is kept" in report.warnings


def test_gzip_members_follow_one_another(store: EmbeddedStore, tmp_path: Path) -> None:
    members = [gzip.compress((line(UP, [1], [at]) + "\n").encode()) for at in (10, 20, 30)]
    (tmp_path / "h.gz").write_bytes(b"".join(members))
    report = history.read([tmp_path / "h.gz"], store)
    assert (len(held(store, UP)), report.warnings) == (3, [])


def test_a_file_that_is_not_there_is_said(store: EmbeddedStore, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="check the path"):
        history.read([tmp_path / "none.jsonl"], store)


def test_openmetrics_text_with_time_stamps(store: EmbeddedStore, tmp_path: Path) -> None:
    errors = 'fabric_port_symbol_errors_total{device="leaf-01",port="Ethernet0",job="x"}'
    (tmp_path / "h.om").write_text(
        "# TYPE fabric_port_symbol_errors counter\n"
        f"{errors} 5 1767225610.5\n"
        f"{errors} 7 1767225620.5"
        ' # {trace="a } b"} 1.0 20.4\n'
        f"{errors} NaN 1767225630.5\n"
        f"{errors} +Inf 1767225640.5\n"
        f"{errors} 9\n"
        'fabric_port_up{device="a \\"b\\" }, c",port="x\\\\y",} 1 1767225600000\n'
        "fabric_port_up{device= 1 2\n"
        'go_threads{job="x"} 5 10\n'
        "# EOF\n"
    )
    report = history.read([tmp_path / "h.om"], store)
    assert held(store, SYMBOL_ERRORS) == [(10.5, 5.0), (20.5, 7.0)]
    assert held(store, UP, 'a "b" }, c', "x\\y") == [(0.0, 1.0)]
    assert (report.missing, report.refused, report.malformed) == (1, {Reason.MALFORMED: 2}, 1)
    assert report.unknown == {"go_threads": 1}


def test_metrics_of_a_port_may_come_at_their_own_pace(store: EmbeddedStore, tmp_path: Path) -> None:
    fast = [float(at) for at in range(10, 610, 10)]
    slow, aside = fast[::6], [at + 3.3 for at in fast[::6]]
    read(
        store,
        tmp_path,
        *(line(UP, [1] * 60, fast, port=port) for port in ("a", "b")),
        line(SYMBOL_ERRORS, [1] * 10, slow, port="a"),
        *(line(RX_POWER, [-2.0] * 10, aside, port=port, lane="1") for port in ("a", "b")),
    )
    windows = [
        store.window(metric, BASE + 600.0, 600.0) for metric in (UP, SYMBOL_ERRORS, RX_POWER)
    ]
    assert [window.values.shape for window in windows] == [(2, 60), (1, 10), (2, 10)]
    assert all((window.coverage > 0.97).all() for window in windows)
    assert [sorted(set(w.clock.tolist())) for w in windows] == [[0], [0], [1]]
    assert [target for _, target in store.table.clocks()] == ["device=leaf-01", "device=leaf-01#2"]


def test_ports_that_are_read_one_by_one_are_on_clocks_of_their_own(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    """Else each port's row would hold a column for every poll of every port."""
    polls = [float(at) for at in range(10, 310, 10)]
    read(
        store,
        tmp_path,
        *(line(UP, [1] * 30, [at + n / 8 for at in polls], port=str(n)) for n in range(40)),
    )
    window = store.window(UP, BASE + 310.0, 310.0)
    assert window.values.shape == (40, 30)
    assert len(set(window.clock.tolist())) == 40


def test_things_without_a_common_time_share_their_clocks_in_turn(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clocks, "MOST_CLOCKS", 4)
    polls = [float(at) for at in range(10, 310, 10)]
    read(
        store,
        tmp_path,
        *(line(UP, [1] * 30, [at + n / 8 for at in polls], port=str(n)) for n in range(12)),
    )
    window = store.window(UP, BASE + 310.0, 310.0)
    assert np.isfinite(window.values).sum() == 12 * 30
    assert sorted(np.bincount(window.clock).tolist()) == [3, 3, 3, 3]


def test_watchers_and_verdicts_come_through(store: EmbeddedStore, tmp_path: Path) -> None:
    report = read(
        store,
        tmp_path,
        line(SOURCE_UP, [0], [10], source="sonic", target="leaf-01"),
        line(LINK_HEALTH, [0.5], [10], link="a/1--b/1", side="a/1"),
    )
    assert held(store, SOURCE_UP, "sonic", "leaf-01") == [(10.0, 0.0)]
    assert held(store, LINK_HEALTH, "a/1--b/1", "a/1") == [(10.0, 0.5)]
    assert report.verdicts == 1


STAMPS = st.integers(0, 50).map(lambda tenth: tenth / 10)
SAMPLES = st.lists(
    st.tuples(
        STAMPS,
        st.none() | st.floats(0.0, 1.0) | st.floats(allow_nan=False, allow_infinity=False),
    ),
    max_size=6,
)
PIECES = st.lists(st.tuples(st.sampled_from("abc"), SAMPLES), max_size=8)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pieces=PIECES, packed=st.booleans())
def test_pieces_in_any_order_are_merged_and_written_back(
    pieces: list[tuple[str, list[tuple[float, float | None]]]],
    packed: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("history")
    want: dict[str, dict[float, float]] = {}
    for port, samples in pieces:
        for at, value in samples:
            if value is not None and 0.0 <= value <= 1.0:
                want.setdefault(port, {})[at] = value
    lines = [
        line(UP, [value for _, value in samples], [at for at, _ in samples], port=port)
        for port, samples in pieces
    ]
    stores = [EmbeddedStore.open(folder / name) for name in ("first", "second")]
    report = read(stores[0], folder, *lines)
    given_values = [value for _, samples in pieces for _, value in samples if value is not None]
    outside = sum(not 0.0 <= value <= 1.0 for value in given_values)
    assert report.refused.total() == outside
    assert len(report.warnings) == (outside > 0)
    path = folder / ("out.jsonl.gz" if packed else "out.jsonl")
    written = history.write(stores[0], path, BASE - 1.0, BASE + 10.0)
    assert written == sum(map(len, want.values()))
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == packed
    history.read([path], stores[1])
    for kept in stores:
        for port, samples_of in want.items():
            assert dict(held(kept, UP, "leaf-01", port)) == samples_of
        kept.close()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    raw=st.binary(max_size=300), gzipped=st.booleans(), form=st.sampled_from([b"", b"{", b"#\n"])
)
def test_any_bytes_are_read_around(
    raw: bytes, gzipped: bool, form: bytes, store: EmbeddedStore, tmp_path: Path
) -> None:
    good = f"\n{line(UP, [1], [10])}\n" if form == b"{" else ""
    body = form + raw + good.encode()
    path = tmp_path / "any"
    path.write_bytes(gzip.compress(body) if gzipped else body)
    report = history.read([path], store)
    assert all("\n" not in warning for warning in report.warnings)
    if good:
        assert held(store, UP)[0] == (10.0, 1.0)


def test_a_history_that_cannot_be_written_leaves_nothing(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    read(store, tmp_path, line(UP, [1], [10]))
    with pytest.raises(SiteError, match="cannot be written"):
        history.write(store, tmp_path / "no folder" / "out.jsonl", BASE, BASE + 20.0)
    assert history.write(store, tmp_path / "out.jsonl", BASE, BASE + 20.0, [SYMBOL_ERRORS]) == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""
