"""Our own /metrics: every series once, none that is not read, in words that Prometheus takes."""

import asyncio
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics import parser as open_metrics_parser
from prometheus_client.parser import text_string_to_metric_families

from fabrichealth.catalogue import METRICS, ports, verdicts
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Batch, Labels, SeriesTable
from fabrichealth.runtime.exporter import LEAST, PERIODS, Exporter
from fabrichealth.runtime.exporter_format import Format, takes_gzip, wanted
from fabrichealth.runtime.exporter_rows import ROWS
from tests.telling import readings_of

Told = dict[tuple[str, frozenset[tuple[str, str]]], float]


def exporter() -> tuple[Exporter, SeriesTable]:
    table = SeriesTable()
    return Exporter(table), table


def observe(
    into: Exporter, table: SeriesTable, readings: dict[tuple[Metric, Labels], float], at: float,
    target: str = "t",
) -> None:  # fmt: skip
    series = table.intern_all(readings)
    values = np.array(list(readings.values()), np.float64)
    into.observe(Batch(table.clock("prom", target), at, series, values))


open_metrics: Callable[[str], Iterable[Family]] = open_metrics_parser.text_string_to_metric_families


def told(page: bytes) -> Told:
    """Return what prometheus-client reads in a page; fails on a line that stands twice."""
    found: Told = {}
    for family in text_string_to_metric_families(page.decode()):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def port(name: str) -> tuple[Metric, Labels]:
    return ports.UP, ("leaf-01", name)


def test_a_page_says_what_was_read_last() -> None:
    into, table = exporter()
    observe(into, table, {port("1"): 1.0, port("2"): 0.0}, at=0.0)
    observe(into, table, {port("2"): 1.0, (ports.RX_BYTES, ("leaf-01", "1")): 2.0**60}, at=10.0)
    text = into.page(10.0).decode()
    assert text == (
        "# HELP fabric_port_rx_bytes_total Payload received as the device counts it.\n"
        "# TYPE fabric_port_rx_bytes_total counter\n"
        'fabric_port_rx_bytes_total{device="leaf-01",port="1"} 1.152921504606847e+18\n'
        "# HELP fabric_port_up 1 operationally up, 0 down.\n"
        "# TYPE fabric_port_up gauge\n"
        'fabric_port_up{device="leaf-01",port="1"} 1.0\n'
        'fabric_port_up{device="leaf-01",port="2"} 1.0\n'
    )


def test_a_late_batch_does_not_undo_what_is_newer() -> None:
    into, table = exporter()
    observe(into, table, {port("1"): 1.0}, at=60.0)
    observe(into, table, {port("1"): 0.0}, at=30.0)
    assert list(told(into.page(60.0)).values()) == [1.0]


def test_what_is_not_read_goes_and_comes_back_once() -> None:
    into, table = exporter()
    observe(into, table, {port("1"): 1.0, port("2"): 1.0}, at=0.0)
    observe(into, table, {(ports.LANES, ("slow", "1")): 4.0}, at=0.0, target="slow")
    into.period(table.clock("prom", "slow"), 600.0)
    observe(into, table, {port("2"): 0.0}, at=LEAST)
    assert list(told(into.page(LEAST)).values()) == [4.0, 1.0, 0.0]
    assert list(told(into.page(LEAST + 1)).values()) == [4.0, 0.0]
    observe(into, table, {port("1"): 0.5}, at=LEAST + 2)
    assert list(told(into.page(LEAST + 2)).values()) == [4.0, 0.0, 0.5]
    assert list(told(into.page(PERIODS * 600.0)).values()) == [4.0]
    assert into.page(PERIODS * 600.0 + 1) == b""  # not even a header


def test_a_target_that_is_removed_is_forgotten_at_once() -> None:
    into, table = exporter()
    observe(into, table, {port("1"): 1.0}, at=0.0, target="gone")
    observe(into, table, {port("2"): 1.0}, at=0.0, target="stays")
    into.page(0.0)
    into.drop(table.clock("prom", "gone"))
    assert [dict(labels)["port"] for _, labels in told(into.page(0.0))] == ["2"]


def test_of_a_port_whose_facts_change_only_the_newest_info_is_shown() -> None:
    """Two info series of one port would make every join on it ambiguous."""
    page, table = exporter()
    page.whole(table.clock("inventory", "ports"))
    for at, fec in enumerate(["", "rs544", ""]):
        facts = {"device": "leaf-01", "port": "1", "fec": fec}
        labels = tuple(facts.get(name, "") for name in ports.PORT_INFO.labels)
        series = table.intern_all([(ports.PORT_INFO, labels)])
        page.observe(Batch(table.clock("inventory", "ports"), float(at), series, np.ones(1)))
        (shown,) = told(page.page(float(at)))
        assert dict(shown[1]).get("fec", "") == fec


def test_many_series_that_come_in_portions_are_each_there_once() -> None:
    into, table = exporter()
    expected: Told = {}
    for step in range(3):
        fresh: dict[tuple[Metric, Labels], float] = {
            (ports.UP, (f"d{'x' * (at % 40)}{at}", str(step))): float(at * 10**step)
            for at in range(ROWS - 1)
        }
        observe(into, table, fresh, at=float(step))
        expected |= {
            (str(metric), frozenset(zip(metric.labels, labels, strict=True))): value
            for (metric, labels), value in fresh.items()
        }
        assert told(into.page(float(step))) == expected


values = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.dictionaries(st.tuples(words, words), values, max_size=20), st.sampled_from(Format))
def test_any_labels_and_values_are_read_back(
    said: dict[tuple[str, str], float], form: Format
) -> None:
    into, table = exporter()
    observe(into, table, {(ports.SPEED, labels): value for labels, value in said.items()}, at=0.0)
    page = into.page(0.0, form).decode()
    parse = open_metrics if form is Format.OPENMETRICS else text_string_to_metric_families
    read = {
        (sample.labels.get("device", ""), sample.labels.get("port", "")): sample.value
        for family in parse(page)
        for sample in family.samples
    }
    assert read == said
    again = {labels: value / 3 for labels, value in said.items()}  # other lengths, same rows
    observe(into, table, {(ports.SPEED, labels): v for labels, v in again.items()}, at=1.0)
    assert list(told(into.page(1.0)).values()) == pytest.approx(list(again.values()), rel=1e-15)


def test_no_label_can_make_a_second_line() -> None:
    into, table = exporter()
    observe(into, table, {(ports.UP, ('a"} 1\nfabric_port_up{port="', "\0\\")): 1.0}, at=0.0)
    page = into.page(0.0)
    assert len(told(page)) == 1
    assert page.count(b"\n") == 3
    assert b"\0" not in page


def every_kind() -> tuple[Exporter, SeriesTable]:
    """Return an exporter that shows two series of every metric of the catalogue."""
    into, table = exporter()
    readings = {
        key: value
        for metric in METRICS.values()
        for word in "ab"
        for key, value in readings_of(
            metric, tuple(f"{word}-{name}" for name in metric.labels)
        ).items()
    }
    observe(into, table, readings, at=0.0)
    return into, table


def test_open_metrics_names_families_as_its_specification_asks() -> None:
    into, _ = every_kind()
    page = into.page(0.0, Format.OPENMETRICS).decode()
    families = {family.name: family.type for family in open_metrics(page)}
    assert families["fabric_port_rx_bytes"] == "counter"
    assert families["fabric_port"] == "info"
    assert families["fabric_recovery_seconds"] == "histogram"
    shown = [str(one) for one in METRICS.values() if one.kind is not Kind.PART]
    assert len(families) == len(shown)
    assert page.endswith("# EOF\n")
    names = re.findall(r"^# TYPE (\S+)", into.page(0.0).decode(), re.MULTILINE)
    assert names == sorted(shown)


def recovered(le: str) -> tuple[Metric, Labels]:
    return verdicts.RECOVERY_BUCKET, ("pod-a", "all", le)


def test_a_histogram_is_told_whole_and_its_buckets_in_order() -> None:
    into, table = exporter()
    labels = ("pod-a", "all")
    observe(
        into,
        table,
        {
            recovered("+Inf"): 3.0,
            recovered("60.0"): 1.0,
            recovered("3600.0"): 2.0,
            recovered("604800.0"): 2.0,
            (verdicts.RECOVERY_COUNT, labels): 3.0,
            (verdicts.RECOVERY_SUM, labels): 121.5,
        },
        at=10.0,
    )
    (family,) = open_metrics(into.page(10.0, Format.OPENMETRICS).decode())
    assert (family.name, family.type) == ("fabric_recovery_seconds", "histogram")
    said = [(sample.labels.get("le"), sample.value) for sample in family.samples]
    assert said == [
        ("60.0", 1.0), ("3600.0", 2.0), ("604800.0", 2.0), ("+Inf", 3.0), (None, 121.5), (None, 3.0)
    ]  # fmt: skip


def test_a_histogram_that_is_not_whole_is_not_told() -> None:
    into, table = exporter()
    observe(into, table, {recovered("60.0"): 1.0}, at=10.0)
    assert told(into.page(10.0)) == {}


def test_a_histogram_that_is_told_no_more_goes() -> None:
    into, table = exporter()
    observe(into, table, readings_of(verdicts.RECOVERY_SECONDS, ("pod-a", "all")), at=10.0)
    assert told(into.page(10.0 + LEAST))
    assert told(into.page(11.0 + LEAST)) == {}


async def test_the_event_loop_runs_between_pieces_and_gzip_is_the_same_page() -> None:
    into, table = exporter()
    observe(into, table, {port(str(at)): float(at) for at in range(3 * ROWS)}, at=0.0)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    packed = b"".join([piece async for piece in into.stream(0.0, gzip=True)])
    task.cancel()
    assert turns > 10
    assert zlib.decompress(packed, 16 + zlib.MAX_WBITS) == into.page(0.0)


async def test_two_pages_at_once_and_readings_between_are_both_whole() -> None:
    into, table = exporter()
    observe(into, table, {port(str(at)): 0.0 for at in range(ROWS + 7)}, at=0.0)
    observe(into, table, {port(f"old{at}"): 0.0 for at in range(ROWS)}, at=-LEAST)

    async def page() -> bytes:
        return b"".join([piece async for piece in into.stream(1.0)])

    async def news() -> bytes:
        for step in range(5):
            await asyncio.sleep(0)
            observe(into, table, {port(f"new{step}"): 1.0}, at=1.0)
        return b""

    for found in (await asyncio.gather(page(), news(), page()))[::2]:
        here = {dict(labels)["port"] for _, labels in told(found)}
        assert {str(at) for at in range(ROWS + 7)} <= here
    assert len(told(into.page(1.0))) == ROWS + 12


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "text/plain;version=0.0.4",
        "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    ],
)
def test_the_format_is_chosen_as_prometheus_client_does(accept: str) -> None:
    _, kind = choose_encoder(accept)
    assert wanted(accept).value.split(";")[0] == kind.split(";")[0]


def test_gzip_is_sent_to_who_can_unpack_it() -> None:
    assert takes_gzip("gzip, deflate")
    assert takes_gzip("br;q=1.0, GZIP;q=0.8")
    assert not takes_gzip("")
    assert not takes_gzip("identity, gzip;q=0")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_finds_nothing_but_what_the_contract_fixes() -> None:
    into, _ = every_kind()
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=into.page(0.0), capture_output=True, check=False
    )
    remarks = done.stderr.decode().splitlines() + done.stdout.decode().splitlines()
    fixed = re.compile(r'_bit[s_]|"quantile"|reserved for.*quantile')
    assert [remark for remark in remarks if not fixed.search(remark)] == []
    assert done.returncode in {0, 3}  # 3: remarks
