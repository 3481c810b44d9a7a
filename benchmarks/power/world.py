"""Racks on two feeds, what their meters, supplies and accelerators say, and what life brings.

A rack's load follows its jobs: a level for some hours, swings with every step of the training, and
now and again nothing. It is shared by six supplies, three on each feed, and by three phases that
are never quite even. Meters are off by constants and read in steps. Without a fault life brings
rests in cold redundancy, racks that are switched off, agents that do not answer, wild single
readings, sags of the mains, and supplies that are shared unevenly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.power.faults import HOUR, Fault
from fabrichealth.catalogue.accelerators import CLOCK, THROTTLED, UTILIZATION
from fabrichealth.catalogue.power import (
    FEED_CURRENT,
    FEED_ENERGY,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
    RACK_POWER,
    RACK_POWER_LIMIT,
    SUPPLY_HEALTHY,
    SUPPLY_OUTPUT,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Labels, SeriesTable
from fabrichealth.topology import Device, Feed, Rack, Topology

START = 1_800_000_000.0
PERIOD = 30.0
DAY = 86_400.0
VOLTS, PHASES, BREAKER, FACTOR = 230.0, 3, 63.0, 0.97
FULL = 0.74
"""What both feeds together carry at full load, over one breaker: either could carry the rack."""
SUPPLIES, ACCELERATORS = 6, 8
EFFICIENCY = 0.955
CLOCK_HERTZ = 1.98e9
LIMIT = 2.0
"""Of a rack whose cap is out of reach, over what it wants at full load."""


@dataclass(frozen=True)
class Case:
    """One rack: what befalls it, if anything, and whether life goes on around it."""

    fault: Fault | None = None
    strength: int = 0
    onset: float = 0.0
    lively: bool = False


class World:
    """Racks poll by poll, all judged together."""

    def __init__(
        self, cases: Sequence[Case], chance: np.random.Generator, table: SeriesTable
    ) -> None:
        self.cases, self._chance, self._table = cases, chance, table
        self.names = [f"r{number:03d}" for number in range(len(cases))]
        size = len(cases)
        self._level = chance.uniform(0.4, 0.95, size)
        self._gain = {
            "volts": chance.normal(1.0, 0.003, (size, 2, 1)),
            "amperes": chance.normal(1.0, 0.008, (size, 2, PHASES)),
            "watts": chance.normal(1.0, 0.008, (size, 2)),
            "rack": chance.normal(1.0, 0.008, size),
        }
        spread = chance.uniform(0.93, 1.07, (size, 2, PHASES))
        self._spread = spread / spread.mean(axis=2, keepdims=True)
        self._energy = chance.uniform(1e6, 1e9, (size, 2))
        self._dark = np.zeros(size)
        self._mute = np.zeros((size, 2))
        self._rests = np.zeros(size)
        self._series: dict[tuple[int, str], tuple[int, np.ndarray[tuple[int], np.dtype[np.int32]]]]
        self._series = {}

    def topology(self) -> Topology:
        """Return racks, feeds that carry each other, and accelerators."""
        devices = [Device(name=f"host-{name}", role="host", rack=name) for name in self.names]
        devices += [
            Device(name=f"host-{name}-{n}", role="accelerator", host=f"host-{name}")
            for name in self.names
            for n in range(ACCELERATORS)
        ]
        full = 2 * FULL * BREAKER * PHASES * VOLTS * FACTOR
        return Topology(
            devices,
            racks=[
                Rack(name=name, power_limit_watts=LIMIT * full / 2) for name in self.names
            ],
            feeds=[
                Feed(name=f"{name}-{side}", rack=name, breaker_amperes=BREAKER,
                     redundant_with=f"{name}-{other}")
                for name in self.names
                for side, other in ("AB", "BA")
            ],
        )  # fmt: skip

    def _limits(self, at: float) -> Floats:
        """Return the cap of each rack, over what it wants at full load."""
        ill = self._ill("capped", at) > 0
        set_lower = np.array([self._strength(rack) for rack in range(len(self.cases))]) * 0.9
        return np.where(ill, set_lower, LIMIT)  # of a rack that wants 90 %

    def poll(self, number: int) -> list[Batch]:
        """Return what every target says at one moment."""
        at = START + number * PERIOD
        self._live(at)
        wanted = self._wanted(at)
        limits = self._limits(at)
        given = np.minimum(wanted, limits)
        slowed = np.where(wanted > 0, 1.0 - given / np.maximum(wanted, 1e-9), 0.0)
        amperes = self._amperes(given, at)
        batches = []
        for rack in range(len(self.cases)):
            batches += self._meters(rack, amperes[rack], at)
            batches += self._machines(rack, given[rack], slowed[rack], limits[rack], at)
        return batches

    def _live(self, at: float) -> None:
        """Let jobs, outages and people happen."""
        roll, size = self._chance, len(self.cases)
        fresh = np.where(roll.random(size) < 0.1, 0.12, roll.uniform(0.35, 0.95, size))
        change = roll.random(size) < PERIOD / (3 * HOUR)
        self._level = np.where(change, fresh, self._level)
        lively = np.array([case.lively for case in self.cases])
        for left, often, least, most in (
            (self._dark, 0.5, 1200.0, 7200.0),
            (self._rests, 2.0, 3600.0, 28_800.0),
        ):
            np.subtract(left, PERIOD, out=left)
            begins = lively & (roll.random(size) < often * PERIOD / (7 * DAY))
            left[begins & (left <= 0)] = roll.uniform(least, most)
        self._mute -= PERIOD
        begins = lively[:, None] & (roll.random((size, 2)) < 3.0 * PERIOD / (7 * DAY))
        self._mute[begins & (self._mute <= 0)] = roll.uniform(60.0, 2400.0)

    def _ill(self, name: str, at: float) -> Floats:
        """Return how far a fault has come at each rack, 0 to 1."""
        found = np.zeros(len(self.cases))
        for rack, case in enumerate(self.cases):
            if case.fault is not None and case.fault.name == name and at >= case.onset:
                grows = case.fault.grows
                found[rack] = min((at - case.onset) / grows, 1.0) if grows else 1.0
        return found

    def _strength(self, rack: int) -> float:
        case = self.cases[rack]
        return case.fault.strengths[case.strength] if case.fault else 0.0

    def _wanted(self, at: float) -> Floats:
        """Return what each rack wants, over one breaker's worth of both feeds, as at full load."""
        swing = 1.0 + 0.06 * self._chance.standard_normal(len(self.cases))
        wanted = np.clip(self._level * swing, 0.05, 1.05)
        for name in ("capped", "overload", "phase_imbalance"):
            ill = self._ill(name, at) > 0
            busy = np.clip(0.9 * swing, 0.0, 1.05)
            wanted = np.where(ill, busy, wanted)
        return np.where(self._dark > 0, 0.0, wanted)

    def _amperes(self, given: Floats, at: float) -> Floats:
        """Return the true current of each phase ([rack, feed, phase])."""
        each = given[:, None] * FULL * BREAKER / 2
        feeds = np.repeat(each, 2, axis=1)
        overload = self._ill("overload", at)
        for rack in np.flatnonzero(overload).tolist():
            wander = 1.0 + 0.01 * self._chance.standard_normal()
            feeds[rack] = self._strength(rack) * BREAKER * wander
        for rack in np.flatnonzero(self._ill("feed_lost", at)).tolist():
            feeds[rack] = [0.0, feeds[rack].sum()]
        currents = feeds[:, :, None] * self._spread
        for rack in np.flatnonzero(self._ill("phase_imbalance", at)).tolist():
            far = self._strength(rack)
            currents[rack, 0] = feeds[rack, 0] * np.array([1 - far / 2, 1 + far, 1 - far / 2])
        return np.asarray(currents, np.float64)

    def _meters(self, rack: int, amperes: Floats, at: float) -> list[Batch]:
        roll, name = self._chance, self.names[rack]
        lost = self._ill("feed_lost", at)[rack] > 0
        drift = 1.0 + self._ill("meter_drift", at)[rack] * self._strength(rack)
        volts = np.full((2, PHASES), VOLTS) * (1.0 + 0.004 * roll.standard_normal((2, PHASES)))
        lively = self.cases[rack].lively
        if lively and roll.random() < 2.0 * PERIOD / DAY:
            volts *= 0.83  # the mains sag for a moment
        if lost:
            volts[0] = 0.0
        watts = FACTOR * (volts * amperes).sum(axis=1)
        self._energy[rack] += watts * PERIOD
        shown = (volts * self._gain["volts"][rack]).round()
        flow = (amperes * self._gain["amperes"][rack]
                * (1.0 + 0.003 * roll.standard_normal((2, PHASES)))).round(1)  # fmt: skip
        if lively and roll.random() < 1.0 * PERIOD / DAY:
            shown[roll.integers(2), roll.integers(PHASES)] = 0.0  # one wild reading
        power = (watts * self._gain["watts"][rack]).round(-1)
        power[0] = (watts[0] * self._gain["watts"][rack, 0] * drift).round(-1)
        with_volts = not (lost and self._strength(rack) == 1.0)
        batches = []
        for feed, side in enumerate("AB"):
            silent = feed == 0 and lost and self._strength(rack) == 0.0
            if silent or self._mute[rack, feed] > 0:
                continue
            said: dict[tuple[Metric, Labels], float] = {
                (FEED_POWER, (name, f"{name}-{side}")): float(power[feed]),
                (FEED_POWER_FACTOR, (name, f"{name}-{side}")): FACTOR,
                (FEED_ENERGY, (name, f"{name}-{side}")): 3600.0 * np.floor(
                    self._energy[rack, feed] / 3600.0
                ),
            }  # fmt: skip
            for phase in range(PHASES):
                labels = (name, f"{name}-{side}", f"{phase + 1}")
                said[FEED_CURRENT, labels] = float(flow[feed, phase])
                if with_volts or feed:
                    said[FEED_VOLTAGE, labels] = float(shown[feed, phase])
            batches.append(self._batch(rack, f"pdu-{name}-{side}", said, at))
        return batches

    def _machines(
        self, rack: int, given: float, slowed: float, limit: float, at: float
    ) -> list[Batch]:
        """Return what supplies and accelerators say; a dark rack's say nothing."""
        if self._dark[rack] > 0:
            return []
        name, roll = self.names[rack], self._chance
        full = 2 * FULL * BREAKER * PHASES * VOLTS * FACTOR / 2
        healthy, delivers = np.ones(SUPPLIES), np.ones(SUPPLIES)
        if self._rests[rack] > 0 and given < 0.5:
            delivers[-1] = 0.0  # cold redundancy: it rests, and is well
        failed = self._ill("supply_failed", at)[rack] > 0
        if failed:
            many = 2 if self._strength(rack) == 2.0 else 1
            delivers[:many] = 0.0
            if self._strength(rack) > 0:
                healthy[:many] = 0.0
        if self._ill("feed_lost", at)[rack] > 0:
            delivers[::2] = 0.0
        share = delivers / max(delivers.sum(), 1.0)
        output = given * full * EFFICIENCY * share * (1 + 0.01 * roll.standard_normal(SUPPLIES))
        said: dict[tuple[Metric, Labels], float] = {
            (RACK_POWER, (name,)): float((given * full * self._gain["rack"][rack]).round(-1)),
            (RACK_POWER_LIMIT, (name,)): limit * full,
        }
        weak = failed and self._strength(rack) == 0.0
        for unit in range(SUPPLIES):
            said[SUPPLY_OUTPUT, (name, f"{unit + 1}")] = float(output[unit].round())
            if not weak:  # a shelf that does not say how its units are
                said[SUPPLY_HEALTHY, (name, f"{unit + 1}")] = float(healthy[unit])
        busy = min(given / 0.9, 1.0)
        for n in range(ACCELERATORS):
            device = f"host-{name}-{n}"
            clock = CLOCK_HERTZ * (1.0 - slowed) * (1.0 + 0.004 * roll.standard_normal())
            said[CLOCK, (device,)] = float(clock)
            said[UTILIZATION, (device,)] = float(
                np.clip(busy + 0.02 * roll.standard_normal(), 0, 1)
            )
            if rack % 2:
                said[THROTTLED, (device, "power")] = float(min(2.0 * slowed, 1.0))
        return [self._batch(rack, f"host-{name}", said, at)]

    def _batch(
        self, rack: int, target: str, said: dict[tuple[Metric, Labels], float], at: float
    ) -> Batch:
        key = (rack, f"{target} {len(said)}")
        known = self._series.get(key)
        if known is None:
            clock = self._table.clock("sim", target)
            known = self._series[key] = clock, self._table.intern_all(said)
        clock, series = known
        return Batch(clock, at, series, np.array(list(said.values()), np.float64))
