"""A switch's own watchdog over its lossless queues, as SONiC documents it; our own words and code.

It looks at every queue by itself. A queue that holds packets, sent none since the last look and
was paused meanwhile is stuck (and so is an empty one that was paused for most of the time); stuck
for the detection time, it storms, and its packets are dropped. Once no pause frame has come
for the restoration time it is restored. By default both times and the poll are 200 ms for
switches of up to 32 ports, and as many times more as there are such groups of ports; the poll is a
second at the most. It knows no neighbours, so it names queues and no origin.
"""

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.congestion.fluid import Bools, Floats

DEFAULT = 0.2
"""Seconds, for switches of PORTS ports."""
PORTS = 32
LONGEST_POLL = 1.0

MOSTLY = 0.8
"""An empty queue paused for more than this share of a poll is stuck, too."""


@dataclass(frozen=True)
class Times:
    """Seconds."""

    poll: float
    detection: float
    restoration: float

    @classmethod
    def of(cls, ports: int) -> "Times":
        """Return what a switch of so many ports begins with."""
        whole = DEFAULT * math.ceil(ports / PORTS)
        return cls(min(whole, LONGEST_POLL), whole, whole)


@dataclass(frozen=True)
class Look:
    """What the counters of all queues say since the last look, [q] each."""

    occupied: Bools
    """Whether the queue holds packets now."""
    moved: Bools
    """Whether it sent any."""
    frames: Floats
    """Pause frames that came for it."""
    paused: Floats
    """Seconds for which it was paused."""


class Watchdog:
    """Watches some queues; `stormed` are those it takes for stormed now ([q])."""

    def __init__(self, watched: Bools, times: Times) -> None:
        self.times = times
        self._watched = watched
        self.stormed: Bools = np.zeros(len(watched), np.bool_)
        self._left = np.full(len(watched), times.detection)
        self.storms: list[tuple[float, int]] = []
        """(when, queue) of each storm it saw."""
        self.restores: list[tuple[float, int]] = []

    def look(self, at: float, now: Look) -> None:
        """Take the next poll, at `at` (seconds)."""
        times = self.times
        stuck = ~now.moved & np.where(
            now.occupied, now.frames > 0, now.paused > MOSTLY * times.poll
        )
        quiet = now.frames <= 0
        counts = np.where(self.stormed, quiet, stuck)
        full = np.where(self.stormed, times.restoration, times.detection)
        self._left = np.where(counts, self._left - times.poll, full)
        over = (self._left <= 1e-9) & self._watched  # seconds, but for rounding
        for queue in np.flatnonzero(over).tolist():
            (self.restores if self.stormed[queue] else self.storms).append((at, queue))
        self.stormed = np.where(over, ~self.stormed, self.stormed)
        fresh = np.where(self.stormed, times.restoration, times.detection)
        self._left = np.where(over, fresh, self._left)
