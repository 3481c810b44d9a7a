"""/sys/bus/pci and /sys/bus/cxl: advanced error reports, and the link that a device has.

`aer_dev_correctable`, `aer_dev_nonfatal` and `aer_dev_fatal` hold `Name count` lines that end in a
total; root ports add a single number each (kernel ABI sysfs-bus-pci-devices-aer_stats). Speeds are
`32.0 GT/s PCIe`, `Unknown`; a link that is down has width 0 or 63 or 255.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from collectors.protocols.sysfs import PCI
from fabrichealth.errors import MalformedReply

REPORTS = {
    "aer_dev_correctable": "correctable",
    "aer_dev_nonfatal": "nonfatal",
    "aer_dev_fatal": "fatal",
}
"""Severity by file."""

ROOT_REPORTS = {
    "aer_rootport_total_err_cor": "correctable",
    "aer_rootport_total_err_nonfatal": "nonfatal",
    "aer_rootport_total_err_fatal": "fatal",
}
"""Messages that a root port received from the devices below it."""

TOTAL = "TOTAL_ERR_"
"""A line with this is the sum of the others."""

DEAD_WIDTHS = {0, 63, 255}
"""No link, or configuration space that reads as ones."""

_LINE = re.compile(rb"([A-Za-z][A-Za-z0-9_]{0,40}) (\d{1,20})")
_SPEED = re.compile(rb"(\d{1,3}(?:\.\d)?) GT/s(?: PCIe)?")


class Listing(Protocol):
    """The part of a tree that finding one's way needs."""

    @property
    def name(self) -> str:
        """The name of the root."""
        ...

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted."""
        ...

    def link(self, path: str) -> str:
        """Return where a symbolic link points."""
        ...


@dataclass(frozen=True)
class Places:
    """Folders of PCI devices by address, and the CXL memory that some of them carry."""

    devices: Mapping[str, str] = field(default_factory=dict)
    memories: Mapping[str, str] = field(default_factory=dict)
    """Name of the memory device (`mem0`) by the address of its PCI function."""


def places(tree: Listing) -> Places:
    """Find the devices in a tree whose root is `/`, `/sys`, the bus, its folder or one device."""
    for prefix in ("sys/bus/pci/devices/", "bus/pci/devices/", "devices/", ""):
        found = {
            name: prefix + name for name in tree.names(prefix.rstrip("/")) if PCI.fullmatch(name)
        }
        if found:
            cxl = prefix.replace("pci/devices/", "cxl/devices/")
            return Places(found, _memories(tree, cxl) if "cxl" in cxl else {})
    if PCI.fullmatch(tree.name) and REPORTS.keys() & set(tree.names("")):
        return Places({tree.name: "."})
    return Places()


def _memories(tree: Listing, folder: str) -> dict[str, str]:
    found = {}
    for name in tree.names(folder.rstrip("/")):
        if not re.fullmatch(r"mem\d{1,4}", name):
            continue
        parts = tree.link(f"{folder}{name}").split("/")
        above = [part for part in parts if PCI.fullmatch(part)]
        if above:
            found[above[-1]] = name
    return found


def report(raw: bytes) -> dict[str, int]:
    """Read an error report: counts by type, the total left out.

    Raises:
        MalformedReply: a line of another form, or the same type twice.
    """
    found: dict[str, int] = {}
    for line in raw.strip().splitlines():
        parts = _LINE.fullmatch(line.strip())
        name = parts[1].decode() if parts else ""
        if parts is None or name in found:
            raise MalformedReply(f"not a report of PCIe errors: {line[:40]!r}")
        if not name.startswith(TOTAL):
            found[name] = int(parts[2])
    if not found:
        raise MalformedReply("an empty report of PCIe errors")
    return found


def speed(raw: bytes) -> float | None:
    """Read a link speed, transfers per second of a lane; None where it is not known.

    Raises:
        MalformedReply: another form.
    """
    text = raw.strip()
    if not text or text.startswith(b"Unknown"):
        return None
    found = _SPEED.fullmatch(text)
    if not found:
        raise MalformedReply(f"not a link speed: {text[:40]!r}")
    return float(found[1]) * 1e9


def width(raw: bytes) -> int | None:
    """Read a link's lanes; None where there is no link.

    Raises:
        MalformedReply: no number.
    """
    text = raw.strip()
    if not re.fullmatch(rb"\d{1,3}", text):
        raise MalformedReply(f"not a link width: {text[:40]!r}")
    lanes = int(text)
    return None if lanes in DEAD_WIDTHS else lanes
