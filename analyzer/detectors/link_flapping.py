"""A link that falls and comes back again and again.

Two half-lives (docs/methods.md): 15 minutes for a link that is unusable now, 24 hours for one
that falls three times a day. Counters see what polls miss, states see what counters lose; each
transition counts once, whichever end saw it. Falls of (nearly) all links of a device at once
are that device's restart and do not count, nor do those while a port is disabled.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.causes.signs import Symptom, sign
from analyzer.evidence.durations import Bools
from analyzer.evidence.ends import is_bundle
from analyzer.evidence.flaps import score
from analyzer.evidence.link.signs import diagnosed
from analyzer.evidence.optics.fleet import RECALLED
from analyzer.evidence.optics.recalled import LOOKS_BACK
from analyzer.evidence.restarts import Falls, falls, shared
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import ADMIN_UP, LINK_DOWNS, UP
from fabrichealth.kinds import LINK_FLAPPING
from fabrichealth.model import Finding, Floats, Port, View
from fabrichealth.narrative import span
from fabrichealth.settings import Duration, seconds


class LinkFlappingSettings(DetectorSettings):
    """Link-flapping section of the configuration."""

    memory: Duration = seconds(86_400)
    """Falls older than this are forgotten."""

    fast_half_life: Duration = seconds(900)
    """Half-life of the fast score (BGP damping's default)."""

    fast_limit: float = Field(default=2000.0, gt=0)
    """The fast score at which a link flaps: three falls within a quarter of an hour."""

    reuse: float = Field(default=750.0, gt=0)
    """Below this fast score a flapping link is taken as quiet again."""

    slow_half_life: Duration = seconds(86_400)
    """Half-life of the slow score."""

    slow_limit: float = Field(default=3000.0, gt=0)
    """The slow score at which a link flaps: about four falls in a day."""


@dataclass(frozen=True)
class _Scores:
    fast: Floats
    slow: Floats
    count: Floats


class LinkFlapping(Detector[LinkFlappingSettings]):
    """Decayed number of falls per link; score 1.0 is the nearer of both limits."""

    kinds = (LINK_FLAPPING,)
    metrics = (LINK_DOWNS, UP, ADMIN_UP)
    recalls = RECALLED
    settings_type = LinkFlappingSettings

    @property
    def looks_back(self) -> float:
        """How long the past of the modules must be kept: light speaks for causes."""
        return LOOKS_BACK

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per link that flaps."""
        seen = falls(view, self.settings.memory)
        if not len(seen.at):
            return
        own = ~shared(view, seen)
        scores = self._scores(view, seen, own)
        before = {_key(view, finding.about): finding for finding in view.before}
        limit = np.maximum(
            scores.fast / self.settings.fast_limit, scores.slow / self.settings.slow_limit
        )
        for row, port in enumerate(seen.ports):
            known = before.get(_key(view, port))
            still = known is not None and scores.fast[row] >= self.settings.reuse
            if (limit[row] < 1.0 and not still) or is_bundle(view.topology, port):
                continue
            mine = np.flatnonzero((seen.row == row) & own)
            since = known.since if known is not None else float(seen.at[mine[0]])
            last = float(seen.at[mine[-1]])
            within = last - float(seen.at[mine[0]] - seen.step[mine[0]])
            found, signs = diagnosed(view, port, {sign(Symptom.FALLS, None): True}, since)
            yield Finding(
                kind=LINK_FLAPPING,
                about=port,
                score=float(limit[row]),
                since=since,
                at=last,
                evidence=[
                    evidence(
                        LINK_DOWNS, port, float(scores.count[row]), last,
                        f"fell {scores.count[row]:.0f} times, last "
                        f"{(view.now - last) / 60:.0f} min ago", 0.0,
                    )
                ],
                because=(
                    f"{port} fell {scores.count[row]:.0f} times in "
                    f"{span(within)}, the last time {span(view.now - last)} ago, "
                    f"{self._told(scores, row)}"
                ),
                causes=found.causes,
                side=found.side,
                direction=found.direction,
                signs=signs,
            )  # fmt: skip

    def _told(self, scores: _Scores, row: int) -> str:
        """Return the score that is nearer its limit, or beyond it by more."""
        fast, slow = float(scores.fast[row]), float(scores.slow[row])
        limits = self.settings.fast_limit, self.settings.slow_limit
        if fast / limits[0] >= slow / limits[1]:
            return f"flap score {fast:.0f} against {limits[0]:.0f}"
        half_life = span(self.settings.slow_half_life)
        return f"slow flap score ({half_life} half-life) {slow:.0f} against {limits[1]:.0f}"

    def _scores(self, view: View, seen: Falls, own: Bools) -> _Scores:
        rows = len(seen.ports)
        at, weight, row = seen.at[own], seen.weight[own], seen.row[own]
        fast = score(at, weight, row, rows, view.now, self.settings.fast_half_life)
        slow = score(at, weight, row, rows, view.now, self.settings.slow_half_life)
        count = np.bincount(row, weights=weight, minlength=rows).astype(np.float64)
        return _Scores(fast, slow, count)


def _key(view: View, about: object) -> str:
    if isinstance(about, Port) and (link := view.topology.link_of.get(about)):
        return link.id
    return str(about)
