"""Fault of optics: the base of all that falls ill in a module, before it or at its contacts.

Each says how it acts through time, for all lanes and any number of moments at once, so that one
description serves a fabric that lives and two weeks that are written down. Strengths are 1 (to be
seen by who looks closely) to 3 (the link suffers, or falls), and what lies between.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from emulator.fabric import Fabric
from emulator.faults import Fault
from emulator.light import Floats
from emulator.module_kinds import ModuleKind
from emulator.stress import Stress

DAY = 86_400.0
LOAD = 0.45
"""Mean load of an emulated fabric, as a share of its lines."""
CONNECTED = {"optical", "lpo", "cpo"}
"""Media whose fibre can be unplugged; the others are cables in one piece."""
Event = dict[str, str]
RESEATED: Event = {"kind": "part_touched", "action": "reseat"}
UPGRADED: Event = {"kind": "firmware_upgrade"}


@dataclass(frozen=True)
class Moments:
    """Times at which a fault is looked at; arrays [time]."""

    elapsed: Floats
    """Seconds since it began."""
    load: Floats
    """Share of the line that is carried."""
    random: np.random.Generator


@dataclass(frozen=True)
class OpticFault(Fault):
    """Something ill with the module at a port."""

    port: str
    strength: float = 2.0
    lane: int = 0
    """The lane that is hit, counted from 0, where it is one."""
    others: tuple[str, ...] = ()
    """Further ports that it hits likewise."""

    sizes: ClassVar[tuple[float, float, float]]
    """What it does at strengths 1, 2 and 3."""
    cause: ClassVar[str]
    side: ClassVar[str | None]
    """Whose part is ill: tx of this port, its rx, or nobody's alone."""
    both_ends: ClassVar[bool] = False
    """Whether the module at the other end is hit likewise."""
    event: ClassVar[Event | None] = None
    """What is written down as it begins."""

    @classmethod
    @abstractmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Return whether modules of a kind can have it."""

    @abstractmethod
    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Return what acts; fields are numbers or arrays [lane or 1, time]."""

    @property
    def size(self) -> float:
        """What it does at its strength."""
        return float(np.interp(self.strength, (1, 2, 3), self.sizes))

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Let it act."""
        self.go_on(fabric)
        if self.event is None:
            return []
        return [{"at": fabric.now, "scope": {"port": self.port}, **self.event}]

    def go_on(self, fabric: Fabric) -> None:
        """Let it act as it does now."""
        elapsed = max(fabric.now - fabric.began - self.at, 0.0)
        random = np.random.default_rng(fabric.random.getrandbits(64))
        moments = Moments(np.array([elapsed]), np.array([LOAD]), random)
        for port in self._ports(fabric):
            module = fabric.optical(port).module
            module.stresses[self] = self.stress(module.built, moments).now(module.lanes)

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """It is repaired."""
        for port in self._ports(fabric):
            fabric.optical(port).module.stresses.pop(self, None)
        return []

    def _ports(self, fabric: Fabric) -> Iterator[str]:
        for port in (self.port, *self.others):
            yield port
            if self.both_ends:
                yield fabric.peer(fabric.ports[port]).name

    def one_lane(self, kind: ModuleKind, size: ArrayLike) -> Floats:
        """Return a size [time] at the lane that is hit, 0 at the others: [lane, time]."""
        hit = np.arange(kind.lanes) == self.lane % kind.lanes
        return np.asarray(hit[:, None] * np.atleast_1d(np.asarray(size, np.float64))[None, :])


def began(moments: Moments) -> Floats:
    """Return 1 from when it began, 0 before, as [1, time]."""
    return np.asarray((moments.elapsed >= 0)[None, :], np.float64)
