"""Who faces the ports of a device, by LLDP-MIB.

A row names its local port by a number of LLDP's own, which the local port table explains by name,
description or ifIndex (lldpPortIdSubtype); an address names none. Addresses may be octets or
text. Neighbours of management ports are of another network.
"""

import re
from dataclasses import dataclass, field

from collectors.maps import lldp
from collectors.maps.columns import Columns
from collectors.maps.lldp import Heard
from collectors.maps.snmp_rules import NeighborMap
from collectors.protocols.snmp_columns import NONE, Answer, checked, text
from collectors.protocols.snmprec import Value
from collectors.snmp.asking import Answers, Part
from collectors.snmp.ports import Ports
from collectors.source import Target
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Neighbor, Reason

CHASSIS_MAC, PORT_MAC = "4", "3"
"""LldpChassisIdSubtype and LldpPortIdSubtype: macAddress (IEEE 802.1AB-2005, clause 12)."""
MAC_OCTETS = 6


@dataclass(slots=True)
class Neighbors:
    """Reads the neighbours of one device."""

    target: Target
    device: str
    known: NeighborMap
    ports: Ports
    management: re.Pattern[str]
    """Names of ports whose neighbours are of the management network."""
    _answers: dict[str, Answer] = field(default_factory=dict)
    _version: int = -1
    _found: list[Neighbor] = field(default_factory=list)
    _wrong: list[tuple[str, str, object]] = field(default_factory=list)

    def read(self, columns: Columns, found: list[Neighbor]) -> Part:
        """Read both tables, into `found`."""
        answers = dict((yield tuple(self.known.oids.values())))
        if answers != self._answers or self.ports.version != self._version:
            self._answers, self._version, self._wrong = answers, self.ports.version, []
            self._found = lldp.distinct(self._learn(answers))
        found.extend(self._found)
        for what, row, raw in self._wrong:
            columns.refuse(Reason.MALFORMED, what, {"device": self.device, "row": row}, raw)

    def _learn(self, answers: Answers) -> list[Neighbor]:
        local = self._local(answers)
        said = {name: self._rows(name, answers) for name in self.known.oids if "Rem" in name}
        found = []
        for row in dict.fromkeys(row for rows in said.values() for row in rows):
            number = row.split(".")[1] if row.count(".") == 2 else ""
            port = local.get(number)
            if port is None:
                self._wrong.append(("lldpRemLocalPortNum", row, "no such local port"))
                continue
            if self.management.fullmatch(port):
                continue
            one = lldp.neighbor(self.target, self.device, port, _heard(said, row))
            if one is not None:
                found.append(one)
        return found

    def _local(self, answers: Answers) -> dict[str, str]:
        """Return the port of each local port number; as the table calls it where it is no port."""
        ids = self._rows("lldpLocPortId", answers)
        words = self._rows("lldpLocPortDesc", answers)
        kinds = self._rows("lldpLocPortIdSubtype", answers)
        called = self.ports.called
        found = {}
        for number, raw in ids.items():
            name = "" if text(kinds.get(number)) == PORT_MAC else text(raw)
            known = called.get(name) or called.get(text(words.get(number))) or name
            if known:
                found[number] = known
        return found

    def _rows(self, name: str, answers: Answers) -> dict[str, Value]:
        answer = answers.get(self.known.oids[name], NONE)
        try:
            indices = checked(answer, self.known.oids[name])
        except MalformedReply as wrong:
            self._wrong.append((name, "", str(wrong)))
            return {}
        return dict(zip(indices, answer.values, strict=True))


def address(value: Value) -> str:
    """Return a MAC address as text, whether it came as six octets or as text."""
    if isinstance(value, bytes) and len(value) == MAC_OCTETS:
        return value.hex(":")
    return text(value)


def _heard(said: dict[str, dict[str, Value]], row: str) -> Heard:
    chassis, port = said["lldpRemChassisId"].get(row), said["lldpRemPortId"].get(row)
    kind = text(said["lldpRemChassisIdSubtype"].get(row))
    is_mac = text(said["lldpRemPortIdSubtype"].get(row)) == PORT_MAC
    return Heard(
        system=text(said["lldpRemSysName"].get(row)),
        chassis=address(chassis) if kind == CHASSIS_MAC else text(chassis),
        port=address(port) if is_mac else text(port),
        port_is_mac=is_mac,
    )
