"""A power supply that failed: it says so, or it stopped delivering while its siblings took over.

A supply that rests because its siblings suffice (cold redundancy) says that it is well, and is
none. One finding a rack, with every failed unit.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import Bools, fresh, last_polls, unbroken
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.power import SUPPLY_HEALTHY, SUPPLY_OUTPUT
from fabrichealth.kinds import POWER_SUPPLY_FAILED
from fabrichealth.model import Evidence, Finding, Place, View, Window
from fabrichealth.model.quantiles import row_quantile
from fabrichealth.settings import Duration, seconds

USUAL = 0.9


class PowerSupplyFailedSettings(DetectorSettings):
    """Power-supply-failed section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll."""

    polls: int = Field(default=2, ge=1)
    """So many polls in turn must say so."""

    delivers: float = Field(default=0.10, gt=0, lt=1)
    """A unit that gives less than this share of what it used to give has stopped."""

    least_watts: float = Field(default=50.0, ge=0)
    """A unit that gave less than this cannot be seen to stop."""


class PowerSupplyFailed(Detector[PowerSupplyFailedSettings]):
    """What units say of themselves, and what they deliver; score counts the failed ones."""

    kinds = (POWER_SUPPLY_FAILED,)
    metrics = (SUPPLY_HEALTHY, SUPPLY_OUTPUT)
    settings_type = PowerSupplyFailedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each rack with a failed supply."""
        by_rack: dict[str, dict[str, tuple[float, Evidence]]] = {}
        for rack, unit, since, line in (*self._say_so(view), *self._stopped(view)):
            by_rack.setdefault(rack, {}).setdefault(unit, (since, line))
        before = {str(one.about): one.since for one in view.before}
        every = self._units(view)
        for rack, units in by_rack.items():
            about = Place("rack", rack)
            since = min(one for one, _ in units.values())
            names = ", ".join(sorted(units))
            yield Finding(
                kind=POWER_SUPPLY_FAILED,
                about=about,
                score=float(len(units)),
                since=min(since, before.get(str(about), since)),
                at=max(line.at for _, line in units.values()),
                evidence=[line for _, line in units.values()],
                because=(
                    f"{len(units)} of {every.get(rack, len(units))} supplies of {rack} failed: "
                    f"{names}; {next(iter(units.values()))[1].says}"
                ),
                grounds=tuple(sorted(units)),
            )

    def _units(self, view: View) -> dict[str, int]:
        units = {
            (rack, unit)
            for metric in self.metrics
            for rack, unit in (view[metric].labels(row) for row in range(len(view[metric])))
        }
        found: dict[str, int] = {}
        for rack, _ in units:
            found[rack] = found.get(rack, 0) + 1
        return found

    def _say_so(self, view: View) -> Iterator[tuple[str, str, float, Evidence]]:
        window = view[SUPPLY_HEALTHY]
        ill = window.values < 0.5
        failed = last_polls(ill, window, self.settings.polls) & fresh(window)
        yield from _told(window, failed, ill, "says itself that it is not healthy", 1.0)

    def _stopped(self, view: View) -> Iterator[tuple[str, str, float, Evidence]]:
        """Yield units that gave up while others of their rack give more than before."""
        window, own = view[SUPPLY_OUTPUT], self.settings
        if not len(window):
            return
        usual = row_quantile(window.values, USUAL)
        low = window.values < own.delivers * usual[:, None]
        gone = last_polls(low, window, own.polls) & fresh(window) & (usual >= own.least_watts)
        if not gone.any():
            return
        rack = window.codes("rack")
        since, _ = unbroken(low, window)
        well = self._well(view)
        for row in np.flatnonzero(gone).tolist():
            if window.labels(row) in well:
                gone[row] = False
                continue
            others = np.flatnonzero((rack == rack[row]) & ~gone)
            one = window.select(others)
            with np.errstate(invalid="ignore"):
                past = np.where(one.times < since[row], one.values, np.nan)
            risen = np.nansum(one.last) - np.nansum(row_quantile(past, 0.5))
            gone[row] = len(others) > 0 and risen >= 0.5 * usual[row]
        yield from _told(window, gone, low, "delivers nothing, and its siblings took over", None)

    def _well(self, view: View) -> set[tuple[str, ...]]:
        window = view[SUPPLY_HEALTHY]
        known = fresh(window) & (window.last >= 0.5)
        return {window.labels(row) for row in np.flatnonzero(known).tolist()}


def _told(
    window: Window, rows: Bools, condition: Bools, says: str, expected: float | None
) -> Iterator[tuple[str, str, float, Evidence]]:
    since, _ = unbroken(condition, window)
    for row in np.flatnonzero(rows).tolist():
        rack, unit = window.labels(row)
        at = float(window.last_at[row])
        line = evidence(
            window.metric, window.labels(row), float(window.last[row]), at,
            f"supply {unit} {says}", expected,
        )  # fmt: skip
        yield rack, unit, float(since[row]), line
