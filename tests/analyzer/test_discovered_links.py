"""Links that nobody wrote down are judged as links, once collectors tell of them."""

from collectors.inventory import Inventory
from fabrichealth.catalogue.ports import LINK_INFO, UP
from fabrichealth.kinds import LINK_DOWN
from fabrichealth.model import Neighbor, Poll
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Device, Topology
from tests.analyzer.living import START, Life, Reading, clos

WHOLE = clos(4, leaves=2)
PERIODS = dict.fromkeys(WHOLE.devices, 10.0)


def law(name: str, at: float) -> list[Reading]:
    """Say that host-0/eth0 and what faces it went down after five minutes."""
    fallen = {"host-0/eth0", "leaf-0/0"} if at > 300 else set()
    return [
        (UP, tuple(end), 0.0 if str(end) in fallen else 1.0)
        for link in WHOLE.links_of[name]
        for end in link.ends
        if end.device == name
    ]


def life(store: Store, written: Topology, inventory: Inventory | None) -> Life:
    """Live ten minutes of which the collectors' inventory tells every minute."""
    lived = Life(store, written, law, PERIODS)
    for minute in range(10):
        if inventory is not None:
            store.append([inventory.batch(START + 60 * minute)])
        lived.until(60.0 * (minute + 1))
    return lived


def heard(store: Store, written: Topology, *, both: bool = True) -> Inventory:
    """Return an inventory that heard what the leaves (and the hosts) say of their far ends."""
    inventory = Inventory(store.table, written)
    for name in WHOLE.devices:
        if not both and name.startswith("host"):
            continue
        said = [
            Neighbor(*end, *other, "lldp")
            for link in WHOLE.links_of[name]
            for end, other in (link.ends, link.ends[::-1])
            if end.device == name
        ]
        lived = Life(store, written, law, {name: 10.0})
        inventory.take(Poll(list(lived._due()), neighbors=said))
    return inventory


def told(store: Store, inventory: Inventory) -> set[str]:
    batch = inventory.batch(START)
    table = store.table
    return {table.labels(n)[0] for n in batch.series.tolist() if table.metric(n) is LINK_INFO}


def test_a_link_that_both_ends_speak_of_is_told_of(store: Store) -> None:
    assert told(store, heard(store, Topology())) == set(WHOLE.links)


def test_one_end_with_a_known_far_port_is_enough(store: Store) -> None:
    assert told(store, heard(store, Topology(), both=False)) == set(WHOLE.links)


def test_its_trouble_is_the_links_and_not_that_of_two_ports(store: Store) -> None:
    (incident,) = life(store, Topology(), heard(store, Topology())).open
    assert incident.kind is LINK_DOWN
    assert tuple(incident.culprit) == ("link", "host-0/eth0--leaf-0/0")


def test_nothing_is_judged_as_a_link_that_nobody_told_of(store: Store) -> None:
    found = life(store, Topology(), None).open
    assert {incident.culprit.id for incident in found} == {"host-0/eth0", "leaf-0/0"}


def test_what_is_written_stands_beside_it(store: Store) -> None:
    links = [link for name, link in WHOLE.links.items() if "leaf-1" in name]
    written = Topology([*WHOLE.devices.values(), Device(name="x", role="cdu")], links)
    judge = life(store, written, heard(store, written)).judge
    assert set(judge.topology.links) == set(WHOLE.links)
    assert judge.topology.devices == written.devices
    assert written.links.items() <= judge.topology.links.items()


def test_strangers_have_a_role(store: Store) -> None:
    devices = life(store, Topology(), heard(store, Topology())).judge.topology.devices
    assert {device.role for name, device in devices.items() if "host" in name} == {"host"}
    assert {device.role for name, device in devices.items() if "leaf" in name} == {"switch"}


def test_a_link_taken_out_of_the_topology_is_soon_judged_no_more(store: Store) -> None:
    lived = Life(store, Topology(WHOLE.devices.values()), law, PERIODS)
    store.append([Inventory(store.table, WHOLE).batch(START)])
    lived.until(60.0)
    assert lived.judge.topology.links
    fewer = Inventory(store.table, Topology(WHOLE.devices.values(), [*WHOLE.links.values()][:1]))
    for minute in range(1, 15):
        store.append([fewer.batch(START + 60 * minute)])
        lived.until(60.0 * (minute + 1))
    assert set(lived.judge.topology.links) == {next(iter(WHOLE.links))}
