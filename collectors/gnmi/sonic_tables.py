"""SONiC's own paths over gNMI -> the same hashes that its Redis would show.

The path's target is a database; tables are asked for by port names (`COUNTERS/Ethernet68`,
`COUNTERS/Ethernet68/Queues`), and come as JSON of text. They are put back into tables under made-up
keys, with the name maps that go with them, and read as the sonic source reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.protocols.gnmi_paths import Step
from collectors.protocols.sonic_values import Hash
from collectors.sonic.counters import GROUP_MAP, PORT_MAP, QUEUE_MAP

Rows = dict[str, dict[str, str]]

SUBSCRIBE = {
    "COUNTERS_DB": (
        "/COUNTERS/Ethernet*", "/COUNTERS/Ethernet*/Queues", "/RATES/Ethernet*",
    ),
    "APPL_DB": ("/PORT_TABLE", "/LLDP_ENTRY_TABLE"),
    "STATE_DB": (
        "/TRANSCEIVER_INFO", "/TRANSCEIVER_DOM_SENSOR", "/TRANSCEIVER_DOM_THRESHOLD",
        "/TRANSCEIVER_STATUS_FLAG", "/TRANSCEIVER_DOM_FLAG",
    ),
}  # fmt: skip
"""What is asked for, by target."""

SEPARATORS = {"APPL_DB": ":", "STATE_DB": "|", "CONFIG_DB": "|"}
KINDS = {  # the beginning of a field -> name map, key, and what keeps equal names apart
    "SAI_PORT_STAT_": (PORT_MAP, "COUNTERS", "p/"),
    "EST_PORT_STAT_": (PORT_MAP, "COUNTERS", "p/"),
    "SAI_QUEUE_STAT_": (QUEUE_MAP, "COUNTERS", "q/"),
    "PFC_WD_": (QUEUE_MAP, "COUNTERS", "q/"),
    "SAI_INGRESS_PRIORITY_GROUP_STAT_": (GROUP_MAP, "COUNTERS", "g/"),
    "FEC_": (PORT_MAP, "RATES", "p/"),
    "RX_": (PORT_MAP, "RATES", "p/"),
    "TX_": (PORT_MAP, "RATES", "p/"),
}
OID, GROUP_OID = "oid:", "oid:0x1a"
"""Objects of the Switch Abstraction Interface; of its types 1Ah is the ingress priority group."""
RAW = ("COUNTERS:oid:", "RATES:oid:")
DEEPEST = 8
"""Levels of a path; SONiC's have three."""
FIRST = "1"
"""The port of a blob that names none."""


@dataclass(slots=True)
class SonicTables:
    """Gathers what came of one switch into tables."""

    port: str = FIRST
    _rows: dict[str, Rows] = field(default_factory=dict)

    def take(self, database: str, path: tuple[Step, ...], value: Any) -> bool:
        """Take what stands at a path of a database; return whether anything is known of it."""
        names = tuple(step.name for step in path)
        if database in SEPARATORS:
            return self._table(database, names, value)
        return self._counters(names, value)

    def databases(self) -> dict[str, dict[str, Hash]]:
        """Return the tables as Redis would send them."""
        return {
            database: {
                key: [word.encode("utf-8", "replace") for pair in row.items() for word in pair]
                for key, row in rows.items()
            }
            for database, rows in self._rows.items()
        }

    def _row(self, database: str, key: str) -> dict[str, str]:
        return self._rows.setdefault(database, {}).setdefault(key, {})

    def _table(self, database: str, names: tuple[str, ...], value: Any) -> bool:
        """Take rows of a table: `TABLE/NAME` and its fields, or TABLE and its rows."""
        if not isinstance(value, Mapping) or not names:
            return False
        if len(names) > 1:
            key = names[0] + SEPARATORS[database] + names[1]
            self._row(database, key).update(_fields(value))
            return True
        known = [self._table(database, (*names, str(name)), row) for name, row in value.items()]
        return any(known)

    def _counters(self, names: tuple[str, ...], value: Any) -> bool:
        if len(names) > DEEPEST:
            return False
        if not isinstance(value, Mapping):
            if len(names) < 2 or isinstance(value, list):
                return False
            return self._counted(names[:-1], {names[-1]: value})  # one field by itself
        if value and all(str(oid).startswith(OID) for oid in value.values()):
            self._name_map({str(name): str(oid) for name, oid in value.items()})
            return True
        if names and names[-1].startswith(RAW):  # by its key in the database
            self._row("COUNTERS_DB", names[-1]).update(_fields(value))
            return True
        rows = {str(name): row for name, row in value.items() if isinstance(row, Mapping)}
        found = [self._counters((*names, name), row) for name, row in rows.items()]
        fields = {name: word for name, word in value.items() if not isinstance(word, Mapping)}
        found.append(bool(fields) and self._counted(names, fields))
        return any(found)

    def _name_map(self, names: Mapping[str, str]) -> None:
        """Take a name map, which gives the keys of the database to those who have them."""
        for name, oid in names.items():
            index = PORT_MAP
            if ":" in name:
                index = GROUP_MAP if oid.startswith(GROUP_OID) else QUEUE_MAP
            self._row("COUNTERS_DB", index)[name] = oid

    def _counted(self, names: tuple[str, ...], fields: Mapping[Any, Any]) -> bool:
        """Take one row of counters; the last name that is no table is whose they are."""
        owner = next((name for name in reversed(names) if _is_owner(name)), self.port)
        row = _fields(fields)
        taken = False
        for begin, (index, table, apart) in KINDS.items():
            kept = {name: word for name, word in row.items() if name.startswith(begin)}
            if kept and (":" in owner) == (index != PORT_MAP):
                key = apart + owner
                self._row("COUNTERS_DB", index)[owner] = key
                self._row("COUNTERS_DB", f"{table}:{key}").update(kept)
                taken = True
        return taken


def _is_owner(name: str) -> bool:
    return name.startswith(("Ethernet", "PORT")) and "*" not in name


def _fields(row: Mapping[Any, Any]) -> dict[str, str]:
    return {
        str(name): str(word)
        for name, word in row.items()
        if isinstance(word, str | int | float) and not isinstance(word, bool)
    }
