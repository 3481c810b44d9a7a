"""A case of LLDP tables that once built wrong links: MACs for ports, double entries, a restart."""

from collections.abc import Iterable

from collectors.maps.lldp import Heard, neighbor
from collectors.source import Target
from fabrichealth.model import Neighbor
from fabrichealth.topology import Device, Discovery, Found, Topology
from fabrichealth.topology.rows import PortFacts

NOW = 1_767_225_600.0
MAC = {"spine-1": "02:00:5e:00:01:00", "spine-2": "02:00:5e:00:02:00"}


def spine(name: str, **ports: str) -> Device:
    facts = {port: PortFacts(alias=alias) for alias, port in ports.items()}
    return Device(name=name, role="switch", ids=(MAC[name],), ports=facts)


WRITTEN = Topology(
    [
        Device(name="leaf-4", role="switch"),
        spine("spine-1", etp9="Ethernet32", etp10="Ethernet36"),
        spine("spine-2", etp5="Ethernet16"),
    ]
)

Entry = tuple[str, str, str, str]
"""Local port, system, subtype and id of the far port (IEEE 802.1AB: 3 is a MAC, 7 local)."""

FIRST: list[Entry] = [
    ("Ethernet124", "spine-1", "3", MAC["spine-1"]),  # still starting
    ("Ethernet120", "spine-1", "7", "etp9"),
    ("Ethernet116", "spine-2", "3", MAC["spine-2"]),
    ("Ethernet116", "spine-2", "7", "etp5"),
]
RESTARTED: list[Entry] = [
    ("Ethernet116", "spine-2", "7", "etp5"),
    ("Ethernet124", "spine-1", "7", "etp10"),
]


def read(entries: Iterable[Entry]) -> list[Neighbor]:
    """Return what a source makes of a table of neighbours."""
    target = Target("leaf-4", "sonic", topology=WRITTEN)
    heard = (
        neighbor(target, "leaf-4", port, Heard(system, MAC[system], far, subtype == "3"))
        for port, system, subtype, far in entries
    )
    return [one for one in heard if one is not None]


def links(found: Found) -> dict[str, bool]:
    """Return for each link whether it is stale."""
    return {link.id: link.stale for link in found.links}


def test_a_starting_neighbor_and_a_restarted_table_build_no_wrong_link() -> None:
    discovery = Discovery(WRITTEN)
    discovery.hear(read(FIRST), NOW)
    first = discovery.found(NOW)
    assert links(first) == {
        "leaf-4/Ethernet116--spine-2/Ethernet16": False,
        "leaf-4/Ethernet120--spine-1/Ethernet32": False,
    }
    (unknown,) = (doubt for doubt in first.doubts if doubt.kind == "port_unknown")
    assert str(unknown.about) == "leaf-4/Ethernet124"
    assert "spine-1" in unknown.says

    discovery.hear(read(RESTARTED), NOW + 30)
    second = discovery.found(NOW + 30)
    assert links(second) == {
        "leaf-4/Ethernet116--spine-2/Ethernet16": False,
        "leaf-4/Ethernet120--spine-1/Ethernet32": True,  # the last that was known
        "leaf-4/Ethernet124--spine-1/Ethernet36": False,
    }
    assert {doubt.kind for doubt in second.doubts} == {"one_sided"}


def test_a_mac_that_is_written_as_the_uid_of_a_port_names_it() -> None:
    host = Device(name="host-1", role="host", ports={"eth0": PortFacts(uid="02:00:5E:00:09:01")})
    target = Target("leaf-4", "sonic", topology=Topology([host]))
    heard = Heard("host-1", "", "02:00:5e:00:09:01", port_is_mac=True)
    assert neighbor(target, "leaf-4", "Ethernet0", heard) == Neighbor(
        "leaf-4", "Ethernet0", "host-1", "eth0", "lldp"
    )
