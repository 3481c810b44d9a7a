"""Viewing: what each detector sees of the store in one pass.

Windows are read once and shared between detectors; changes come from memory, weeks of a gauge
from the long past. A metric that is
read so seldom that the window asked for holds hardly a poll is looked at further back; so are
targets that are read so seldom, beside those that are not.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from analyzer.aligned import Aligned
from analyzer.detector import AnyDetector
from analyzer.long_past import LongPast
from analyzer.memory import Memory
from analyzer.slow_rows import (
    FRESH_PERIODS,
    LEAST_POLLS,
    beside,
    lacking,
    served,
    slow_clocks,
)
from fabrichealth.events import Event
from fabrichealth.metric import Metric, Subject
from fabrichealth.model import Changes, Finding, Past, View, Window
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

ENOUGH_POLLS = 6
"""A window with fewer polls is widened: histories are read once a second to once an hour."""

WIDER = 6.0
"""By this factor at a time."""

WIDE_STEP = 60.0
"""Wider windows are asked for by the minute: exact for what is read that seldom, and bounded for
what was read often and fell silent."""

HEARD = 0.9
"""Where fewer series speak, some that were read often may have fallen silent."""

WIDEST = 8 * 3600.0
"""But not beyond this."""

ASK_AGAIN = 600.0
"""Where nothing is read slowly beside the rest, it is looked for again after so long."""


class Viewing:
    """Reads the store for all detectors, pass by pass."""

    def __init__(
        self,
        store: Store,
        every: Mapping[str, AnyDetector],
        also: Mapping[Metric, float] | None = None,
    ) -> None:
        """`also` names metrics to remember beyond what detectors ask for, and how long."""
        self._store = Aligned(store)
        self._memory = Memory(self._store, _spans(every.values(), also or {}))
        self._long_past = LongPast(self._store, _recalled(every.values()))
        self._windows: dict[tuple[Metric, float, int], Window] = {}
        self._changes: dict[tuple[Metric, float], Changes] = {}
        self._shared: dict[Hashable, Any] = {}
        """What detectors worked out in this pass for each other."""
        self._now = 0.0
        self._slow: dict[tuple[Metric, float, int], tuple[float, float]] = {}
        """By window: when to look again for what is read slowly, and how far back (0: is none)."""
        self._named = -1
        self._reads: dict[type[AnyDetector], bool] = {}
        """Whether anything was named that they look at, while no more than `_named` series were."""
        self._slowest: float | None = None
        """Longest period of anything that is remembered, once it was asked for in this pass."""

    def put_right(self, offsets: Mapping[str, float], topology: Topology, now: float) -> None:
        """Look from now on at devices whose clocks are so many seconds ahead in true time.

        The long past stays as it was read: its bins are longer than clocks stand apart.
        """
        if offsets == self._store.offsets:
            return
        before = {metric: self._store.ahead(metric) for metric in self._memory.metrics}
        self._store.put_right(offsets, topology)
        self._memory.move_back(lambda metric: self._store.ahead(metric) - before[metric], now)

    def advance(self, now: float) -> None:
        """Take in everything up to `now`; what was looked at before is let go."""
        self._now, self._slowest = now, None
        self._windows.clear()
        self._changes.clear()
        self._shared.clear()
        self._memory.advance(now)
        self._long_past.advance(now)

    def view(
        self,
        detector: AnyDetector,
        topology: Topology,
        events: Sequence[Event],
        before: Sequence[Finding],
    ) -> View:
        """Return what a detector sees now."""
        settings = detector.settings

        def window(metric: Metric) -> Window:
            return self.window(metric, settings.window)

        def changes(metric: Metric) -> Changes:
            return self.changes(metric, settings.memory)

        def at_least(metric: Metric, polls: int) -> Window:
            return self.window(metric, settings.window, polls)

        return View(
            self._now, topology, events, before, window, changes, self.past, self._shared, at_least
        )

    def reads(self, detector: AnyDetector) -> bool:
        """Return whether a series of anything that a detector looks at has been named.

        Only where names are known before they are asked for, as in a replay.
        """
        table = self._store.table
        if len(table) != self._named:
            self._named, self._reads = len(table), {}
        found = self._reads.get(type(detector))
        if found is None:
            looked = {*detector.metrics, *detector.remembered, *detector.recalls}
            found = self._reads[type(detector)] = any(len(table.of(one)) for one in looked)
        return found

    def past(self, metric: Metric) -> Past:
        """Return the long past of a metric that some detector recalls."""
        return self._long_past.past(metric)

    def changes(self, metric: Metric, seconds: float) -> Changes:
        """Return the changes of a remembered metric in the last so many seconds."""
        found = self._changes.get((metric, seconds))
        if found is None:
            found = self._memory.changes(metric, self._now, seconds)
            self._changes[metric, seconds] = found
        return found

    def window(self, metric: Metric, seconds: float, polls: int = ENOUGH_POLLS) -> Window:
        """Return the last so many seconds of a metric, more where it is read seldom."""
        key = (metric, seconds, polls)
        found = self._windows.get(key)
        if found is not None:
            return found
        asked = seconds
        found = self._store.window(metric, self._now, seconds)
        many = len(self._store.table.of(metric))
        if many:
            step = 0.0 if _seldom(found, many) else WIDE_STEP
            while found.values.shape[1] < polls and seconds < WIDEST:
                seconds = min(seconds * WIDER, WIDEST)
                wider = self._store.window(metric, self._now, seconds, step)
                if wider.values.shape[1] >= found.values.shape[1]:
                    found = wider  # else thinned out: every poll there is was there before
        if seconds == asked and lacking(found, many):
            found = self._with_slow(found, key)
        self._windows[key] = found
        return found

    def _with_slow(self, found: Window, key: tuple[Metric, float, int]) -> Window:
        """Return a window with what is read too seldom for it looked at further back."""
        metric, asked, _ = key
        due, reach = self._slow.get(key, (self._now, 0.0))
        decided = self._now < due
        if decided and not reach:
            return found
        ports = metric.subject.value[:2] == Subject.PORT.value
        if not decided and ports and not self._some_slow(asked):
            self._slow[key] = self._now + ASK_AGAIN, 0.0
            return found
        seconds = reach if decided else asked * WIDER
        while seconds <= WIDEST:
            wide = self._store.window(metric, self._now, seconds, WIDE_STEP)
            clocks = slow_clocks(wide, asked)
            if not len(clocks):
                break  # what lacks is silent; further back lies much to read for that
            if decided or served(wide, clocks):
                self._slow[key] = due if decided else self._now + ASK_AGAIN, seconds
                return beside(found, wide, clocks)
            seconds *= WIDER
        self._slow[key] = self._now + ASK_AGAIN, 0.0
        return found

    def _some_slow(self, seconds: float) -> bool:
        """Return whether anything that is remembered is read too seldom for so many seconds.

        Ports are too many to look far back for those that are silent.
        """
        if self._slowest is None:
            self._slowest = self._memory.slowest(self._now, FRESH_PERIODS)
        return self._slowest * LEAST_POLLS > seconds


def _seldom(window: Window, many: int) -> bool:
    """Return whether nearly all series speak, each at polls that are a minute apart at least.

    A wider window of these holds few polls, exact ones, and the store has them at hand.
    """
    known = window.period[np.isfinite(window.period)]
    heard = len(window) >= HEARD * many
    return heard and len(known) > 0 and bool((known >= WIDE_STEP).all())


def _spans(every: Iterable[AnyDetector], also: Mapping[Metric, float]) -> dict[Metric, float]:
    """Return how long each metric's changes must be remembered."""
    spans = dict(also)
    for detector in every:
        for metric in detector.remembered:
            spans[metric] = max(spans.get(metric, 0.0), detector.settings.memory)
    return spans


def _recalled(every: Iterable[AnyDetector]) -> dict[Metric, float]:
    """Return how long the past of each metric must be kept in bins."""
    spans: dict[Metric, float] = {}
    for detector in every:
        for metric in detector.recalls:
            spans[metric] = max(spans.get(metric, 0.0), detector.looks_back)
    return spans
