"""Marking: whether ECN can slow senders down before pauses stop them.

With a shared pool of B bytes and a dynamic threshold factor alpha, n equally full queues may
each hold alpha B / (1 + alpha n) before the switch sends pauses (Choudhury and Hahne, 1998).
Marking thresholds beyond that are never reached: ECN is off, whatever the configuration says
(the incident with alpha 1/64 of "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016).
"""

import numpy as np

from fabrichealth.model import Floats

MTU_BYTES = 4096
"""Of a RoCE packet, for counting what a pause held up."""

ROOM = 0.8
"""Advised thresholds leave the rest of the way to the pause threshold for reaction."""

FIRST = 0.25
"""Advised K_min beside K_max, as DCQCN's authors scale them."""


def fair_bytes(alpha: Floats | float, pool: Floats | float, queues: float) -> Floats:
    """Return how many bytes each of so many full queues may hold before it pauses."""
    share = np.asarray(alpha, np.float64)
    return np.asarray(share * np.asarray(pool) / (1.0 + share * queues), np.float64)


def advised(limit: float) -> tuple[float, float]:
    """Return (K_min, K_max) in bytes for a queue that pauses at `limit` bytes."""
    most = ROOM * limit
    return FIRST * most, most


def marked_share(marks: float, paused_seconds: float, bits_per_second: float) -> float:
    """Return the share of control that marks have beside pauses, 0 to 1 (C5).

    `marks` are packets, of the same time as the paused seconds; what a pause held up counts in
    packets too. 1: marks alone, 0: pauses alone; NaN if there is neither.
    """
    held = paused_seconds * bits_per_second / 8.0 / MTU_BYTES
    return marks / (marks + held) if marks + held > 0 else float("nan")
