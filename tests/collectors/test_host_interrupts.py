"""Where a card's interrupts are served."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.host.interrupts import HostInterrupts
from collectors.host.ports import HostPort
from collectors.maps.columns import Columns
from collectors.protocols import proc_interrupts
from collectors.transports.tree import MapTree
from fabrichealth.catalogue.devices import IRQ_REMOTE
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
