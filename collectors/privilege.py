"""Privilege: what a source may do on its own host that a plain user may not, and what for.

A source names them; the drop-ins of the systemd units (`deploy/systemd/privileges`) and the page of
privileges are made from them, so that a daemon is given what its targets need and nothing else.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Privilege:
    """One need of a source; without it the rest of the source goes on."""

    name: str
    """Name of its drop-in, after the source's."""
    lets: str
    """What it lets the source read, as the end of a sentence."""
    capabilities: tuple[str, ...] = ()
    """Capabilities, as capabilities(7) names them."""
    groups: tuple[str, ...] = ()
    """Groups of the host whose files or sockets are read."""
    devices: tuple[str, ...] = ()
    """Device nodes, as DeviceAllow= of systemd.resource-control(5) names them."""
    root: bool = False
    """Whether the tool that is run wants to be root."""
    udev: str = ""
    """The udev rule that gives device nodes to our group."""


MODULE_MEMORY = Privilege(
    "modules",
    "the memory of optical modules by ethtool's ioctl and netlink",
    capabilities=("CAP_NET_ADMIN",),
)
"""Shared by those who read modules through the kernel (ethtool-netlink: MODULE_EEPROM_GET)."""
