"""Cases of pauses and loads that once broke tools of this kind, from device text to incidents."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from collectors.source import Source, Target
from collectors.sources.host import Host, HostSettings
from collectors.sources.sonic import Sonic, SonicSettings
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE, QUEUE_TX_BYTES
from fabrichealth.catalogue.ports import SPEED, TX_BYTES
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident, Labels
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Topology
from tests.collectors.sonic_switch import Databases, P, Q

SHARED = Path(__file__).parents[3] / "shared" / "cases"
AT = 1_767_225_600.0

Polls = Sequence[Mapping[str, Any]]


def of_field(number: int, mine: Callable[[], Any]) -> list[Any]:
    """Return our own fixture and that of the field, which is skipped where it is not at hand."""
    path = SHARED / f"c{number}.json"
    missing = pytest.mark.skipif(not path.exists(), reason="no cases of the field here")

    def theirs() -> Any:
        return json.loads(path.read_text(encoding="utf-8"))

    return [pytest.param(mine, id="own"), pytest.param(theirs, id="field", marks=missing)]


@dataclass
class Judged:
    """A store that is judged after each poll."""

    store: EmbeddedStore
    topology: Topology

    def __post_init__(self) -> None:
        self.ledger = Ledger()
        self._judge = Judge(self.store, self.topology, detectors(), self.ledger)
        self.first: dict[str, float] = {}
        """When each incident was first there."""
        self.told: dict[str, Incident] = {}

    def after(self, batches: list[Batch], now: float) -> None:
        self.store.append(batches)
        self._judge.judge(now)
        for one in self.ledger.incidents:
            self.first.setdefault(one.incident, now)
            self.told[one.incident] = one

    def of(self, *kinds: str) -> list[Incident]:
        return [one for one in self.told.values() if one.kind.name.startswith(kinds)]

    def about(self, *kinds: str) -> list[tuple[str, str]]:
        return [(one.kind.name, one.culprit.id) for one in self.of(*kinds)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore.open(tmp_path / "store")
    yield opened
    opened.close()


def moments(polls: Polls) -> Iterator[tuple[float, list[Mapping[str, Any]]]]:
    """Yield what was seen at each time."""
    for at in sorted({poll["t"] for poll in polls}):
        yield float(at), [poll for poll in polls if poll["t"] == at]


# Frames without a pause, and a pause that empties nothing ------------------------------------


def two_ports() -> dict[str, Any]:
    """Return a port that is told to go on two million times a second, and one that is stopped."""
    polls = []
    for second in range(6):
        polls += [
            {"t": AT + second, "port": "Ethernet4", "prio": 3, "oper": "up",
             "pfc_rx_pkts": 40 + 2_000_000 * second, "pfc_rx_pause_duration_us": 17,
             "queue_tx_pkts": 5 + 1_900_000 * second, "queue_occupancy_bytes": 0},
            {"t": AT + second, "port": "Ethernet20", "prio": 3, "oper": "up",
             "pfc_rx_pkts": 900 + 11_500 * second,
             "pfc_rx_pause_duration_us": 4_000_000 + 985_000 * second,
             "queue_tx_pkts": 81_234, "queue_occupancy_bytes": 3_900_000},
        ]  # fmt: skip
    return {"polls": polls}


def databases(rows: list[Mapping[str, Any]]) -> Databases:
    """Return what a SONiC switch holds whose ports count so."""
    counters: dict[str, dict[str, str]] = {
        "COUNTERS_PORT_NAME_MAP": {row["port"]: f"oid:p{n}" for n, row in enumerate(rows)},
        "COUNTERS_QUEUE_NAME_MAP": {
            f"{row['port']}:{row['prio']}": f"oid:q{n}" for n, row in enumerate(rows)
        },
    }
    for number, row in enumerate(rows):
        priority = f"PFC_{row['prio']}_RX_"
        counters[f"COUNTERS:oid:p{number}"] = {
            f"{P}{priority}PKTS": str(row["pfc_rx_pkts"]),
            f"{P}{priority}PAUSE_DURATION_US": str(row["pfc_rx_pause_duration_us"]),
        }
        counters[f"COUNTERS:oid:q{number}"] = {
            f"{Q}PACKETS": str(row["queue_tx_pkts"]),
            f"{Q}CURR_OCCUPANCY_BYTES": str(row["queue_occupancy_bytes"]),
        }
    ports = {f"PORT_TABLE:{row['port']}": {"oper_status": row["oper"], "speed": "400000"}
             for row in rows}  # fmt: skip
    return {"COUNTERS_DB": counters, "APPL_DB": ports}


def seen(source: Source, capture: Path, text: str, at: float) -> list[Batch]:
    """Return what a source reads of a reply at a moment."""
    capture.write_text(text, encoding="utf-8")
    return source.captured([capture], at).batches


@pytest.mark.parametrize("case", of_field(15, two_ports))
def test_frames_that_let_go_are_no_storm_and_a_queue_that_stands_still_is(
    case: Callable[[], Any], store: EmbeddedStore, tmp_path: Path
) -> None:
    judged = Judged(store, Topology([Device(name="leaf-01", role="switch")]))
    source = Sonic(SonicSettings(), Target("leaf-01", "sonic"), store.table)
    polls = case()["polls"]
    for at, rows in moments(polls):
        judged.after(seen(source, tmp_path / "db.json", json.dumps(databases(rows)), at), at + 0.1)
    (storm,) = judged.of("pfc.")
    assert (storm.kind.name, storm.severity) == ("pfc.storm", Severity.PAGE)
    assert storm.culprit.id == "leaf-01/Ethernet20"
    assert "what faces leaf-01/Ethernet20" in storm.because
    first = judged.first[storm.incident] - float(polls[0]["t"])
    assert first < 3.5  # the third poll that has a past, of a switch never read before


# Lifetime totals, and which way pauses go ----------------------------------------------------


def three_nics() -> dict[str, Any]:
    """Return NICs that were stopped once, are stopped now, and stop their switch now."""
    rates = {
        "nic-a": (8.1e7, 0, 9100, 0),
        "nic-b": (333, 31_000, 4, 0),
        "nic-c": (2, 0, 55, 19_000),
    }
    return {"polls": [
        {"t": AT + 10 * number, "nic": nic,
         "rx_prio3_pause": int(received + 10 * number * receives),
         "tx_prio3_pause": int(sent + 10 * number * sends)}
        for number in range(5)
        for nic, (received, receives, sent, sends) in rates.items()
    ]}  # fmt: skip


@pytest.mark.parametrize("cabled", [False, True], ids=["cables unknown", "on one switch"])
@pytest.mark.parametrize("case", of_field(28, three_nics))
def test_totals_of_a_lifetime_are_no_news_and_direction_tells_receiver_from_victim(
    case: Callable[[], Any], cabled: bool, store: EmbeddedStore, tmp_path: Path
) -> None:
    polls = case()["polls"]
    names = sorted({poll["nic"] for poll in polls})
    devices = [Device(name=name, role="host") for name in names]
    cables = [Link(a=f"{name}/eth0", b=f"leaf/{name}", technology="roce", speed_gbps=400)
              for name in names if cabled]  # fmt: skip
    judged = Judged(store, Topology([*devices, Device(name="leaf", role="switch")], cables))
    sources = {
        name: Host(HostSettings(), Target(name, "host", options={"port": "eth0"}), store.table)
        for name in names
    }
    for at, rows in steadily(polls, 9):
        batches = [
            Batch(store.table.clock("speed", name), at,
                  store.table.intern_all([(SPEED, (name, "eth0"))]), np.array([400e9]))
            for name in names
        ]  # fmt: skip
        for row in rows:
            counts = (f"     {name}: {row[name]}" for name in ("rx_prio3_pause", "tx_prio3_pause"))
            text = "\n".join(["NIC statistics:", *counts, ""])
            batches += seen(sources[row["nic"]], tmp_path / row["nic"], text, at)
        judged.after(batches, at + 0.1)
    assert judged.about("pfc.") == [("pfc.slow_receiver", "nic-c/eth0")]
    (slow,) = judged.of("pfc.")
    assert "at most" in slow.because  # no time is counted
    victims = {place.id for place in slow.victims}
    assert "nic-a/eth0" not in victims
    assert ("nic-b/eth0" in victims) == cabled  # what it waits for is known by the cables


def steadily(polls: Polls, many: int) -> Iterator[tuple[float, list[Mapping[str, Any]]]]:
    """Yield the polls of each moment, going on as they ended until there are so many."""
    seen_so_far = list(moments(polls))
    yield from seen_so_far
    (before, old), (last, new) = seen_so_far[-2:]
    for further in range(1, many - len(seen_so_far) + 1):
        yield last + further * (last - before), [
            {name: value + further * (value - one[name]) if isinstance(value, int) else value
             for name, value in row.items() if name != "t"}
            for one, row in zip(old, new, strict=True)
        ]  # fmt: skip


# Persistent skew, idle links and one burst ---------------------------------------------------


def uplinks() -> dict[str, Any]:
    """Return loads of four uplinks of 400G: one always busy, all idle, one busy once."""
    busy = [[402.0 - 25 * (n % 2), 109.0, 104.0 + n % 3, 112.0] for n in range(10)]
    idle = [[0.01, 0.07, 0.0, 0.02]] * 10
    even = [210.0, 205.0, 207.0, 204.0]
    burst = [*[even] * 4, [385.0, 80.0, 88.0, 91.0], *[even] * 5]
    loads = {"busy": busy, "idle": idle, "one_burst": burst}
    return {"windows": {
        name: [{"t": AT + 30 * n, "gbps": gbps} for n, gbps in enumerate(each)]
        for name, each in loads.items()
    }}  # fmt: skip


@pytest.mark.parametrize(("name", "found"), [("busy", 1), ("idle", 0), ("one_burst", 0)])
@pytest.mark.parametrize("case", of_field(29, uplinks))
def test_one_uplink_that_always_carries_half_is_told_and_noise_is_not(
    case: Callable[[], Any], name: str, found: int, store: EmbeddedStore
) -> None:
    windows = case()["windows"][name]
    ports = [f"up{n}" for n in range(len(windows[0]["gbps"]))]
    judged = Judged(store, below_spines(ports))
    table = store.table
    clock = table.clock("test", "leaf-2")
    series = table.intern_all([(TX_BYTES, ("leaf-2", port)) for port in ports])
    sent, start = np.zeros(len(ports)), float(windows[0]["t"]) - 30.0
    judged.after([Batch(clock, start, series, sent)], start + 0.1)
    for window in windows:
        sent = sent + np.array(window["gbps"]) * 30e9 / 8
        judged.after([Batch(clock, float(window["t"]), series, sent)], float(window["t"]) + 0.1)
    told = judged.of("fabric.hot_link")
    assert len(told) == found
    for one in told:
        assert one.culprit.id.startswith("leaf-2/up0--")
        assert skew(windows) in one.because
        assert one.severity is Severity.WATCH
    assert not judged.of("fabric.ecmp")


def skew(windows: Polls) -> str:
    """Return max over mean of the loads, as it is told."""
    mean = np.mean([window["gbps"] for window in windows], axis=0)
    return f"{mean.max() / mean.mean():.2f} times"


def below_spines(ports: Sequence[str]) -> Topology:
    """Return a leaf with a cable to a spine for each port."""
    devices = [Device(name="leaf-2", role="switch"), Device(name="host-0", role="host")]
    devices += [Device(name=f"spine-{n}", role="switch") for n in range(len(ports))]
    links = [Link(a="leaf-2/h0", b="host-0/eth0", technology="roce", speed_gbps=400)]
    links += [
        Link(a=f"leaf-2/{port}", b=f"spine-{n}/0", technology="roce", speed_gbps=400)
        for n, port in enumerate(ports)
    ]
    return Topology(devices, links)


# Polls too coarse for an order, and counters that a watchdog freezes --------------------------

RING = [("leaf-0", "s1"), ("spine-1", "l1"), ("leaf-1", "s0"), ("spine-0", "l0")]


def square() -> Topology:
    """Return two leaves, two spines and a host each leaf."""
    devices = [Device(name=f"{tier}-{n}", role="switch") for tier in ("leaf", "spine")
               for n in range(2)]  # fmt: skip
    devices += [Device(name=f"host-{n}", role="host") for n in range(2)]
    links = [Link(a=f"host-{n}/eth0", b=f"leaf-{n}/h", technology="roce", speed_gbps=400)
             for n in range(2)]  # fmt: skip
    links += [
        Link(a=f"leaf-{leaf}/s{spine}", b=f"spine-{spine}/l{leaf}", technology="roce",
             speed_gbps=400)
        for leaf in range(2) for spine in range(2)
    ]  # fmt: skip
    return Topology(devices, links)


def circle(
    store: EmbeddedStore, period: float, begins: Sequence[float], polls: int
) -> list[Incident]:
    """Return the deadlocks told of a ring whose queues stop for good, each at its own second."""
    judged = Judged(store, square())
    keys: list[tuple[Metric, Labels]] = [(PFC_RX_PAUSE, (*port, "3")) for port in RING]
    keys += [(QUEUE_TX_BYTES, (*port, "3")) for port in RING]
    for poll in range(polls):
        at = poll * period
        batches = []
        for place, (port, begun) in enumerate(zip(RING, begins, strict=True)):
            mine = [key for key in keys if key[1][:2] == port]
            values = np.array([max(at - begun, 0.0), 1e9 * min(at, begun)])
            clock = store.table.clock("test", port[0])
            batches.append(
                Batch(clock, AT + at + 0.01 * place, store.table.intern_all(mine), values)
            )
        judged.after(batches, AT + at + 0.3)
    return judged.of("pfc.deadlock")


def test_polls_that_cannot_order_events_are_said_to_be_too_coarse(store: EmbeddedStore) -> None:
    (told,) = circle(store, 10.0, [40.0, 47.0, 44.0, 42.0], polls=10)
    assert "too coarse to tell which was first" in told.because


def test_a_lead_of_more_than_two_polls_is_an_order(store: EmbeddedStore) -> None:
    (told,) = circle(store, 1.0, [16.0, 10.0, 16.0, 16.0], polls=24)
    assert told.culprit.id == "spine-1/l1"
    assert "too coarse" not in told.because


def test_who_waits_for_the_first_is_paused_as_soon_and_is_not_the_first(
    store: EmbeddedStore,
) -> None:
    (told,) = circle(store, 1.0, [10.0, 10.0, 16.0, 16.0], polls=24)
    assert told.culprit.id == "spine-1/l1"
    assert "it was paused first" in told.because


def test_behind_a_switch_that_is_not_read_no_more_is_claimed_whatever_its_peers_count(
    store: EmbeddedStore,
) -> None:
    judged = Judged(store, square())
    for second in range(16):
        batches = []
        for spine in ("spine-0", "spine-1"):
            stopped, stops = (spine, "l1", "3"), [(spine, port, "3") for port in ("l0", "l1")]
            keys: list[tuple[Metric, Labels]] = [(PFC_RX_PAUSE, stopped)]
            keys += [(PFC_TX_PAUSE, labels) for labels in stops]
            values = np.array([max(second - 8.0, 0.0), 0.3 * max(second - 8.0, 0.0), 0.0])
            clock = store.table.clock("test", spine)
            batches.append(Batch(clock, AT + second, store.table.intern_all(keys), values))
        judged.after(batches, AT + second + 0.3)
    (storm,) = judged.of("pfc.storm")
    assert storm.culprit.id.startswith("leaf-1/s")
    assert "something behind it, unseen" in storm.because


def test_two_switches_in_the_dark_that_are_cabled_together_are_one_storm(
    store: EmbeddedStore,
) -> None:
    judged = Judged(store, square())
    for second in range(16):
        batches = []
        for port, share in ((("leaf-0", "s0"), 0.9), (("spine-1", "l1"), 1.0)):
            series = store.table.intern_all([(PFC_RX_PAUSE, (*port, "3"))])
            values = np.array([share * max(second - 8.0, 0.0)])
            clock = store.table.clock("test", port[0])
            batches.append(Batch(clock, AT + second, series, values))
        judged.after(batches, AT + second + 0.3)
    (storm,) = judged.of("pfc.storm")
    assert storm.culprit.id == "leaf-1/s1"
    assert "something behind it, unseen" in storm.because


@pytest.mark.parametrize("frozen", [0.6, 4.0], ids=lambda seconds: f"{seconds:g} s")
def test_counters_that_freeze_while_a_watchdog_acts_leave_one_storm(
    store: EmbeddedStore, frozen: float
) -> None:
    judged = Judged(store, below_spines([]))
    table, port = store.table, ("leaf-2", "h0")
    keys: list[tuple[Metric, Labels]] = [(PFC_RX_PAUSE, (*port, "3")), (SPEED, port)]
    clock, series = table.clock("test", "leaf-2"), table.intern_all(keys)
    turn = 3.0 + frozen  # seconds of storm, then of a queue that is dropped and counts nothing
    for second in range(60):
        turns, rest = divmod(max(second - 10.0, 0.0), turn)
        values = np.array([3.0 * turns + min(rest, 3.0), 400e9])
        judged.after([Batch(clock, AT + second, series, values)], AT + second + 0.3)
    assert judged.about("pfc.storm") == [("pfc.storm", "host-0/eth0")]
    (storm,) = judged.of("pfc.storm")
    assert storm.closed_at is None
