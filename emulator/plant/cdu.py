"""A coolant distribution unit: a loop of branches, its exchanger, reservoir and controls.

Heat goes from plates into the branch, mixes on its way back, and leaves through a counter-flow
exchanger (effectiveness by transfer units) into the facility's water, whose valve holds the supply
temperature. Pumps hold flow, differential pressure, or nothing but their speed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from emulator.plant.coolant import EXPANSION, PG25, WATER, Coolant
from emulator.plant.hydraulics import SMOOTH, Hydraulics, Pipe, Pump, reach

LITRES_A_KILOWATT = 1.5
"""Design flow, litres a minute for each kilowatt."""
DESIGN_KELVIN = 9.96
BRANCH_KILOPASCALS = 90.0
"""Over a branch at its design flow."""
RAMP = 0.02
"""Share of full speed by which pumps change in a second at the most."""
VALVE_SECONDS = 40.0
"""Time in which the facility's valve follows."""
GAS_LITRES, GAS_KILOPASCALS = 8.0, 150.0
"""Gas-charged vessel, and the pressure of the return over the atmosphere, when all is full."""
ATMOSPHERE = 101.3
DRY = 0.1
"""Level at which the unit stops its pumps, before they draw air."""
HOSE_SECONDS = 20.0
"""Time in which returning warmth is felt at the unit."""


@dataclass
class Facility:
    """The building's water at the unit."""

    celsius: float = 22.0
    most: float = 240.0
    """Litres a minute with the valve open."""
    valve: float = 0.5
    back: float = 30.0

    @property
    def flow(self) -> float:
        """Litres a minute now."""
        return self.most * self.valve


@dataclass
class Cdu:
    """One unit; `advance` lets time pass."""

    name: str
    hydraulics: Hydraulics
    kilowatts: float
    """Heat that it is built for."""
    control: str = "differential_pressure"
    """What the pumps hold: flow, differential_pressure or speed."""
    setpoint: float = BRANCH_KILOPASCALS
    supply_setpoint: float = 30.0
    coolant: Coolant = PG25
    facility: Facility = field(default_factory=Facility)
    volume: float = 300.0
    """Litres of the whole loop."""
    reservoir: float = 40.0
    filled: float = 32.0
    """Litres in the reservoir at 30 C, before anything leaked."""
    leaked: float = 0.0
    leaks: dict[str, float] = field(default_factory=dict)
    """Litres a minute that leave, by branch; "" is at the unit."""
    wet: set[str] = field(default_factory=set)
    """Zones whose rope is wet."""
    fouled: float = 0.0
    """Share of the exchanger's conductance that fouling has taken."""
    supply: float = 30.0
    back: float = 38.0
    returns: dict[str, float] = field(default_factory=dict)
    """Temperature of each branch's return."""
    heat: dict[str, float] = field(default_factory=dict)
    """Watts that go into each branch."""
    air: float = 24.0
    humidity: float = 0.42
    bias: dict[str, float] = field(default_factory=dict)
    """What a meter shows beyond the truth, by its name: litres a minute, kelvin, kilopascals."""

    @property
    def flow(self) -> float:
        """Litres a minute that are sent out."""
        return self.hydraulics.flow

    @property
    def level(self) -> float:
        """Share to which the reservoir is full: warm coolant needs more room."""
        warm = (self.supply + self.back) / 2 - 30.0
        held = self.filled - self.leaked + EXPANSION * self.volume * warm
        return min(max(held / self.reservoir, 0.0), 1.0)

    @property
    def back_pressure(self) -> float:
        """Kilopascals of the return over the atmosphere: gas takes the room of what left."""
        full = (GAS_KILOPASCALS + ATMOSPHERE) * GAS_LITRES
        return full / (GAS_LITRES + self.leaked) - ATMOSPHERE

    def refill(self) -> None:
        """Put back what leaked, and start the pumps again."""
        self.leaked = 0.0
        for pump in self.hydraulics.pumps:
            pump.running = True

    @property
    def returning(self) -> dict[str, float]:
        """Litres a minute that come back, by branch."""
        return {
            name: max(flow - self.leaks.get(name, 0.0), 0.0)
            for name, flow in self.hydraulics.flows.items()
        }

    def advance(self, seconds: float, heat: Mapping[str, float]) -> None:
        """Let time pass with so many watts into each branch."""
        self.heat = dict(heat)
        thickness = self.coolant.thickness(self.supply)
        self._drive(seconds, thickness)
        self.leaked = min(self.leaked + sum(self.leaks.values()) * seconds / 60.0, self.filled)
        if self.level <= DRY:
            for pump in self.hydraulics.pumps:
                pump.running = False
        total, warmth = 0.0, 0.0
        share = 1.0 - math.exp(-seconds / HOSE_SECONDS)
        for name, flow in self.hydraulics.flows.items():
            carried = self.coolant.watts_per_kelvin(max(flow, 0.5), self.supply)
            wanted = self.supply + heat.get(name, 0.0) / carried
            before = self.returns.get(name, wanted)
            self.returns[name] = before + (min(wanted, 100.0) - before) * share
            total, warmth = total + flow, warmth + flow * self.returns[name]
        self.back = warmth / total if total > 0 else self.back
        self._exchange(seconds)

    def _drive(self, seconds: float, thickness: float) -> None:
        water = self.hydraulics
        running = water.active
        if self.control != "speed" and running:
            of = "flow" if self.control == "flow" else "differential_pressure"
            wanted = reach(water, self.setpoint, of, thickness)
            now, most = running[0].speed, RAMP * seconds
            water.speed(now + min(max(wanted - now, -most), most))
        water.settle(thickness)

    def _exchange(self, seconds: float) -> None:
        """Hand heat to the facility's water; its valve follows the supply temperature."""
        own = self.coolant.watts_per_kelvin(max(self.flow, 0.5), self.back)
        conductance = 1000.0 * self.kilowatts / 5.0 * (1.0 - self.fouled)
        wanted = self.supply_setpoint
        cold = self.facility
        needed = _share_for(
            own, conductance, self.back - wanted, self.back - cold.celsius, cold.most
        )
        cold.valve += (needed - cold.valve) * (1.0 - math.exp(-seconds / VALVE_SECONDS))
        cold.valve = min(max(cold.valve, 0.03), 1.0)
        moved = _moved(own, conductance, self.back - cold.celsius, cold.flow)
        reached = self.back - moved / own
        self.supply += (reached - self.supply) * (1.0 - math.exp(-seconds / HOSE_SECONDS))
        cold.back = cold.celsius + moved / WATER.watts_per_kelvin(max(cold.flow, 0.5), cold.celsius)


def _moved(own: float, conductance: float, kelvin: float, flow: float) -> float:
    """Return the watts that a counter-flow exchanger moves (effectiveness by transfer units)."""
    other = WATER.watts_per_kelvin(max(flow, 0.5), 25.0)
    least, most = min(own, other), max(own, other)
    ratio, units = least / most, conductance / least
    if ratio > 0.999:
        effect = units / (1.0 + units)
    else:
        left = math.exp(-units * (1.0 - ratio))
        effect = (1.0 - left) / (1.0 - ratio * left)
    return max(effect * least * kelvin, 0.0)


def _share_for(own: float, conductance: float, drop: float, kelvin: float, most: float) -> float:
    """Return the share to which the valve must open so that the coolant falls by so many kelvin."""
    if drop <= 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        if _moved(own, conductance, kelvin, middle * most) < own * drop:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def unit(name: str, branches: Mapping[str, float], control: str = "differential_pressure") -> Cdu:
    """Return a unit with a branch for so many kilowatts each, two pumps, settled."""
    pipes = {
        branch: Pipe(BRANCH_KILOPASCALS / (LITRES_A_KILOWATT * kilowatts) ** SMOOTH)
        for branch, kilowatts in branches.items()
    }
    kilowatts = sum(branches.values())
    flow = LITRES_A_KILOWATT * kilowatts
    droop = 60.0 / (flow / 2) ** 2
    water = Hydraulics([Pump(f"{n}", droop=droop) for n in (1, 2)], pipes)
    water.filter.resistance = 15.0 / flow**2
    water.exchanger.resistance = 30.0 / flow**2
    made = Cdu(name, water, kilowatts, control)
    made.facility.most = 2.0 * flow
    made.setpoint = {"flow": flow, "differential_pressure": BRANCH_KILOPASCALS}.get(control, 0.0)
    heat = {branch: 800.0 * share for branch, share in branches.items()}
    speed = reach(water, flow, "flow", 1.0)
    water.speed(speed)
    for _ in range(60):
        made.advance(10.0, heat)
    return made
