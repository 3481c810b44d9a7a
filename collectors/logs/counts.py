"""How often each code stood in the log, as columns that outlive polls and restarts.

A device's counters begin at 0 for every code of its table when it is met. A line that is the
first of its code after that is a rise; where device and code first appear together, while we were
watching, the zero before it is told with the time of the poll before.
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

MOST_DEVICES = 4096
"""Devices of one target; who sends us more names than that is no fabric of ours."""

METRICS = (ERRORS, LOG_EVENTS)


class LogCounts:
    """The counters of one target."""

    def __init__(self, table: SeriesTable, clock: int) -> None:
        self._table = table
        self._clock = clock
        self._places: dict[tuple[Metric, str, str], int] = {}
        self._met: set[tuple[str, str]] = set()
        self._devices: set[str] = set()
        self._strange: dict[str, int] = {}
        self._series: list[int] = []
        self._values: list[float] = []
        self._fresh: list[int] = []
        self._last_at: float | None = None

    def meet(self, device: str, of: str) -> bool:
        """Begin the counters of a device; False where there are too many already."""
        metric, tables = OWN[of]
        if (device, metric.name + tables[0]) in self._met:
            return True
        if device not in self._devices and len(self._devices) >= MOST_DEVICES:
            return False
        self._devices.add(device)
        self._met.add((device, metric.name + tables[0]))
        for code in (code for table in tables for code in codes_of(table)):
            self._place(metric, device, code)
        return True

    def add(self, device: str, of: str, code: str) -> bool:
        """Count one line; False where the device or the code is one too many."""
        if not self.meet(device, of):
            return False
        metric, _ = OWN[of]
        place = self._places.get((metric, device, code))
        if place is None:
            if self._strange.get(device, 0) >= MOST_STRANGE:
                return False
            self._strange[device] = self._strange.get(device, 0) + 1
            place = self._place(metric, device, code)
        self._values[place] += 1.0
        return True

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
        for row in rows if isinstance(rows, list) else []:
            match row:
                case [str(name), str(device), str(code), int(count)] if name in metrics:
                    place = self._place(metrics[name], device, code)
                    self._values[place] = float(min(max(count, 0), 2**53))
                    self._devices.add(device)
        self._fresh = []
        if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at < 1e11:
            self._last_at = float(at)

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
