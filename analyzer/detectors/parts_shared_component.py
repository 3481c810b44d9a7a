"""Several ill links that share a trunk, a line card or a device: one part to mend, not many links.

Ill and known links are counted trunk by trunk, card by card and device by device, within links of
the same sort, and held against all others; counts may be over-dispersed, all tests are one family,
and of parts that share members the one that explains most is accused (docs/methods.md, Shared
parts). Which part comes into question follows from the symptom: light lost both ways accuses a
trunk, errors one way without any loss of light what the ports are plugged into. Stays quiet where
fewer than three links are ill, two of them for certain, where there is nothing to compare with,
where a whole device is dark, and where a lot, a firmware, a laser bank or a rack explains more, or
a module that carries several ports: that is accused where incidents are joined.
"""

from collections.abc import Iterator

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.parts.blaming import ACCUSED
from analyzer.evidence.parts.covering import Rule
from analyzer.evidence.parts.findings import RECALLED, SHARED, blamed, finding
from analyzer.evidence.parts.illness import (
    MEMORY,
    METRICS,
    REMEMBERED,
    WINDOW,
    illness,
)
from fabrichealth.kinds import PARTS_SHARED_COMPONENT
from fabrichealth.model import Finding, View
from fabrichealth.settings import Duration, seconds


class PartsSharedComponentSettings(DetectorSettings):
    """Parts-shared-component section of the configuration."""

    window: Duration = seconds(WINDOW)
    """Errors before FEC and light are looked at over so long, as those of single links are."""

    memory: Duration = seconds(MEMORY)
    """Errors after FEC are counted over so long: they are rare."""

    past: Duration = seconds(21 * 86_400)
    """What light and signal usually are is read off so long a past."""

    doubt: float = Field(default=SHARED.q, gt=0, lt=1)
    """Of the parts accused such a share may be chance (false discovery rate)."""

    members: int = Field(default=int(SHARED.hits), ge=2)
    """So many ill links at the least."""

    share: float = Field(default=SHARED.share, ge=0, le=1)
    """And such a share of the links of the part that are known."""

    def rule(self) -> Rule:
        """Return from when on a part is accused."""
        return Rule(self.doubt, float(self.members), self.share)


class PartsSharedComponent(Detector[PartsSharedComponentSettings]):
    """Ill links of one part against all others; score 1.0 is the false discovery rate allowed."""

    kinds = (PARTS_SHARED_COMPONENT,)
    metrics = METRICS
    remembers = REMEMBERED
    recalls = RECALLED
    settings_type = PartsSharedComponentSettings

    @property
    def looks_back(self) -> float:
        """How long the past of light and signal must be kept."""
        return self.settings.past

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each part that explains ill links."""
        rule = self.settings.rule()
        ill, groups = blamed(view, dict.fromkeys(ACCUSED, rule))
        for one in groups:
            if one.attribute.name in ACCUSED:
                yield finding(view, ill, one, PARTS_SHARED_COMPONENT, self.settings.doubt)

    def coverage(self, view: View) -> float:
        """Return the share of ends of links of which enough is known to count them."""
        heard = illness(view).heard
        return float(heard.mean()) if len(heard) else 0.0
