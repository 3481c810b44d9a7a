"""Where a card's interrupts are served."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.host.interrupts import NODES, HostInterrupts
from collectors.host.ports import HostPort
from collectors.maps.columns import Columns
from collectors.protocols import proc_interrupts
from collectors.transports.tree import MapTree
from fabrichealth.catalogue.devices import IRQ_FAR, IRQ_REMOTE
from fabrichealth.errors import MalformedReply
from fabrichealth.model import SeriesTable
from tests.fixtures import readings

CARD = HostPort("host-001", "eth0", "eth0", "sys/class/net/eth0", interface="eth0")


def tree(*counts: tuple[int, int, int, int], node: str = "0", nodes: int = 2) -> MapTree:
    """Return a host of four CPUs, two a node, whose card has these interrupts from 90 on."""
    lines = [f"{90 + row}: {' '.join(map(str, counted))} PCI-MSI eth0-{row}"
             for row, counted in enumerate(counts)]  # fmt: skip
    files = {
        "proc/interrupts": "   CPU0 CPU1 CPU2 CPU3\n 1: 9 9 9 9 timer\n"
        + "\n".join(lines)
        + "\nNMI: 5 5 5 5 Non-maskable\n",
        f"{CARD.path}/device/numa_node": f"{node}\n",
        **{f"{CARD.path}/device/msi_irqs/{90 + row}": "msix" for row in range(len(counts))},
        **{f"sys/devices/system/node/node{n}/cpulist": f"{2 * n}-{2 * n + 1}\n"
           for n in range(nodes)},
    }  # fmt: skip
    return MapTree(files, {})


def share(*trees: MapTree, step: float = 60.0) -> float | None:
    """Return the last share after looks `step` seconds apart."""
    table, interrupts = SeriesTable(), HostInterrupts(period=60.0)
    for number, one in enumerate(trees):
        columns = Columns(table)
        interrupts.read(one, [CARD], number * step, columns)
    return readings(columns.poll(0, 0.0), table, IRQ_REMOTE).get(("host-001", "eth0"))


def test_the_first_look_takes_all_since_boot() -> None:
    assert share(tree((60, 0, 20, 0), (0, 20, 0, 0))) == pytest.approx(0.2)


def test_later_looks_take_what_is_new() -> None:
    assert share(tree((100, 0, 0, 0)), tree((100, 0, 5000, 0))) == 1.0


def test_counts_that_fell_start_anew() -> None:
    assert share(tree((10_000, 0, 0, 0)), tree((0, 0, 3000, 1))) == 1.0


def test_a_silent_card_has_no_share() -> None:
    assert share(tree((7, 0, 0, 0)), tree((7, 0, 0, 0))) is None


def test_the_few_commands_of_an_idle_card_are_no_share() -> None:
    assert share(tree((7, 0, 0, 0)), tree((7, 0, 4, 0))) is None
    assert share(tree((7, 0, 0, 0)), tree((7, 0, 600, 0))) == 1.0


@pytest.mark.parametrize("odd", [{"node": "-1"}, {"nodes": 1}, {"node": "x"}])
def test_a_card_without_a_node_or_a_host_of_one_has_no_share(odd: dict[str, object]) -> None:
    assert share(tree((0, 0, 9, 9), **odd)) is None  # type: ignore[arg-type]  # the odd one out


def split(*counts: tuple[int, int, int, int], node: str = "0") -> MapTree:
    """Return a host of two sockets of two nodes of one CPU each."""
    files = {path: text for path, text in tree(*counts, node=node)._files.items()
             if "/node" not in path or "numa" in path}  # fmt: skip
    for one in range(4):
        near = [10 if one == n else 12 if one // 2 == n // 2 else 32 for n in range(4)]
        files[f"sys/devices/system/node/node{one}/cpulist"] = f"{one}\n"
        files[f"sys/devices/system/node/node{one}/distance"] = f"{' '.join(map(str, near))}\n"
    return MapTree(files, {})


def shares(one: MapTree) -> dict[str, float]:
    """Return both shares of a first look, by metric."""
    table = SeriesTable()
    columns = Columns(table)
    HostInterrupts(period=60.0).read(one, [CARD], 0.0, columns)
    poll = columns.poll(0, 0.0)
    return {str(metric): share for metric in (IRQ_REMOTE, IRQ_FAR)
            for share in readings(poll, table, metric).values()}  # fmt: skip


def test_nodes_of_one_socket_are_another_node_and_not_behind_another_socket() -> None:
    assert shares(split((10, 70, 15, 5))) == {
        str(IRQ_REMOTE): pytest.approx(0.9), str(IRQ_FAR): pytest.approx(0.2),
    }  # fmt: skip
    assert shares(split((10, 70, 15, 5), node="3"))[str(IRQ_FAR)] == pytest.approx(0.8)
    assert str(IRQ_FAR) not in shares(tree((60, 0, 20, 0)))  # of no distances nothing is told


@pytest.mark.parametrize("told", ["10 12", "10 x 32 32", ""])
def test_distances_that_cannot_be_read_tell_no_share(told: str) -> None:
    whole = split((10, 70, 15, 5))
    files = {**whole._files, "sys/devices/system/node/node0/distance": told}
    assert set(shares(MapTree(files, {}))) == {str(IRQ_REMOTE)}


def test_a_node_of_memory_alone_serves_nothing_so_its_card_has_no_share() -> None:
    files = {**tree((60, 0, 20, 0), node="2")._files, f"{NODES}/node2/cpulist": "\n"}
    assert shares(MapTree(files, {})) == {}


def test_a_cpu_that_is_taken_offline_takes_nothing_of_the_past_along() -> None:
    before = tree((90_000, 0, 0, 0))
    after = dict(tree((91_000, 0, 2000, 0))._files)
    after["proc/interrupts"] = "   CPU0 CPU1 CPU2\n90: 91000 0 2000 PCI-MSI eth0-0\n"
    gone = MapTree(after, {})
    assert share(before, gone) == pytest.approx(2 / 3)
    assert share(gone, tree((92_000, 0, 2000, 7_000_000))) == 0.0  # and back: its past is no news


def test_it_is_not_looked_more_often_than_asked() -> None:
    assert share(tree((1, 0, 0, 0)), tree((1, 0, 9, 0)), step=1.0) is None


@given(st.binary(max_size=100))
def test_any_bytes_are_read_or_malformed(raw: bytes) -> None:
    with suppress(MalformedReply):
        proc_interrupts.cpu_list(raw)
    with suppress(MalformedReply):
        proc_interrupts.served(b"CPU0 CPU1\n" + raw, {0, 1, 10})
    with suppress(MalformedReply):
        proc_interrupts.served(raw, {1})


def test_a_list_of_cpus_has_single_ones_and_ranges() -> None:
    assert proc_interrupts.cpu_list(b"0-2,8\n") == {0, 1, 2, 8}
    assert proc_interrupts.cpu_list(b"\n") == set()
