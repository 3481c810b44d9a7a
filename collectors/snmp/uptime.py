"""When a device booted, by sysUpTime: hundredths of a second that begin again after 497 days.

A device that shows a longer uptime than the time since the last poll did not boot in between,
whatever the collector's clock did meanwhile: it is followed by its own clock. Otherwise its boot
time is at minus uptime; while that stays where it was but for jitter and drift of clocks, or for
whole rounds of the 32-bit counter, the device runs on; else it was restarted.
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
    """`boot` as the last poll saw it: it moves with the collector's clock."""
    _seen: float | None = None
    """When the last poll was."""

    def take(self, ticks: int, at: float) -> None:
        """Take what the device showed at a time."""
        begun = at - ticks * TICK
        before = self._tracked if self._tracked is not None else self.boot
        ran = self._ran(ticks * TICK, at)
        if ran is not None and self._tracked is not None and self._seen is not None:
            begun = self._tracked + (at - self._seen) - ran
            self.restarted = False
        elif before is not None:
            rounds = max(round((begun - before) / ROUND), 0)
            self.restarted = abs(begun - rounds * ROUND - before) > JITTER
            if not self.restarted:
                begun -= rounds * ROUND
        if self.boot is None or (ran is None and abs(begun - self.boot) > JITTER):
            self.boot = begun
        self._tracked, self._seen = begun, at

    def _ran(self, shown: float, at: float) -> float | None:
        """Return how long the device ran on since the last poll, None where it may have booted."""
        if self._tracked is None or self._seen is None or shown <= at - self._seen + JITTER:
            return None
        ran = (shown - (self._seen - self._tracked)) % ROUND
        if ran > ROUND / 2:  # it shows less than before
            ran -= ROUND
        return ran if ran > -JITTER else None  # so much less that it is another agent

    def clock(self, at: float) -> float:
        """Return seconds since boot, rounds included; `at` itself where no boot is known."""
        begun = self._tracked if self._tracked is not None else self.boot
        return at if begun is None else at - begun
