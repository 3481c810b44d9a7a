"""The ports of a host, what they are and by what they are known again.

A NIC has two faces: the interface (`eth0`), which carries the counters of the physical Ethernet
port, and the RDMA port (`mlx5_3/1`), which carries those of RDMA and, on InfiniBand, those of the
physical port. Both are ports of the host, or of the NIC where the topology lists it as a device.

Identity (`uid`), so that a renamed port is the same port: an RDMA port is `NODE_GUID:PORT` (with
`PCI/PORT` where it has no GUID), an interface is `PCI/DEV_PORT` (its permanent MAC address where
it is on no PCI bus). Both stay over reboots and renames, and go with the card and the slot.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from collectors.maps.names import device_name
from collectors.protocols import sysfs, sysfs_infiniband, sysfs_net
from collectors.protocols.sysfs import PCI, Places
from collectors.source import Target
from collectors.transports.tree import Tree
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.errors import MalformedReply

ETHERNET = "1"
"""ARPHRD_ETHER in `type`; IP over InfiniBand (32) is no port beside its RDMA port."""
PERMANENT_ADDRESS = "0"
"""NET_ADDR_PERM in `addr_assign_type`."""


@dataclass(frozen=True, slots=True)
class HostPort:
    """One port: its labels, where its files are, and what is known of its card."""

    device: str
    port: str
    name: str
    """As the host calls it: `mlx5_3/1`, `eth0`."""
    path: str
    """Its folder in the tree."""
    rdma: str = ""
    """The RDMA device it belongs to; empty for an interface."""
    interface: str = ""
    """The interface that it is; empty for an RDMA port."""
    technology: str = ""
    uid: str = ""
    driver: str = ""
    firmware: str = ""
    model: str = ""
    virtual: bool = False

    @property
    def labels(self) -> dict[str, str]:
        """Labels of what is refused about it."""
        return {"device": self.device, "port": self.port}


class Naming:
    """Names of the topology for what the host says (contract 1, Captures)."""

    def __init__(self, target: Target) -> None:
        self.subject = device_name(target.subject)
        self.topology = target.topology

    def owner(self, ids: Iterable[str]) -> str:
        """Return the device that goes by one of these, else the host."""
        for alias in ids:
            if alias and (found := self.topology.named(alias, self.subject)):
                return found
        return self.subject

    def port(self, device: str, uid: str, name: str) -> str:
        """Return the written name of the port with this identity, else its own name."""
        return (self.topology.port_with_uid(device, uid) if uid else None) or name


def info(port: HostPort, fec: str) -> tuple[str, ...]:
    """Return the labels of `fabric_port_info` as far as the host knows them."""
    said = {
        "device": port.device,
        "port": port.port,
        "technology": port.technology,
        "fec": fec,
        "uid": port.uid,
        "packets": "packets",
    }
    return tuple(said.get(label, "") for label in PORT_INFO.labels)


def find(tree: Tree, places: Places, naming: Naming) -> list[HostPort]:
    """Return the ports of a tree; virtual interfaces are marked, loopback is none."""
    ports: list[HostPort] = []
    for rdma, path in places.infiniband.items():
        ports += _rdma_ports(tree, rdma, path, naming)
    for interface, path in places.net.items():
        ports += _interface(tree, interface, path, naming)
    return ports


def word(tree: Tree, path: str) -> str:
    """Return a line of text of a file; empty where it is not there."""
    try:
        return sysfs.word(tree.read(path))
    except OSError:
        return ""


def joined(words: Iterable[str]) -> str:
    """Return the different words, sorted: cards of one host may differ."""
    return ",".join(sorted({word for word in words if word}))


def _rdma_ports(tree: Tree, rdma: str, path: str, naming: Naming) -> Iterator[HostPort]:
    try:
        guid = sysfs_infiniband.guid(tree.read(f"{path}/node_guid"))
    except (OSError, MalformedReply):
        guid = ""
    if _is_virtual_function(tree, path):
        return
    pci, driver = _bus(tree, path)
    device = naming.owner((guid, pci))
    for number in tree.names(f"{path}/ports"):
        folder = f"{path}/ports/{number}"
        ethernet = word(tree, f"{folder}/link_layer") == "Ethernet"
        uid = f"{guid}:{number}" if guid else f"{pci}/{number}" if pci else ""
        yield HostPort(
            device,
            naming.port(device, uid, f"{rdma}/{number}"),
            f"{rdma}/{number}",
            folder,
            rdma=rdma,
            technology="roce" if ethernet else "ib",
            uid=uid,
            driver=driver,
            firmware=word(tree, f"{path}/fw_ver"),
            model=word(tree, f"{path}/hca_type"),
        )


def _interface(tree: Tree, interface: str, path: str, naming: Naming) -> Iterator[HostPort]:
    kind = word(tree, f"{path}/type")
    if interface == "lo" or (kind and kind != ETHERNET):
        return
    stands_in = sysfs_net.is_representor(word(tree, f"{path}/phys_port_name"))
    if stands_in or _is_virtual_function(tree, path):
        return
    pci, driver = _bus(tree, path)
    mac = word(tree, f"{path}/address").lower()
    permanent = word(tree, f"{path}/addr_assign_type") in {"", PERMANENT_ADDRESS}
    uid = f"{pci}/{_port_number(tree, path)}" if pci else mac if permanent else ""
    device = naming.owner((pci, mac))
    yield HostPort(
        device,
        naming.port(device, uid, interface),
        interface,
        path,
        interface=interface,
        technology="roce",
        uid=uid,
        driver=driver,
        virtual="/virtual/" in tree.link(path),
    )


def _is_virtual_function(tree: Tree, path: str) -> bool:
    """Return whether a device shares the port of a physical function, which reports it."""
    return bool(tree.link(f"{path}/device/physfn"))


def _port_number(tree: Tree, path: str) -> int:
    try:
        return sysfs.count(tree.read(f"{path}/dev_port")) or 0
    except (OSError, MalformedReply):
        return 0


def _bus(tree: Tree, path: str) -> tuple[str, str]:
    """Return PCI address and driver of a device; empty where they are not known."""
    facts = sysfs.uevent(word(tree, f"{path}/device/uevent").encode())
    pci = facts.get("PCI_SLOT_NAME", "") or tree.link(f"{path}/device").rpartition("/")[2]
    driver = facts.get("DRIVER", "") or tree.link(f"{path}/device/driver").rpartition("/")[2]
    return (pci if PCI.fullmatch(pci) else ""), driver
