"""Every sort of case, by name."""

from collections.abc import Callable

import numpy as np

from benchmarks.congestion import crowding, receivers
from benchmarks.congestion.case import Case

CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    one.__name__: one
    for one in (
        receivers.broken_nic, receivers.choppy_storm, receivers.half_storm, receivers.mild_storm,
        receivers.slow_receiver, receivers.frames_only, receivers.half_silent,
        receivers.watchdog_acting, receivers.deadlock, receivers.short_headroom,
        crowding.marks_off, crowding.marks_too_late, crowding.deaf_nic, crowding.lasting_incast,
        crowding.degraded_link, crowding.elephants, crowding.polarized,
        crowding.marks_work, crowding.bursts, crowding.all_to_all, receivers.resume_frames,
    )
}  # fmt: skip


def case(name: str, seed: int) -> Case:
    """Return a case as its seed makes it."""
    number = list(CASES).index(name)
    return CASES[name](np.random.default_rng([seed, number, 1]))
