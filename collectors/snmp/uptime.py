"""When a device booted, by sysUpTime: hundredths of a second that begin again after 497 days.

A boot time is at minus uptime. While it stays where it was but for jitter and drift of clocks, or
for whole rounds of the 32-bit counter, the device runs on; else it was restarted.
"""

from dataclasses import dataclass

TICK = 0.01
ROUND = 2**32 * TICK
"""Seconds after which sysUpTime begins again (TimeTicks, RFC 2578 section 7.1.8)."""

JITTER = 30.0
"""Seconds by which a boot time may move from poll to poll without a boot."""


@dataclass(slots=True)
class Uptime:
    """What is known of one device's boots; all times are unix seconds."""

    boot: float | None = None
    """As it is told: unmoved while the device runs on."""
    restarted: bool = False
    """Whether the last poll was the first after a restart."""
    _tracked: float | None = None

    def take(self, ticks: int, at: float) -> None:
        """Take what the device showed at a time."""
        begun = at - ticks * TICK
        before = self._tracked if self._tracked is not None else self.boot
        if before is not None:
            rounds = max(round((begun - before) / ROUND), 0)
            self.restarted = abs(begun - rounds * ROUND - before) > JITTER
            if not self.restarted:
                begun -= rounds * ROUND
        if self.boot is None or abs(begun - self.boot) > JITTER:
            self.boot = begun
        self._tracked = begun

    def clock(self, at: float) -> float:
        """Return seconds since boot, rounds included; `at` itself where no boot is known."""
        begun = self._tracked if self._tracked is not None else self.boot
        return at if begun is None else at - begun
