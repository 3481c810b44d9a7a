"""Scenario: faults in the order of a story, and the world that lives through them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from emulator.fabric import Fabric
from emulator.faults import Fault
from emulator.plan import Plan

MINUTE = 60.0


@dataclass(frozen=True)
class Scenario:
    """A story: a word of explanation, faults for a plan, and the plan if it is another."""

    about: str
    faults: Callable[[Plan], Sequence[Fault]]
    plan: Plan | None = None
    """Of the supernode that it is about; None: whichever is at hand."""
    speed: float = 20.0
    """How much faster than the wall its time may run: what counts shares of a second needs rest."""


@dataclass
class World:
    """A fabric that lives through a scenario; `step` is called as time goes by."""

    fabric: Fabric
    faults: Sequence[Fault]
    _begun: set[int] = field(default_factory=set)
    _ended: set[int] = field(default_factory=set)

    def step(self, now: float) -> list[dict[str, Any]]:
        """Bring the world to `now`; return the events that were written down meanwhile."""
        events: list[dict[str, Any]] = []
        elapsed = now - self.fabric.began
        for number, fault in enumerate(self.faults):
            if number not in self._begun and elapsed >= fault.at:
                self._begun.add(number)
                events += fault.begin(self.fabric)
            elif number in self._begun and number not in self._ended:
                if elapsed >= fault.until:
                    self._ended.add(number)
                    events += fault.end(self.fabric)
                else:
                    fault.go_on(self.fabric)
        self.fabric.advance(now)
        return events
