"""Hydraulics: pumps side by side, a filter and an exchanger in line, branches side by side.

A pump lifts `s^2 H0 - k q^2` at speed s (affinity laws); a pipe takes `R q^n`. The pressure over
the manifold is where what the pumps lift equals what everything in line takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scipy.optimize import brentq

SMOOTH = 1.75
"""Exponent of smooth turbulent flow (Blasius)."""
FITTINGS = 2.0
EXACT = 1e-9
"""Of a pressure in kilopascals, or a speed: more digits than a meter shows."""
LEAST_SPEED = 0.2


@dataclass
class Pump:
    """One pump; speed is a share of full speed."""

    name: str
    lift: float = 330.0
    """Kilopascals at full speed without flow."""
    droop: float = 0.0045
    """Kilopascals that it loses for each (litre a minute) squared."""
    speed: float = 0.6
    running: bool = True
    worn: float = 0.0
    """Share of its lift that wear has taken."""
    efficiency: float = 0.55

    def pressure(self, flow: float) -> float:
        """Return the kilopascals that it lifts at a flow."""
        return self.lift * (1.0 - self.worn) * self.speed**2 - self.droop * flow**2

    def watts(self, flow: float) -> float:
        """Return its electric power at a flow; a worn pump loses efficiency as well."""
        if not self.running:
            return 0.0
        useful = max(self.pressure(flow), 0.0) * flow / 60.0
        return 60.0 * self.speed**3 + useful / (self.efficiency * (1.0 - 0.5 * self.worn))


@dataclass
class Pipe:
    """What takes pressure: a filter, an exchanger, a branch with its plates and its valve."""

    resistance: float
    """Kilopascals at one litre a minute."""
    exponent: float = SMOOTH
    valve: float = 1.0
    """Share to which its valve is open."""
    clogged: float = 1.0
    """Times the resistance that it was built with."""

    def pressure(self, flow: float, thickness: float = 1.0) -> float:
        """Return the kilopascals that a flow takes, in coolant so many times as thick."""
        slow = float(thickness ** (2.0 - self.exponent))
        built = self.resistance * self.clogged * slow / self.valve**2
        return built * float(max(flow, 0.0) ** self.exponent)

    def flow(self, pressure: float, thickness: float = 1.0) -> float:
        """Return the litres a minute that a pressure drives."""
        slow = float(thickness ** (2.0 - self.exponent))
        built = self.resistance * self.clogged * slow / self.valve**2
        return float((max(pressure, 0.0) / built) ** (1.0 / self.exponent))


@dataclass
class Hydraulics:
    """The water of one loop."""

    pumps: list[Pump]
    branches: dict[str, Pipe]
    filter: Pipe = field(default_factory=lambda: Pipe(0.0012, FITTINGS))
    exchanger: Pipe = field(default_factory=lambda: Pipe(0.0022, FITTINGS))
    flows: dict[str, float] = field(default_factory=dict)
    manifold: float = 0.0
    """Kilopascals between supply and return."""

    @property
    def flow(self) -> float:
        """All branches, in litres a minute."""
        return sum(self.flows.values())

    @property
    def active(self) -> list[Pump]:
        """Pumps that run."""
        return [pump for pump in self.pumps if pump.running]

    def lifted(self, flow: float) -> float:
        """Return what the running pumps lift, side by side, at a flow of all together."""
        running = self.active
        if not running:
            return 0.0
        return min(pump.pressure(flow / len(running)) for pump in running)

    def settle(self, thickness: float = 1.0) -> None:
        """Find manifold pressure and flows at the present speeds."""

        def left(manifold: float) -> float:
            flow = sum(pipe.flow(manifold, thickness) for pipe in self.branches.values())
            taken = self.filter.pressure(flow) + self.exchanger.pressure(flow)
            return self.lifted(flow) - taken - manifold

        most = self.lifted(0.0)
        self.manifold = float(brentq(left, 0.0, most, xtol=EXACT)) if most > 0 else 0.0
        self.flows = {
            name: pipe.flow(self.manifold, thickness) for name, pipe in self.branches.items()
        }

    def speed(self, speed: float) -> None:
        """Set all running pumps to a speed."""
        for pump in self.active:
            pump.speed = min(max(speed, LEAST_SPEED), 1.0)


def reach(hydraulics: Hydraulics, wanted: float, of: str, thickness: float) -> float:
    """Return the speed at which flow or differential pressure is what is wanted, 1.0 at most."""
    speeds: Sequence[float] = [pump.speed for pump in hydraulics.pumps]

    def beyond(speed: float) -> float:
        hydraulics.speed(speed)
        hydraulics.settle(thickness)
        return (hydraulics.flow if of == "flow" else hydraulics.manifold) - wanted

    if beyond(1.0) <= 0:
        found = 1.0
    elif beyond(LEAST_SPEED) >= 0:
        found = LEAST_SPEED
    else:
        found = float(brentq(beyond, LEAST_SPEED, 1.0, xtol=EXACT))
    for pump, speed in zip(hydraulics.pumps, speeds, strict=True):
        pump.speed = speed
    return found
