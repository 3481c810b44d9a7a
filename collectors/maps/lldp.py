"""What a port hears by LLDP -> neighbours, for whatever carried the table.

A neighbour that is still starting gives its MAC address for a port: its port is unknown then, and
what it says in words is no proof (IEEE 802.1AB, port id subtype 3).
"""

import re
from dataclasses import dataclass

from collectors.maps.names import device_name, port_name
from collectors.source import Target
from fabrichealth.model import Neighbor

_MAC = re.compile(
    r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}|[0-9a-fA-F]{12}|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}"
)


UNTOLD = {"not advertised", "n/a", "none"}
"""How agents print what a neighbour did not say."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One entry of a table of neighbours; empty where it does not say."""

    system: str = ""
    chassis: str = ""
    port: str = ""
    port_is_mac: bool = False
    """The entry's subtype says so; an address is told without it too."""


def neighbor(target: Target, device: str, port: str, heard: Heard) -> Neighbor | None:
    """Return who faces a port, None where the entry names nobody.

    Names are the topology's where it knows the system's name, its chassis id, or the port's alias.
    """
    named = target.topology.named
    heard = Heard(_told(heard.system), _told(heard.chassis), _told(heard.port), heard.port_is_mac)
    remote = (
        (heard.system and named(heard.system))
        or (heard.chassis and named(heard.chassis))
        or heard.system
        or heard.chassis
    )
    if not remote:
        return None
    far = heard.port
    if heard.port_is_mac or _MAC.fullmatch(heard.port):  # no name, but perhaps a written identity
        far = target.topology.port_with_uid(remote, heard.port) or ""
    known = target.topology.devices.get(remote)
    if known is not None and far and far not in known.ports:
        aliases = (name for name, facts in known.ports.items() if facts.alias == far)
        far = next(aliases, far)
    return Neighbor(device, port, device_name(remote), port_name(far), "lldp")


def _told(word: str) -> str:
    """Return a word of an entry, empty where it says that nothing was advertised."""
    return "" if word.strip().casefold() in UNTOLD else word


def distinct(neighbors: list[Neighbor]) -> list[Neighbor]:
    """Return each neighbour of a port once.

    One that started anew is listed twice for a while, with and without the name of its port: the
    entry that names the port is the neighbour.
    """
    named = {(one.port, one.remote_device) for one in neighbors if one.remote_port}
    return [
        one
        for one in dict.fromkeys(neighbors)
        if one.remote_port or (one.port, one.remote_device) not in named
    ]
