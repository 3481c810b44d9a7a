"""Water: how much a loop has lost, by level, by flow, by pressure and by what was refilled.

Coolant swells with temperature: 300 L and 10 K are 1.2 L, more than hours of a slow leak. So the
level is corrected by the loop's own temperatures before it is compared (detection reference, E4).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer.evidence.cooling.baselines import RENEWED, renewals, usual
from analyzer.evidence.cooling.fluids import fluid_of
from analyzer.evidence.cooling.loop_kinds import LOOP_KINDS, fluid_in
from analyzer.evidence.cooling.loops import (
    FLOW_BACK,
    FLOW_TO,
    LEVEL,
    REFILLED,
    SPEED,
    SUCKED,
    WARM,
    Cooling,
)
from analyzer.evidence.durations import Bools
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median

OPENED = RENEWED | {"maintenance_start", "repair_start", "part_touched"}
"""Events at which people drain and fill: what was before is no measure of what is lost since."""

HORIZONS = (6 * 3600.0, 24 * 3600.0)
"""Seconds over which a loss is summed: the typical rule is 0.2 L/h over 6 h; slower ones a day."""

ONE_STEP = 0.6
"""A loss of which more went between two columns was no leak: something was drained at once."""

NOISES = 6.0
"""A loss is so many robust deviations of the level's own jitter at least."""

PER_MAD = 1.4826

NOMINAL_LITERS = 40.0
"""Stands for a reservoir whose size nobody wrote; what it loses is told as a share of it."""

UNSIZED_RATIO = 0.1
"""Of such a reservoir less than this share says nothing: a small one swings by that much with the
warmth of a large loop (10 L before 300 L: 0.1 for 8 K)."""

COOLED_KELVIN = 2.0
"""And nothing it loses while the loop cools by more, since its volume is not known either."""


@dataclass(frozen=True)
class Loss:
    """What a loop's level has lost over one horizon ([place], liters)."""

    liters: Floats
    limit_noise: Floats
    steady: Bools
    horizon: float


class Water:
    """The water of each loop's main."""

    def __init__(self, cooling: Cooling) -> None:
        self.cooling = cooling
        rows = [cooling.view.topology.loops.get(loop) for loop in cooling.places.loops]
        of = cooling.places.loop

        def told(values: list[float | None]) -> Floats:
            return np.array([np.nan if one is None else one for one in values], np.float64)[of]

        written = told([row.reservoir_liters if row else None for row in rows])
        self.sized = np.asarray(np.isfinite(written), np.bool_)
        """Whether the size of a place's reservoir is written ([place])."""
        # a building's basin evaporates and is refilled by itself: without a size it says nothing
        numbers = np.arange(len(of))
        building = np.isin(numbers, cooling.facility) | cooling.where(
            lambda kind: kind is LOOP_KINDS["facility"]
        )
        nominal = np.where(building, np.nan, NOMINAL_LITERS)
        self.reservoir = np.where(self.sized, written, nominal)
        volume = told([row.volume_liters if row else None for row in rows])
        vessel = cooling.where(lambda kind: kind.is_its_reservoir) & np.isnan(volume)
        self.volume = np.where(vessel, written, volume)
        self.expansion = told([fluid_of(fluid_in(row)).expansion for row in rows])

    @cached_property
    def corrected(self) -> Floats:
        """Water in the reservoir as if the loop had 30 °C ([place, bin + 1], liters).

        By the level alone where the loop's volume or temperatures are not known; of a reservoir of
        `NOMINAL_LITERS` where its size is not.
        """
        cooling = self.cooling
        with np.errstate(invalid="ignore", over="ignore"):
            warm = np.where(np.isfinite(cooling[WARM]), cooling[WARM], cooling.cold)
            middle = (cooling.cold + warm) / 2.0
        swollen = (self.expansion * self.volume)[:, None] * (middle - 30.0)
        known = self.compensated[:, None] & np.isfinite(swollen)
        found = cooling[LEVEL] * self.reservoir[:, None] - np.where(known, swollen, 0.0)
        # a temperature that is missing at one moment must not look like a loss
        return np.where(known | ~self.compensated[:, None], found, np.nan)

    @cached_property
    def compensated(self) -> Bools:
        """Whether the level is corrected for temperature ([place])."""
        cold = np.isfinite(self.cooling.cold[:, -1])
        return np.asarray(np.isfinite(self.volume) & cold, np.bool_)

    def least(self, liters: float) -> Floats:
        """Return from which loss on a level says something: so many liters, if sized ([place])."""
        return np.where(self.sized, liters, max(liters, UNSIZED_RATIO * NOMINAL_LITERS))

    def amount(self, place: int, liters: float) -> str:
        """Return a loss in words."""
        if self.sized[place]:
            return f"{liters:.1f} L"
        return f"{liters / NOMINAL_LITERS:.0%} of the reservoir"

    @cached_property
    def cooled(self) -> Floats:
        """By how many kelvin each loop cooled since the warmest of its last day ([place])."""
        cooling = self.cooling
        with np.errstate(invalid="ignore", over="ignore"):
            middle = np.where(
                np.isfinite(cooling[WARM]), (cooling.cold + cooling[WARM]) / 2.0, cooling.cold
            )
            recent = (cooling.starts >= cooling.view.now - HORIZONS[-1])[None, :]
            warmest = np.fmax.reduce(np.where(recent, middle, np.nan), axis=1, initial=-np.inf)
            return np.asarray(warmest - middle[:, -1], np.float64)

    @cached_property
    def losses(self) -> list[Loss]:
        """What was lost over each horizon, since anybody opened the loop."""
        return [self._loss(horizon) for horizon in HORIZONS]

    def _loss(self, horizon: float) -> Loss:
        cooling, now = self.cooling, self.cooling.view.now
        opened = renewals(cooling, cooling.view, OPENED)
        starts = cooling.starts
        within = (starts >= now - horizon - 1.0)[None, :] & (starts[None, :] >= opened[:, None])
        values = np.where(within, self.corrected, np.nan)
        early = np.where(starts[None, :] <= now - horizon * 2.0 / 3.0, values, np.nan)
        enough = np.isfinite(early).sum(axis=1) >= 3
        before = np.where(enough, row_median(early), np.nan)
        latest = row_median(values[:, -2:])
        lost = np.where(np.isfinite(values[:, -1]), before - latest, np.nan)
        jitter = np.diff(self.corrected, axis=1)
        noise = PER_MAD * row_median(np.abs(jitter)) / np.sqrt(2.0)
        steps = -np.diff(_filled(values), axis=1)
        with np.errstate(invalid="ignore", over="ignore"):
            largest = np.fmax.reduce(steps, axis=1, initial=0.0)
            lowest = np.fmin.reduce(values, axis=1, initial=np.inf)
            steady = (largest <= ONE_STEP * lost) & (values[:, -1] <= lowest + 3.0 * noise + 0.1)
        return Loss(lost, NOISES * noise, np.asarray(steady, np.bool_), horizon)

    @cached_property
    def short(self) -> Floats:
        """Flow that goes out and does not come back, against its usual ([place], L/min)."""
        cooling = self.cooling
        short = cooling[FLOW_TO] - cooling[FLOW_BACK]
        return np.asarray((short - usual(cooling, short, ())[:, None])[:, -1], np.float64)

    @cached_property
    def depressed(self) -> Floats:
        """Share by which the return pressure fell below its usual at such a speed ([place])."""
        cooling = self.cooling
        pressure, speed = cooling[SUCKED], cooling[SPEED]
        with np.errstate(invalid="ignore", over="ignore"):
            alike = (np.abs(speed - speed[:, -1:]) <= 0.05) | ~np.isfinite(speed[:, -1:])
            values = np.where(alike & (pressure > 10.0), pressure, np.nan)
            base = usual(cooling, values, ())
            return np.asarray(1.0 - values[:, -1] / base, np.float64)

    @cached_property
    def refilled(self) -> tuple[Floats, Floats, Floats]:
        """Liters refilled in the last day, the norm of a day before it, and in how many bins."""
        cooling, counter = self.cooling, self.cooling[REFILLED]
        rises = np.diff(_filled(counter), axis=1)
        rises = np.where(rises >= 0, rises, np.nan)
        day = (cooling.ends[1:] > cooling.view.now - 86_400.0)[None, :]
        recent = np.where(day, rises, 0.0)
        fresh = np.isfinite(counter[:, -1])
        older = np.where(day, 0.0, np.nan_to_num(rises))
        span = max(cooling.view.now - 86_400.0 - float(cooling.starts[0]), 0.0) / 86_400.0
        norm = older.sum(axis=1) / span if span >= 1.0 else np.full(len(counter), np.nan)
        much = np.where(fresh, np.nansum(recent, axis=1), np.nan)
        return much, norm, np.asarray((recent > 0.05).sum(axis=1), np.float64)


def water(cooling: Cooling) -> Water:
    """Return the water of all loops, worked out once a pass."""
    return cooling.once("water", lambda: Water(cooling))


def falls(cooling: Cooling) -> Bools:
    """Return which places' loops lose water by their level ([place])."""
    found = np.zeros(len(cooling.places), np.bool_)
    for loss in water(cooling).losses:
        with np.errstate(invalid="ignore", over="ignore"):
            least = np.maximum(water(cooling).least(0.4), loss.limit_noise)
            found |= (loss.liters > least) & loss.steady
    return found[cooling.places.main]


def _filled(values: Floats) -> Floats:
    """Return rows whose gaps repeat what was said before them ([s, k])."""
    known = np.isfinite(values)
    at = np.maximum.accumulate(np.where(known, np.arange(values.shape[1]), 0), axis=1)
    return np.take_along_axis(values, at, axis=1)
