"""One of several parallel links carries far more than its siblings, again and again.

Where few large flows share many links this is chance and not a fault (with N equal flows on m
links the spread is sqrt((m - 1) / N)): nobody is called, and the advice is more entropy.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.siblings import Families, siblings
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import RX_BYTES, SPEED, TX_BYTES
from fabrichealth.kinds import FABRIC_HOT_LINK
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, View
from fabrichealth.settings import Duration, seconds


class FabricHotLinkSettings(DetectorSettings):
    """Hot-link section of the configuration."""

    window: Duration = seconds(600)
    """Over so long a link must be hot, poll by poll."""

    memory: Duration = seconds(3600)
    """How far back the speed of ports is remembered."""

    every: Duration = seconds(60)
    """How often it judges: what lasts is all that matters."""

    load: float = Field(default=0.5, gt=0, le=1)
    """A link that carries less than this share of its rate is not hot."""

    times: float = Field(default=2.0, gt=1)
    """By so many times it carries more than the median of its siblings."""

    polls: float = Field(default=0.3, gt=0, le=1)
    """In this share of polls."""

    least: int = Field(default=4, ge=2)
    """And in so many at the least."""


class FabricHotLink(Detector[FabricHotLinkSettings]):
    """Share of polls in which a link is hot; score 1.0 is the least share."""

    kinds = (FABRIC_HOT_LINK,)
    metrics = (TX_BYTES, RX_BYTES, SPEED)
    remembers = (SPEED,)
    settings_type = FabricHotLinkSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each link and direction that is hot."""
        for metric in (TX_BYTES, RX_BYTES):
            if len(view[metric]):
                yield from self._hot(view, metric, siblings(view, metric, least=3))

    def _hot(self, view: View, metric: Metric, every: Families) -> Iterator[Finding]:
        wanted = self.settings
        with np.errstate(invalid="ignore"):
            hot = every.load >= wanted.load
            if not hot.any():
                return
            hot &= every.load >= wanted.times * every.median()
        known, count = np.isfinite(every.load).sum(axis=1), hot.sum(axis=1)
        share = count / np.maximum(known, 1)
        for member in np.flatnonzero((share >= wanted.polls) & (count >= wanted.least)).tolist():
            port = every.ports.ports[int(every.places[member])]
            group = every.of(int(every.group[member]))
            told = np.isfinite(group.load).any(axis=1)
            mean = np.nanmean(group.load[told], axis=1)
            row = int(np.flatnonzero(group.places[told] == every.places[member])[0])
            skew = float(mean[row] / mean.mean())
            says = (
                f"carries {mean[row]:.0%} of its rate, {skew:.2f} times the mean of "
                f"{len(mean)} parallel links"
            )
            first = int(np.argmax(hot[member]))
            window = view[metric]
            at = window.row(*port)
            since = view.now if at is None else float(window.times[at, first + 1])
            yield Finding(
                kind=FABRIC_HOT_LINK,
                about=port,
                score=float(share[member]) / wanted.polls,
                since=since,
                at=view.now,
                direction="tx" if metric is TX_BYTES else "rx",
                evidence=[
                    evidence(
                        metric, port, float(mean[row]), view.now, says, float(mean.mean()), "ratio"
                    )
                ],
                because=(
                    f"{port} {says}, hot in {count[member]} of {known[member]} polls; few large "
                    "flows do this by chance"
                ),
            )
