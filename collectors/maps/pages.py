"""From a page of an exporter to readings of the catalogue.

The order of the steps is the order of what a value can mean: not a number, a sentinel, a word
for a state, a value too old, one of two that contradict each other. What passes is stored; what
a map knows and cannot use is refused with its reason; what no map knows is nobody's business.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collectors.maps.last_codes import LastCodes
from collectors.maps.page_layout import Layout, Rows, number_of
from collectors.maps.page_places import Place, Placer
from collectors.maps.page_rules import PageMap
from collectors.protocols.exposition import Page
from collectors.protocols.exposition_line import Series
from collectors.source import Target
from fabrichealth.events import Event
from fabrichealth.model import Batch, Floats, Poll, Reason, Refused, SeriesTable
from fabrichealth.units import DARK_DBM, dbm

log = logging.getLogger(__name__)


class Pages:
    """The pages of one target, one after the other, as polls."""

    def __init__(self, table: SeriesTable, target: Target, maps: Sequence[PageMap]) -> None:
        self._table = table
        self._target = target
        self._placer = Placer(target, maps)
        self._places: dict[Series, tuple[Place, ...]] = {}
        self._series: Sequence[Series] = ()
        self._layout = Layout(table, (), ())
        self._clock = table.clock(target.source, target.name)
        self._codes = LastCodes()

    def poll(self, page: Page, at: float, stale_after: float) -> Poll:
        """Return what a page says, read at `at` (unix seconds)."""
        if page.series is not self._series:
            self._lay_out(page)
        return _Reading(self._layout, self._codes, page, at, stale_after).poll(
            self._table, self._clock, self._target.subject
        )

    def unknown(self, page: Page) -> list[Series]:
        """Return the series of a page that were not met before."""
        if page.series is self._series:
            return []
        return [series for series in page.series if series not in self._places]

    def learn(self, unknown: Sequence[Series]) -> None:
        """Find the places of series; a caller with many may do so in portions."""
        for series in unknown:
            places = self._places[series] = self._placer.places(series)
            for place in places:
                number_of(self._table, place)

    def _lay_out(self, page: Page) -> None:
        self.learn(self.unknown(page))
        self._places = {series: self._places[series] for series in page.series}
        unmapped = {series.name for series, places in self._places.items() if not places}
        log.debug("%s: names without a map: %s", self._target.name, sorted(unmapped)[:50])
        self._series = page.series
        found = [self._places[series] for series in page.series]
        self._layout = Layout(self._table, page.series, found)

    def memory(self) -> dict[str, Any]:
        """Return what must survive a restart."""
        return self._codes.memory()

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up what `memory` returned."""
        self._codes.remember(memory)


class _Reading:
    """One page on its way through the steps; `taken[r]` tells which rows are still good."""

    def __init__(
        self, layout: Layout, codes: LastCodes, page: Page, at: float, stale_after: float
    ) -> None:
        self.layout = layout
        self.page = page
        self.codes = codes
        self.at = at
        self.oldest = at - stale_after
        self.raw: Floats = page.values[layout.sample]
        stamps = page.at[layout.sample]
        self.stamps: Floats = np.where(np.isnan(stamps), at, stamps)
        self.taken = ~np.isnan(self.raw)
        self.values: Floats = self.raw
        self.refused: list[Refused] = []
        self.missing: list[str] = []
        self.events: list[Event] = []

    def refuse(self, rows: Rows, reason: Reason) -> None:
        """Refuse those of the rows that are still good."""
        for row in rows[self.taken[rows]].tolist():
            self.refused.append(
                _refusal(
                    reason,
                    self.layout.places[row],
                    self.page.series[self.layout.sample[row]],
                    float(self.raw[row]),
                )
            )
        self.taken[rows] = False

    def poll(self, table: SeriesTable, clock: int, device: str) -> Poll:
        """Take all the steps."""
        self.drop_sentinels()
        self.convert()
        self.refuse(np.flatnonzero(np.isinf(self.values)), Reason.IMPLAUSIBLE)
        self.taken &= ~np.isnan(self.values)
        self.shut_gates()
        self.refuse(np.flatnonzero(self.stamps < self.oldest), Reason.STALE)
        self.settle_repeats(table)
        counted = self.count_codes(table)
        good = np.flatnonzero(self.taken & (self.layout.series >= 0))
        series = self.layout.series[good]
        values, stamps = self.values[good], self.stamps[good]
        if counted:
            series = np.append(series, [number for number, _, _ in counted]).astype(np.int32)
            values = np.append(values, [value for _, value, _ in counted])
            stamps = np.append(stamps, [when for _, _, when in counted])
        self.report(device)
        batches = [
            Batch(clock, when, series[rows], values[rows]) for when, rows in _by_time(stamps)
        ]
        return Poll(batches, self.refused, events=self.events, missing=self.missing)

    def drop_sentinels(self) -> None:
        for sentinels, rows in self.layout.sentinels:
            for sentinel in sentinels:
                raw = self.raw[rows]
                hit = (raw >= sentinel.least) & (raw <= sentinel.most)
                if hit.any():
                    self.refuse(rows[hit], sentinel.reason)

    def convert(self) -> None:
        """Bring values into the unit of their metric."""
        layout, raw = self.layout, self.raw
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            values = raw * layout.scale / layout.per + layout.offset
            if len(layout.divided):
                divisors = np.where(layout.divisors < 0, np.nan, self.page.values[layout.divisors])
                values[layout.divided] /= np.where(divisors > 0, divisors, np.nan)
        for choices, rows in layout.choices:
            chosen = np.full(len(rows), np.nan)
            for said, meant in choices:
                chosen[raw[rows] == said] = meant
            values[rows] = chosen
            self.refuse(rows[np.isnan(chosen)], Reason.IMPLAUSIBLE)
        for convert, rows in layout.converts:
            light = dbm(raw[rows] * 1e-3)
            self.refuse(rows[raw[rows] < 0], Reason.IMPLAUSIBLE)
            dark = np.where(light <= DARK_DBM, 1.0, np.nan)  # lit: no flag, and no word of one
            values[rows] = light if convert == "milliwatts" else dark
        values[layout.light] = np.maximum(values[layout.light], DARK_DBM)
        values[layout.fixed] = layout.fixed_values
        self.values = values

    def shut_gates(self) -> None:
        """Drop what a sample beside it says cannot be there (no module, no light)."""
        layout = self.layout
        if len(layout.gated):
            said = np.where(layout.gates < 0, np.nan, self.page.values[layout.gates])
            self.taken[layout.gated[said == layout.shut]] = False

    def settle_repeats(self, table: SeriesTable) -> None:
        """Take one of equal values under the same labels, and none of differing ones."""
        rows, starts = self.layout.repeated, self.layout.starts
        if not len(rows):
            return
        values = np.where(self.taken[rows], self.values[rows], np.nan)
        group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
        low, high = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
        clash = rows[(low != high)[group] & self.taken[rows]]
        self.missing += sorted(
            {str(table.metric(int(number))) for number in self.layout.series[clash]}
        )
        self.refuse(clash, Reason.DUPLICATE)
        # The newest of equal ones stands for all.
        newest = np.lexsort((-self.stamps[rows], ~self.taken[rows], group))
        again = np.ones(len(rows), bool)
        again[newest[starts]] = False
        self.taken[rows[again]] = False

    def count_codes(self, table: SeriesTable) -> list[tuple[int, float, float]]:
        """Return (series, value, time) of the counters of codes."""
        rows = self.layout.codes
        odd = (self.raw[rows] < 0) | (self.raw[rows] >= 2.0**63) | (self.raw[rows] % 1 != 0)
        self.refuse(rows[odd], Reason.IMPLAUSIBLE)
        gauges: dict[tuple[str, str], list[int]] = {}
        for row in rows.tolist():
            place = self.layout.places[row]
            gauges.setdefault((place.rule.names[0], place.device), []).append(row)
        found: list[tuple[int, float, float]] = []
        for members in gauges.values():
            read = [row for row in members if self.taken[row]]
            if not read:
                continue
            at = float(self.stamps[read].max())
            shown = {int(self.raw[row]) for row in read}
            readings, events = self.codes.seen(
                self.layout.places[read[0]], shown, at, whole=len(read) == len(members)
            )
            self.events += events
            found += [
                (table.intern(metric, labels), value, at) for metric, labels, value in readings
            ]
        return found

    def report(self, device: str) -> None:
        """Add what a map knows but cannot name, and lines that were no samples."""
        for at, place in self.layout.unplaced:
            series = self.page.series[at]
            self.refused.append(
                _refusal(Reason.MALFORMED, place, series, float(self.page.values[at]))
            )
        self.refused += [
            Refused(Reason.MALFORMED, f"line {broken.line}", {"device": device}, broken.text[:200])
            for broken in self.page.broken
        ]
        if not (self.layout.places or self.layout.unplaced):
            self.missing.append("a map that knows the page's names (mapping:)")
        if not self.page.whole:
            self.missing.append("the end of the page (# EOF)")


def _refusal(reason: Reason, place: Place, series: Series, raw: float) -> Refused:
    if place.metric is None or place.labels is None:
        return Refused(reason, series.name, dict(series.labels), raw)
    labels = dict(zip(place.metric.labels, place.labels, strict=True))
    return Refused(reason, str(place.metric), labels, raw)


def _by_time(stamps: Floats) -> list[tuple[float, Rows | slice]]:
    """Return rows by time stamp, ascending."""
    if not len(stamps):
        return []
    if (stamps == stamps[0]).all():
        return [(float(stamps[0]), slice(None))]
    times, group = np.unique(stamps, return_inverse=True)
    order = np.argsort(group, kind="stable")
    cuts = np.cumsum(np.bincount(group))[:-1]
    return list(zip(times.tolist(), np.split(order, cuts), strict=True))
