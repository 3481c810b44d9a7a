"""How often each code stood in the log, as columns that outlive polls and restarts.

A device's counters begin at 0 for every code of its table when it is met. A line that is the
first of its code after that is a rise; where device and code first appear together, while we were
watching, the zero before it is told with the time of the poll before.

Names that nobody wrote down may be made up by who sends us lines: they are few at a time, go when
they are idle, and begin only the codes that were heard. They take nothing from the listed ones.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from collectors.maps.log_rules import codes_of
from fabrichealth.catalogue.accelerators import ERRORS
from fabrichealth.catalogue.devices import LOG_EVENTS
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, SeriesTable

OWN = {
    "accelerator": (ERRORS, ("accelerator",)),
    "nvswitch": (ERRORS, ("nvswitch",)),
    "host": (LOG_EVENTS, ("host", "interface")),
    "interface": (LOG_EVENTS, ("host", "interface")),
}
"""By what a line is about: the counter, and whose tables begin at 0."""

MOST_STRANGE = 64
"""Codes of one device that no table knows; a log that invents more is not followed."""

MOST_UNLISTED = 4096
"""Devices at a time that are not in the topology; who sends us more is no fabric of ours."""

MOST_SERIES = 65_536
"""Series that such devices begin in the life of a process: a series is never given back."""

IDLE = 3600.0
"""Seconds without a line after which such a device makes room for another."""

METRICS = (ERRORS, LOG_EVENTS)


class LogCounts:
    """The counters of one target."""

    def __init__(self, table: SeriesTable, clock: int) -> None:
        self._table = table
        self._clock = clock
        self._places: dict[tuple[Metric, str, str], int] = {}
        self._met: set[tuple[str, str]] = set()
        self._unlisted: dict[str, float] = {}
        """When each was last heard of, unix seconds, the one that is idle longest first."""
        self._begun = 0
        self._strange: dict[str, int] = {}
        self._series: list[int] = []
        self._values: list[float] = []
        self._fresh: list[int] = []
        self._last_at: float | None = None

    def meet(self, device: str, of: str) -> None:
        """Begin all counters of a device that is listed, or is this target's own."""
        metric, tables = OWN[of]
        key = (device, metric.name + tables[0])
        if key in self._met:
            return
        self._met.add(key)
        self._unlisted.pop(device, None)
        for code in (code for table in tables for code in codes_of(table)):
            self._place(metric, device, code)

    def add(self, device: str, of: str, code: str, at: float) -> bool:
        """Count one line at `at` (unix seconds); False where device or code is one too many.

        A device that was not met is unlisted.
        """
        metric, tables = OWN[of]
        listed = (device, metric.name + tables[0]) in self._met
        if not listed and not self._admitted(device, at):
            return False
        place = self._places.get((metric, device, code))
        if place is None:
            if not listed and self._begun >= MOST_SERIES:
                return False
            if self._strange.get(device, 0) >= MOST_STRANGE:
                return False
            self._strange[device] = self._strange.get(device, 0) + 1
            self._begun += not listed
            place = self._place(metric, device, code)
        self._values[place] += 1.0
        return True

    def _admitted(self, device: str, at: float) -> bool:
        """Return whether an unlisted device has a place; idle ones make room."""
        if self._unlisted.pop(device, None) is None and len(self._unlisted) >= MOST_UNLISTED:
            idle = {name for name, heard in self._unlisted.items() if heard <= at - IDLE}
            if not idle:
                return False
            self._drop(idle)
        self._unlisted[device] = at
        return True

    def _drop(self, devices: set[str]) -> None:
        """Forget devices with their counters."""
        kept = [(key, place) for key, place in self._places.items() if key[1] not in devices]
        number = {old: new for new, (_, old) in enumerate(kept)}
        self._series = [self._series[place] for _, place in kept]
        self._values = [self._values[place] for _, place in kept]
        self._fresh = [number[place] for place in self._fresh if place in number]
        self._places = {key: number[place] for key, place in kept}
        for device in devices:
            del self._unlisted[device]
            self._strange.pop(device, None)

    def batches(self, at: float) -> list[Batch]:
        """Return every counter now, and before it the zeros of those that have just begun."""
        series, values = np.array(self._series, np.int32), np.array(self._values, np.float64)
        before, self._last_at = self._last_at, at
        fresh = np.array([place for place in self._fresh if self._values[place]], np.intp)
        self._fresh = []
        found = [Batch(self._clock, at, series, values)] if len(series) else []
        if before is not None and before < at and len(fresh):
            found.insert(0, Batch(self._clock, before, series[fresh], np.zeros(len(fresh))))
        return found

    def memory(self) -> dict[str, Any]:
        """Return all counts as plain JSON values."""
        rows = [
            [str(metric), device, code, int(self._values[place])]
            for (metric, device, code), place in self._places.items()
        ]
        return {"counts": rows, "at": self._last_at}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up what `memory` returned; rows that cannot be read are left out."""
        metrics = {str(metric): metric for metric in METRICS}
        rows, at = memory.get("counts"), memory.get("at")
        usable = isinstance(at, int | float) and not isinstance(at, bool) and 0 < at < 1e11
        heard = float(at) if usable and isinstance(at, int | float) else 0.0
        for row in rows if isinstance(rows, list) else []:
            match row:
                case [str(name), str(device), str(code), int(count)] if name in metrics:
                    # who is listed is met again before the first line is counted
                    if self._admitted(device, heard) and len(self._series) < MOST_SERIES:
                        place = self._place(metrics[name], device, code)
                        self._values[place] = float(min(max(count, 0), 2**53))
        self._fresh = []
        if heard:
            self._last_at = heard

    def forget(self) -> None:
        """Begin all counts at 0 again: another capture counts its own lines."""
        self._values = [0.0] * len(self._values)
        self._last_at = None

    def _place(self, metric: Metric, device: str, code: str) -> int:
        key = (metric, device, code)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._series)
            self._series.append(self._table.intern(metric, (device, code)))
            self._values.append(0.0)
            self._fresh.append(place)
        return place
