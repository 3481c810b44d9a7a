"""Places: what a finding is about, what an incident accuses, what it explains."""

from typing import NamedTuple


class Place(NamedTuple):
    """A thing of the inventory: its type (device port link rack loop ..) and its name."""

    type: str
    id: str

    def __str__(self) -> str:
        return self.id


class Port(NamedTuple):
    """A port of a device; written `device/port`, split at the first slash."""

    device: str
    port: str

    def __str__(self) -> str:
        return f"{self.device}/{self.port}"

    @classmethod
    def parse(cls, text: str) -> "Port":
        """Return the port written `device/port`; ports may hold further slashes.

        Raises:
            ValueError: there is no slash, or nothing on one side of it.
        """
        device, slash, port = text.partition("/")
        if not (device and slash and port):
            raise ValueError(f"{text!r} is not a port; write device/port")
        return cls(device, port)


def link_id(one: Port | str, other: Port | str) -> str:
    """Return the id of the link between two ports: `a--b`, sorted by bytes."""
    return "--".join(sorted((str(one), str(other)), key=lambda port: port.encode()))


def place_of(about: Port | Place) -> Place:
    """Return a port or place as a place."""
    return Place("port", str(about)) if isinstance(about, Port) else about
