"""Small loops by hand: a day and a half of readings of one coolant unit with five racks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyzer.detector import AnyDetector
from analyzer.judge import detectors
from analyzer.viewing import Viewing
from benchmarks.corpus.last_hours import LastHours
from fabrichealth.catalogue import accelerators, cooling, power
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Finding, Floats, Labels
from fabrichealth.topology import Device, Loop, Rack, Topology

START = 1_800_000_000.0
PERIOD = 300.0
HOUR = 3600.0
LENGTH, ONSET = 36 * HOUR, 27 * HOUR
LOOP, SIDE = "cdu-1", "cdu-1-facility"
RACKS = tuple(f"r{n}" for n in range(5))
CHIPS = 4
FLOW, DROP, SUPPLY = 90.0, 100.0, 32.0
"""L/min of each branch, kPa over the branches, °C."""
PER_KELVIN = 66.9
"""Watts of 1 L/min and 1 K of 25 % glycol (detection reference, E1)."""

DETECTORS = {name: one for name, one in detectors().items() if name.startswith("cooling_")}


def topology(control: str = "flow", **of_loop: object) -> Topology:
    """Return one coolant unit, its racks, a branch each, and their accelerators."""
    devices = [
        Device(name=f"{rack}-a{chip}", role="accelerator", rack=rack, model="X")
        for rack in RACKS
        for chip in range(CHIPS)
    ]
    loop = Loop.model_validate({
        "name": LOOP, "device": LOOP, "fluid": "pg25", "control": control, "facility": SIDE,
        "volume_liters": 300.0, "reservoir_liters": 40.0, "racks": RACKS, **of_loop,
    })  # fmt: skip
    racks = [Rack(name=rack, loop=LOOP, branch=rack) for rack in RACKS]
    return Topology([*devices, Device(name=LOOP, role="cdu")], racks=racks, loops=[loop])


@dataclass
class Story:
    """What meters said: `values[metric, labels]` is [k], read at `at[k]`."""

    at: Floats = field(default_factory=lambda: START + np.arange(0.0, LENGTH, PERIOD))
    values: dict[tuple[Metric, Labels], Floats] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @property
    def after(self) -> Floats:
        """Seconds since the trouble began, 0 before ([k])."""
        return np.maximum(self.at - START - ONSET, 0.0)

    def grown(self, hours: float) -> Floats:
        """Return how far something has come that takes so many hours, 0..1 ([k])."""
        if not hours:
            return (self.after > 0).astype(np.float64)
        return np.asarray(np.minimum(self.after / (hours * HOUR), 1.0), np.float64)

    def times(self, metric: Metric, labels: Labels, factor: Floats | float) -> None:
        self.values[metric, labels] = self.values[metric, labels] * factor

    def plus(self, metric: Metric, labels: Labels, more: Floats | float) -> None:
        self.values[metric, labels] = self.values[metric, labels] + more

    def set(self, metric: Metric, labels: Labels, values: NDArray[Any]) -> None:
        self.values[metric, labels] = np.broadcast_to(values, self.at.shape).astype(np.float64)


def healthy(seed: int = 1) -> Story:
    """Return a loop that is well: jobs come and go, meters scatter by half a percent."""
    chance = np.random.default_rng(seed)
    story = Story()
    count = len(story.at)

    def about(values: Floats | float, sigma: float) -> Floats:
        return np.broadcast_to(values, (count,)) + chance.normal(0.0, sigma, count)

    every = np.zeros(count)
    for rack in RACKS:
        share = np.repeat(chance.choice([0.5, 0.8, 1.0], count // 36 + 1), 36)[:count]
        load = 60_000.0 * share
        every += load
        story.set(power.RACK_POWER, (rack,), about(load, 200.0))
        story.set(cooling.FLOW, (LOOP, rack, ""), about(FLOW, 0.4))
        rise = 0.92 * load / (PER_KELVIN * FLOW)
        story.set(
            cooling.COOLANT_TEMPERATURE, (LOOP, rack, "return"), about(SUPPLY + rise, 0.05)
        )  # fmt: skip
        for chip in range(CHIPS):
            device = (f"{rack}-a{chip}",)
            story.set(accelerators.POWER, device, about(1000.0 * share, 5.0))
            story.set(accelerators.TEMPERATURE, device, about(SUPPLY + 30.0 * share, 0.3))
    whole = len(RACKS) * FLOW
    rise = 0.92 * every / (PER_KELVIN * whole)
    for point in ("supply", "return"):
        story.set(cooling.FLOW, (LOOP, "", point), about(whole, 2.0))
    story.set(cooling.COOLANT_TEMPERATURE, (LOOP, "", "supply"), about(SUPPLY, 0.05))
    story.set(cooling.COOLANT_TEMPERATURE, (LOOP, "", "return"), about(SUPPLY + rise, 0.05))
    story.set(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "loop"), about(DROP, 0.5))
    story.set(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "filter"), about(20.0, 0.2))
    story.set(cooling.PRESSURE, (LOOP, "", "return"), about(150.0, 0.5))
    story.set(cooling.PUMP_SPEED, (LOOP, "", "1"), about(0.7, 0.001))
    story.set(cooling.PUMP_POWER, (LOOP, "", "1"), about(1700.0, 10.0))
    story.set(cooling.PUMP_RUNNING, (LOOP, "", "1"), np.ones(count))
    story.set(cooling.VALVE_POSITION, (LOOP, "", "1"), about(0.5, 0.003))
    level = (28.0 + 4e-4 * 300.0 * rise / 2.0) / 40.0
    story.set(cooling.RESERVOIR_LEVEL, (LOOP, ""), np.round(about(level, 0.002) / 0.005) * 0.005)
    story.set(cooling.LEAK, (LOOP, "", "cdu"), np.zeros(count))
    story.set(cooling.AIR_TEMPERATURE, (LOOP, ""), about(25.0, 0.1))
    story.set(cooling.AIR_HUMIDITY, (LOOP, ""), about(0.45, 0.005))
    story.set(cooling.FLOW, (SIDE, "", "supply"), about(300.0, 1.0))
    story.set(cooling.COOLANT_TEMPERATURE, (SIDE, "", "supply"), about(SUPPLY - 6.0, 0.05))
    back = SUPPLY - 6.0 + 0.92 * every / (69.7 * 300.0)
    story.set(cooling.COOLANT_TEMPERATURE, (SIDE, "", "return"), about(back, 0.05))
    return story


Change = Callable[[Story], None]


def between(story: Story, first: float, last: float) -> Story:
    """Return the story from so many hours after the trouble began to so many."""
    hours = (story.at - START - ONSET) / HOUR
    chosen = (hours >= first) & (hours <= last + 1e-9)
    values = {key: one[chosen] for key, one in story.values.items()}
    return Story(at=story.at[chosen], values=values, events=story.events)


def told(
    story: Story,
    of: Sequence[str] = tuple(DETECTORS),
    control: str = "flow",
    before: Sequence[Finding] = (),
    at: float | None = None,
    of_loop: Mapping[str, object] = MappingProxyType({}),
) -> list[Finding]:
    """Return what the detectors named say just after the last poll, or at a moment.

    `of_loop` is what else is written of the loop.
    """
    moment = float(story.at[-1]) + 1.0 if at is None else at
    (found,) = told_at(story, [moment], of, control, before, of_loop)
    return found


def told_at(
    story: Story,
    moments: Sequence[float],
    of: Sequence[str] = tuple(DETECTORS),
    control: str = "flow",
    before: Sequence[Finding] = (),
    of_loop: Mapping[str, object] = MappingProxyType({}),
) -> list[list[Finding]]:
    """Return what they say at each of some moments (ascending), none of which knows the others."""
    store = LastHours(30 * 86_400.0)
    series = store.table.intern_all(story.values)
    columns = np.stack(list(story.values.values()))
    clock = store.table.clock("test", LOOP)
    chosen: dict[str, AnyDetector] = {name: DETECTORS[name] for name in of}
    viewing, hall = Viewing(store, chosen), topology(control, **of_loop)
    found, read = [], 0
    for moment in moments:
        until = int(np.searchsorted(story.at, moment, side="right"))
        batches = []
        for k in range(read, until):
            known = np.isfinite(columns[:, k])
            if known.any():
                batches.append(Batch(clock, float(story.at[k]), series[known], columns[known, k]))
        store.append(batches)
        read = until
        viewing.advance(moment)
        views = [(one, viewing.view(one, hall, story.events, before)) for one in chosen.values()]
        found.append([finding for one, view in views for finding in one.judge(view)])
    return found


def kinds(findings: Sequence[Finding]) -> set[str]:
    """Return `kind culprit` of each finding, without `cooling.`."""
    return {f"{str(one.kind).removeprefix('cooling.')} {one.about}" for one in findings}
