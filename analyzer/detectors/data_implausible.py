"""Readings that contradict physics.

A port that carries more than its line rate has a wrong counter, unit or speed, not a busy link
(docs/methods.md). A target whose readings keep being refused as impossible has a sensor or a
mapping to be mended. Stays quiet for a single odd value: those are refused and counted.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import fresh
from analyzer.evidence.joining import values_beside
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import RX_BYTES, SPEED, TX_BYTES
from fabrichealth.catalogue.watchers import REJECTED
from fabrichealth.counters import increases
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Place, Port, View, Window
from fabrichealth.settings import Duration, seconds


class DataImplausibleSettings(DetectorSettings):
    """Data-implausible section of the configuration."""

    over_line_rate: float = Field(default=1.02, gt=1)
    """More than this share of the line rate is impossible."""

    polls: int = Field(default=3, ge=2)
    """So many polls in a row must be impossible."""

    every: Duration = seconds(60)
    """How often it judges: nobody is called for it."""

    memory: Duration = seconds(3600)
    """Refusals older than this are forgotten."""

    refusals: int = Field(default=5, ge=2)
    """A target refused in so many polls within the window is news."""


class DataImplausible(Detector[DataImplausibleSettings]):
    """Ports beyond their line rate, targets whose readings keep being impossible."""

    kinds = (WATCH_DATA_IMPLAUSIBLE,)
    metrics = (RX_BYTES, TX_BYTES, SPEED, REJECTED)
    remembers = (SPEED, REJECTED)  # byte counters move at every poll
    settings_type = DataImplausibleSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per port and direction, and one per target."""
        for metric in (RX_BYTES, TX_BYTES):
            yield from self._too_fast(view, metric)
        yield from self._refused(view)

    def _too_fast(self, view: View, metric: Metric) -> Iterator[Finding]:
        carried, speed = view[metric], view.changes(SPEED)
        if not len(carried) or not len(speed.rows):
            return
        newest = _newest(carried, 2 * (self.settings.polls + 1))
        limit = values_beside(metric, carried.series, speed) * self.settings.over_line_rate
        rate = _bits_per_second(newest)
        with np.errstate(invalid="ignore"):
            if not (rate > limit[:, None]).any():
                return
        known = np.isfinite(rate)
        rank = np.cumsum(known[:, ::-1], axis=1)[:, ::-1]
        recent = known & (rank <= self.settings.polls)
        least = np.where(recent, rate, np.inf).min(axis=1)
        judged = (known.sum(axis=1) >= self.settings.polls) & fresh(newest)
        before = {said.about: said.since for said in view.before}
        for row in np.flatnonzero(judged & (least > limit)).tolist():
            port = Port(*carried.labels(row))
            now = float(rate[row][recent[row]][-1])
            line = float(limit[row]) / self.settings.over_line_rate
            since = _beyond_since(carried.select(np.array([row])), float(limit[row]))
            says = f"{now / 1e9:.4g} Gb/s on a line of {line / 1e9:.4g} Gb/s"
            at = float(carried.last_at[row])
            yield Finding(
                kind=WATCH_DATA_IMPLAUSIBLE,
                about=port,
                score=now / float(limit[row]),
                since=min(since, before.get(port, since)),
                at=view.now,
                evidence=[evidence(metric, port, now, at, says, line, "bit/s")],
                because=f"{port} claims {says}: wrong unit, counter or speed",
            )

    def _refused(self, view: View) -> Iterator[Finding]:
        changes = view.changes(REJECTED)
        recent = np.flatnonzero(changes.last(self.settings.window) & (changes.increase > 0))
        polls: dict[tuple[str, str, str], list[int]] = {}
        for entry in recent:
            source, target, reason = changes.labels(int(changes.row_of[entry]))
            if reason in {"implausible", "duplicate", "malformed"}:
                polls.setdefault((source, target, reason), []).append(int(entry))
        for (source, target, reason), entries in polls.items():
            if len(entries) < self.settings.refusals:
                continue
            count = float(changes.increase[entries].sum())
            last = float(changes.at[entries[-1]])
            says = f"{count:.0f} readings refused as {reason} in {len(entries)} polls"
            yield Finding(
                kind=WATCH_DATA_IMPLAUSIBLE,
                about=Place("device", target),
                score=len(entries) / self.settings.refusals,
                since=float(changes.at[entries[0]]),
                at=last,
                evidence=[evidence(REJECTED, (source, target, reason), count, last, says, 0.0)],
                because=f"{source} {target}: {says}",
            )


def _newest(window: Window, polls: int) -> Window:
    """Return the last so many polls of a window."""
    return replace(window, values=window.values[:, -polls:], at=window.at[:, -polls:])


def _bits_per_second(carried: Window) -> Floats:
    """Return the rates of byte counters, [s, k]; NaN over resets."""
    steps = increases(carried.values, carried.times)
    rate: Floats = np.where(steps.reset, np.nan, steps.rate()) * 8.0
    return rate


def _beyond_since(row: Window, limit: float) -> float:
    """Return since when a single row is beyond a limit without a break."""
    rate = _bits_per_second(row)[0]
    known = np.isfinite(rate)
    possible = np.flatnonzero(known & (rate <= limit))
    known[: possible[-1] + 1 if len(possible) else 0] = False
    return float(row.times[0, np.argmax(known)])
