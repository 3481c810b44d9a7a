"""Buffers of one switch: how much a queue may hold, when it marks, what it needs to stop a peer.

Dynamic thresholds are those of Choudhury and Hahne (1998), marks those of RED between K_min and
K_max, and where DCQCN holds a queue that of the fluid model of Zhu et al. ("ECN or Delay", 2016).
"""

import math
from dataclasses import dataclass

from emulator.ethernet import FRAME_BYTES

MOST_MARKED = 0.01
"""P_max: share of packets marked at K_max; beyond it all are."""

INCREASE = 40e6 / 8
"""Bytes a second by which a DCQCN sender grows at each turn (R_AI)."""

TURN_SECONDS = 55e-6
"""Of DCQCN's timer, and of its reaction."""

TURN_BYTES = 10e6
"""Of DCQCN's byte counter."""

NOTIFY_SECONDS = 50e-6
"""A receiver sends at most one notification for a flow in this time."""

LOOP_SECONDS = 2e-6
"""From the decision to stop until nothing more comes: 100 m of fibre both ways, and both MACs."""

GREATEST_FRAME = 9216
HYSTERESIS = 19_456
"""Bytes between stop and go of one ingress."""


@dataclass
class Buffers:
    """How a switch shares its memory and marks; bytes."""

    pool: int = 64 << 20
    exponent: int = -1
    """Alpha is 2 to this power."""
    least: int = 250_000
    """K_min."""
    most: int = 1_000_000
    """K_max."""
    marks: bool = True
    headroom: int = 196_608
    """What an ingress may take in after it said stop."""

    @property
    def alpha(self) -> float:
        """The dynamic threshold's factor."""
        return 2.0**self.exponent

    def fair(self, full: float) -> float:
        """Return what each of so many full queues holds before it pauses."""
        return self.alpha * self.pool / (1.0 + self.alpha * max(full, 1.0))

    def marked(self, held: float) -> float:
        """Return which share of packets a queue that holds so much marks."""
        if not self.marks or held <= self.least:
            return 0.0
        if held >= self.most:
            return 1.0
        return MOST_MARKED * (held - self.least) / (self.most - self.least)

    def held_by_marks(self, flows: int, rate: float) -> float:
        """Return what a queue holds whose senders heed marks; `rate` in bytes a second."""
        share = min(settled_share(flows, rate) / MOST_MARKED, 1.0)
        return self.least + share * (self.most - self.least)

    def lost(self, rate: float) -> float:
        """Return the bytes by which the headroom is short at each stop of a port this fast."""
        return max(rate * LOOP_SECONDS + 2 * GREATEST_FRAME + 64 - self.headroom, 0.0)


def settled_share(flows: int, rate: float) -> float:
    """Return the share of packets marked at which so many DCQCN senders hold their rates.

    The fixed point of the fluid model: (R_AI N^2 / (tau C^2) * (1/B + N / (T C))^2)^(1/3).
    """
    if rate <= 0 or flows < 1:
        return 0.0
    packets = rate / FRAME_BYTES
    growth = INCREASE / FRAME_BYTES * flows**2 / (TURN_SECONDS * packets**2)
    turns = FRAME_BYTES / TURN_BYTES + flows / (TURN_SECONDS * packets)
    return min(math.cbrt(growth * turns**2), 1.0)


def stops(share: float, rate: float) -> float:
    """Return how many times a second a port stops a peer for this share of the time.

    A stop lasts until the loop is empty and the hysteresis is drained, a go as long at the least.
    """
    if rate <= 0:
        return 0.0
    return min(share, 1.0 - share) / (LOOP_SECONDS + HYSTERESIS / rate)
