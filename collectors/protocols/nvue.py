"""NVUE's REST API: where a body belongs in the tree of resources.

The model is one tree (`interface/swp1/link/counters`, `platform/transceiver/swp1`); a body is what
hangs below the resource that was asked for. A capture does not say which that was, so it is told by
the names in it.
"""

from collections.abc import Collection, Mapping
from typing import Any

from fabrichealth.errors import MalformedReply

Tree = dict[str, Any]

ROOTS = {"interface", "platform", "system"}
OF_INTERFACE = {"link", "lldp", "counters", "ifindex", "transceiver", "qos"}
OF_MODULE = {"vendor-name", "vendor-sn", "vendor-pn", "cable-type", "identifier"}
"""Names below one interface, and below one module, that nothing else has."""

BELOW_INTERFACE: dict[str, Collection[str]] = {
    "interface/{}/counters": {"in-bytes", "in-pkts", "out-bytes", "out-pkts"},
    "interface/{}/link": {"state", "speed", "oper-status", "mtu", "auto-negotiate"},
    "interface/{}/link/phy-detail": {
        "raw-ber", "effective-ber", "symbol-ber", "phy-received-bits", "raw-ber-lane0",
    },
    "interface/{}/counters/qos": {"pfc-stats", "egress-queue-stats", "ingress-buffer-stats"},
    "interface/{}/transceiver": OF_MODULE,
    "interface/{}/lldp": {"neighbor"},
}  # fmt: skip
"""What is known of one interface by the names in it, first that fits."""


def nested(path: str, body: Any) -> Tree:
    """Return a body below the resource it was read from, `interface/swp1/link`."""
    tree: Any = body
    for key in reversed(path.split("/")):
        tree = {key: tree}
    return dict(tree)


def holds(tree: Any, names: Collection[str], depth: int = 8) -> bool:
    """Return whether any of some names is in a tree."""
    if not isinstance(tree, Mapping) or depth < 0:
        return False
    if not tree.keys().isdisjoint(names):
        return True
    return any(holds(value, names, depth - 1) for value in tree.values())


def captured(document: Any, port: str) -> Tree:
    """Return a body where it belongs, told by its names; `port` is whose it is if it does not say.

    Raises:
        MalformedReply: it is no body of NVUE that we know.
    """
    if not isinstance(document, dict):
        raise MalformedReply("no resource of NVUE")
    for wrapper in ("operational", "applied"):
        if isinstance(document.get(wrapper), dict):
            return captured(document[wrapper], port)
    if document.keys() & ROOTS:
        return document
    path = _place(document)
    if path is None:
        raise MalformedReply("no resource of NVUE that is known")
    return nested(path.format(port), document)


def _place(document: Tree) -> str | None:
    """Return the resource that a body is of, the port in it left open."""
    rows = [row for row in document.values() if isinstance(row, dict)]
    if any(row.keys() & OF_INTERFACE for row in rows):
        return "interface"
    if document.keys() & OF_INTERFACE:
        return "interface/{}"
    if any(row.keys() & OF_MODULE for row in rows):
        return "platform/transceiver"
    for path, names in BELOW_INTERFACE.items():
        if document.keys() & set(names):
            return path
    return "system" if document.keys() >= {"hostname", "build"} else None
