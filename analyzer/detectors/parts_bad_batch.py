"""A lot of modules that falls ill far more often than others of its sort.

Modules are counted by lot, ill and known, and held against all others; what ails one is told by
its own signal and light, or counts by half where it may be the far module. Modules that were taken
out and cured their port by going still count against their lot: a part's history follows its
serial number. A lot is accused if chance would hardly give it and it is proven to be twice as bad;
nested groups (firmware, part number) and places (rack, card, trunk) that explain the same ill
links better are believed first (docs/methods.md, Shared parts). Stays quiet on less than three ill
modules, without lots, and where a lot is all there is.
"""

from collections.abc import Iterator

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.parts.covering import Rule
from analyzer.evidence.parts.findings import BATCH, RECALLED, blamed, finding
from analyzer.evidence.parts.illness import (
    MEMORY,
    METRICS,
    REMEMBERED,
    WINDOW,
    illness,
)
from fabrichealth.kinds import PARTS_BAD_BATCH
from fabrichealth.model import Finding, View
from fabrichealth.settings import Duration, seconds


class PartsBadBatchSettings(DetectorSettings):
    """Parts-bad-batch section of the configuration."""

    window: Duration = seconds(WINDOW)
    """Errors before FEC and light are looked at over so long, as those of single links are."""

    memory: Duration = seconds(MEMORY)
    """Errors after FEC are counted over so long: they are rare."""

    every: Duration = seconds(60)
    """How often it judges: a lot fails over weeks."""

    past: Duration = seconds(21 * 86_400)
    """What light and signal usually are, and which modules were ill, is read off so long a past."""

    doubt: float = Field(default=BATCH.q, gt=0, lt=1)
    """Of the lots accused such a share may be chance (false discovery rate)."""

    members: int = Field(default=int(BATCH.hits), ge=2)
    """So many ill modules at the least."""

    excess: float = Field(default=BATCH.excess, ge=1)
    """By so many times a lot must be worse than others, proven with 95 % confidence."""

    def rule(self) -> Rule:
        """Return from when on a lot is accused."""
        return Rule(self.doubt, float(self.members), excess=self.excess)


class PartsBadBatch(Detector[PartsBadBatchSettings]):
    """Ill modules of one lot against all others; score 1.0 is the false discovery rate allowed."""

    kinds = (PARTS_BAD_BATCH,)
    metrics = METRICS
    remembers = REMEMBERED
    recalls = RECALLED
    settings_type = PartsBadBatchSettings

    @property
    def looks_back(self) -> float:
        """How long the past of light, signal and modules must be kept."""
        return self.settings.past

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each lot that explains ill modules."""
        ill, groups = blamed(view, {"lot": self.settings.rule()})
        for one in groups:
            if one.attribute.name == "lot":
                yield finding(view, ill, one, PARTS_BAD_BATCH, self.settings.doubt)

    def coverage(self, view: View) -> float:
        """Return the share of ends of links of which enough is known to count them."""
        heard = illness(view).heard
        return float(heard.mean()) if len(heard) else 0.0
