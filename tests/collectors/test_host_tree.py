"""The host source on trees: what it reads, what it will not believe, what it remembers."""

import threading
from pathlib import Path

import pytest

from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from collectors.transports.tree import FolderTree
from emulator.hosttree import HostTree, Nic, nics
from fabrichealth.catalogue.congestion import CNP_RX_PACKETS, ROCE_OUT_OF_SEQUENCE
from fabrichealth.catalogue.devices import BOOT_TIME, DEVICE_INFO
from fabrichealth.catalogue.infiniband import BUFFER_OVERRUNS
from fabrichealth.catalogue.ports import (
    ADMIN_UP,
    LANES,
    LINK_DOWNS,
    PORT_INFO,
    RX_BYTES,
    SPEED,
    SYMBOL_ERRORS,
    TRANSMIT_WAIT,
    TX_BYTES,
    UP,
)
from fabrichealth.errors import SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from fabrichealth.topology import Device, PortFacts, Topology
from tests.fixtures import readings

IB, ETHERNET = ("host-001", "mlx5_0/1"), ("host-001", "eth0")


class Watched:
    """A host whose tree can be changed between polls."""

    def __init__(
        self, root: Path, cards: list[Nic], topology: Topology | None = None, **settings: object
    ) -> None:
        self.tree = HostTree(root, cards, boot=1_700_000_000)
        self.table = SeriesTable()
        target = Target(
            "host-001", "host", options={"root": str(root)}, topology=topology or Topology()
        )
        self.source = Host(HostSettings.model_validate(settings), target, self.table)
        self.poll = Poll()

    async def read(self, at: float) -> Poll:
        """Bring the tree up to date and read it."""
        self.tree.update()
        self.poll = await self.source.read(at)
        return self.poll

    def values(self, metric: Metric) -> dict[Labels, float]:
        """Return one metric of the last poll by labels."""
        return readings(self.poll, self.table, metric)

    def refused(self, metric: Metric) -> list[Reason]:
        """Return why readings of a metric were refused in the last poll."""
        return [one.reason for one in self.poll.refused if one.what == str(metric)]


async def test_infiniband_data_is_in_bytes_and_belongs_to_the_rdma_port(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    host.tree.nics[0].carry(received=4000, sent=8000)
    await host.read(0.0)
    assert host.values(RX_BYTES) == {IB: 4000.0}
    assert host.values(TX_BYTES) == {IB: 8000.0}
    assert host.values(SPEED) == {IB: 4e11}
    assert host.values(LANES) == {IB: 4.0}


async def test_both_faces_of_a_roce_card_are_ports_and_nothing_counts_twice(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=True))
    card = host.tree.nics[0]
    card.counters["port_rcv_data"] = 25
    card.statistics["rx_bytes"] = 777
    card.hw_counters |= {"rp_cnp_handled": 5, "out_of_sequence": 6}
    await host.read(0.0)
    assert host.values(RX_BYTES) == {IB: 100.0, ETHERNET: 777.0}
    assert host.values(CNP_RX_PACKETS) == {IB: 5.0}
    assert host.values(TRANSMIT_WAIT) == {}  # Ethernet waits for no credits
    (batch,) = host.poll.batches
    assert len(set(batch.series.tolist())) == len(batch)


async def test_a_host_says_when_it_booted_and_what_it_is(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(2, ethernet=True))
    await host.read(0.0)
    assert host.values(BOOT_TIME) == {("host-001",): 1_700_000_000.0}
    (labels,) = host.values(DEVICE_INFO)
    model, firmware, driver, system = labels[1:]
    assert (model, firmware, driver) == ("Emulated Node", "28.40.1000", "mlx5_core")
    assert system.startswith("Linux ")


async def test_a_port_that_is_down_shows_no_speed(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=True))
    host.tree.nics[0].up = False
    host.tree.nics[0].admin_up = False
    await host.read(0.0)
    assert host.values(UP) == {IB: 0.0, ETHERNET: 0.0}
    assert host.values(ADMIN_UP) == {IB: 0.0, ETHERNET: 0.0}
    assert host.values(SPEED) == {}
    assert host.poll.refused == []


async def test_waiting_is_in_seconds_of_the_active_rate(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False, gbps=100.0))
    host.tree.nics[0].counters["port_xmit_wait"] = 3_125_000  # words of 4 bytes at 100 Gb/s
    await host.read(0.0)
    assert host.values(TRANSMIT_WAIT) == {IB: pytest.approx(1e-3)}


async def test_waiting_so_far_survives_a_change_of_the_rate(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False, gbps=100.0))
    card = host.tree.nics[0]
    card.counters["port_xmit_wait"] = 3_125_000
    await host.read(0.0)
    card.gbps, card.lanes = 25.0, 1
    card.counters["port_xmit_wait"] += 781_250
    await host.read(1.0)
    assert host.values(TRANSMIT_WAIT) == {IB: pytest.approx(2e-3)}


async def test_waiting_is_absent_while_no_rate_was_ever_known(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    host.tree.nics[0].up = False
    await host.read(0.0)
    assert host.values(TRANSMIT_WAIT) == {}
    assert host.values(LINK_DOWNS) == {IB: 0.0}


async def test_the_adapter_s_own_clock_is_used_where_it_is_set(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False), wait_clock_hertz=1e6)
    host.tree.nics[0].counters["port_xmit_wait"] = 2_000_000
    await host.read(0.0)
    assert host.values(TRANSMIT_WAIT) == {IB: pytest.approx(2.0)}


@pytest.mark.parametrize(
    ("name", "metric", "top"),
    [
        ("symbol_error", SYMBOL_ERRORS, 65535),
        ("link_downed", LINK_DOWNS, 255),
        ("excessive_buffer_overrun_errors", BUFFER_OVERRUNS, 15),
    ],
)
async def test_a_counter_at_its_maximum_says_at_least_and_then_nothing(
    tmp_path: Path, name: str, metric: Metric, top: int
) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    counters = host.tree.nics[0].counters
    counters[name] = top - 1
    await host.read(0.0)
    assert (host.values(metric), host.refused(metric)) == ({IB: top - 1.0}, [])
    counters[name] = top
    await host.read(1.0)  # the rise to the maximum is kept, and said to be a lower bound
    assert (host.values(metric), host.refused(metric)) == ({IB: float(top)}, [Reason.SENSOR_FAULT])
    await host.read(2.0)  # no rate of 0 can be made of it
    assert host.values(metric) == {}
    counters[name] = 3
    await host.read(3.0)  # cleared
    assert host.values(metric) == {IB: 3.0}


async def test_a_counter_wider_than_the_classic_one_goes_on(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    host.tree.nics[0].counters["symbol_error"] = 65536
    await host.read(0.0)
    assert host.values(SYMBOL_ERRORS) == {IB: 65536.0}
    assert host.poll.refused == []


async def test_a_32_bit_transport_counter_goes_on_over_its_wrap(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=True))
    card = host.tree.nics[0]
    card.hw_counters["out_of_sequence"] = 2**32 - 10
    await host.read(0.0)
    card.hw_counters["out_of_sequence"] = 20
    await host.read(1.0)
    assert host.values(ROCE_OUT_OF_SEQUENCE) == {IB: 2.0**32 + 20}


async def test_a_wrap_undone_is_not_forgotten_over_a_restart(tmp_path: Path) -> None:
    before = Watched(tmp_path, nics(1, ethernet=True))
    card = before.tree.nics[0]
    for at, value in enumerate((2**32 - 10, 20)):
        card.hw_counters["out_of_sequence"] = value
        await before.read(float(at))
    after = Watched(tmp_path, before.tree.nics)
    after.source.remember(before.source.memory())
    card.hw_counters["out_of_sequence"] = 50
    await after.read(60.0)
    assert after.values(ROCE_OUT_OF_SEQUENCE) == {IB: 2.0**32 + 50}


@pytest.mark.parametrize(
    "memory",
    [{}, {"ports": 3, "wraps": {}}, {"ports": {"a": [1, 2]}, "wraps": [7, {"metric": "x"}]}],
)
async def test_a_memory_that_makes_no_sense_is_ignored(
    tmp_path: Path, memory: dict[str, object]
) -> None:
    host = Watched(tmp_path, nics(1, ethernet=True))
    host.source.remember(memory)
    await host.read(0.0)
    assert host.values(UP) == {IB: 1.0, ETHERNET: 1.0}


async def test_a_renamed_port_is_the_same_port_under_another_name(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    await host.read(0.0)
    (info,) = host.values(PORT_INFO)
    host.tree.nics[0].rdma = "mlx5_7"
    await host.read(1.0)
    (event,) = host.poll.events
    assert (event.kind, event.scope) == ("port_renamed", {"device": "host-001"})
    assert event.more == {"from": "mlx5_0/1", "to": "mlx5_7/1"}
    (renamed,) = host.values(PORT_INFO)
    assert renamed[1] == "mlx5_7/1"
    assert renamed[2:] == info[2:]  # the uid among them
    assert host.poll.missing == []
    await host.read(2.0)
    assert host.poll.events == []


async def test_a_rename_is_noticed_over_a_restart_too(tmp_path: Path) -> None:
    before = Watched(tmp_path, nics(1, ethernet=False))
    await before.read(0.0)
    before.tree.nics[0].rdma = "mlx5_7"
    before.tree.update()
    after = Watched(tmp_path / "again", before.tree.nics)
    after.source.remember(before.source.memory())
    await after.read(60.0)
    assert [event.kind for event in after.poll.events] == ["port_renamed"]


async def test_a_card_that_is_gone_is_missing_and_has_no_last_value(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(2, ethernet=False))
    await host.read(0.0)
    gone = host.tree.nics.pop()
    await host.read(1.0)
    assert host.values(UP) == {IB: 1.0}
    assert host.poll.missing == ["host-001/mlx5_1/1"]
    host.tree.nics.append(gone)
    await host.read(2.0)
    assert host.poll.missing == []
    assert len(host.values(UP)) == 2


async def test_counters_that_come_later_are_found(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False), rediscover="60s")
    await host.read(0.0)
    optional = tmp_path / "sys/class/infiniband/mlx5_0/ports/1/hw_counters/cc_rx_cnp_pkts"
    optional.write_text("17\n")
    await host.read(30.0)
    assert host.values(CNP_RX_PACKETS) == {}
    await host.read(61.0)
    assert host.values(CNP_RX_PACKETS) == {IB: 17.0}


async def test_a_file_that_vanishes_is_absent_at_once(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    await host.read(0.0)
    (tmp_path / "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error").unlink()
    await host.read(1.0)
    assert host.values(SYMBOL_ERRORS) == {}
    assert host.poll.refused == []


async def test_nonsense_in_one_file_costs_only_that_reading(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    host.tree.update()
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    (port / "counters/symbol_error").write_bytes(b"\xff\xfe")
    (port / "rate").write_text("fast\n")
    (port / "counters/link_downed").unlink()
    (port / "counters/link_downed").mkdir()
    await host.read(0.0)
    assert host.refused(SYMBOL_ERRORS) == [Reason.MALFORMED]
    assert host.refused(SPEED) == [Reason.MALFORMED]
    assert host.refused(LINK_DOWNS) == [Reason.FAILED]
    assert host.values(UP) == {IB: 1.0}
    assert host.values(RX_BYTES) == {IB: 0.0}


async def test_what_cannot_be_read_is_said_once_and_left_alone(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False), retry="10m")
    host.tree.update()
    counters = tmp_path / "sys/class/infiniband/mlx5_0/ports/1/counters"
    (counters / "symbol_error").write_text("N/A (no PMA)\n")
    await host.read(0.0)
    assert host.refused(SYMBOL_ERRORS) == [Reason.UNSUPPORTED]
    await host.read(1.0)
    assert host.poll.refused == []
    (counters / "symbol_error").write_text("4\n")
    await host.read(599.0)
    assert host.values(SYMBOL_ERRORS) == {}
    await host.read(700.0)
    assert host.values(SYMBOL_ERRORS) == {IB: 4.0}


async def test_cards_and_ports_go_by_their_written_names(tmp_path: Path) -> None:
    cards = nics(2, ethernet=False)
    topology = Topology(
        devices=[
            Device(
                name="host-001",
                role="host",
                ports={"rail-1": PortFacts(uid=f"0x{cards[1].guid}:1")},
            ),
            Device(name="nic-a", role="nic", host="host-001", ids=(cards[0].pci,)),
        ]
    )
    host = Watched(tmp_path, cards, topology)
    await host.read(0.0)
    assert set(host.values(UP)) == {("nic-a", "mlx5_0/1"), ("host-001", "rail-1")}


async def test_a_root_without_devices_is_unavailable_not_healthy(tmp_path: Path) -> None:
    target = Target("host-001", "host", options={"root": str(tmp_path)})
    source = Host(HostSettings(), target, SeriesTable())
    with pytest.raises(SourceUnavailable, match="check root="):
        await source.read(0.0)
    await source.close()


async def test_a_host_that_hangs_is_unavailable_and_not_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False), timeout="200ms")
    host.tree.update()
    answers, read = threading.Event(), FolderTree.read

    def hanging(tree: FolderTree, path: str) -> bytes:
        """Read as the kernel does while a driver holds the file."""
        if path.endswith("/ports/1/state"):
            answers.wait(10)
        return read(tree, path)

    monkeypatch.setattr(FolderTree, "read", hanging)
    with pytest.raises(SourceUnavailable, match="no answer in 0"):
        await host.source.read(0.0)
    with pytest.raises(SourceUnavailable, match="has not answered the last poll"):
        await host.source.read(1.0)
    answers.set()
    await host.source.close()


async def test_a_known_tree_builds_no_new_series(tmp_path: Path) -> None:
    host = Watched(tmp_path, nics(2, ethernet=True))
    first = await host.read(0.0)
    known = len(host.table)
    second = await host.read(1.0)
    assert len(host.table) == known
    assert second.readings == first.readings


async def test_cards_that_cannot_be_told_apart_are_not_renamed_all_the_time(tmp_path: Path) -> None:
    cards = nics(2, ethernet=True)
    cards[1].pci = cards[0].pci  # two ports of one function that number no ports
    for card in cards:
        card.rdma = ""
    host = Watched(tmp_path, cards, rediscover="0")
    for at in range(3):
        await host.read(float(at))
        assert (host.poll.events, host.poll.missing) == ([], [])


async def test_a_state_file_that_a_kernel_does_not_have_is_no_reason_to_look_anew(
    tmp_path: Path,
) -> None:
    host = Watched(tmp_path, nics(1, ethernet=False))
    host.tree.update()
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    (port / "phys_state").unlink()
    await host.read(0.0)
    (port / "hw_counters/cc_rx_cnp_pkts").write_text("17\n")
    await host.read(1.0)
    assert host.values(UP) == {IB: 1.0}
    assert host.values(ADMIN_UP) == {}
    assert host.values(CNP_RX_PACKETS) == {}  # not laid out anew before its time
