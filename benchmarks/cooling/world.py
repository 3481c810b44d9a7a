"""Simulated loops with racks, jobs, meters and people: what a poll of them reads.

Every loop is of its own size and calibration. Jobs begin and end (load steps), the facility's water
and with it the setpoint follow the day by 3 K, an operator moves the setpoint now and then, rope
sensors blip, meters are off by a constant and scatter. Simulated; see `plant` for the physics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.cooling.faults import HOUR, Fault, growth
from benchmarks.cooling.plant import Build, Faults, Plant, State
from benchmarks.cooling.series import PUMPS, layout
from fabrichealth.events import Event
from fabrichealth.model import Batch, Floats, SeriesTable
from fabrichealth.topology import Device, Loop, Rack, Topology

START = 1_800_000_000.0
PERIOD = 60.0
BRANCHES, CHIPS = 8, 4
DAY = 86_400.0
CHIP_WATTS = 1200.0
DRY = 0.1
"""Level at which a unit stops its pumps, before they draw air."""
TRIPS = 120.0
"""Seconds after which racks without flow switch themselves off."""
BLIP_HOURS = 200.0
"""A loop's rope is wet for one poll so often, on average, without any water."""


@dataclass(frozen=True)
class Case:
    """One loop: how it is controlled, and what befalls it."""

    control: str
    fault: Fault | None = None
    strength: int = 0
    onset: float = 0.0
    """Unix seconds."""
    serviced: float = 0.0
    """When its filter is changed, unix seconds; 0: never."""
    steps: bool = False
    """Whether an operator moves its setpoint every other day."""

    @property
    def size(self) -> float:
        """How far the fault goes, in its unit; 0 without one."""
        return self.fault.strengths[self.strength] if self.fault else 0.0

    @property
    def chilled(self) -> float:
        """By how many kelvin the whole loop is colder: only cold loops are near the dew point."""
        return 14.0 if self.fault and self.fault.name == "condensation_risk" else 0.0

    def now(self, name: str, at: float) -> float:
        """Return how far a fault of that name has come, 0..1."""
        if self.fault is None or self.fault.name != name:
            return 0.0
        return growth(self.fault, self.onset)(at)


@dataclass
class Meters:
    """How far every meter is off, for good."""

    flow: Floats
    branch_flow: Floats
    returned: Floats
    temperature: Floats
    branch_temperature: Floats
    drop: Floats
    power: Floats
    chip: Floats


@dataclass
class World:
    """So many loops, poll by poll."""

    cases: Sequence[Case]
    chance: np.random.Generator
    table: SeriesTable
    lost: Floats = field(init=False)

    def __post_init__(self) -> None:
        number = len(self.cases)
        self.names = [f"cdu-{place:03d}" for place in range(number)]
        self.branches = [f"b{place}" for place in range(BRANCHES)]
        self.lost = np.zeros(number)
        self.dry = np.zeros(number, np.bool_)
        self.stood = np.zeros(number)
        self.load = self.chance.uniform(0.5, 1.0, (number, BRANCHES))
        self.asked = np.zeros(number)
        self.rated = self.chance.uniform(60e3, 120e3, (number, BRANCHES))
        self.blip = np.full(number, -1)
        self.meters = self._meters(number)
        self.plant = self._plant(number)
        self.series = layout(self.table, self.names, self.branches, CHIPS)

    def _meters(self, number: int) -> Meters:
        chance = self.chance

        def off(sigma: float, *more: int) -> Floats:
            return chance.normal(0.0, sigma, (number, *more))

        return Meters(
            1 + off(0.01), 1 + off(0.01, BRANCHES), 1 + off(0.01), off(0.15, 4),
            off(0.15, BRANCHES), 1 + off(0.01), 1 + off(0.01, BRANCHES),
            1 + off(0.04, BRANCHES, CHIPS),
        )  # fmt: skip

    def _plant(self, number: int) -> Plant:
        chance = self.chance
        each = self.rated / 1000.0 * chance.uniform(1.35, 1.7, number)[:, None]
        flow, drop = each.sum(axis=1), chance.uniform(80.0, 160.0, number)
        filtered = chance.uniform(15.0, 30.0, number)
        speed = chance.uniform(0.6, 0.75, number)
        duty = (drop + filtered) / speed**2
        droop = chance.uniform(0.2, 0.4, number)
        build = Build(
            np.array([one.control == "flow" for one in self.cases], np.float64),
            drop[:, None] / each**1.82,
            filtered / flow**1.82,
            duty / (1.0 - droop),
            duty / (1.0 - droop) * droop / (flow / speed) ** 2,
            flow / speed * chance.uniform(0.9, 1.1, number),
            2.2 / self.rated.sum(axis=1),
            flow,
            chance.uniform(200.0, 400.0, number),
            np.full(number, 40.0),
        )
        return Plant(build, flow, drop)

    def topology(self) -> Topology:
        """Return the loops as a site writes them down."""
        racks, devices, loops = [], [], []
        for name, case, volume in zip(self.names, self.cases, self.plant.build.volume, strict=True):
            mine = [f"{name}-{branch}" for branch in self.branches]
            for rack, branch in zip(mine, self.branches, strict=True):
                racks.append(Rack(name=rack, loop=name, branch=branch))
                devices += [
                    Device(name=f"{rack}-a{chip}", role="accelerator", rack=rack, model="X")
                    for chip in range(CHIPS)
                ]
            loops.append(
                Loop.model_validate({
                    "name": name, "device": name, "fluid": "pg25", "control": case.control,
                    "facility": f"{name}-facility", "volume_liters": round(float(volume)),
                    "reservoir_liters": 40.0, "racks": tuple(mine),
                })
            )  # fmt: skip
            devices.append(Device(name=name, role="cdu"))
        return Topology(devices, racks=racks, loops=loops)

    def events(self) -> list[Event]:
        """Return what people wrote down: the services of filters."""
        found = []
        for name, case in zip(self.names, self.cases, strict=True):
            if case.serviced:
                for kind, at in (
                    ("maintenance_start", case.serviced - HOUR / 2),
                    ("part_replaced", case.serviced),
                    ("maintenance_end", case.serviced + HOUR / 2),
                ):
                    found.append(Event(at, kind, {"loop": name}, f"chg-{name}"))
        return found

    def poll(self, number: int) -> Batch:
        """Return what the poll of a number reads."""
        at = START + number * PERIOD
        self._live(at)
        ill, water, most, wanted = self._ill(at)
        state = self.plant.step(self.load * self.rated, wanted, water, most, ill, PERIOD)
        self.lost += ill.leaking.sum(axis=1) * PERIOD / 60.0
        self.dry |= state.level <= DRY
        self.stood = np.where(state.flow > 0, 0.0, self.stood + PERIOD)
        values = np.concatenate([one.ravel() for one in self._read(at, state, water, ill)])
        return Batch(self.table.clock("simulated", "loops"), at, self.series, values)

    def _live(self, at: float) -> None:
        """Let jobs begin and end, operators ask for another supply, ropes blip."""
        chance = self.chance
        ends = chance.random(self.load.shape) < PERIOD / (4 * HOUR)
        self.load[ends] = chance.choice([0.35, 0.6, 0.85, 1.0], int(ends.sum()))
        moving = np.array([one.steps for one in self.cases])
        self.load[self.stood > TRIPS] = 0.0
        asks = moving & (chance.random(len(moving)) < PERIOD / (2 * DAY))
        self.asked[asks] = chance.choice([-3.0, 0.0, 3.0, 5.0], int(asks.sum()))
        blips = chance.random(len(moving)) < PERIOD / (BLIP_HOURS * HOUR)
        self.blip[blips] = round((at - START) / PERIOD)

    def _share(self, name: str, at: float) -> Floats:
        return np.array([one.now(name, at) for one in self.cases])

    def _size(self) -> Floats:
        return np.array([one.size for one in self.cases])

    def _ill(self, at: float) -> tuple[Faults, Floats, Floats, Floats]:
        """Return what is ill, and what the facility gives."""
        number, size = len(self.cases), self._size()
        branch = np.ones((number, BRANCHES))
        for name in ("clogged", "flow_imbalance"):
            share = self._share(name, at)
            branch[:, 2] *= 1.0 + share * np.where(share > 0, size - 1.0, 0.0)
        filtered = 1.0 + self._share("filter_clogged", at) * (size - 1.0)
        # every filter fills a little, and is like new after its service
        age = np.array([at - one.serviced if 0 < one.serviced <= at else at - START
                        for one in self.cases])  # fmt: skip
        worn = self._share("pump_wear", at) * size
        leaking = np.zeros((number, BRANCHES))
        leaking[:, 5] = self._share("leak", at) * size / 60.0
        # what a hose that came off spills is what the pumps send through it
        leaking[:, 5] += np.where(self.dry, 0.0, self._share("burst", at) * size)
        running = np.where(self.dry, 0.0, 1.0 - self._share("pump_stopped", at) * size / PUMPS)
        day = np.sin(2 * np.pi * at / DAY + np.arange(number))
        chilled = np.array([one.chilled for one in self.cases])
        water = 24.0 - chilled + 1.5 * day + self._share("supply_hot", at) * size
        ill = Faults(
            branch, filtered * (1.0 + 0.1 * age / (14 * DAY)), 1.0 - worn, 1.0 - 0.8 * worn,
            running,
            self.plant.build.wall * 2.0 * self._share("exchanger_fouled", at) * size,
            self.lost, leaking,
            1.0 + self._share("drift_of_drop", at) * size, np.ones(number),
        )  # fmt: skip
        most = self.plant.build.rated * 1.6
        return ill, water, most, 34.0 - chilled + 1.5 * day + self.asked

    def _read(self, at: float, state: State, water: Floats, ill: Faults) -> list[Floats]:
        """Return what all meters say, in the order of `layout`."""
        chance, meters, size = self.chance, self.meters, self._size()

        def about(values: Floats, relative: float = 0.0, absolute: float = 0.0) -> Floats:
            sigma = np.abs(values) * relative + absolute
            return values + chance.normal(0.0, 1.0, values.shape) * sigma

        drift = np.ones((len(size), BRANCHES))
        drift[:, 4] += self._share("drift_of_flow", at) * size
        supply_off = meters.temperature[:, 0] + self._share("drift_of_supply", at) * size
        lost = ill.leaking.sum(axis=1)
        # a hose bursts where no rope lies
        dripping = self._share("leak", at) * lost * 60.0
        wet = (self.blip == round((at - START) / PERIOD)) | ((self.lost > 2.0) & (dripping > 20.0))
        humid = self._humidity(at, state)
        load = self.load * self.rated
        chip_watts = self.load[:, :, None] * CHIP_WATTS * np.ones(CHIPS)
        contact = meters.chip.copy()
        contact[:, 6, 1] *= 1.0 + self._share("thermal_contact", at) * np.where(
            self._share("thermal_contact", at) > 0, size - 1.0, 0.0
        )
        usual_flow = self.rated / 1000.0 * 1.5
        slow = (usual_flow / np.maximum(state.branch_flow, 0.01 * usual_flow)) ** 0.3
        turns, pumps_watts = self._pumps(ill), about(state.pump_watts, 0.01)
        case = state.supply[:, None, None] + 0.022 * contact * slow[:, :, None] * chip_watts
        return [
            np.stack([
                about(state.flow * meters.flow * ill.read_flow, 0.005),
                about(np.maximum(state.flow - lost, 0.0) * meters.returned, 0.005),
                about(state.supply + supply_off, 0.0, 0.05),
                about(state.back + meters.temperature[:, 1], 0.0, 0.05),
                about(state.static + state.drop, 0.004),
                about(state.static, 0.004),
                about(state.drop * meters.drop * ill.read_drop, 0.005),
                about(state.filter_drop, 0.008),
                *np.round(turns * state.speed, 3),
                *(turns * pumps_watts / np.maximum(turns.sum(axis=0), 1.0)),
                *turns,
                np.clip(about(state.valve, 0.003), 0.0, 1.0),
                np.clip(np.round(about(state.level, 0.0, 0.0025) / 0.005) * 0.005, 0.0, 1.0),
                np.full(len(size), 25.0),
                humid,
                wet.astype(np.float64),
            ], axis=1),
            np.stack([
                about(state.water_flow, 0.005),
                about(water + meters.temperature[:, 2], 0.0, 0.05),
                about(state.water_back + meters.temperature[:, 3], 0.0, 0.05),
            ], axis=1),
            np.stack([
                about(state.branch_flow * meters.branch_flow * drift, 0.005),
                about(state.branch_back + meters.branch_temperature, 0.0, 0.05),
                about(load * meters.power, 0.005),
            ], axis=2),
            np.stack([about(case, 0.0, 0.3), about(chip_watts, 0.01)], axis=3),
        ]  # fmt: skip

    def _pumps(self, ill: Faults) -> Floats:
        """Return which pumps turn, 1 or 0 ([pump, loop])."""
        return (np.arange(PUMPS)[:, None] + 0.5 < ill.running * PUMPS).astype(np.float64)

    def _humidity(self, at: float, state: State) -> Floats:
        """Return relative humidity of air of 25 °C; risks bring the dew point up to the supply."""
        share = self._share("condensation_risk", at)
        dew = np.where(share > 0, state.supply - self._size(), 0.0)
        # Tetens' saturation pressure, kPa
        at_dew, at_air = (0.61078 * np.exp(17.27 * t / (t + 237.3)) for t in (dew, 25.0 + 0 * dew))
        risky = np.clip(at_dew / at_air, 0.0, 1.0)
        usual = 0.4 + 0.05 * np.sin(2 * np.pi * at / DAY)
        return np.asarray(np.where(share > 0, usual + (risky - usual) * share, usual), np.float64)
