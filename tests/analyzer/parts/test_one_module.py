"""One module with several ports is one incident when it dies, flaps or degrades."""

from collections.abc import Callable

import pytest

from analyzer.evidence.parts.cages import Cages
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.catalogue.ports import LINK_DOWNS, RX_BYTES, SYMBOL_ERRORS
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DOWN, PARTS_SHARED_COMPONENT, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Place, Port
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Module, Topology
from tests.analyzer.living import START, Life, Reading, ports_up

NAMES: dict[str, Callable[[int, int], str]] = {
    "NX-OS": lambda cage, lane: f"Ethernet1/{cage}/{lane + 1}",
    "EOS": lambda cage, lane: f"Ethernet{cage}/{2 * lane + 1}",
    "Cumulus": lambda cage, lane: f"swp{cage}s{lane}",
    "NVOS": lambda cage, lane: f"sw{cage}p{lane + 1}",
    "Junos": lambda cage, lane: f"et-0/0/{cage}:{lane}",
    "SONiC": lambda cage, lane: f"Ethernet{16 * (cage - 1) + 4 * lane}",
}
FELL = 60.0


def pod(
    name: Callable[[int, int], str], lanes: int = 4, serials: str = "", hosts_have: int = 2
) -> Topology:
    """Return two leaves of two cages each, hosts with a port `ethN` on each of so many leaves.

    `serials` writes each cage's module for the leaves' ends.
    """
    devices = [Device(name=f"leaf-{n}", role="switch", tier=1) for n in range(hosts_have)]
    links = []
    for host in range(2 * lanes):
        devices.append(Device(name=f"host-{host}", role="host", rack=f"r{host}"))
        for leaf in range(hosts_have):
            cage = host // lanes + 1
            module = Module(serial=f"{serials}{leaf}{cage}") if serials else None
            port = f"leaf-{leaf}/{name(cage, host % lanes)}"
            links.append(Link(a=port, b=f"host-{host}/eth{leaf}", technology="roce",
                              speed_gbps=100, module_a=module))  # fmt: skip
    return Topology(devices, links)


def ends_of(topology: Topology, ports: set[Port]) -> set[Port]:
    """Return both ends of the cables of some ports."""
    return {end for port in ports for end in topology.link_of[port].ends}


def lived(
    store: EmbeddedStore,
    topology: Topology,
    ill: set[Port],
    seconds: float = 150.0,
    *,
    serial: Callable[[Port], str] | None = None,
    period: float = 10.0,
    every: float = 10.0,
    events: tuple[Event, ...] = (),
) -> Life:
    """Return a life in which some ports, and their far ends, are down from 1 min on."""
    down = ends_of(topology, ill)

    def law(device: str, elapsed: float) -> list[Reading]:
        said = ports_up(topology, device, lambda end: elapsed >= FELL and end in down)
        dead = {end for end in ill if elapsed >= FELL}
        told = [Port(*labels) for _, labels, _ in said]
        return said + [
            (OPTICS_INFO, (*end, *["" if name != "serial" else serial(end)
                                   for name in OPTICS_INFO.labels[2:]]), 1.0)
            for end in told if serial is not None and end not in dead and serial(end)
        ]  # fmt: skip

    phases = {name: (7 * n % 10) * 0.1 * period for n, name in enumerate(sorted(topology.links_of))}
    periods = dict.fromkeys(topology.links_of, period)
    life = Life(store, topology, law, periods, phases, every=every)
    return life.until(seconds, list(events))


def first_cage(lanes: int = 4, system: str = "NX-OS") -> set[Port]:
    return {Port("leaf-0", NAMES[system](1, lane)) for lane in range(lanes)}


@pytest.mark.parametrize(
    ("system", "lanes", "hosts_have", "every"),
    [("NX-OS", 4, 2, 10.0), ("NVOS", 2, 2, 10.0), ("SONiC", 4, 1, 4.0)],
)
def test_a_dead_module_is_one_page_about_its_cage(
    store: EmbeddedStore, system: str, lanes: int, hosts_have: int, every: float
) -> None:
    topology = pod(NAMES[system], lanes, "S" if system == "SONiC" else "", hosts_have)
    ports = first_cage(lanes, system)
    life = lived(store, topology, ports, every=every)
    (incident,) = life.open
    assert (incident.kind, incident.severity) == (PARTS_SHARED_COMPONENT, Severity.PAGE)
    cage = {"NX-OS": "Ethernet1/1", "NVOS": "sw1", "SONiC": "Ethernet0"}[system]
    assert incident.culprit == Place("module", f"leaf-0/{cage}")
    links = {one.id for one in incident.victims if one.type == "link"}
    assert links == {topology.link_of[port].id for port in ports}
    assert START + FELL <= incident.opened_at <= START + FELL + 10
    assert life.paged == {incident.incident: {f"parts.shared_component {incident.culprit}"}}


def test_one_lane_that_falls_is_its_link_and_not_the_module(store: EmbeddedStore) -> None:
    topology = pod(NAMES["NX-OS"])
    (incident,) = lived(store, topology, {Port("leaf-0", "Ethernet1/1/2")}).open
    assert (incident.kind, incident.culprit.id) == (LINK_DOWN, "host-1/eth0--leaf-0/Ethernet1/1/2")


def test_ports_that_tell_modules_of_their_own_are_no_breakout(store: EmbeddedStore) -> None:
    three = first_cage() - {Port("leaf-0", "Ethernet1/1/4")}  # less than half of the switch
    life = lived(store, pod(NAMES["NX-OS"]), three, serial=lambda end: f"S{end}")
    assert {one.kind for one in life.open} == {LINK_DOWN}
    assert len(life.open) == 3


@pytest.mark.parametrize("whose", ["leaf-0", "host"])
def test_a_serial_number_told_before_it_died_says_what_was_one_module(
    store: EmbeddedStore, whose: str
) -> None:
    """A module that is dead tells no more; of a cable its far ends may tell the same number."""
    topology = pod(NAMES["SONiC"])

    def serial(end: Port) -> str:
        switch = end if end.device == "leaf-0" else topology.peer(end)
        cable = switch is not None and switch.device == "leaf-0" and end.device.startswith(whose)
        return f"S{int(switch.port[8:]) // 16}" if switch is not None and cable else ""

    life = lived(store, topology, first_cage(4, "SONiC"), serial=serial)
    (incident,) = life.open
    assert incident.culprit == Place("module", "leaf-0/Ethernet0")
    assert "module S0 in leaf-0 Ethernet0" in incident.because


@pytest.mark.parametrize("scopes", [["leaf-0"], [f"host-{n}" for n in range(4)]], ids=["it", "all"])
def test_work_on_the_switch_or_on_all_its_hosts_excuses_a_module(
    store: EmbeddedStore, scopes: list[str]
) -> None:
    events = tuple(Event(START, "maintenance_start", {"device": one}, f"c-{one}") for one in scopes)
    life = lived(store, pod(NAMES["NX-OS"]), first_cage(), events=events)
    (incident,) = life.open
    assert incident.culprit == Place("module", "leaf-0/Ethernet1/1")
    assert incident.suppressed_by == f"maintenance:c-{scopes[0]}"
    assert life.paged == {}


def test_work_on_some_of_its_hosts_excuses_no_module(store: EmbeddedStore) -> None:
    events = (Event(START, "maintenance_start", {"device": "host-0"}, "c"),)
    life = lived(store, pod(NAMES["NX-OS"]), first_cage(), events=events)
    assert [one.suppressed_by for one in life.open] == [None]


def test_a_host_that_answers_and_hangs_on_one_module_alone_is_its_victim(
    store: EmbeddedStore,
) -> None:
    links = [
        Link(a=f"leaf-0/Ethernet{16 * n + 4 * lane}", b=f"host-{(4 * n + lane) // 2}/eth{lane}",
             module_a=Module(serial=f"S{n}"))
        for n in range(2) for lane in range(4)
    ]  # fmt: skip
    devices = [Device(name="leaf-0", role="switch")]
    devices += [Device(name=f"host-{n}", role="host") for n in range(4)]
    topology = Topology(devices, links)
    life = lived(store, topology, first_cage(4, "SONiC"), 200.0)
    (incident,) = life.open
    assert incident.culprit == Place("module", "leaf-0/Ethernet0")
    assert {"host-0", "host-1"} <= {one.id for one in incident.victims}


def errs(
    store: EmbeddedStore, metric: Metric, ill: set[Port], rate: float, work: Event | None = None
) -> Life:
    """Return a life in which a counter of some ports moves from 1 min on, maybe during work."""
    topology = pod(NAMES["SONiC"], serials="S")

    def law(device: str, elapsed: float) -> list[Reading]:
        said = ports_up(topology, device, lambda end: False)
        for _, labels, _ in list(said):
            count = max(elapsed - FELL, 0.0) * rate if Port(*labels) in ill else 0.0
            said.append((metric, labels, float(int(count))))
            said.append((RX_BYTES, labels, elapsed * 1e10))
        return said

    periods = dict.fromkeys(topology.links_of, 30.0)
    return Life(store, topology, law, periods, every=30.0).until(900.0, [work] if work else [])


@pytest.mark.parametrize(
    ("metric", "rate", "kind"),
    [(SYMBOL_ERRORS, 50.0, "link.subhealthy"), (LINK_DOWNS, 1 / 60, "link.flapping")],
    ids=["errs", "flaps"],
)
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_module_ill_on_all_its_lanes_is_one_incident_and_one_lane_is_its_link(
    store: EmbeddedStore, metric: Metric, rate: float, kind: str, lanes: int
) -> None:
    announced = Event(START, "maintenance_start", {"device": "leaf-0"}, "chg")
    work = announced if metric is SYMBOL_ERRORS else None
    life = errs(store, metric, first_cage(lanes, "SONiC"), rate, work)
    (incident,) = life.open
    assert incident.suppressed_by is None  # no work excuses data that is lost on links that are up
    if lanes == 1:
        assert (str(incident.kind), incident.culprit.type) == (kind, "link")
    else:
        assert (incident.kind, incident.severity) == (PARTS_SHARED_COMPONENT, Severity.PAGE)
        assert incident.culprit == Place("module", "leaf-0/Ethernet0")
    assert all(len(said) == 1 for said in life.paged.values())


@pytest.mark.parametrize(
    ("names", "cages"),
    [
        (["Ethernet1/1/1", "Ethernet1/1/2", "Ethernet1/2"], {"Ethernet1/1"}),
        (["Ethernet1/1", "Ethernet1/3", "Ethernet2/1", "Ethernet2/3"], {"Ethernet1", "Ethernet2"}),
        (["Ethernet1/1", "Ethernet1/2", "Ethernet1/3"], set()),
        (["Ethernet1/1/1", "Ethernet1/1/2", "Ethernet1/1/9"], set()),
        (["et-0/0/1", "et-0/0/2", "et-0/1/1"], set()),
        (["et-0/0/1:0", "et-0/0/1:1", "et-0/0/2"], {"et-0/0/1"}),
        (["swp1s0", "swp1s1", "swp2"], {"swp1"}),
        (["sw1p1", "sw1p2", "sw2p1s1", "sw2p1s2"], {"sw1", "sw2"}),
        (["Ethernet0", "Ethernet4"], set()),
        (["nvlink/0", "nvlink/1", "ub/0/1", "ub/0/2"], set()),
    ],
    ids=lambda one: one[0] if isinstance(one, list) and one else "",
)
def test_names_of_switches_say_which_ports_one_module_carries(
    names: list[str], cages: set[str]
) -> None:
    links = [Link(a=f"leaf-0/{name}", b=f"host-{n}/eth0") for n, name in enumerate(names)]
    devices = [Device(name="leaf-0", role="switch")]
    devices += [Device(name=f"host-{n}", role="host") for n in range(len(names))]
    known = Cages(Topology(devices, links))
    found = {cage.name for name in names if (cage := known.of(Port("leaf-0", name)))}
    assert found == cages


def test_a_module_that_serves_two_cards_of_a_host_goes_by_the_first_of_them() -> None:
    devices = [Device(name="leaf-0", role="switch"), Device(name="host-0", role="host")]
    devices += [Device(name=f"host-0-nic{n}", role="nic", host="host-0") for n in range(4)]
    links = [
        Link(a=f"host-0-nic{n}/p0", b=f"leaf-0/Ethernet{n}", module_a=Module(serial=f"S{n // 2}"))
        for n in range(4)
    ]
    known = Cages(Topology(devices, links))
    found = {cage.place.id for link in links if (cage := known.of(link.ends[0]))}
    assert found == {"host-0-nic0/p0", "host-0-nic2/p0"}
    assert known.named("host-0-nic2/p0") == known.of(Port("host-0-nic3", "p0"))
