"""One host's tree over many polls: laid out anew when devices come, go or are renamed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.host import interrupts, ports
from collectors.host.counters import HostCounters
from collectors.host.interrupts import HostInterrupts
from collectors.host.ports import HostPort, Naming
from collectors.maps.columns import Columns
from collectors.protocols import sysfs
from collectors.protocols.sysfs import Places
from collectors.transports.tree import Tree
from fabrichealth.catalogue.devices import BOOT_TIME, DEVICE_INFO
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.errors import MalformedReply
from fabrichealth.events import Event
from fabrichealth.model import Port, Reason

METRICS = (BOOT_TIME, DEVICE_INFO, PORT_INFO, *interrupts.METRICS)


@dataclass(slots=True)
class HostTree:
    """Ports, identity and device facts of a tree; the counters are `HostCounters`'."""

    counters: HostCounters
    naming: Naming
    interrupts: HostInterrupts
    virtual: str = "if_alone"
    """Whether interfaces without hardware are ports: never, if_alone or always."""
    rediscover: float = 60.0
    """Seconds after which new files are looked for where no device came or went."""
    ports: list[HostPort] = field(default_factory=list)
    fec: Mapping[str, str] = field(default_factory=dict)
    """FEC by interface, where somebody else knows it."""
    _places: Places = field(default_factory=Places)
    _shape: tuple[tuple[str, ...], ...] = ()
    """Names of the devices when the tree was laid out."""
    _next: float = float("-inf")
    _boot: float | None = None
    _infos: dict[tuple[str, str], int] = field(default_factory=dict)
    _devices: list[tuple[str, ...]] = field(default_factory=list)
    _known: dict[str, Port] = field(default_factory=dict)
    """Every port of hardware seen, by identity (by name where it has none)."""
    _gone: list[str] = field(default_factory=list)

    def find(self, at: float, columns: Columns) -> bool:
        """Look which ports there are; False where the tree has none and never had."""
        tree = self.counters.tree
        shape = tuple(tree.names(folder) for folder in self._places.folders)
        if shape != self._shape or self.counters.changed or not at < self._next:
            self._places, self._next = sysfs.places(tree), at + self.rediscover
            self._shape = tuple(tree.names(folder) for folder in self._places.folders)
            self._lay_out(at, columns)
        return bool(self.ports or self._gone or self._boot is not None)

    def read(self, at: float, columns: Columns) -> None:
        """Read every port found, and what is known of the host."""
        self.counters.read(at, columns)
        if self._places.proc:
            self.interrupts.read(self.counters.tree, self.ports, at, columns)
        for port in self.ports:
            columns.put(self._info(port), 1.0)
        for labels in self._devices:
            columns.take(DEVICE_INFO, labels, 1.0)
        if self._boot is not None:
            columns.take(BOOT_TIME, (self.naming.subject,), self._boot)
        columns.missing += self._gone

    def read_anew(self, tree: Tree, at: float, columns: Columns) -> None:
        """Read another tree of the same host: the next capture."""
        self.counters.tree = tree
        self._next, self._boot = float("-inf"), None
        self.interrupts.again()
        self.find(at, columns)
        self.read(at, columns)

    def memory(self) -> dict[str, Any]:
        """Return the name of each identity that is there now, for renames over a restart."""
        return {port.uid: [port.device, port.port] for port in self.ports if port.uid}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up `memory` of before the restart."""
        for uid, name in memory.items():
            match name:
                case [str(device), str(port)]:
                    self._known.setdefault(uid, Port(device, port))

    def _lay_out(self, at: float, columns: Columns) -> None:
        tree = self.counters.tree
        found = ports.find(tree, self._places, self.naming)
        hardware = [port for port in found if not port.virtual]
        if self.virtual == "always" or (self.virtual == "if_alone" and not hardware):
            self.ports = found
        else:
            self.ports = hardware
        self._infos.clear()
        self.counters.lay_out(self.ports, at, columns)
        self._compare(at, columns)
        self._devices = self._device_facts()
        if self._boot is None and self._places.proc:
            try:
                self._boot = sysfs.boot_time(tree.read(f"{self._places.proc}stat"))
            except (OSError, MalformedReply) as wrong:
                columns.refuse(Reason.FAILED, f"{BOOT_TIME}", {}, str(wrong))

    def _compare(self, at: float, columns: Columns) -> None:
        """Say which ports were renamed since the last look, and which are gone."""
        solid = [port for port in self.ports if not port.virtual]
        shared = Counter(port.uid for port in solid)  # an identity of two ports is none
        present = {
            port.uid if port.uid and shared[port.uid] == 1 else port.name: Port(
                port.device, port.port
            )
            for port in solid
        }
        for uid, port in present.items():
            before = self._known.get(uid, port)
            if before != port:
                names = {"from": before.port, "to": port.port}
                columns.events.append(
                    Event(at, "port_renamed", {"device": port.device}, more=names)
                )
        self._known |= present
        names_now = set(present.values())
        self._gone = sorted(
            str(port)
            for uid, port in self._known.items()
            if uid not in present and port not in names_now
        )

    def _device_facts(self) -> list[tuple[str, ...]]:
        """Return the labels of `fabric_device_info` of each device that has ports here."""
        facts = []
        for device in {port.device: None for port in self.ports}:
            own = [port for port in self.ports if port.device == device]
            host = device == self.naming.subject
            dmi, proc = self._places.dmi, self._places.proc
            product = self._word(f"{dmi}product_name") if host and dmi else ""
            release = self._word(f"{proc}sys/kernel/osrelease") if host and proc else ""
            facts.append(
                (
                    device,
                    product or ports.joined(port.model for port in own),
                    ports.joined(port.firmware for port in own),
                    ports.joined(port.driver for port in own),
                    f"Linux {release}" if release else "",
                )
            )
        return [labels for labels in facts if any(labels[1:])]

    def _info(self, port: HostPort) -> int:
        """Return the info series of a port; its labels are built anew when its FEC changes."""
        key = (port.name, self.fec.get(port.interface, ""))
        series = self._infos.get(key)
        if series is None:
            labels = ports.info(port, key[1])
            series = self._infos[key] = self.counters.table.intern(PORT_INFO, labels)
        return series

    def _word(self, path: str) -> str:
        return ports.word(self.counters.tree, path)
