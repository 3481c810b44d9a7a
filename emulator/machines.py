"""Machines: hosts and the accelerators that they hold, at one moment."""

from dataclasses import dataclass, field

FULL_MEGAHERTZ = 1980.0


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


@dataclass
class HostState:
    """One host; dark while it boots."""

    name: str
    booted_at: float
    dark_until: float = 0.0
    accelerators: list[AcceleratorState] = field(default_factory=list)
