"""A target that we read and that no longer answers.

Absent is not healthy: what a silent target watched is watched by nobody. All targets of a source
silent at once is the collector's or the network's trouble and one incident, not a hundred. Stays
quiet for a target that missed a single poll, and for one that was never heard (its configuration
is `check --probe`'s business).
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import last_polls, unbroken
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.watchers import LAST_SUCCESS, SOURCE_UP
from fabrichealth.kinds import WATCH_SOURCE_SILENT, Severity
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds


class SourceSilentSettings(DetectorSettings):
    """Source-silent section of the configuration."""

    hold: Duration = seconds(60)
    """A target may be silent for so long before it is news."""

    polls: int = Field(default=2, ge=1)
    """And it must have missed at least so many polls."""


class SourceSilent(Detector[SourceSilentSettings]):
    """Targets that answered once and do not now; score 1.0 is the hold."""

    kinds = (WATCH_SOURCE_SILENT,)
    metrics = (SOURCE_UP, LAST_SUCCESS)
    settings_type = SourceSilentSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per silent target, or one for a source silent as a whole."""
        window, heard = view[SOURCE_UP], view[LAST_SUCCESS]
        if not len(window):
            return
        silent = window.values == 0
        since, _ = unbroken(silent, window)
        missed = last_polls(silent, window, self.settings.polls)
        before = {str(finding.about) for finding in view.before}
        sources: dict[str, list[int]] = {}
        quiet: dict[str, list[tuple[str, float, int]]] = {}
        for row in range(len(window)):
            source, target = window.labels(row)
            sources.setdefault(source, []).append(row)
            when = heard.row(source, target)
            if when is None or not np.isfinite(heard.last[when]):
                continue
            began = float(heard.last[when])
            due = missed[row] and view.now - since[row] >= self.settings.hold
            if due or (missed[row] and f"{source}/{target}" in before):
                quiet.setdefault(source, []).append((target, min(began, since[row]), row))
        for source, targets in quiet.items():
            whole = len(targets) == len(sources[source]) >= 2
            if whole:
                yield self._finding(view, source, source, targets, Severity.PAGE)
                continue
            for one in targets:
                yield self._finding(view, source, f"{source}/{one[0]}", [one], None)

    def _finding(
        self,
        view: View,
        source: str,
        name: str,
        targets: list[tuple[str, float, int]],
        severity: Severity | None,
    ) -> Finding:
        began = min(since for _, since, _ in targets)
        silent = view.now - began
        who = f"all {len(targets)} targets of {source}" if severity else name
        return Finding(
            kind=WATCH_SOURCE_SILENT,
            about=Place("source", name),
            score=silent / max(self.settings.hold, 1.0),
            since=began,
            at=view.now,
            evidence=[
                evidence(
                    SOURCE_UP, (source, target), 0.0, view.now,
                    f"{target} last answered {(view.now - since) / 60:.1f} min ago", 1.0,
                )
                for target, since, _ in targets[:8]
            ],
            because=f"{who} silent for {silent / 60:.1f} min; what it watched is not watched",
            severity=severity,
            victims=tuple(Place("device", target) for target, _, _ in targets),
        )  # fmt: skip
