"""The ports of a SONiC switch: state and speed, what they are, and who faces them.

APPL_DB has a PORT_TABLE (speed in Mb/s, lanes as a list) and LLDP_ENTRY_TABLE. A neighbour that is
still starting gives its MAC address for a port (port id subtype 3): its port is unknown then, and
what it says in words is no proof. Texts of a row are looked at again only when the row changed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from collectors.maps import link_layer, lldp
from collectors.maps.columns import Columns, Reading
from collectors.maps.lldp import Heard
from collectors.protocols import sonic_values
from collectors.protocols.sonic_values import Hash
from collectors.sonic.asking import Hashes, Keys, Part, hashes, keys
from collectors.source import Target
from fabrichealth.catalogue.ports import ADMIN_UP, LANES, LINK_DOWNS, PORT_INFO, SPEED, UP
from fabrichealth.model import Floats, Ids, Neighbor, Reason, SeriesTable

METRICS = (UP, ADMIN_UP, SPEED, LANES, LINK_DOWNS, PORT_INFO)

PORT_TABLE = "PORT_TABLE:"
LLDP_TABLE = "LLDP_ENTRY_TABLE:"
MARKS = {"PortConfigDone", "PortInitDone"}
"""Rows of the port table that are no ports."""
STATES = {"up": 1.0, "down": 0.0}
MAC_SUBTYPE = "3"
"""IEEE 802.1AB, port id subtype: a MAC address."""
INSIDE = {"Int", "Inb", "Rec", "Dpc"}
"""Roles of ports that leave no switch; their lanes are not lanes of a cable."""


@dataclass(frozen=True, slots=True)
class PortRow:
    """What one row of the port table says."""

    raw: Hash
    fec: str
    series: Ids
    values: Floats
    wrong: tuple[tuple[str, str], ...]
    """(metric or field, text) of what cannot be understood."""


@dataclass(slots=True)
class Ports:
    """Reads port table and neighbours of one namespace."""

    table: SeriesTable
    target: Target
    device: str
    labelled: Callable[[str], str]
    """Gives the port's label for its name in the namespace."""
    fec: dict[str, str] = field(default_factory=dict)
    """The code of each port, as far as it is known."""
    _listed: set[str] = field(default_factory=set)
    _rows: dict[str, PortRow] = field(default_factory=dict)
    _faced: dict[str, tuple[Hash, list[Neighbor]]] = field(default_factory=dict)

    def names(self) -> Part:
        """Read which ports are in the tables, beside those that have counters."""
        found = set()
        for table in (PORT_TABLE, LLDP_TABLE):
            rows = keys((yield Keys("APPL_DB", f"{table}*")))
            found |= {key.removeprefix(table) for key in rows}
        self._listed = found - MARKS

    def state(self, named: Iterable[str], columns: Columns) -> Part:
        """Read the port table: the ports that are named, and those that are in it."""
        names = sorted(self._listed.union(named))
        if not names:
            return
        answer = hashes((yield Hashes("APPL_DB", tuple(PORT_TABLE + name for name in names))))
        for name, raw in zip(names, answer, strict=True):
            if not raw:
                continue
            row = self._rows.get(name)
            if row is None or row.raw != raw:
                row = self._rows[name] = self._understood(name, raw)
                self.fec[name] = row.fec
            columns.put_all(row.series, row.values)
            for what, text in row.wrong:
                columns.refuse(Reason.MALFORMED, what, self._labels(name), text)

    def neighbors(self, named: Iterable[str], found: list[Neighbor]) -> Part:
        """Read who faces the ports, into `found`."""
        names = sorted(self._listed.union(named))
        if not names:
            return
        answer = hashes((yield Hashes("APPL_DB", tuple(LLDP_TABLE + name for name in names))))
        for name, raw in zip(names, answer, strict=True):
            if not raw:
                continue
            known = self._faced.get(name)
            if known is None or known[0] != raw:
                port = self.labelled(name)
                said = (_heard(sonic_values.words(one)) for one in sonic_values.entries(raw))
                faced = (lldp.neighbor(self.target, self.device, port, one) for one in said)
                known = self._faced[name] = (raw, [one for one in faced if one is not None])
            found += known[1]

    def _labels(self, name: str) -> dict[str, str]:
        return {"device": self.device, "port": self.labelled(name)}

    def _understood(self, name: str, raw: Hash) -> PortRow:
        said, port = sonic_values.words(raw), self.labelled(name)
        wrong: list[tuple[str, str]] = []
        taken = [
            (self.table.intern(metric, (self.device, port, *more)), value)
            for metric, more, value in _readings(said, wrong)
        ]
        speed, lanes = _speed(said), _lanes(said)
        fec = link_layer.fec_name(said.get("fec"), speed, lanes)
        facts = {
            "device": self.device, "port": port, "technology": "roce", "fec": fec,
            "packets": "packets",
        }  # fmt: skip
        info = tuple(facts.get(label, "") for label in PORT_INFO.labels)
        taken.append((self.table.intern(PORT_INFO, info), 1.0))
        series = np.array([one for one, _ in taken], np.int32)
        return PortRow(raw, fec, series, np.array([value for _, value in taken]), tuple(wrong))


def _heard(said: dict[str, str]) -> Heard:
    return Heard(
        said.get("lldp_rem_sys_name", ""),
        said.get("lldp_rem_chassis_id", ""),
        said.get("lldp_rem_port_id", ""),
        said.get("lldp_rem_port_id_subtype") == MAC_SUBTYPE,
    )


def _readings(said: dict[str, str], wrong: list[tuple[str, str]]) -> Iterator[Reading]:
    for metric, name in ((UP, "oper_status"), (ADMIN_UP, "admin_status")):
        if name in said:
            state = STATES.get(said[name].casefold())
            if state is None:
                wrong.append((str(metric), said[name][:60]))
            else:
                yield metric, (), state
    is_up = said.get("oper_status", "").casefold() == "up"
    speed, lanes = _speed(said), _lanes(said)
    if "speed" in said and speed is None:
        wrong.append((str(SPEED), said["speed"][:60]))
    if is_up and speed:  # of a port that is down the table shows what is configured
        yield SPEED, (), speed
        if lanes and said.get("role") not in INSIDE:
            yield LANES, (), float(lanes)
    flaps = said.get("flap_count", "")
    if flaps.isdecimal() and len(flaps) < 16:  # every change of state, up as well (sonic-swss)
        yield LINK_DOWNS, (), float((int(flaps) + (not is_up)) // 2)
    elif flaps:
        wrong.append((str(LINK_DOWNS), flaps[:60]))


def _speed(said: dict[str, str]) -> float | None:
    text = said.get("speed", "")
    return float(text) * 1e6 if text.isascii() and text.isdecimal() and len(text) < 9 else None


def _lanes(said: dict[str, str]) -> int | None:
    return len(set(said["lanes"].split(","))) if said.get("lanes") else None
