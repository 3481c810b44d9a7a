"""LLDP's TLVs as lldptool prints them, and tools after its model (`hccn_tool -lldp`).

A heading names the TLV (`Port ID TLV`), the lines below it are indented and hold its value, for ids
behind their kind (`Ifname: 400GE1/0/1`, `MAC: 02:00:..`). (open-lldp, lldptool-tlv.8.)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_HEADING = re.compile(r"(?P<name>[A-Z][A-Za-z0-9 .-]{1,60}) TLV")
_ID = re.compile(r"(?P<kind>[A-Za-z][A-Za-z ]{0,30}?) ?: ?(?P<value>\S.*)")


@dataclass(frozen=True, slots=True)
class Facing:
    """Who is heard at a port; empty where it does not say."""

    system: str = ""
    chassis: str = ""
    port: str = ""
    port_is_mac: bool = False


def facing(lines: Iterable[str]) -> Facing | None:
    """Return whom these TLVs describe; None where there are none that name anybody."""
    said: dict[str, str] = {}
    name = ""
    for raw in lines:
        line = raw[:500].strip()
        if heading := _HEADING.fullmatch(line):
            name = heading["name"].casefold()
        elif name and line:
            said.setdefault(name, line)
    _, chassis = _id(said.get("chassis id", ""))
    kind, port = _id(said.get("port id", ""))
    found = Facing(said.get("system name", ""), chassis, port, kind == "mac")
    return found if found.system or found.chassis else None


def _id(text: str) -> tuple[str, str]:
    """Return the kind of an id in lower case, and the id."""
    parts = _ID.fullmatch(text)
    return (parts["kind"].casefold(), parts["value"].strip()) if parts else ("", text)
