"""What there is, whether it speaks or not."""

from collections.abc import Iterable

import numpy as np

from analyzer.evidence.domain.inventory import Inventory, stock
from fabrichealth.catalogue.accelerators import ACCELERATOR_INFO, THROTTLED, UTILIZATION
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, SeriesTable, Window
from fabrichealth.topology import Device, Domain, Rack, Topology


def hosts(many: int = 2, cards: int = 2, declared: int = 0) -> Topology:
    """Return hosts with cards in rack r1 of domain pod-a."""
    devices = [Device(name=f"host-{h}", role="host", rack="r1") for h in range(many)]
    devices += [
        Device(name=f"host-{h}-{c}", role="accelerator", host=f"host-{h}", model="X")
        for h in range(many)
        for c in range(cards)
    ]
    domain = Domain(name="pod-a", accelerators=declared)
    return Topology(devices, domains=[domain], racks=[Rack(name="r1", domain="pod-a")])


def told(topology: Topology, series: Iterable[tuple[Metric, Labels]]) -> Inventory:
    table = SeriesTable()
    table.intern_all(series)
    return stock(topology, table)


def window(metric: Metric, names: Iterable[Labels], table: SeriesTable) -> Window:
    series = np.sort(table.intern_all((metric, labels) for labels in names))
    empty = np.full((len(series), 1), np.nan)
    clock = np.zeros(len(series), np.int32)
    return Window(metric, table, series, empty, np.zeros((1, 1)), clock, 0.0, 600.0)


def test_what_is_written_counts_though_nothing_speaks() -> None:
    found = told(hosts(), [])
    assert found.names == ("host-0-0", "host-0-1", "host-1-0", "host-1-1")
    assert found.domain.names == ("pod-a",)
    assert [found.host.of(row) for row in range(4)] == ["host-0"] * 2 + ["host-1"] * 2
    assert found.rack.rows("r1").tolist() == [0, 1, 2, 3]
    assert found.model.of(0) == "X"
    assert found.size("pod-a") == 4


def test_a_domain_written_larger_than_its_list_lacks_the_rest() -> None:
    found = told(hosts(declared=10), [])
    assert found.unlisted == {"pod-a": 6}
    assert found.size("pod-a") == 10


def test_one_that_tells_of_itself_counts_from_then_on_and_fills_the_list() -> None:
    info = (ACCELERATOR_INFO, ("host-1-7", "Y", "host-1", "", "", "550.1"))
    found = told(hosts(declared=10), [info])
    row = found.row("host-1-7")
    assert row is not None
    assert (found.domain.of(row), found.rack.of(row), found.model.of(row)) == ("pod-a", "r1", "Y")
    assert found.unlisted == {"pod-a": 5}


def test_what_is_written_wins_over_what_a_card_says_of_its_place() -> None:
    info = (ACCELERATOR_INFO, ("host-1-0", "Y", "host-9", "r9", "pod-z", "550.1"))
    found = told(hosts(), [info])
    assert found.domain.names == ("pod-a",)
    assert found.host.names == ("host-0", "host-1")


def test_a_card_that_only_says_how_busy_it_is_belongs_to_the_host_of_its_name() -> None:
    found = told(hosts(), [(UTILIZATION, ("host-0-5",)), (UTILIZATION, ("stray",))])
    row, stray = found.row("host-0-5"), found.row("stray")
    assert row is not None
    assert stray is not None
    assert found.domain.of(row) == "pod-a"
    assert found.domain.of(stray) == ""


def test_the_later_of_two_things_a_card_tells_counts() -> None:
    said = [(ACCELERATOR_INFO, ("card", model, "", "", "pod-z", "1")) for model in ("old", "new")]
    found = told(Topology(), said)
    assert found.model.names == ("new",)
    assert found.domain.names == ("pod-z",)


def test_rows_of_any_window_find_their_card_and_new_series_are_found_later() -> None:
    table = SeriesTable()
    there = stock(hosts(), table)
    first = window(THROTTLED, [("host-1-1", "power"), ("leaf-0", "power")], table)
    assert there.places(first).tolist() == [3, -1]
    more = window(THROTTLED, [("host-1-1", "power"), ("host-0-0", "thermal")], table)
    assert there.places(more).tolist() == [3, 0]


def test_the_same_inventory_serves_until_something_new_is_told() -> None:
    table, topology = SeriesTable(), hosts()
    first = stock(topology, table)
    assert stock(topology, table) is first
    table.intern(UTILIZATION, ("host-0-9",))
    assert stock(topology, table) is not first
