"""Where SONiC's databases are, and captures of them.

`database_config.json` (sonic-swss-common) maps names to numbers and to Redis instances; the
numbers differ between builds. `database_global.json` of a switch with several ASICs lists one such
file a namespace. A capture is JSON: database name or number -> key -> hash, or key -> hash of one
database, which is then told by its keys.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabrichealth.errors import MalformedReply

NUMBERS = {
    "APPL_DB": 0, "COUNTERS_DB": 2, "CONFIG_DB": 4, "STATE_DB": 6,
}  # fmt: skip
"""Of sonic-swss-common's schema.h, where no database_config.json says otherwise."""

FIRST = "redis"
"""The instance that serves all databases unless the file says otherwise."""

COUNTER_KEYS = ("COUNTERS", "RATES:", "PORT_PHY_ATTR:")
STATE_KEYS = ("TRANSCEIVER_", "LIQUID_COOLING_INFO|", "FABRIC_PORT_TABLE|")


@dataclass(frozen=True, slots=True)
class Instance:
    """One Redis server: its socket on the switch, and its port."""

    socket: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class Databases:
    """Numbers and instances of the databases of one namespace, by name."""

    numbers: Mapping[str, int]
    instances: Mapping[str, Instance]

    def number(self, name: str) -> int:
        """Return the number of a database."""
        return self.numbers.get(name, NUMBERS[name])

    def instance(self, name: str) -> Instance:
        """Return where a database is served."""
        return self.instances.get(name, Instance())


_DATABASE = re.compile(r"[A-Z][A-Z_]*_DB|[0-9]{1,3}")
"""What a database is called, by name or number."""

STANDARD = Databases(NUMBERS, {})


def databases(document: Any) -> Databases:
    """Read a `database_config.json`.

    Raises:
        MalformedReply: it is not of that form.
    """
    if not isinstance(document, Mapping) or not isinstance(document.get("DATABASES"), Mapping):
        raise MalformedReply("no DATABASES in it; give a database_config.json")
    served = document.get("INSTANCES")
    instances = {
        str(name): Instance(str(row.get("unix_socket_path", "")), _port(row.get("port")))
        for name, row in (served.items() if isinstance(served, Mapping) else ())
        if isinstance(row, Mapping)
    }
    numbers: dict[str, int] = {}
    places: dict[str, Instance] = {}
    for name, row in document["DATABASES"].items():
        number = row.get("id") if isinstance(row, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise MalformedReply(f"database {name} has no id")
        numbers[str(name)] = number
        places[str(name)] = instances.get(str(row.get("instance", FIRST)), Instance())
    return Databases(numbers, places)


def includes(document: Any) -> list[tuple[str, str]]:
    """Return (namespace, path) of what a `database_global.json` includes; empty for other files."""
    rows = document.get("INCLUDES") if isinstance(document, Mapping) else None
    return [
        (str(row.get("namespace", "")), str(row["include"]))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, Mapping) and "include" in row
    ]


def captured(document: Any, known: Databases) -> dict[str, dict[str, list[bytes]]]:
    """Return the hashes of a capture by database and key, as Redis would send them.

    Raises:
        MalformedReply: it is no capture of these databases.
    """
    if not isinstance(document, Mapping) or not document:
        raise MalformedReply("no JSON object of databases or keys")
    named = {name: name for name in known.numbers} | {
        str(number): name for name, number in known.numbers.items()
    }
    names = [str(name) for name in document]
    if all(_DATABASE.fullmatch(name) for name in names) and named.keys() & set(names):
        found: dict[str, dict[str, list[bytes]]] = {}
        for name, content in document.items():
            database = named.get(str(name))  # of the others nothing is wanted
            if database is not None and isinstance(content, Mapping):
                found.setdefault(database, {}).update(_hashes(content))
        return found
    database = _told_by_keys([str(key) for key in document])
    if not database:
        raise MalformedReply("its keys are of none of APPL_DB, COUNTERS_DB, CONFIG_DB, STATE_DB")
    return {database: dict(_hashes(document))}


def _port(number: object) -> int:
    return number if isinstance(number, int) and 0 < number < 65_536 else 0


def _hashes(content: Mapping[Any, Any]) -> Iterator[tuple[str, list[bytes]]]:
    for key, fields in content.items():
        if (
            isinstance(fields, Mapping)
            and set(fields) & {"type", "value"}
            and isinstance(fields.get("value"), Mapping)
        ):  # as redis-dump writes it: {"type": "hash", "value": {..}}
            fields = fields["value"]  # noqa: PLW2901 - the wrapping goes, the hash stays
        if isinstance(fields, Mapping):
            yield str(key), _flat(fields)
        elif isinstance(fields, list):  # of several entries each is heard
            rows = [one for one in fields if isinstance(one, Mapping)]
            yield str(key), [word for one in rows for word in _flat(one)]


def _flat(fields: Mapping[Any, Any]) -> list[bytes]:
    return [_text(word) for pair in fields.items() for word in pair]


def _text(value: object) -> bytes:
    word = "" if value is None else value if isinstance(value, str) else str(value)
    return word.encode("utf-8", "surrogatepass")


def _told_by_keys(keys: list[str]) -> str:
    if any(key.startswith(COUNTER_KEYS) for key in keys):
        return "COUNTERS_DB"
    if any(key.startswith(STATE_KEYS) for key in keys):
        return "STATE_DB"
    if any(":" in key.partition("|")[0] for key in keys):
        return "APPL_DB"
    return "CONFIG_DB" if any("|" in key for key in keys) else ""
