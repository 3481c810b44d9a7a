"""sysfs: where a tree keeps the classes of devices, and how its small files are to be read.

The root of a tree may be `/`, `/sys`, `/sys/class`, a class folder or one device of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from fabrichealth.errors import MalformedReply

LONGEST = 20
"""Digits of the largest number of 64 bits."""
PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class Listing(Protocol):
    """The part of a tree that finding one's way needs."""

    @property
    def name(self) -> str:
        """The name of the root."""
        ...

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted."""
        ...


@dataclass(frozen=True)
class Places:
    """Paths of the devices of both classes by name, and of what else a root may hold."""

    infiniband: Mapping[str, str] = field(default_factory=dict)
    net: Mapping[str, str] = field(default_factory=dict)
    proc: str = ""
    """Folder of procfs, with its slash; empty where the tree has none."""
    dmi: str = ""
    """Folder of the machine's identity (`class/dmi/id`), with its slash; empty likewise."""
    folders: tuple[str, ...] = ("",)
    """Folders whose names change when devices come or go."""

    def __bool__(self) -> bool:
        return bool(self.infiniband or self.net)


def places(tree: Listing) -> Places:
    """Find the devices in a tree, whatever its root is."""
    for prefix in ("sys/class/", "class/", ""):
        infiniband, net = f"{prefix}infiniband", f"{prefix}net"
        found = Places(
            {name: f"{infiniband}/{name}" for name in _rdma(tree, infiniband)},
            {name: f"{net}/{name}" for name in _interfaces(tree, net)},
            "proc/" if "stat" in tree.names("proc") else "",
            f"{prefix}dmi/id/" if tree.names(f"{prefix}dmi/id") else "",
            (infiniband, net),
        )
        if found:
            return found
    if _is_rdma(tree, ""):
        return Places(infiniband={tree.name: "."})
    if _is_interface(tree, ""):
        return Places(net={tree.name: "."})
    return Places(
        {name: name for name in _rdma(tree, "")}, {name: name for name in _interfaces(tree, "")}
    )


def _rdma(tree: Listing, folder: str) -> list[str]:
    slash = f"{folder}/" if folder else ""
    return [name for name in tree.names(folder) if _is_rdma(tree, slash + name)]


def _is_rdma(tree: Listing, folder: str) -> bool:
    return "ports" in tree.names(folder)


def _interfaces(tree: Listing, folder: str) -> list[str]:
    slash = f"{folder}/" if folder else ""
    return [name for name in tree.names(folder) if _is_interface(tree, slash + name)]


def _is_interface(tree: Listing, folder: str) -> bool:
    return not {"operstate", "statistics", "carrier"}.isdisjoint(tree.names(folder))


def count(raw: bytes) -> int | None:
    """Read a counter; None where the driver has none (empty, `N/A (no PMA)`, negative).

    Raises:
        MalformedReply: neither a number nor one of those.
    """
    text = raw.strip()
    if text.isdigit() and len(text) <= LONGEST:
        return int(text)
    if not text or text.startswith(b"N/A") or (text[:1] == b"-" and text[1:].isdigit()):
        return None
    raise MalformedReply(f"not a counter: {text[:40]!r}")


def word(raw: bytes) -> str:
    """Read one line of text."""
    return raw.decode("utf-8", "replace").strip().strip("\0")


def uevent(raw: bytes) -> dict[str, str]:
    """Read `KEY=value` lines (DRIVER, PCI_SLOT_NAME ..)."""
    pairs = (line.partition("=") for line in word(raw).splitlines())
    return {key: value for key, mark, value in pairs if mark}


def boot_time(raw: bytes) -> float:
    """Read when the host booted, unix seconds, from /proc/stat (`btime`).

    Raises:
        MalformedReply: there is no such line.
    """
    found = re.search(rb"^btime (\d{1,12})$", raw, re.MULTILINE)
    if not found:
        raise MalformedReply("/proc/stat without btime")
    return float(found[1])
