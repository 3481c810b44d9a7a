"""Machines: hosts and the accelerators that they hold, at one moment."""

from dataclasses import dataclass, field

FULL_MEGAHERTZ = 1980.0

THROTTLES = 85.0
"""An accelerator hotter than this slows down."""


@dataclass
class AcceleratorState:
    """One accelerator."""

    name: str
    utilization: float = 0.9
    temperature: float = 52.0
    power: float = 480.0
    slowed: float = 0.0
    """Share by which heat or a cap slows it."""

    xid: int = 0
    """The last code; the driver's gauge shows it for ever."""

    @property
    def clock(self) -> float:
        """Clock of its compute units, in MHz."""
        return FULL_MEGAHERTZ * (1.0 - self.slowed)

    def work(self, busy: float, more: float, water: float, plate: float, slowed: float) -> None:
        """Be busy for a share of a step, drawing some watts more or less.

        Water comes at so many degrees, the plate adds kelvin for each watt; a cap slows by a share.
        """
        self.utilization = busy
        wanted = 300 + 250 * busy + more
        hot = min(max((self.temperature - THROTTLES) / 10.0, 0.0), 0.5)
        self.slowed = max(slowed, hot)
        self.power = wanted * (1.0 - self.slowed)
        self.temperature += (water + plate * self.power - self.temperature) * 0.05


@dataclass
class HostState:
    """One host; dark while it boots."""

    name: str
    booted_at: float
    dark_until: float = 0.0
    accelerators: list[AcceleratorState] = field(default_factory=list)
