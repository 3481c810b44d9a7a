"""Pages of accelerators' exporters as the field has them, from the file to what is judged."""

from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from collectors.protocols.exposition import Reader
from collectors.source import Target
from collectors.sources.prom import Prom, PromSettings
from fabrichealth.catalogue import accelerators, devices, optics, ports
from fabrichealth.counters import increases
from fabrichealth.model import Poll, Reason
from fabrichealth.store.embedded import EmbeddedStore
from tests.cases.field import CASES, Watched, at_hand, of_json
from tests.fixtures import readings

pytestmark = at_hand

START = 1_764_410_400.0


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    store = EmbeddedStore.open(tmp_path / "store")
    yield Watched(store, exporter(store))
    store.close()


def exporter(store: EmbeddedStore, name: str = "n1") -> Prom:
    return Prom(PromSettings(), Target(name, "prom"), store.table)


def reasons(poll: Poll) -> list[Reason]:
    return [one.reason for one in poll.refused]


def test_c01_switches_under_one_name_are_none_and_both_accelerators_are_kept(
    watched: Watched,
) -> None:
    poll = watched.read(CASES / "c01.prom", START)
    table = watched.store.table
    gpus = readings(poll, table, accelerators.TEMPERATURE)
    assert gpus == {("gpu-a1-0",): 51.0, ("gpu-a1-1",): 49.0}
    assert readings(poll, table, devices.DEVICE_TEMPERATURE) == {}
    assert reasons(poll) == [Reason.DUPLICATE] * 4
    assert poll.missing  # partial, not failed


def test_c02_three_impossible_utilisations_are_counted_and_never_stored(
    watched: Watched, tmp_path: Path
) -> None:
    case = of_json("c02")
    labels = ",".join(f'{name}="{value}"' for name, value in case["labels"].items())
    page = tmp_path / "page.prom"
    for at, value in case["samples"]:
        page.write_text(f"{case['metric']}{{{labels}}} {value}\n")
        watched.read(page, float(at))
    held = watched.stored(accelerators.UTILIZATION, "gpu-a1-3")
    odd = [poll for poll in watched.polls if reasons(poll)]
    assert [len(reasons(poll)) for poll in odd] == [1, 1, 1]
    assert len(held) == 7
    assert 100 * sum(held.values()) / 7 == pytest.approx(96.86, abs=0.005)
    assert 100 * max(held.values()) == pytest.approx(98.0)
    assert watched.ledger.incidents == watched.closed == []


@pytest.mark.parametrize("restart", [False, True])
def test_c03_one_sticky_error_is_one_event_and_its_incident_ends(
    restart: bool, watched: Watched, tmp_path: Path
) -> None:
    case = of_json("c03")
    page = tmp_path / "page.prom"
    third = float(case["samples"][2][0])
    for number, (at, code) in enumerate(case["samples"]):
        if restart and number == 5:
            kept = watched.source.memory()
            watched.source = exporter(watched.store)
            watched.source.remember(kept)
            watched.started()
        page.write_text(f'{case["metric"]}{{gpu="5",node="gpu-a2"}} {code}\n')
        watched.read(page, float(at))
    (event,) = (event for poll in watched.polls for event in poll.events)
    assert (event.at, event.scope["device"], event.more["code"]) == (third, "gpu-a2-5", "xid:31")
    last = float(case["samples"][-1][0])
    assert last - third > 3000.0  # the gauge still reads 31 long after
    for minute in range(1, 6):
        at = last + 60.0 * minute
        watched.read(page, at)
    assert watched.ledger.incidents == []
    (incident,) = watched.closed
    assert (incident.opened_at, incident.culprit.id) == (third, "gpu-a2-5")


def test_c04_odd_text_is_read_and_one_broken_line_costs_itself(watched: Watched) -> None:
    page = Reader().read((CASES / "c04.prom").read_bytes())
    told = {
        (one.name, *sorted(one.labels.items())): value
        for one, value in zip(page.series, page.values.tolist(), strict=True)
    }
    node, note = ("node", 'rack 7, "north" {A}'), ("note", "line1\nline2")
    assert told["link_info", node, note, ("path", "fab\\x1")] == 1.0
    assert told["fan_rpm", ("model", "a=b,c"), ("port", "swp3")] == 7200.0
    assert told["no_labels_total",] == 42.0
    assert told["optic_rx_dbm", ("port", "swp1")] == -inf
    names = [one.name for one in page.series]
    assert page.at[names.index("port_up")] == START - 1.0
    assert [one.text for one in page.broken] == [b'broken{port="swp2} 5']
    poll = watched.read(CASES / "c04.prom", START)
    assert reasons(poll) == [Reason.MALFORMED]
    assert poll.readings == 0  # no map has these names: nothing is stored, nor else refused


def test_c05_an_error_code_is_no_value_and_an_old_line_no_news(watched: Watched) -> None:
    for number in range(3):
        watched.read(CASES / f"c05.{number + 1}.prom", START + 30.0 * number)
    table = watched.store.table
    for poll in watched.polls:
        assert readings(poll, table, optics.TEMPERATURE) == {("n1-0", "roce/0"): 46.0}
        assert readings(poll, table, ports.NETWORK_HEALTHY) == {}
        assert reasons(poll).count(Reason.STALE) == 1
        told = {table.labels(int(row))[0] for batch in poll.batches for row in batch.series}
        assert not told & {"n1-2", "n1-3"}  # no module, and nothing but old news
    assert list(watched.stored(ports.RX_CRC_ERRORS, "n1-0", "hccs/2").values()) == [500.0, 503.0]
    window = watched.store.window(ports.RX_CRC_ERRORS, START + 61.0, 120.0)
    assert increases(window.values, window.times).total().tolist() == [3.0]
    sent = watched.stored(ports.TX_BYTES_PER_SECOND, "n1-0", "hccs")
    assert list(sent.values()) == [91.5e9, 90.2e9]
    assert watched.ledger.incidents == watched.closed == []
