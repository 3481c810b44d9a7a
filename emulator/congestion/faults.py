"""Faults of congestion: NICs that stop their switch, jobs that crowd, settings that cannot work."""

from dataclasses import dataclass, replace
from typing import Any

from emulator.congestion.traffic import Job, converging
from emulator.congestion.wires import Detour
from emulator.ethernet import EthernetState
from emulator.fabric import Fabric
from emulator.faults import Fault, PausingReceiver

Events = list[dict[str, Any]]


@dataclass(frozen=True)
class BrokenNic(PausingReceiver):
    """A NIC whose receive pipeline stands still: it stops its switch without a break."""

    duty: float = 1.0


@dataclass(frozen=True)
class SlowReceiver(PausingReceiver):
    """A NIC that cannot take what comes: it stops its switch for a share of that time."""

    duty: float = 0.3


@dataclass(frozen=True)
class ChoppyStorm(Fault):
    """A NIC that stops its switch in turns: nothing passes, then all does."""

    port: str
    duty: float = 0.75

    def begin(self, fabric: Fabric) -> Events:
        """Stop it in turns."""
        self._set(fabric.ethernet(self.port), self.duty)
        return []

    def end(self, fabric: Fabric) -> Events:
        """Let it go."""
        self._set(fabric.ethernet(self.port), 0.0)
        return []

    def _set(self, state: EthernetState, duty: float) -> None:
        state.pausing, state.chops = duty, duty > 0


@dataclass(frozen=True)
class Incast(Fault):
    """Many NICs send to one, again and again; `lasting` ones heed marks, short bursts cannot."""

    port: str
    senders: int = 5
    share: float = 0.6
    """Of the line rate, that each would like to send."""
    busy: float = 1.0
    """Share of time for which they do."""
    lasting: bool = True

    def begin(self, fabric: Fabric) -> Events:
        """Let them send."""
        traffic = fabric.flowing()
        flows = converging(
            traffic.wires, self.port, self.senders, share=self.share, heeds=self.lasting
        )
        traffic.jobs[f"incast {self.port}"] = Job(tuple(flows), self.busy)
        return []

    def end(self, fabric: Fabric) -> Events:
        """It is done."""
        fabric.flowing().jobs.pop(f"incast {self.port}", None)
        return []


@dataclass(frozen=True)
class Polarized(Fault):
    """The hash of a leaf has become that of the switches before it: all goes to one spine."""

    leaf: str
    spine: int = 0

    def begin(self, fabric: Fabric) -> Events:
        """Send all one way."""
        self._set(fabric, ((self.leaf, self.spine),))
        return []

    def end(self, fabric: Fabric) -> Events:
        """Spread it again."""
        self._set(fabric, ())
        return []

    def _set(self, fabric: Fabric, wanted: tuple[tuple[str, int], ...]) -> None:
        traffic = fabric.flowing()
        others = tuple(one for one in traffic.detour.hashed if one[0] != self.leaf)
        traffic.detour = replace(traffic.detour, hashed=(*others, *wanted))


@dataclass(frozen=True)
class Thresholds(Fault):
    """Somebody has set a switch's marks: off, or at thresholds that no queue reaches."""

    switch: str
    marks: bool = False
    times: float = 1.0
    """By which K_min and K_max are multiplied."""

    def begin(self, fabric: Fabric) -> Events:
        """Set them."""
        self._set(fabric, self.marks, self.times)
        return []

    def end(self, fabric: Fabric) -> Events:
        """Set them back."""
        self._set(fabric, True, 1.0 / self.times)
        return []

    def _set(self, fabric: Fabric, marks: bool, times: float) -> None:
        buffers = fabric.buffers[self.switch]
        buffers.marks = marks
        buffers.least = round(buffers.least * times)
        buffers.most = round(buffers.most * times)


@dataclass(frozen=True)
class DeafNic(Fault):
    """A NIC that notifies nobody of the marks that come to it."""

    port: str

    def begin(self, fabric: Fabric) -> Events:
        """Fall silent."""
        fabric.flowing().deaf.add(self.port)
        return []

    def end(self, fabric: Fabric) -> Events:
        """Notify again."""
        fabric.flowing().deaf.discard(self.port)
        return []


@dataclass(frozen=True)
class ShortHeadroom(Fault):
    """A switch keeps less room than still comes in after it said stop."""

    switch: str
    headroom: int = 20_000
    usual: int = 196_608

    def begin(self, fabric: Fabric) -> Events:
        """Take the room away."""
        fabric.buffers[self.switch].headroom = self.headroom
        return []

    def end(self, fabric: Fabric) -> Events:
        """Give it back."""
        fabric.buffers[self.switch].headroom = self.usual
        return []


@dataclass(frozen=True)
class HalfRate(Fault):
    """A port sends at a share of its rate and says nothing of it: a shaper, or repeats."""

    port: str
    share: float = 0.5

    def begin(self, fabric: Fabric) -> Events:
        """Slow it."""
        fabric.flowing().drain[self.port] = self.share
        return []

    def end(self, fabric: Fabric) -> Events:
        """Let it send."""
        fabric.flowing().drain.pop(self.port, None)
        return []


@dataclass(frozen=True)
class Reroute(Fault):
    """Routes that go down into a leaf and up again; with bursts on them, queues lock each other.

    Each way is the devices from the first leaf to the last. What is locked stays so until the
    routes are set right and the queues cleared, which the end is.
    """

    bounced: tuple[tuple[str, ...], ...]

    def begin(self, fabric: Fabric) -> Events:
        """Change the routes."""
        self._set(fabric, self.bounced)
        return []

    def end(self, fabric: Fabric) -> Events:
        """Set them right, and clear what is locked."""
        self._set(fabric, ())
        fabric.flowing().locked.clear()
        return []

    def _set(self, fabric: Fabric, bounced: tuple[tuple[str, ...], ...]) -> None:
        traffic = fabric.flowing()
        traffic.detour = Detour(traffic.detour.hashed, bounced)
