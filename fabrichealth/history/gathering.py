"""Gathering: recorded pieces become rows of a store, a few million samples at a time."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue import METRICS, verdicts
from fabrichealth.history.clocks import Clocks
from fabrichealth.history.recorded import Recorded
from fabrichealth.history.report import HistoryReport
from fabrichealth.history.screen import Screen
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, SeriesTable

SAMPLES_AT_ONCE = 3_000_000
"""Held before they go to the store: bounds the memory (16 bytes each, and a few copies)."""

VERDICTS = frozenset(str(m) for m in vars(verdicts).values() if isinstance(m, Metric))


class Keeps(Protocol):
    """What a history is read into; the embedded store is one."""

    @property
    def table(self) -> SeriesTable:
        """Names of series and clocks."""
        ...

    def append_columns(
        self,
        metric: Metric,
        series: Ids,
        clock: NDArray[np.int64],
        clocks: Ids,
        times: Floats,
        values: Floats,
    ) -> None:
        """Keep values[r, k] of series[r], read at times[clock[r], k] by clocks[clock[r]]."""
        ...


class Gathering:
    """Takes recorded pieces in any order and hands them over as matrices."""

    def __init__(self, into: Keeps, report: HistoryReport) -> None:
        self._into = into
        self._report = report
        self._screen = Screen(report)
        self._clocks = Clocks(into.table)
        self._pieces: dict[Metric, list[tuple[int, Floats, Floats]]] = {}
        self._held = 0
        self._recorded: dict[int, frozenset[tuple[str, str]]] = {}
        self._clashed: set[int] = set()

    def add(self, piece: Recorded, where: str) -> None:
        """Take one piece of a series; what the catalogue does not know is counted and left."""
        series = self.series(piece.name, piece.labels, where)
        if series is not None:
            self._report.missing += piece.missing
            self._screen.no_numbers(self._into.table.metric(series), piece.no_numbers)
            self.put(series, piece.at, piece.values)

    def series(self, name: str, labels: dict[str, str], where: str) -> int | None:
        """Return the number of a recorded series, or None if the catalogue has no such metric.

        Labels that the metric does not declare are ignored; those it lacks are empty.
        """
        metric = METRICS.get(name)
        if metric is None:
            if name not in self._report.unknown:
                self._report.warn(where, f"metric {name!r} is not in the catalogue; skipped")
            self._report.unknown[name] += 1
            return None
        table = self._into.table
        before = len(table)
        series = table.intern(metric, tuple(labels.get(label, "") for label in metric.labels))
        if len(table) > before:
            self._report.series += 1
            self._report.verdicts += name in VERDICTS
        ignored = frozenset(
            item for item in labels.items() if item[0] not in metric.labels and item[1]
        )
        if self._recorded.setdefault(series, ignored) != ignored and series not in self._clashed:
            self._clashed.add(series)
            self._report.clashes += 1
        return series

    def put(self, series: int, at: Floats, values: Floats) -> None:
        """Take samples of a series: `at` in unix seconds in any order, of equal ones the last.

        What cannot be believed is left before that, so that it never displaces what can.
        """
        metric = self._into.table.metric(series)
        at, values = self._screen.believed(metric, at, values)
        if not len(at):
            return
        if len(at) > 1 and not (at[1:] > at[:-1]).all():
            order = np.argsort(at, kind="stable")
            at, values = at[order], values[order]
            last = np.append(at[1:] != at[:-1], True)
            at, values = at[last], values[last]
        self._pieces.setdefault(metric, []).append((series, at, values))
        self._report.samples += len(at)
        self._held += len(at)
        if self._held >= SAMPLES_AT_ONCE:
            self.flush()

    def end_file(self, name: str) -> None:
        """Hand over what is held of a file, and report what of it was refused."""
        self.flush()
        self._screen.conclude(name)

    def flush(self) -> None:
        """Hand over what is held."""
        for metric, pieces in self._pieces.items():
            self._hand_over(metric, pieces)
        self._pieces.clear()
        self._held = 0

    def _hand_over(self, metric: Metric, pieces: Sequence[tuple[int, Floats, Floats]]) -> None:
        by_clock: dict[int, list[tuple[int, Floats, Floats]]] = {}
        for piece in pieces:
            by_clock.setdefault(self._clocks.clock(piece[0], piece[1]), []).append(piece)
        lines = {
            clock: _union([at for _, at, _ in mine]) for clock, mine in sorted(by_clock.items())
        }
        width = max(len(line) for line in lines.values())
        times = np.full((len(lines), width), np.nan)
        for slot, line in enumerate(lines.values()):
            times[slot, : len(line)] = line
        slots = {clock: slot for slot, clock in enumerate(lines)}
        rows = sorted({(piece[0], slots[c]) for c, mine in by_clock.items() for piece in mine})
        row_of = {series: row for row, (series, _) in enumerate(rows)}
        values = np.full((len(rows), width), np.nan)
        for clock, mine in by_clock.items():
            line = lines[clock]
            for series, at, given in mine:
                if len(at) == len(line):
                    values[row_of[series], : len(line)] = given
                else:
                    values[row_of[series], np.searchsorted(line, at)] = given
        self._into.append_columns(
            metric,
            np.array([series for series, _ in rows], np.int32),
            np.array([slot for _, slot in rows], np.int64),
            np.array(list(lines), np.int32),
            times,
            values,
        )


def _union(lines: Sequence[Floats]) -> Floats:
    """Return all time stamps of some time lines, ascending; mostly they are the same."""
    first = lines[0]
    if all(len(line) == len(first) and (line == first).all() for line in lines[1:]):
        return first
    return np.unique(np.concatenate(lines))
