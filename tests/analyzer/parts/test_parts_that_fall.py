"""Links that fall at one moment with most of their trunk or card are one page, no other before."""

from collections.abc import Callable, Iterable

import pytest

from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DOWN, PARTS_SHARED_COMPONENT
from fabrichealth.model import Place, Port
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.living import START, Life, Reading, ports_up

FELL = 60.0
Written = Callable[[int, int], str]


def fabric(hosts: int = 12, card: Written | None = None, bundle: Written | None = None) -> Topology:
    """Return hosts with a port `ethL` to port `H` of each of two leaves; parts by (host, leaf)."""
    devices = [Device(name=f"leaf-{n}", role="switch", tier=1) for n in range(2)]
    devices += [Device(name=f"host-{n}", role="host", rack=f"r{n}") for n in range(hosts)]
    links = [
        Link(a=f"host-{n}/eth{leaf}", b=f"leaf-{leaf}/{n}", technology="roce", speed_gbps=400,
             card_b=card(n, leaf) if card else "", bundle=bundle(n, leaf) if bundle else "")
        for n in range(hosts) for leaf in range(2)
    ]  # fmt: skip
    return Topology(devices, links)


def lived(
    store: EmbeddedStore,
    topology: Topology,
    fallen: Iterable[str],
    events: Iterable[Event] = (),
    at: Callable[[int], float] = lambda n: FELL,
) -> Life:
    """Return a life in which the links of some ports fall, the n-th of them `at(n)`."""
    since = {
        end: at(n)
        for n, name in enumerate(fallen)
        for end in topology.link_of[Port.parse(name)].ends
    }

    def law(device: str, elapsed: float) -> list[Reading]:
        return ports_up(topology, device, lambda end: elapsed >= since.get(end, elapsed + 1))

    names = sorted(topology.links_of)
    phases = {name: float(7 * n % 10) for n, name in enumerate(names)}
    return Life(store, topology, law, dict.fromkeys(names, 10.0), phases).until(180.0, [*events])


CARDS = fabric(card=lambda host, leaf: f"leaf-{leaf}/card-{host // 6}")
PANEL = fabric(bundle=lambda host, leaf: "panel-1" if host in {2, 5, 8} else "")


@pytest.mark.parametrize(
    ("topology", "fallen", "culprit"),
    [
        pytest.param(CARDS, [f"leaf-0/{n}" for n in range(6)], Place("card", "leaf-0/card-0"),
                     id="a card"),
        pytest.param(CARDS, [f"leaf-0/{n}" for n in (1, 3, 5)], Place("card", "leaf-0/card-0"),
                     id="half a card"),
        pytest.param(PANEL, ["leaf-0/2", "leaf-1/2", "leaf-0/5", "leaf-1/5"],
                     Place("bundle", "panel-1"), id="most of a patch panel"),
        pytest.param(fabric(bundle=lambda host, leaf: f"mpo-{leaf}" if host < 2 else ""),
                     ["leaf-1/0", "leaf-1/1"], Place("bundle", "mpo-1"), id="a trunk of two"),
        pytest.param(fabric(), [f"leaf-0/{n}" for n in range(1, 7)], Place("device", "leaf-0"),
                     id="half a switch"),
        pytest.param(fabric(hosts=32), [f"leaf-0/{n}" for n in range(8)],
                     Place("device", "leaf-0"), id="a pipe of a switch"),
    ],
)  # fmt: skip
def test_a_part_of_which_most_falls_at_once_is_one_page(
    store: EmbeddedStore, topology: Topology, fallen: list[str], culprit: Place
) -> None:
    life = lived(store, topology, fallen)
    (incident,) = life.open
    assert (incident.kind, incident.culprit) == (PARTS_SHARED_COMPONENT, culprit)
    links = {topology.link_of[Port.parse(name)].id for name in fallen}
    assert {one.id for one in incident.victims if one.type == "link"} == links
    assert life.paged == {incident.incident: {f"parts.shared_component {culprit}"}}
    assert incident.dark


@pytest.mark.parametrize(
    ("fallen", "at"),
    [
        pytest.param(["leaf-0/1"], lambda n: FELL, id="one link"),
        pytest.param(["leaf-0/1", "leaf-0/2"], lambda n: FELL, id="two of six"),
        pytest.param(["leaf-0/1", "leaf-0/7", "leaf-1/3"], lambda n: FELL, id="of several cards"),
    ],
)
def test_links_that_fall_beside_a_part_that_lives_are_the_news(
    store: EmbeddedStore, fallen: list[str], at: Callable[[int], float]
) -> None:
    life = lived(store, CARDS, fallen, at=at)
    assert {one.kind for one in life.open} == {LINK_DOWN}
    assert len(life.open) == len(fallen)
    assert max(one.confirmed_at or 0.0 for one in life.open) <= START + FELL + 40


def test_work_on_the_switch_excuses_its_card(store: EmbeddedStore) -> None:
    work = Event(START, "maintenance_start", {"device": "leaf-0"}, "chg")
    life = lived(store, CARDS, [f"leaf-0/{n}" for n in range(6)], [work])
    assert [(one.culprit.type, one.suppressed_by) for one in life.open] == [
        ("card", "maintenance:chg")
    ]
    assert life.paged == {}


def test_a_module_that_is_ill_where_it_was_moved_says_where_it_was(store: EmbeddedStore) -> None:
    """S0 dies in the first cage; it changes places with S1, and its new ports die."""
    devices = [Device(name="leaf-0", role="switch")]
    devices += [Device(name=f"host-{n}", role="host") for n in range(6)]
    topology = Topology(
        devices, [Link(a=f"leaf-0/Ethernet{8 * n}", b=f"host-{n}/eth0") for n in range(6)]
    )

    def serial(end: Port, elapsed: float) -> str:
        cage = topology.link_of[end].ends[0].port[8:]
        place = int(cage) // 16
        return f"S{place if elapsed < 200 else {0: 1, 1: 0}.get(place, place)}"

    def law(device: str, elapsed: float) -> list[Reading]:
        said = ports_up(
            topology, device, lambda end: elapsed >= FELL and serial(end, elapsed) == "S0"
        )
        if device == "leaf-0":
            row = ["" if name != "serial" else "{}" for name in OPTICS_INFO.labels[2:]]
            said += [
                (OPTICS_INFO, (*labels, *(one.format(serial(Port(*labels), elapsed))
                                          for one in row)), 1.0)
                for _, labels, _ in list(said)
            ]  # fmt: skip
        return said

    names = sorted(topology.links_of)
    life = Life(store, topology, law, dict.fromkeys(names, 10.0)).until(300.0)
    found = {one.culprit.id: one.because for one in life.open}
    assert found.keys() == {"leaf-0/Ethernet0", "leaf-0/Ethernet16"}
    assert "S0 was in leaf-0/Ethernet0, leaf-0/Ethernet8 before" in found["leaf-0/Ethernet16"]
