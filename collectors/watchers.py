"""The watchers: what every visit tells about itself."""

from dataclasses import dataclass, field

import numpy as np

from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.watchers import (
    LAST_SUCCESS,
    PARTIAL,
    POLL_SECONDS,
    READINGS,
    REJECTED,
    SOURCE_UP,
)
from fabrichealth.model import Batch, Poll, Reason, SeriesTable

_REASONS = tuple(Reason)
_GAUGES = (SOURCE_UP, POLL_SECONDS, LAST_SUCCESS, READINGS, PARTIAL)


@dataclass
class Watcher:
    """Self-metrics of one target; counts refusals over its life."""

    source: str
    target: str
    table: SeriesTable
    rejected: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(_REASONS, 0))
    last_success: float = float("nan")

    def __post_init__(self) -> None:
        self.clock = self.table.clock("watchers", f"{self.source}/{self.target}")
        own = (self.source, self.target)
        self._series = self.table.intern_all(
            [(metric, own) for metric in _GAUGES]
            + [(REJECTED, (*own, reason.value)) for reason in _REASONS]
        )

    def answered(self, poll: Poll, at: float, took: float) -> Batch:
        """Return the self-metrics of a visit that brought something."""
        for one in poll.refused:
            self.rejected[one.reason] += 1
        self.last_success = at
        return self._batch(at, 1.0, took, float(poll.readings), float(bool(poll.missing)))

    def failed(self, at: float, took: float) -> Batch:
        """Return the self-metrics of a visit that brought nothing."""
        return self._batch(at, 0.0, took, 0.0, float("nan"))

    def _batch(self, at: float, up: float, took: float, readings: float, partial: float) -> Batch:
        values = np.array(
            [up, took, self.last_success, readings, partial]
            + [float(self.rejected[reason]) for reason in _REASONS]
        )
        known = np.isfinite(values)
        return Batch(self.clock, at, self._series[known], values[known])


class Presence:
    """Which devices are up: those of which any target answers."""

    def __init__(self, table: SeriesTable) -> None:
        self._table = table
        self._up: dict[str, dict[tuple[str, str], bool]] = {}

    def clock(self, device: str) -> int:
        """Return the clock by which a device's presence is told."""
        return self._table.clock("presence", device)

    def note(self, device: str, key: tuple[str, str], up: bool, at: float) -> Batch:
        """Note whether one target of a device answered; return the device's state."""
        targets = self._up.setdefault(device, {})
        targets[key] = up
        series = self._table.intern(DEVICE_UP, (device,))
        state = float(any(targets.values()))
        return Batch(self.clock(device), at, np.array([series], np.int32), np.array([state]))

    def forget(self, device: str, key: tuple[str, str]) -> None:
        """A target is read no longer."""
        targets = self._up.get(device, {})
        targets.pop(key, None)
        if not targets:
            self._up.pop(device, None)
