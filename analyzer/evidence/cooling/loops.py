"""What is measured of coolant loops, as trails, and what the topology says of them.

`Cooling` is worked out once a pass for all detectors that look at loops in the same way. It knows
whose heat a place carries (racks), what fluid it is, and how the loop is controlled.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import ClassVar, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.cooling.fluids import fluid_of
from analyzer.evidence.cooling.loop_kinds import LOOP_KINDS, UNWRITTEN, LoopKind, fluid_in
from analyzer.evidence.cooling.mains import Mains
from analyzer.evidence.cooling.places import MEASURED, Places, places
from analyzer.evidence.cooling.racks import cooled
from analyzer.evidence.cooling.staying_cool import OF_CHIPS
from analyzer.evidence.cooling.trails import Chosen, highest, laid, present, total
from analyzer.evidence.cooling.zeros import without_zeros
from fabrichealth.catalogue.cooling import (
    AIR_HUMIDITY,
    AIR_TEMPERATURE,
    COOLANT_TEMPERATURE,
    DIFFERENTIAL_PRESSURE,
    FLOW,
    MAKEUP,
    PRESSURE,
    PUMP_POWER,
    PUMP_RUNNING,
    PUMP_SPEED,
    RESERVOIR_LEVEL,
    VALVE_POSITION,
)
from fabrichealth.catalogue.power import RACK_POWER
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View
from fabrichealth.settings import Duration, seconds
from fabrichealth.topology import Loop, Topology

ON_LOOPS = (*MEASURED, RACK_POWER)
"""Of what a `Cooling` has trails."""

METRICS = (*ON_LOOPS, *OF_CHIPS)
"""What a detector that builds `Cooling` must list under `metrics` and `recalls`."""

FLOW_TO = Chosen(FLOW, "point", ("supply", ""))
FLOW_BACK = Chosen(FLOW, "point", ("return",))
COLD = Chosen(COOLANT_TEMPERATURE, "point", ("supply",))
WARM = Chosen(COOLANT_TEMPERATURE, "point", ("return",))
PRESSED = Chosen(PRESSURE, "point", ("supply", ""))
SUCKED = Chosen(PRESSURE, "point", ("return",))
DROP = Chosen(DIFFERENTIAL_PRESSURE, "element", ("loop", "branch"))
FILTER_DROP = Chosen(DIFFERENTIAL_PRESSURE, "element", ("filter",))
SPEED = Chosen(PUMP_SPEED, merge=highest)
PUMPS_POWER = Chosen(PUMP_POWER, merge=total)
PUMPS_RUNNING = Chosen(PUMP_RUNNING, merge=total)
VALVE = Chosen(VALVE_POSITION, merge=highest)
LEVEL = Chosen(RESERVOIR_LEVEL)
REFILLED = Chosen(MAKEUP, merge=total)
AIR = Chosen(AIR_TEMPERATURE)
HUMIDITY = Chosen(AIR_HUMIDITY)


FULL_SPEED_KPA = 100.0
"""Stands for the head at full speed of pumps whose head nobody measures."""


class CoolingSettings(DetectorSettings):
    """What every detector of cooling has."""

    window: Duration = seconds(600)
    """How much of the recent past is looked at, poll by poll."""

    every: Duration = seconds(60)
    """How often it judges: loops change within minutes."""

    hold: Duration = seconds(300)
    """Its verdict is about the median of so long: what is shorter is not yet a finding."""

    baseline: Duration = seconds(7 * 86_400.0)
    """What is usual is read off so long a past: the older half of it."""


S = TypeVar("S", bound=CoolingSettings)


class CoolingDetector(Detector[S]):
    """A detector that looks at loops as `Cooling`."""

    metrics: ClassVar[tuple[Metric, ...]] = METRICS
    recalls: ClassVar[tuple[Metric, ...]] = METRICS

    @property
    def looks_back(self) -> float:
        """How long the past must be kept."""
        return self.settings.baseline

    def cooling(self, view: View) -> "Cooling":
        """Return all loops of a view with all their branches, worked out once a pass."""
        view = without_zeros(view)
        return self._once(view, "all", lambda: Cooling(view, self.settings.hold))

    def mains(self, view: View) -> "Cooling":
        """Return the mains of all loops, without their branches."""
        view = without_zeros(view)
        whole = places(view[FLOW].table)
        return self._once(view, "mains", lambda: Cooling(view, self.settings.hold, whole.mains))

    def having(self, view: View, *wanted: Chosen) -> "Cooling":
        """Return the mains of all loops, and the branches that have one of some meters."""
        view = without_zeros(view)
        whole = places(view[FLOW].table)
        mine = ~whole.branched
        for one in wanted:
            window = view[one.metric]
            every = whole.of[one.metric]
            mine[every[one.of(whole, window)[: len(every)]]] = True
        return Cooling(view, self.settings.hold, whole.only(np.flatnonzero(mine)))

    def of_loops(self, view: View, loops: NDArray[np.bool_]) -> "Cooling":
        """Return some loops with all their branches; `loops` is [loop] of all places."""
        whole = places(view[FLOW].table)
        if loops.all():
            return self.cooling(view)
        view = without_zeros(view)
        return Cooling(view, self.settings.hold, whole.only(np.flatnonzero(loops[whole.loop])))

    def _once(self, view: View, what: str, work: "Callable[[], Cooling]") -> "Cooling":
        own = self.settings
        return view.once(("cooling", what, own.window, own.hold, own.baseline), work)


class Cooling(Mains):
    """The loops of one view; every quantity is a trail ([place, bin + 1])."""

    summed = (FLOW_TO, FLOW_BACK)
    shared = (COLD, WARM, PRESSED, SUCKED)
    weighted: ClassVar[Mapping[Chosen, Chosen]] = {WARM: FLOW_TO}

    def __init__(
        self, view: View, hold: float, some: Places | None = None, bins: int | None = None
    ) -> None:
        super().__init__(view, hold, ON_LOOPS, some, bins)

    def row(self, place: int) -> Loop | None:
        """Return what the topology says of a place's loop."""
        return self.view.topology.loops.get(self.places.names[place][0])

    def kind(self, place: int) -> LoopKind:
        """Return what kind of loop a place's is; one that is not written counts as cold plates."""
        row = self.row(place)
        return LOOP_KINDS[row.kind] if row else UNWRITTEN

    @cached_property
    def kinds(self) -> list[LoopKind]:
        """The kind of each loop ([loop])."""
        rows = (self.view.topology.loops.get(loop) for loop in self.places.loops)
        return [LOOP_KINDS[row.kind] if row else UNWRITTEN for row in rows]

    def where(self, holds: Callable[[LoopKind], bool]) -> NDArray[np.bool_]:
        """Return which places' loops are of such a kind ([place])."""
        return np.array([holds(kind) for kind in self.kinds], np.bool_)[self.places.loop]

    def control(self, place: int) -> str:
        """Return what holds a place's loop steady, in words; empty if that is not written."""
        row = self.row(place)
        return row.control.replace("_", " ") if row else ""

    @cached_property
    def facility(self) -> NDArray[np.intp]:
        """Place of the facility side's main of each place's loop, -1 where there is none."""
        found = []
        for loop in self.places.loops:
            row = self.view.topology.loops.get(loop)
            name = (row.facility if row else "") or f"{loop}-facility"
            found.append(self.places.numbers.get((name, ""), -1))
        return np.array(found, np.intp)[self.places.loop]

    def of_facility(self, chosen: Chosen) -> Floats:
        """Return a quantity of the facility side of each place's loop."""
        every = self[chosen]
        return np.where(self.facility[:, None] >= 0, every[self.facility], np.nan)

    def nearest(self, chosen: Chosen) -> Floats:
        """Return a quantity by each place's own meter, else by its main's."""
        own = self[chosen]
        return np.where(np.isfinite(own), own, own[self.places.main])

    @cached_property
    def pressure_drop(self) -> Floats:
        """Drop over each place, kPa: its own meter, else supply less return, else the main's."""
        with np.errstate(invalid="ignore", over="ignore"):
            own = np.where(np.isfinite(self[DROP]), self[DROP], self[PRESSED] - self[SUCKED])
        return np.where(np.isfinite(own), own, own[self.places.main])

    @cached_property
    def drive(self) -> Floats:
        """What drives the flow through each place, kPa: the drop, else by the speed of the pumps.

        Without any meter of pressure the head of a pump goes with its speed squared; the scale is
        arbitrary, and only ever compared with itself.
        """
        speed = self[SPEED][self.places.main]
        with np.errstate(invalid="ignore", over="ignore"):
            by_speed = np.where(speed >= 0.1, FULL_SPEED_KPA * speed**2, np.nan)
        told = np.asarray(np.isfinite(self.pressure_drop).any(axis=1), np.bool_)
        return np.where(told[:, None], self.pressure_drop, by_speed)

    @cached_property
    def cold(self) -> Floats:
        """Supply temperature of each place, °C: its own meter, else the main's."""
        return self.nearest(COLD)

    @cached_property
    def heat(self) -> Floats:
        """Heat that the coolant takes up in each place, watts."""
        found = np.full(self[FLOW_TO].shape, np.nan)
        rise, middle = self[WARM] - self.cold, (self[WARM] + self.cold) / 2
        for name, mine in self._by_fluid.items():
            with np.errstate(invalid="ignore", over="ignore"):
                found[mine] = fluid_of(name).watts(self[FLOW_TO][mine], rise[mine], middle[mine])
        return found

    @cached_property
    def thickness(self) -> Floats:
        """Viscosity of the coolant over that at 30 °C; 1 where no temperature is known."""
        found = np.ones(self.cold.shape)
        with np.errstate(invalid="ignore", over="ignore"):
            middle = np.where(np.isfinite(self[WARM]), (self[WARM] + self.cold) / 2, self.cold)
        for name, mine in self._by_fluid.items():
            thick = fluid_of(name).thickness(middle[mine])
            found[mine] = np.where(np.isfinite(thick), thick, 1.0)
        return found

    @cached_property
    def _by_fluid(self) -> dict[str, NDArray[np.intp]]:
        rows = (self.view.topology.loops.get(loop) for loop in self.places.loops)
        fluids = [fluid_in(row) for row in rows]
        number = np.array([fluids.index(one) for one in fluids], np.intp)[self.places.loop]
        return {fluids[one]: np.flatnonzero(number == one) for one in np.unique(number).tolist()}

    @cached_property
    def load(self) -> Floats:
        """Power of the racks that each place cools, watts; NaN where one of them is not read."""
        window, past = self.view[RACK_POWER], self.view.past(RACK_POWER)
        every = window.table.of(RACK_POWER)
        bins = laid(past.values, past, self.axis)[:, self._columns]
        power = np.full((len(every) + 1, bins.shape[1] + 1), np.nan)  # the last row: never read
        power[: len(past), :-1] = bins
        power[np.searchsorted(every, window.series), -1] = present(window, self.hold)
        found = np.zeros((len(self.places), power.shape[1]))
        place, row, share = self._shares
        np.add.at(found, place, share[:, None] * power[row])
        found[np.setdiff1d(np.arange(len(found)), place)] = np.nan
        return found

    @cached_property
    def _shares(self) -> "Shares":
        """Place, row of the rack's power and share of it, of every pair that belongs together."""
        table = self.view[RACK_POWER].table
        key = (len(table.of(RACK_POWER)), self.view.topology)
        kept = _shares.get(self.whole)
        if kept is None or kept[0] != key:
            rows = {table.labels(int(one))[0]: n for n, one in enumerate(table.of(RACK_POWER))}
            pairs = [
                (place, rows.get(rack, len(rows)), share)
                for rack, mine in cooled(self.view.topology, self.whole).items()
                for place, share in mine
            ]
            place, row, share = zip(*pairs, strict=True) if pairs else ((), (), ())
            found = np.array(place, np.intp), np.array(row, np.intp), np.array(share, np.float64)
            kept = _shares[self.whole] = (key, found)
        every = kept[1]
        if self.places.rows is None:
            return every
        number = np.full(len(self.whole), -1, np.intp)
        number[self.places.rows] = np.arange(len(self.places))
        mine = number[every[0]] >= 0
        return number[every[0]][mine], every[1][mine], every[2][mine]


Shares = tuple[NDArray[np.intp], NDArray[np.intp], Floats]

# Worked out again when the table grows or the topology changes.
_shares: WeakKeyDictionary[Places, tuple[tuple[int, Topology], Shares]] = WeakKeyDictionary()
