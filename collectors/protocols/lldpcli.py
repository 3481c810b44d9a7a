"""lldpcli: `-f json` and `-f json0` of `show neighbors`, what a host's lldpd hears.

json0 has a list everywhere; json folds what is single: one interface is an object under its name,
several are a list of such, and a chassis stands under its system's name where it has one. (lldpd,
lldpctl.8; formats read in its output.)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SINGLE = ("id", "port", "descr", "ttl")
"""Keys of a chassis without a name; any other is the name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One neighbour of one interface; empty where it does not say."""

    interface: str
    system: str = ""
    chassis: str = ""
    port: str = ""
    port_is_mac: bool = False


@dataclass(frozen=True, slots=True)
class Neighbors:
    """All that a host hears; empty where there is nobody."""

    entries: tuple[Entry, ...] = ()


def neighbors(plain: Any) -> Neighbors | None:
    """Read parsed JSON; None where it is something else.

    An entry without a name or a chassis is passed over.
    """
    if not isinstance(plain, dict) or "lldp" not in plain:
        return None
    found = []
    for table in _several(plain["lldp"]):
        for name, one in _interfaces(table.get("interface")):
            chassis = next(iter(_several(one.get("chassis"))), {})
            system, inside = _chassis(chassis)
            ids = next(iter(_several(inside.get("id"))), {})
            port = next(iter(_several(one.get("port"))), {})
            told = next(iter(_several(port.get("id"))), {})
            entry = Entry(
                name, system, _word(ids.get("value")), _word(told.get("value")),
                _word(told.get("type")) == "mac",
            )  # fmt: skip
            if entry.system or entry.chassis:
                found.append(entry)
    return Neighbors(tuple(found))


def _interfaces(plain: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, what it hears), from either format."""
    for one in _several(plain):
        name = _word(one.get("name"))
        if name:
            yield name, one
            continue
        for key, inside in one.items():
            if isinstance(inside, dict) and key.strip():
                yield key.strip(), inside


def _chassis(plain: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the system's name and what stands below it."""
    if named := _word(plain.get("name")):
        return named, plain
    for key, inside in plain.items():
        if key not in SINGLE and isinstance(inside, dict):
            return key.strip(), inside
    return "", plain


def _several(plain: Any) -> list[dict[str, Any]]:
    rows = plain if isinstance(plain, list) else [plain]
    return [row for row in rows if isinstance(row, dict)]


def _word(plain: Any) -> str:
    """Return a plain word, or the one `value` of a list as json0 writes it."""
    if isinstance(plain, list):
        plain = plain[0] if plain else ""
    if isinstance(plain, dict):
        plain = plain.get("value")
    return plain.strip() if isinstance(plain, str) else ""
