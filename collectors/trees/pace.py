"""Pace: which of the things that a device may have are to be read now.

Each has a period of its own. What the device does not have is left out for a while.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Pace:
    """When things were read, and found to be lacking; outlives visits."""

    retry: float
    """Seconds after which what the device does not have is tried again."""
    _read: dict[str, float] = field(default_factory=dict)
    _lacking: dict[str, float] = field(default_factory=dict)

    def due(self, name: str, period: float, at: float, slack: float) -> bool:
        """Return whether something is to be read at `at` (unix seconds), up to `slack` s early."""
        return (
            at >= self._read.get(name, -period) + period - slack
            and at >= self._lacking.get(name, -self.retry) + self.retry
        )

    def read(self, name: str, at: float) -> None:
        """Note that it was read, or asked for."""
        self._read[name] = at

    def has(self, name: str) -> None:
        """Note that the device has it."""
        self._lacking.pop(name, None)

    def lacks(self, name: str, at: float) -> None:
        """Note that the device does not have it."""
        self._lacking[name] = at
