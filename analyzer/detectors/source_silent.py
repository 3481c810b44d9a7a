"""A target that we read and that no longer answers.

Absent is not healthy: what a silent target watched is watched by nobody. All targets of a source
silent at once is the collector's or the network's trouble and one incident, not a hundred. Stays
quiet for a target that missed a single poll, for one that was never heard (its configuration
is `check --probe`'s business), and for one that is not polled any more.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import heard
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.watchers import LAST_SUCCESS, SOURCE_UP
from fabrichealth.kinds import WATCH_SOURCE_SILENT, Severity
from fabrichealth.model import Changes, Finding, Floats, Place, View, Window
from fabrichealth.settings import Duration, seconds


class SourceSilentSettings(DetectorSettings):
    """Source-silent section of the configuration."""

    memory: Duration = seconds(86_400)
    """A target that answered at some time in so long a past is missed when it is silent."""

    hold: Duration = seconds(60)
    """A target may be silent for so long before it is news."""

    polls: int = Field(default=2, ge=1)
    """And it must have missed at least so many polls."""


class _Silence(NamedTuple):
    target: str
    answered: float
    """When it answered last."""
    missed: float
    """When it was first found silent."""


class SourceSilent(Detector[SourceSilentSettings]):
    """Targets that answered once and do not now; score 1.0 is the hold."""

    kinds = (WATCH_SOURCE_SILENT,)
    metrics = (SOURCE_UP, LAST_SUCCESS)
    remembers = (SOURCE_UP,)
    settings_type = SourceSilentSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per silent target, or one for a source silent as a whole."""
        up = view.changes(SOURCE_UP)
        polled = heard(up)
        silent = (up.value == 0) & polled & (_missed(up) >= self.settings.polls)
        if not silent.any():
            return
        success = view[LAST_SUCCESS]
        before = {str(place) for said in view.before for place in (said.about, *said.victims)}
        quiet: dict[str, list[_Silence]] = {}
        for row in np.flatnonzero(silent).tolist():
            source, target = up.labels(row)
            silence = _silence(up, row, target, success)
            if silence is None:
                continue
            due = view.now - silence.missed >= self.settings.hold
            if due or f"{source}/{target}" in before or (source in before and target in before):
                quiet.setdefault(source, []).append(silence)
        everyone = Counter(up.labels(row)[0] for row in np.flatnonzero(polled).tolist())
        for source, targets in quiet.items():
            if len(targets) == everyone[source] >= 2:
                yield self._finding(view, source, source, targets, Severity.PAGE)
                continue
            for one in targets:
                yield self._finding(view, source, f"{source}/{one.target}", [one], None)

    def _finding(
        self,
        view: View,
        source: str,
        name: str,
        targets: list[_Silence],
        severity: Severity | None,
    ) -> Finding:
        began = min(one.answered for one in targets)
        silent = view.now - began
        who = f"all {len(targets)} targets of {source}" if severity else name
        return Finding(
            kind=WATCH_SOURCE_SILENT,
            about=Place("source", name),
            score=max(silent / max(self.settings.hold, 1.0), 1.0),
            since=began,
            at=view.now,
            evidence=[
                evidence(
                    SOURCE_UP, (source, one.target), 0.0, view.now,
                    f"{one.target} last answered {(view.now - one.answered) / 60:.1f} min ago", 1.0,
                )
                for one in targets[:8]
            ],
            because=f"{who} silent for {silent / 60:.1f} min; what it watched is not watched",
            severity=severity,
            victims=tuple(Place("device", one.target) for one in targets),
        )  # fmt: skip


def _missed(up: Changes) -> Floats:
    """Return how many polls each row has been as it is ([r])."""
    since = np.where(np.isfinite(up.changed_at), up.changed_at, up.first_at)
    with np.errstate(invalid="ignore", divide="ignore"):
        polls = np.floor((up.seen_at - since) / up.period + 0.5)
    return np.where(np.isfinite(polls), polls, 0.0) + 1.0


def _silence(up: Changes, row: int, target: str, success: Window) -> _Silence | None:
    """Return since when a target is silent, or None if it was never heard."""
    missed = float(up.changed_at[row])
    fell = np.flatnonzero(up.row_of == row)
    told = success.row(*up.labels(row))
    answered = float(success.last[told]) if told is not None else float("nan")
    if not np.isfinite(answered):
        if not len(fell):
            return None
        answered = missed - float(up.step[fell[-1]])
    if not np.isfinite(missed):
        missed = float(up.first_at[row])
    return _Silence(target, min(answered, missed), missed)
