"""The series of an incident's culprit: joined by the labels that its name consists of.

An incident's series name only the culprit (`leaf-1/Ethernet8`, `a/p--b/q`, `cdu-3`, `r12`); a board
of one incident must find what that device, port, link, loop or rack says of itself.
"""

from fabrichealth.catalogue.verdicts import INCIDENT_INFO

CHOSEN = f'max by (culprit) ({INCIDENT_INFO}{{incident=~"$incident"}})'

_PARTS = r"([^/]+)/(.+)--([^/]+)/(.+)"
_PORT = r"([^/]+)/(.+)"


def _named(expr: str, label: str, group: int, pattern: str) -> str:
    return f'label_replace({expr}, "{label}", "${group}", "culprit", "{pattern}")'


def _ports(device: int, port: int, pattern: str) -> str:
    return _named(_named(CHOSEN, "device", device, pattern), "port", port, pattern)


PORTS = (
    "max by (device, port) ("
    f"{_ports(1, 2, _PARTS)} or {_ports(3, 4, _PARTS)} or {_ports(1, 2, _PORT)})"
)
"""One series a port of the culprit: both ends of a link, or the port itself."""


def of_ports(expr: str) -> str:
    """Return what an expression by device and port says of the culprit's ports."""
    return f"{expr} and on (device, port) {PORTS}"


def of(expr: str, label: str) -> str:
    """Return what an expression says of the culprit, where it is what a label names."""
    return f"{expr} and on ({label}) max by ({label}) ({_named(CHOSEN, label, 1, '(.+)')})"
