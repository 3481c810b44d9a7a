"""Clock: wall time, sleep and jitter, handed to whoever needs them.

A clock may run faster than the wall: the demo lives an hour and a half in three minutes, and
every period, time stamp and hold in it is in that faster time.
"""

import asyncio
import random
import time


class Clock:
    """Unix seconds, and waiting in them; `speed` seconds pass per second of the wall."""

    def __init__(self, speed: float = 1.0, origin: float | None = None) -> None:
        self.speed = speed
        self.origin = time.time() if origin is None else origin
        """Where this clock and the wall agree; give it to another process to share the clock."""
        self._random = random.Random()  # noqa: S311 - spreads load, guards nothing

    def now(self) -> float:
        """Return the time in unix seconds."""
        return self.origin + (time.time() - self.origin) * self.speed

    async def sleep(self, seconds: float) -> None:
        """Wait so many seconds of this clock."""
        await asyncio.sleep(max(seconds, 0.0) / self.speed)

    async def until(self, when: float) -> None:
        """Wait until a moment of this clock."""
        await self.sleep(when - self.now())

    def jitter(self, share: float) -> float:
        """Return a factor within 1 - share .. 1 + share."""
        return 1.0 + self._random.uniform(-share, share)

    def phase(self, period: float) -> float:
        """Return a start within a period, so that targets do not all go at once."""
        return self._random.uniform(0.0, period)
