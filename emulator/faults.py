"""Faults: what can happen to an emulated fabric, each a beginning and, mostly, an end."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from emulator.fabric import Fabric, Rates


@dataclass(frozen=True)
class Fault(ABC):
    """Something that happens `at` seconds after the start, until `until`."""

    at: float
    until: float

    @abstractmethod
    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Let it happen; return the events that somebody writes down (contract 4)."""

    def go_on(self, fabric: Fabric) -> None:
        """Called at every step between beginning and end."""

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Let it end; return the events that somebody writes down."""
        return []


@dataclass(frozen=True)
class SickReceiver(Fault):
    """A receiver that loses or repeats data, so many events per second."""

    port: str
    symbol_errors: float = 0.0
    recoveries: float = 0.0
    replays: float = 0.0
    crc_errors: float = 0.0

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Set the port's rates."""
        fabric.ill[self.port] = Rates(
            self.symbol_errors, self.recoveries, self.replays, self.crc_errors
        )
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """The port is well again."""
        fabric.ill.pop(self.port, None)
        return []


@dataclass(frozen=True)
class Unplugged(Fault):
    """A cable is out."""

    cable: str

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Pull it."""
        fabric.unplugged.add(self.cable)
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Plug it in."""
        fabric.unplugged.discard(self.cable)
        return []


@dataclass(frozen=True)
class Flapping(Fault):
    """A cable falls every so often, and comes back by itself."""

    cable: str
    every: float = 120.0

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """The first fall."""
        fabric.retrain(self.cable)
        return []

    def go_on(self, fabric: Fabric) -> None:
        """Fall again when it is time."""
        elapsed = fabric.now - fabric.began - self.at
        step = elapsed % self.every
        if step < fabric.last_step:
            fabric.retrain(self.cable)


STEP = 5.0
"""Seconds between two steps of the world."""


@dataclass(frozen=True)
class Narrow(Fault):
    """A link comes back with fewer lanes."""

    cable: str
    lanes: int = 2

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Retrain narrow."""
        self._set(fabric, self.lanes)
        fabric.retrain(self.cable)
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Retrain wide."""
        self._set(fabric, 0)
        fabric.retrain(self.cable)
        return []

    def _set(self, fabric: Fabric, lanes: int) -> None:
        for port in fabric.ports.values():
            if port.cable.id == self.cable:
                port.lanes = lanes or port.cable.lanes


@dataclass(frozen=True)
class Dark(Fault):
    """A switch without power, and back."""

    device: str

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Power off."""
        fabric.dark.add(self.device)
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Power on."""
        fabric.dark.discard(self.device)
        return []


@dataclass(frozen=True)
class Reboot(Fault):
    """A host restarts and is back at the end; nobody says a word, or somebody does."""

    host: str
    announced: bool = False

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Go down, with all it holds."""
        fabric.dark.update(fabric.plan.held_by(self.host))
        fabric.hosts[self.host].dark_until = fabric.began + self.until
        if not self.announced:
            return []
        return [{"at": fabric.now, "kind": "boot", "scope": {"device": self.host}}]


@dataclass(frozen=True)
class DirtyConnector(Fault):
    """Dirt before a receiver takes so many dB of its light."""

    port: str
    loss_db: float = 2.0

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Dim it."""
        fabric.optical(self.port).module.loss_db = self.loss_db
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Clean it."""
        fabric.optical(self.port).module.loss_db = 0.0
        return []


@dataclass(frozen=True)
class BentTrunk(Fault):
    """A trunk is bent: every cable in it loses so many dB of light, both ways."""

    trunk: str
    loss_db: float = 4.0

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Bend it."""
        self._dim(fabric, self.loss_db)
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Straighten it."""
        self._dim(fabric, 0.0)
        return []

    def _dim(self, fabric: Fabric, loss_db: float) -> None:
        for cable in fabric.plan.cables:
            if fabric.plan.trunk(cable) == self.trunk:
                for port in (cable.a, cable.b):
                    fabric.optical(port).module.loss_db = loss_db


@dataclass(frozen=True)
class PausingReceiver(Fault):
    """A port that stops its peer for a share of the time."""

    port: str
    duty: float = 0.3

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Stop it."""
        fabric.ethernet(self.port).pausing = self.duty
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Let it go."""
        fabric.ethernet(self.port).pausing = 0.0
        return []


@dataclass(frozen=True)
class Maintenance(Fault):
    """Work on a rack, announced."""

    rack: str
    ticket: str

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Announce."""
        return [self._event(fabric, "maintenance_start")]

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Done."""
        return [self._event(fabric, "maintenance_end")]

    def _event(self, fabric: Fabric, kind: str) -> dict[str, Any]:
        return {"at": fabric.now, "kind": kind, "scope": {"rack": self.rack}, "id": self.ticket}


@dataclass(frozen=True)
class Xid(Fault):
    """Accelerators report an error code."""

    accelerators: tuple[str, ...]
    code: int

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Show the code, for ever: the driver's gauge is sticky."""
        for name in self.accelerators:
            fabric.accelerator(name).xid = self.code
        return []
