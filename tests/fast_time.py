"""An event loop in which nobody waits: time jumps to the next moment that somebody waits for.

A day of polling takes a second, time-outs included, and nothing depends on how busy the machine
is. Only for work without threads and sockets.
"""

import asyncio
import random
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from fabrichealth.runtime.clock import Clock

Result = TypeVar("Result")

ORIGIN = 1_767_225_600.0
"""Unix seconds when a loop begins."""


class _Jump(selectors.SelectSelector):
    """Does not wait for so long, but lets so long be over."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if timeout is None and not found:
            raise RuntimeError("everybody waits, and nobody for a moment")
        self.now += 0.0 if found else timeout or 0.0
        return found


class FastLoop(asyncio.SelectorEventLoop):
    """A loop whose time is its own."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        """Return seconds since the loop began."""
        return self._jump.now


class FastClock(Clock):
    """The wall of a fast loop; it may be set forwards and back."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(origin=ORIGIN)
        self._random = random.Random(seed)
        self.offset = 0.0
        """Seconds by which somebody has set the wall clock."""

    def now(self) -> float:
        """Return unix seconds."""
        return self.origin + asyncio.get_running_loop().time() + self.offset

    async def sleep(self, seconds: float) -> None:
        """Wait; setting the wall does not shorten or lengthen it."""
        await asyncio.sleep(max(seconds, 0.0))


def lived(work: Coroutine[Any, Any, Result]) -> Result:
    """Run something in a loop of its own, and return what it returns."""
    with asyncio.Runner(loop_factory=FastLoop) as runner:
        return runner.run(work)
