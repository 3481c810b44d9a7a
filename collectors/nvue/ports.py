"""Which of a switch's interfaces are ports, and of which technology.

Cumulus Linux has `swp1`, `swp1s0`; NVOS has `sw1p1s1` (to other switches or to hosts), and on
NVLink switches `acp1` (to an accelerator) and `fnm1` (the fabric manager's own).
"""

import re
from collections.abc import Mapping
from typing import Any

from collectors.trees.layout import Names, Placed

_PORT = re.compile(r"(?:swp\d+(?:s\d+)?|sw\d+p\d+(?:s\d+)?|acp\d+|fnm\d+(?:p\d+)?)")
_NVLINK = re.compile(r"(?:acp|fnm)\d.*")
TECHNOLOGIES = {"swp": "roce", "nvl": "nvlink", "ib": "ib", "fnm": "nvlink"}
"""By the type that an interface says it is of."""


def is_port(name: str) -> bool:
    """Return whether an interface is a port, not a sum of several nor the management's."""
    return _PORT.fullmatch(name) is not None


def placed(given: str) -> Placed:
    """Return what turns the names in a leaf's path into labels; `given` is a port by its word."""

    def place(names: Names) -> Names | None:
        port = names.get("port")
        return names if port is None or port == given or is_port(port) else None

    return place


def live_first(interfaces: Mapping[str, Any]) -> list[str]:
    """Return the ports among interfaces, those that are up first."""
    names = [name for name in interfaces if is_port(name)]
    return sorted(names, key=lambda name: not _is_up(interfaces[name]))


def technology(port: str, said: str) -> str:
    """Return of which technology a port is, by its name and its type."""
    if said in TECHNOLOGIES:
        return TECHNOLOGIES[said]
    if _NVLINK.fullmatch(port):
        return "nvlink"
    return "roce" if port.startswith("swp") else ""


def _is_up(row: Any) -> bool:
    link = row.get("link") if isinstance(row, dict) else None
    if not isinstance(link, dict):
        return False
    state = link.get("state")
    return link.get("oper-status") == "up" or (isinstance(state, dict) and "up" in state)
