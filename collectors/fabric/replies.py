"""What InfiniBand's tools printed, told apart by content -> columns.

Listings come first, because they say which node has which GUID, which LID and which rate; then
counters; then what failed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from collectors.fabric import counters
from collectors.fabric.counters import FabricCounters
from collectors.fabric.names import FabricNames
from collectors.maps import infiniband
from collectors.maps.columns import Columns
from collectors.protocols import ib_counters, ib_failures, ib_links, ibdiagnet, ibswinfo
from collectors.protocols.ib_counters import PortCounters, QueryErrors
from collectors.protocols.ib_links import End, LinkEnd, Links, digits
from collectors.protocols.ibdiagnet import Section
from collectors.protocols.ibswinfo import SwitchInfo
from collectors.source import Target
from fabrichealth.catalogue.devices import BOOT_TIME, DEVICE_INFO, DEVICE_TEMPERATURE, FAN_SPEED
from fabrichealth.catalogue.infiniband import DESCRIPTION_INFO
from fabrichealth.catalogue.ports import ADMIN_UP, LANES, PORT_INFO, SPEED, UP
from fabrichealth.catalogue.power import SUPPLY_HEALTHY
from fabrichealth.model import Neighbor, Port, Reason, SeriesTable

METRICS = (
    UP,
    ADMIN_UP,
    SPEED,
    LANES,
    PORT_INFO,
    DESCRIPTION_INFO,
    DEVICE_INFO,
    BOOT_TIME,
    DEVICE_TEMPERATURE,
    FAN_SPEED,
    SUPPLY_HEALTHY,
    *counters.METRICS,
)

Said = Links | list[PortCounters] | QueryErrors | SwitchInfo | list[Section]

VIA = "ibnetdiscover"
"""Who tells of neighbours: the fabric's discovery, whichever tool prints it."""


def said(text: str) -> Said | None:
    """Return what a tool's output says; None where it is of none of the tools."""
    for links in ib_links.told_apart(text):
        return links
    if found := ib_counters.perfquery(text):
        return found
    if errors := ib_counters.queryerrors(text):
        return errors
    if sections := list(ibdiagnet.sections(text)):
        return sections
    return ibswinfo.info(text)


ROLES = {"switch": "switch", "router": "switch", "ca": "nic"}
"""What a node is in the words of a topology."""


@dataclass(slots=True)
class FabricReplies:
    """Takes replies of one fabric; outlives polls."""

    target: Target
    table: SeriesTable
    names: FabricNames
    counters: FabricCounters
    neighbors: dict[Neighbor, None] = field(default_factory=dict)
    """What this poll said of neighbours."""

    _counted: set[tuple[str, str, tuple[str, ...]]] = field(default_factory=set)
    """Ports and the names of their counters that this poll had."""
    _roles: dict[str, str] = field(default_factory=dict)
    """Role of each node that a listing tells the kind of, by its GUID."""

    def begin(self) -> None:
        """Begin another poll."""
        self.neighbors = {}
        self._counted = set()

    def links(self, found: Links, columns: Columns) -> None:
        """Take a listing of nodes and links."""
        nodes: set[str] = set()
        for node in found.nodes:
            if node.guid in nodes:
                labels = {"device": self.names.device(node.guid)}
                columns.refuse(Reason.DUPLICATE, "node", labels, node.description[:100])
                continue
            nodes.add(node.guid)
            self.names.learn(node.guid, node.port_guids)
            if node.kind in ROLES:
                self._roles[node.guid] = ROLES[node.kind]
        for end in found.ends:
            self.names.at_lid(end.here.lid, end.here.guid)
            if end.there is not None:
                self.names.at_lid(end.there.lid, end.there.guid)
        for node in found.nodes:
            self._described(node.guid, node.description, columns)
        for end in found.ends:
            self._link(end, columns)
        for line in found.malformed:
            columns.refuse(Reason.MALFORMED, "link", {}, line)

    def port_counters(self, found: PortCounters, columns: Columns, otherwise: str = "") -> None:
        """Take one port's counters; `otherwise` names the device of an unknown LID."""
        guid = found.guid or self.names.guid_at(found.lid)
        if guid is not None:
            device, port = self.names.labels(guid, found.port)
            if found.description:
                self._described(guid, found.description, columns)
        else:
            device, port = otherwise, str(found.port)
        if (device, port) not in self.counters.speeds and (speed := self._written(device, port)):
            self.counters.speeds[device, port] = speed
        if found.cut:
            columns.missing.append(f"{device}/{port}")
        key = (device, port, tuple(found.counters))
        if key in self._counted and found.counters:
            text = "the port's counters stand twice in one poll; the first are kept"
            columns.refuse(Reason.DUPLICATE, "counters", {"device": device, "port": port}, text)
            return
        self._counted.add(key)
        self.counters.take(device, port, found.counters, columns, wide=found.wide)
        self.counters.unsupported(device, port, found.unsupported, columns)
        for line in found.malformed:
            columns.refuse(Reason.MALFORMED, "counter", {"device": device, "port": port}, line)

    def switch(self, found: SwitchInfo, at: float, columns: Columns, otherwise: str) -> None:
        """Take what an unmanaged switch says of its hardware."""
        device = self.names.device(found.guid) if found.guid else otherwise
        model = " ".join(word for word in (found.model, found.part) if word)
        columns.take(DEVICE_INFO, (device, model, found.firmware, "", ""), 1.0)
        if found.uptime is not None:
            columns.take(BOOT_TIME, (device,), at - found.uptime)
        if found.temperature is not None:
            columns.take(DEVICE_TEMPERATURE, (device, "chip"), found.temperature)
        for fan, speed in found.fans.items():
            columns.take(FAN_SPEED, (device, fan), speed)
        rack = self.target.topology.rack_of(device) or self.target.options.get("rack") or device
        for unit, well in found.supplies.items():
            columns.take(SUPPLY_HEALTHY, (rack, f"{device}/{unit}"), float(well))

    def failed(self, stderr: str, columns: Columns, tool: str) -> None:
        """Count what a tool could not reach; each is a part that is missing."""
        for failure in ib_failures.failures(stderr):
            labels = {"node": failure.where} | ({"port": failure.port} if failure.port else {})
            columns.refuse(Reason.FAILED, tool, labels, failure.text)
            columns.missing.append(failure.where)

    def database(self, sections: Iterable[Section], columns: Columns) -> None:
        """Take an ibdiagnet database: nodes, links, counters."""
        tables = {section.name: section for section in sections}
        for section in tables.values():
            for line in section.malformed:
                columns.refuse(Reason.MALFORMED, section.name, {}, line)
        for row in _rows(tables, "NODES"):
            guid = _guid(row, "nodeguid")
            if guid:
                self.names.learn(guid, [_guid(row, "portguid") or guid])
                self._described(guid, row.get("nodedesc", "").strip('" '), columns)
        for row in _rows(tables, "LINKS"):
            one, other = _end(row, 1), _end(row, 2)
            if one is not None and other is not None:
                self._link(LinkEnd(one, other, True), columns)
                self._link(LinkEnd(other, one, True), columns)
        for row in _rows(tables, "PM_INFO"):
            guid, port = _guid(row, "nodeguid"), _int(row, "portnumber") or _int(row, "portnum")
            if guid and port:
                self._database_counters(guid, port, row, columns)

    def _database_counters(
        self, guid: str, port: int, row: Mapping[str, str], columns: Columns
    ) -> None:
        wide = {
            name: value
            for name in ib_counters.EXTENDED_ALWAYS
            if (value := _int(row, f"{name.lower()}extended")) is not None
        }
        known = {name.lower(): name for name in infiniband.PMA}
        known["portxmitdiscard"] = "PortXmitDiscards"  # as ibdiagnet spells it
        plain = {
            known[key]: value
            for key in row
            if key in known and known[key] not in wide and (value := _int(row, key)) is not None
        }
        self.port_counters(PortCounters(port, wide, guid=guid, wide=True), columns)
        self.port_counters(PortCounters(port, plain, guid=guid), columns)

    def _link(self, end: LinkEnd, columns: Columns) -> None:
        here = end.here
        labels = self.names.labels(here.guid, here.port)
        device, port = labels
        if here.description:
            self._described(here.guid, here.description, columns)
        if end.up is not None:
            columns.take(UP, labels, float(end.up))
        if end.enabled is not None:
            columns.take(ADMIN_UP, labels, float(end.enabled))
        if end.up and end.speed:
            self.counters.speeds[labels] = end.speed
            columns.take(SPEED, labels, end.speed)
            columns.take(LANES, labels, float(end.lanes or 0))
        uid = self.names.uid(here.guid, here.port)
        columns.take(PORT_INFO, _info(device, port, uid, self._role(here.guid, end.switch)), 1.0)
        if end.there is not None:
            far_device, far_port = self.names.labels(end.there.guid, end.there.port)
            self.neighbors[Neighbor(device, port, far_device, far_port, VIA)] = None
            if end.far_switch is not None:  # it may have no lines of its own
                uid = self.names.uid(end.there.guid, end.there.port)
                role = self._role(end.there.guid, end.far_switch)
                columns.take(PORT_INFO, _info(far_device, far_port, uid, role), 1.0)

    def _role(self, guid: str, switch: bool | None) -> str:
        """Return what a node is, by its own lines or else by those of a link."""
        otherwise = {True: "switch", False: "nic", None: ""}
        return self._roles.get(self.names.node(guid), otherwise[switch])

    def _described(self, guid: str, description: str, columns: Columns) -> None:
        if description:
            columns.take(DESCRIPTION_INFO, (self.names.device(guid), description), 1.0)

    def _written(self, device: str, port: str) -> float | None:
        """Return the rate that the topology writes for a port, bit/s."""
        link = self.target.topology.link_of.get(Port(device, port))
        return link.speed_gbps * 1e9 if link is not None and link.speed_gbps else None


def _info(device: str, port: str, uid: str, role: str) -> tuple[str, ...]:
    known = {
        "device": device,
        "port": port,
        "role": role,
        "technology": "ib",
        "uid": uid,
        "packets": "packets",
    }
    return tuple(known.get(label, "") for label in PORT_INFO.labels)


def _rows(tables: Mapping[str, Section], name: str) -> list[dict[str, str]]:
    section = tables.get(name)
    if section is None:
        return []
    return [{key.strip().lower(): cell for key, cell in row.items()} for row in section.rows]


def _guid(row: Mapping[str, str], key: str) -> str | None:
    text = row.get(key, "").strip().lower()
    plain = text.removeprefix("0x")
    whole = 0 < len(plain) <= 16 and all(c in "0123456789abcdef" for c in plain)
    return digits(text) if whole and plain.strip("0") else None


def _end(row: Mapping[str, str], number: int) -> End | None:
    guid, port = _guid(row, f"nodeguid{number}"), _int(row, f"portnum{number}")
    return None if guid is None or port is None else End(guid, port)


def _int(row: Mapping[str, str], key: str) -> int | None:
    text = row.get(key, "").strip()
    try:
        value = int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        return None
    return value if 0 <= value < 1 << 64 and len(text) <= 20 else None
