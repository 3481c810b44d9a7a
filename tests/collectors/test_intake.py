"""What every reading is held to, and what is known of ports, against slow references."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.intake import Bounds, checked
from collectors.inventory import Inventory
from collectors.sharding import Shard
from collectors.watchers import Presence
from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import LINK_INFO, NEIGHBOR_INFO, PORT_INFO, RX_BYTES, UP
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Batch, Labels, Neighbor, Poll, Port, Reason, SeriesTable
from fabrichealth.topology import Device, Link, Topology

NOW = 1_767_225_600.0
STALE = 300.0

SERIES = [
    (UP, ("leaf-01", "1")),
    (UP, ("leaf-01", "2")),
    (RX_POWER, ("leaf-01", "1", "1")),
    (RX_BYTES, ("leaf-01", "1")),
    (PORT_INFO, ("leaf-01", "1", *[""] * 12)),
]

values = st.sampled_from([0.0, 1.0, 2.0, -3.0, -40.0, math.inf, -math.inf, math.nan]) | st.floats()
ages = st.sampled_from([0.0, 10.0, 299.0, 300.0, 301.0, -299.0, -301.0, 1e6])
rows = st.lists(st.tuples(ages, st.integers(0, len(SERIES) - 1), values), max_size=12)


def table_of() -> SeriesTable:
    table = SeriesTable()
    table.intern_all(SERIES)
    return table


def believed(given: list[tuple[float, int, float]]) -> tuple[dict[object, float], list[object]]:
    """Return what is to be believed of (age, series, value) and why the rest is refused."""
    taken: dict[object, float] = {}
    refused: list[object] = []
    replies: dict[tuple[float, int], list[float]] = defaultdict(list)
    for age, series, value in given:
        low, high = SERIES[series][0].valid
        if age > STALE:
            refused.append((Reason.STALE, series))
        elif age < -STALE or not (math.isfinite(value) and low <= value <= high):
            refused.append((Reason.IMPLAUSIBLE, series))
        else:
            replies[age, series].append(value)
    for (age, series), said in replies.items():
        if len(set(said)) == 1:
            taken[NOW - age, series] = said[0]
        elif SERIES[series][0].kind is not Kind.INFO:
            refused += [(Reason.DUPLICATE, series)] * len(said)
    return taken, sorted(refused, key=str)


@given(given=rows, together=st.booleans())
def test_what_is_believed_is_what_a_slow_reader_would_believe(
    given: list[tuple[float, int, float]], together: bool
) -> None:
    table = table_of()
    clock = table.clock("s", "t")
    by_age: dict[float, list[tuple[int, float]]] = defaultdict(list)
    for age, series, value in given:
        by_age[age].append((series, value))
    batches = []
    for age, said in by_age.items():
        for part in [said] if together else [[one] for one in said]:
            ids = np.array([series for series, _ in part], np.int32)
            batches.append(Batch(clock, NOW - age, ids, np.array([value for _, value in part])))
    poll = checked(Poll(batches), Bounds(table), table, NOW, STALE)
    taken = {
        (batch.at, series): value
        for batch in poll.batches
        for series, value in zip(batch.series.tolist(), batch.values.tolist(), strict=True)
    }
    refused = sorted(
        ((one.reason, table.find(*_named(one.what, dict(one.labels)))) for one in poll.refused),
        key=str,
    )
    assert (taken, refused) == believed(given)
    assert all(len(batch) for batch in poll.batches)
    assert sum(map(len, poll.batches)) == len(taken)  # each once


def _named(what: str, labels: dict[str, str]) -> tuple[Metric, Labels]:
    metric = next(metric for metric, _ in SERIES if str(metric) == what)
    return metric, tuple(labels[name] for name in metric.labels)


def test_bounds_grow_with_the_table() -> None:
    table = SeriesTable()
    bounds = Bounds(table)
    for number in range(300):
        metric = (UP, RX_POWER)[number % 2]
        labels = ("d", str(number), "1")[: len(metric.labels)]
        table.intern(metric, labels)
        low, high = bounds.of()
        assert (low[number], high[number]) == metric.valid
        assert (low[0], high[0]) == UP.valid


def said(table: SeriesTable, port: Port, **facts: str) -> Poll:
    """Return a poll in which a device tells facts about a port of its own."""
    labels = (*port, *[facts.get(name, "") for name in PORT_INFO.labels[2:]])
    series = table.intern_all([(PORT_INFO, labels)])
    return Poll([Batch(table.clock("s", port.device), NOW, series, np.ones(1))])


LEAF, HOST = Port("leaf-01", "1"), Port("host-001", "mlx5_0/1")
TOPOLOGY = Topology(
    [Device(name="leaf-01", role="switch", rack="r1"), Device(name="host-001", role="host")],
    [
        Link(
            a=str(LEAF), b=str(HOST), technology="ib", medium="optical", speed_gbps=400, fec="rs544"
        )
    ],
)  # fmt: skip


def infos(table: SeriesTable, batch: Batch) -> dict[Port, dict[str, str]]:
    """Return the facts of each port; a port told of twice is a fault."""
    found: dict[Port, dict[str, str]] = {}
    for series in batch.series.tolist():
        if table.metric(series) is PORT_INFO:
            labels = dict(zip(PORT_INFO.labels, table.labels(series), strict=True))
            port = Port(labels.pop("device"), labels.pop("port"))
            assert port not in found
            found[port] = {name: text for name, text in labels.items() if text}
    return found


def test_a_written_port_is_told_of_before_it_was_read() -> None:
    table = SeriesTable()
    found = infos(table, Inventory(table, TOPOLOGY).batch(NOW))
    assert found[LEAF] == {
        "rack": "r1", "role": "switch", "technology": "ib", "medium": "optical", "fec": "rs544",
        "peer_device": "host-001", "peer_port": "mlx5_0/1", "link": f"{HOST}--{LEAF}",
    }  # fmt: skip


def test_what_is_written_wins_but_for_what_the_device_knows_better() -> None:
    table = SeriesTable()
    inventory = Inventory(table, TOPOLOGY)
    poll = inventory.take(
        said(table, LEAF, medium="dac", fec="none", uid="0x1", packets="flits", peer_device="x")
    )
    assert poll.readings == 0  # the merged facts are told instead
    found = infos(table, inventory.batch(NOW))[LEAF]
    assert (found["medium"], found["peer_device"]) == ("optical", "host-001")
    assert (found["fec"], found["uid"], found["packets"]) == ("none", "0x1", "flits")


def test_a_stranger_is_told_of_as_it_tells_itself() -> None:
    table = SeriesTable()
    inventory = Inventory(table, TOPOLOGY)
    inventory.take(said(table, Port("leaf-09", "1"), technology="roce"))
    assert infos(table, inventory.batch(NOW))[Port("leaf-09", "1")] == {"technology": "roce"}


@given(
    told=st.lists(
        st.tuples(
            st.sampled_from([LEAF, HOST, Port("leaf-09", "1")]),
            st.dictionaries(st.sampled_from(PORT_INFO.labels[2:]), st.sampled_from("abc")),
        ),
        max_size=8,
    )
)
def test_a_port_has_one_series_and_the_newest_word_counts(
    told: list[tuple[Port, dict[str, str]]],
) -> None:
    table = SeriesTable()
    inventory = Inventory(table, TOPOLOGY)
    last: dict[Port, dict[str, str]] = {}
    for port, facts in told:
        inventory.take(said(table, port, **facts))
        last[port] = facts
        inventory.batch(NOW)
    found = infos(table, inventory.batch(NOW))
    assert set(found) == {LEAF, HOST} | set(last)
    for port, facts in last.items():
        for name in ("uid", "packets"):
            assert found[port].get(name, "") == facts.get(name, "")


def test_each_link_is_told_of_once() -> None:
    table = SeriesTable()
    batch = Inventory(table, TOPOLOGY).batch(NOW)
    links = [table.labels(n) for n in batch.series.tolist() if table.metric(n) is LINK_INFO]
    assert links == [
        (f"{HOST}--{LEAF}", "", "ib", "optical", "400", str(HOST), str(LEAF)),
    ]


def test_neighbors_travel_with_the_readings_of_their_poll() -> None:
    table = SeriesTable()
    one = Neighbor("leaf-01", "1", "host-001", "eth0", "lldp")
    series = table.intern_all([(UP, ("leaf-01", "1"))])
    batch = Batch(table.clock("s", "t"), NOW - 3, series, np.ones(1))
    poll = Inventory(table, TOPOLOGY).take(Poll([batch], neighbors=[one, one]))
    (_, info) = poll.batches
    assert (info.clock, info.at, len(info)) == (batch.clock, NOW - 3, 1)
    number = int(info.series[0])
    assert table.metric(number) is NEIGHBOR_INFO
    assert table.labels(number) == ("leaf-01", "1", "host-001", "eth0", "lldp")


@pytest.mark.parametrize(
    ("steps", "up"),
    [
        ([("a", True)], 1.0),
        ([("a", False)], 0.0),
        ([("a", True), ("b", False)], 1.0),
        ([("a", True), ("b", False), ("a", False)], 0.0),
    ],
)
def test_presence_is_any_target_that_answers(steps: list[tuple[str, bool]], up: float) -> None:
    table = SeriesTable()
    presence = Presence(table)
    for target, answers in steps:
        batch = presence.note("leaf-01", ("s", target), answers, NOW)
    assert batch.values.tolist() == [up]
    assert table.metric(int(batch.series[0])) is DEVICE_UP


def test_a_target_that_went_says_nothing_any_more() -> None:
    table = SeriesTable()
    presence = Presence(table)
    presence.note("leaf-01", ("s", "a"), True, NOW)
    presence.forget("leaf-01", ("s", "a"))
    assert presence.note("leaf-01", ("s", "b"), False, NOW).values.tolist() == [0.0]


def test_what_contradicts_the_written_cabling_is_told() -> None:
    table = SeriesTable()
    inventory = Inventory(table, TOPOLOGY)
    series = table.intern_all([(UP, tuple(LEAF))])
    batch = Batch(table.clock("s", "t"), NOW, series, np.ones(1))
    inventory.take(Poll([batch], neighbors=[Neighbor(*LEAF, "host-009", "eth0", "lldp")]))
    inventory.batch(NOW)
    (doubt,) = inventory.doubts
    assert f"{LEAF}: written to face {HOST}, faces host-009/eth0" in doubt
    assert not inventory.has_news
    inventory.take(Poll([batch], neighbors=[Neighbor(*LEAF, *HOST, "lldp")]))
    inventory.batch(NOW)
    assert inventory.doubts == ()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_of_several_collectors_each_tells_of_its_share_of_what_is_written(count: int) -> None:
    told = []
    for number in range(1, count + 1):
        table = SeriesTable()
        batch = Inventory(table, TOPOLOGY, shard=Shard(number, count)).batch(NOW)
        told += [(table.metric(n), table.labels(n)) for n in batch.series.tolist()]
    assert len(told) == len(set(told))
    assert {labels[0] for metric, labels in told if metric is LINK_INFO} == set(TOPOLOGY.links)
    assert {Port(*labels[:2]) for metric, labels in told if metric is PORT_INFO} == {LEAF, HOST}
