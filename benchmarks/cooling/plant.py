"""Coolant loops by their physics, many at a time: pumps, pipes, heat, exchangers and reservoirs.

Written from the literature alone (affinity laws, power-law resistance, effectiveness of
counter-flow exchangers, film resistances that fall with flow^0.8, thermal expansion) and shared
with neither analyzer nor emulator; exponents and curves differ from what the analyzer assumes.
Quasi-static: hydraulics settle within a poll, temperatures lag by minutes. Units: L/min, kPa, °C,
watts.
"""

from dataclasses import dataclass

import numpy as np

from fabrichealth.model import Floats

EXPONENT = 1.82
"""Of pressure drop over flow."""
LAG = 300.0
"""Seconds with which temperatures follow."""
SHARE = 0.92
"""Of a rack's power that goes into its coolant."""
EXPANSION = 4.3e-4
"""Of 25 % glycol, per kelvin."""
VESSEL = 20.0
"""Liters of gas in the expansion vessel."""
STANDING = 1e-3
"""Share of its rated flow below which a loop stands."""
ROUNDS = 34
"""Halvings of a bisection: to 1e-10 of its range."""


@dataclass
class Build:
    """What loops are built of ([loop] or [loop, branch])."""

    flow_control: Floats
    """1 where total flow is held, 0 where the drop over the branches is."""
    branch: Floats
    """kPa at 1 L/min, [loop, branch]."""
    filter: Floats
    shut_off: Floats
    """Head of the pump at full speed without flow."""
    droop: Floats
    """Head lost per (L/min)^2, all pumps side by side."""
    best: Floats
    """Flow at full speed where the pump is most efficient."""
    wall: Floats
    """Thermal resistance of the exchanger's plates, K/W."""
    rated: Floats
    """Flow at which films were designed."""
    volume: Floats
    reservoir: Floats


@dataclass
class Faults:
    """What is ill just now, 1 or 0 where nothing is."""

    branch: Floats
    """Factor on each branch's resistance, [loop, branch]."""
    filter: Floats
    head: Floats
    """Factor on the pump's head."""
    efficiency: Floats
    running: Floats
    """Share of the pumps that turn."""
    wall: Floats
    """Added to the exchanger's resistance, K/W."""
    lost: Floats
    """Liters gone."""
    leaking: Floats
    """L/min, [loop, branch]."""
    read_drop: Floats
    """Factor by which the meter of the drop misreads."""
    read_flow: Floats
    """Factor by which the main's flow meter misreads."""


@dataclass
class State:
    """What is so, not what meters say."""

    speed: Floats
    flow: Floats
    branch_flow: Floats
    drop: Floats
    filter_drop: Floats
    pump_watts: Floats
    supply: Floats
    back: Floats
    branch_back: Floats
    water_flow: Floats
    water_back: Floats
    valve: Floats
    level: Floats
    static: Floats


def density(celsius: Floats) -> Floats:
    """Return kg/m3 of 25 % propylene glycol."""
    return 1034.0 - 0.5 * celsius


def capacity(celsius: Floats) -> Floats:
    """Return J/(kg K) of 25 % propylene glycol."""
    return 3830.0 + 3.2 * celsius


def carried(flow: Floats, celsius: Floats) -> Floats:
    """Return W/K that a flow carries."""
    return density(celsius) * capacity(celsius) * flow / 6e4


def thinner(celsius: Floats) -> Floats:
    """Return viscosity over that at 30 °C (Andrade)."""
    return np.exp(1900.0 * (1.0 / (celsius + 273.15) - 1.0 / 303.15))


class Plant:
    """Loops in motion."""

    def __init__(self, build: Build, flow: Floats, drop: Floats) -> None:
        """`flow` and `drop` are what each loop's control holds."""
        self.build, self.flow, self.drop = build, flow, drop
        self.supply = np.full(len(flow), np.nan)

    def step(
        self, load: Floats, wanted: Floats, water: Floats, most: Floats, ill: Faults, seconds: float
    ) -> State:
        """Go on by some seconds.

        `load` is W of each branch, `wanted` the supply setpoint, `water` the facility's supply and
        `most` the flow it can give at an open valve.
        """
        build = self.build
        warm = np.where(np.isfinite(self.supply), self.supply, wanted) + 5.0
        sticky = thinner(warm)[:, None] ** (2.0 - EXPONENT)
        each = (build.branch * ill.branch * sticky) ** (-1.0 / EXPONENT)
        opening = each.sum(axis=1)
        strained = build.filter * ill.filter
        head = build.shut_off * ill.head
        turning = ill.running > 0
        # each of fewer pumps must carry more, and loses head with the square of what it carries
        droop = build.droop * ill.head / np.where(turning, ill.running, 1.0) ** 2
        flow = np.where(
            build.flow_control > 0,
            self.flow / ill.read_flow,
            opening * (self.drop / ill.read_drop) ** (1.0 / EXPONENT),
        )
        needed = (flow / opening) ** EXPONENT + strained * flow**EXPONENT
        speed = np.sqrt((needed + droop * flow**2) / head)
        short = speed > 1.0
        if short.any():
            most_flow = self._at_full_speed(opening, strained, head, droop)
            flow, speed = np.where(short, most_flow, flow), np.minimum(speed, 1.0)
        flow, speed = np.where(turning, flow, 0.0), np.where(turning, speed, 0.0)
        drop = (flow / opening) ** EXPONENT
        lifted = drop + strained * flow**EXPONENT
        with np.errstate(invalid="ignore"):
            off = np.where(turning, flow / (ill.running * speed * build.best) - 1.0, 0.0)
        efficiency = 0.55 * (1.0 - 0.7 * off**2) * ill.efficiency
        heat = SHARE * load.sum(axis=1)
        # water that stands is as warm as it was where it is measured, whatever happens in the racks
        stands = flow < STANDING * build.rated
        moved = np.where(stands, build.rated, flow)
        supply, water_flow, water_back = self._cooled(heat, moved, wanted, water, most, ill)
        supply = np.where(stands & np.isfinite(self.supply), self.supply, supply)
        if np.isfinite(self.supply).all():
            supply = supply + (self.supply - supply) * np.exp(-seconds / LAG)
        self.supply = supply
        branch_flow = each * drop[:, None] ** (1.0 / EXPONENT)
        carries = carried(moved, supply + 5.0)
        through = np.where(stands[:, None], (build.rated / len(load[0]))[:, None], branch_flow)
        branch_back = supply[:, None] + SHARE * load / carried(through, supply[:, None] + 5.0)
        back = supply + heat / carries
        middle = (supply + back) / 2.0
        held = 0.7 * build.reservoir + EXPANSION * build.volume * (middle - 35.0) - ill.lost
        static = 150.0 * VESSEL / (VESSEL + np.minimum(ill.lost, 200.0))
        return State(
            speed, flow, branch_flow, drop, strained * flow**EXPONENT,
            lifted * flow / 60.0 / efficiency, supply, back, branch_back, water_flow, water_back,
            water_flow / most, held / build.reservoir, static,
        )  # fmt: skip

    def _at_full_speed(
        self, opening: Floats, strained: Floats, head: Floats, droop: Floats
    ) -> Floats:
        low, high = np.zeros(len(head)), np.sqrt(head / droop)
        for _ in range(ROUNDS):
            flow = (low + high) / 2.0
            enough = head - droop * flow**2 >= (flow / opening) ** EXPONENT + strained * (
                flow**EXPONENT
            )
            low, high = np.where(enough, flow, low), np.where(enough, high, flow)
        return (low + high) / 2.0

    def _cooled(
        self, heat: Floats, flow: Floats, wanted: Floats, water: Floats, most: Floats, ill: Faults
    ) -> tuple[Floats, Floats, Floats]:
        """Return supply temperature, facility flow and return that remove the heat."""
        hot = carried(flow, wanted + 5.0)
        low, high = 0.03 * most, most.copy()
        for _ in range(ROUNDS):
            middle = (low + high) / 2.0
            cold_enough = self._supply(heat, hot, flow, middle, water, ill) <= wanted
            low, high = np.where(cold_enough, low, middle), np.where(cold_enough, middle, high)
        supply = self._supply(heat, hot, flow, high, water, ill)
        return supply, high, water + heat / (4186.0 * high / 60.0)

    def _supply(
        self, heat: Floats, hot: Floats, flow: Floats, given: Floats, water: Floats, ill: Faults
    ) -> Floats:
        """Return what the exchanger supplies at a facility flow: counter-flow effectiveness."""
        build = self.build
        films = 0.5 * build.wall * (
            (build.rated / flow) ** 0.8 + (build.rated / given) ** 0.8
        )  # fmt: skip
        passes = 1.0 / (build.wall + films + ill.wall)
        cold = 4186.0 * given / 60.0
        least, ratio = np.minimum(hot, cold), np.minimum(hot, cold) / np.maximum(hot, cold)
        units = passes / least
        waste = np.exp(-units * (1.0 - ratio))
        alike = np.abs(1.0 - ratio) < 1e-6
        share = np.where(
            alike, units / (1.0 + units), (1.0 - waste) / np.where(alike, 1.0, 1.0 - ratio * waste)
        )
        return np.asarray(water + heat / (share * least) - heat / hot, np.float64)
