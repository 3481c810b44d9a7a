"""Flags: which of a module's own limits a value is beyond now."""

from collections.abc import Sequence
from dataclasses import dataclass

from emulator.module_kinds import Limits


@dataclass(frozen=True)
class Beyond:
    """Whether a value is beyond each of four limits."""

    high_alarm: bool = False
    low_alarm: bool = False
    high_warning: bool = False
    low_warning: bool = False

    @property
    def rising(self) -> int:
        """Four bits, high alarm in bit 0 (CMIS)."""
        return sum(bit << at for at, bit in enumerate(self.bits))

    @property
    def falling(self) -> int:
        """Four bits, high alarm in bit 3 (SFF-8636)."""
        return sum(bit << 3 - at for at, bit in enumerate(self.bits))

    @property
    def bits(self) -> tuple[bool, bool, bool, bool]:
        """High alarm, low alarm, high warning, low warning."""
        return self.high_alarm, self.low_alarm, self.high_warning, self.low_warning


def beyond(value: float, limits: Limits | None) -> Beyond:
    """Return which limits a value is beyond; none, where there are none."""
    if limits is None:
        return Beyond()
    return Beyond(
        value > limits.high_alarm,
        value < limits.low_alarm,
        value > limits.high_warning,
        value < limits.low_warning,
    )


def by_bound(values: Sequence[float], limits: Limits | None) -> tuple[int, int, int, int]:
    """Return four lane bitmaps, bit 0 lane 1: high alarm, low alarm, high and low warning."""
    found = [beyond(value, limits).bits for value in values]
    high, low, warm, cool = (
        sum(one[bound] << lane for lane, one in enumerate(found)) for bound in range(4)
    )
    return high, low, warm, cool
