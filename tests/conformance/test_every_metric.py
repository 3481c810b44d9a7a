"""What is asked of every metric of the catalogue."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as text

from fabrichealth.catalogue import METRICS
from fabrichealth.metric import PREFIX, Kind, Metric, Subject
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.runtime.exporter import Exporter
from fabrichealth.runtime.exporter_format import Format
from fabrichealth.units import Unit
from tests.house.checkout import ROOT
from tests.telling import readings_of

KNOWN_REMARKS = (
    'use base unit "bytes" instead of "bits"',  # links are built and sold by the bit
    'non-summary metrics should not have "quantile" label',  # of a distribution over devices
)

CONTRACT = ROOT.parent / "shared" / "reference" / "catalogue.md"


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
class TestEveryMetric:
    def test_is_found_by_its_exported_name(self, metric: Metric) -> None:
        assert METRICS[f"{metric}"] is metric
        assert str(metric) == PREFIX + metric.name

    def test_says_in_one_sentence_what_it_counts(self, metric: Metric) -> None:
        assert metric.help.endswith(".")
        assert "\n" not in metric.help
        assert len(metric.help) > 8

    def test_has_labels_that_prometheus_takes(self, metric: Metric) -> None:
        assert len(set(metric.labels)) == len(metric.labels)
        for label in metric.labels:
            assert re.fullmatch(r"[a-z][a-z0-9_]*", label)
            assert label not in {"job", "instance", "quantile"} or metric.name.startswith(
                ("link_seconds", "domain_")
            )
            assert label != "le" or metric.kind is Kind.PART

    def test_has_a_range_that_holds_something(self, metric: Metric) -> None:
        low, high = metric.valid
        assert low < high
        if metric.unit is Unit.RATIO:
            assert low >= -1.0  # currents and power factors have a sign

    def test_is_exported_as_what_it_is(self, metric: Metric) -> None:
        table = SeriesTable()
        exporter = Exporter(table)
        low, high = metric.valid
        value = 1.0 if low <= 1.0 <= high else low
        labels = tuple(f"v{n}" for n in range(len(metric.labels)))
        readings = readings_of(metric, labels, value)
        if metric.kind is Kind.PART:
            assert METRICS[str(metric).rpartition("_")[0]].kind is Kind.HISTOGRAM
            return  # told with its family
        series, values = table.intern_all(readings), np.array(list(readings.values()))
        exporter.observe(Batch(table.clock("s", "t"), 100.0, series, values))
        (plain,) = text(exporter.page(100.0).decode())
        page = exporter.page(100.0, Format.OPENMETRICS).decode()
        (open_,) = openmetrics(page)  # type: ignore[no-untyped-call]  # it has no annotations
        plain_kind = Kind.GAUGE if metric.kind is Kind.INFO else metric.kind
        assert (plain.type, open_.type) == (plain_kind.value, metric.kind.value)
        assert plain.documentation == open_.documentation == metric.help
        shown = dict(zip(metric.labels, labels, strict=True))
        for family in (plain, open_):
            sample = family.samples[0]
            assert {k: v for k, v in sample.labels.items() if k != "le"} == shown
            if metric.kind is not Kind.HISTOGRAM:
                assert (sample.name, sample.value) == (str(metric), value)


@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="no promtool; install the package prometheus"
)
def test_promtool_has_two_remarks_that_the_contract_brings_with_it() -> None:
    table = SeriesTable()
    exporter = Exporter(table)
    for metric in METRICS.values():
        labels = tuple(f"v{n}" for n in range(len(metric.labels)))
        readings = readings_of(metric, labels, float(np.clip(1.0, *metric.valid)))
        series, values = table.intern_all(readings), np.array(list(readings.values()))
        exporter.observe(Batch(table.clock("s", "t"), 100.0, series, values))
    check = subprocess.run(
        ["promtool", "check", "metrics"],
        input=exporter.page(100.0),
        capture_output=True,
        check=False,
    )
    assert check.returncode in {0, 3}
    remarks = (check.stdout + check.stderr).decode().splitlines()
    assert remarks
    assert [line for line in remarks if not line.endswith(KNOWN_REMARKS)] == []


@pytest.mark.parametrize(
    ("name", "kind", "unit", "says"),
    [
        ("port_errors", Kind.COUNTER, Unit.NONE, "_total"),
        ("port_errors_total", Kind.GAUGE, Unit.NONE, "_total"),
        ("rx_power", Kind.GAUGE, Unit.DBM, "unit dbm"),
        ("port_facts", Kind.INFO, Unit.NONE, "_info"),
        ("Port_up", Kind.GAUGE, Unit.NONE, "not a metric name"),
        ("port-up", Kind.GAUGE, Unit.NONE, "not a metric name"),
    ],
)
def test_a_wrong_name_cannot_be_written(name: str, kind: Kind, unit: Unit, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Metric(name, kind, unit, Subject.PORT, "Help.")


@pytest.mark.skipif(not CONTRACT.exists(), reason="the contract's text is not beside this checkout")
class TestContract:
    @pytest.mark.parametrize(
        ("heading", "labels"),
        [
            ("## Ports", ("device", "port")),
            ("## Optics", ("device", "port")),
            ("## Accelerators", ("device",)),
            ("## The watchers", ("source", "target")),
        ],
    )
    def test_labels_are_those_of_the_section(self, heading: str, labels: tuple[str, ...]) -> None:
        section = CONTRACT.read_text().partition(heading)[2].partition("\n## ")[0]
        section = section.partition("Without those labels")[0]
        names = set(re.findall(r"\bfabric_[a-z0-9_]+", section)) - {"fabric_link_info"}
        assert names
        for name in names:
            assert METRICS[name].labels[: len(labels)] == labels, name

    def test_verdicts_have_the_labels_of_their_rows(self) -> None:
        section = CONTRACT.read_text().partition("## Verdicts")[2].partition("\n# ")[0]
        rows = re.findall(r"^\| (fabric_[^|]+)\|([^|]+)\|", section, re.MULTILINE)
        assert len(rows) > 8
        for names, told in rows:
            labels = [word.strip() for word in re.sub(r"\([^)]*\)", "", told).split(",")]
            for name in re.findall(r"fabric_[a-z0-9_]+", names):
                assert list(METRICS[name].labels) == labels, name

    def test_lanes_and_extra_labels_are_as_written(self) -> None:
        rows = re.findall(r"(fabric_[a-z0-9_]+)\{([^}]*)\}", CONTRACT.read_text())
        assert len(rows) > 15
        for name, told in rows:
            for label in (part.partition("=")[0].strip() for part in told.split(",")):
                assert label in METRICS[name].labels, (name, label)
