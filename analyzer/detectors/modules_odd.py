"""A link that is odd in all its readings together while no law that we know is broken.

Errors, light, bias, signal and temperature of each end are held against a robust covariance of
links of its sort. What physics can explain is left to it: an end that is ill by its limits, its
past or its siblings is not told of here. What remains is a contradiction between readings, a
sensor that lies or a fault without a name yet: watched, never a ticket, with what contributes to
it (docs/methods.md, Screen). Stays quiet in strata of too few links, on what is not read, on links
that are down.
"""

from collections.abc import Iterator

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.link.gathering import WORDS
from analyzer.evidence.optics.quantities import QUANTITIES
from analyzer.evidence.parts.illness import (
    MEMORY,
    METRICS,
    RECALLED,
    REMEMBERED,
    WINDOW,
    Illness,
    illness,
)
from analyzer.evidence.screen import ERRORS, MEASURED, Odd, features, odd, since
from analyzer.evidence.testimony import evidence
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE
from fabrichealth.metric import Metric
from fabrichealth.model import Evidence, Finding, View
from fabrichealth.settings import Duration, seconds

LINES = 3
WORDS_OF = {
    "errors": "errors before FEC (decades)", "rx_power": "light received",
    "tx_power": "light sent", "tx_bias": "laser bias", "snr_media": "SNR of the receiver",
    "snr_host": "SNR of the host side", "temperature": "temperature",
}  # fmt: skip
LOOKED_AT: tuple[Metric, ...] = tuple(dict.fromkeys((*METRICS, *(one.metric for one in MEASURED))))


class ModulesOddSettings(DetectorSettings):
    """Modules-odd section of the configuration."""

    window: Duration = seconds(WINDOW)
    """Readings are the median of so long."""

    memory: Duration = seconds(MEMORY)
    """Errors after FEC are counted over so long, to know what physics explains."""

    every: Duration = seconds(3600)
    """How often it judges: it costs more than other detectors, and what it finds can wait."""

    past: Duration = seconds(21 * 86_400)
    """What light and signal usually are is read off so long a past."""

    doubt: float = Field(default=0.01, gt=0, lt=1)
    """By chance one end of the whole fleet is odd so often, if readings are normal."""


class ModulesOdd(Detector[ModulesOddSettings]):
    """Robust distance from links of the same sort; score 1.0 is the limit by `doubt`."""

    kinds = (WATCH_DATA_IMPLAUSIBLE,)
    metrics = LOOKED_AT
    remembers = REMEMBERED
    recalls = RECALLED
    settings_type = ModulesOddSettings

    @property
    def looks_back(self) -> float:
        """How long the past of light and signal must be kept."""
        return self.settings.past

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each end that is odd though nothing we know of is wrong with it."""
        ill = illness(view)
        explained = ill.any | ill.any[ill.own.peer]
        for one in odd(features(view, ill.known, ill.own), ill.own.stratum, self.settings.doubt):
            if not explained[one.unit]:
                yield _finding(view, ill, one)

    def coverage(self, view: View) -> float:
        """Return the share of ends of links of which enough is known to compare them."""
        heard = illness(view).heard
        return float(heard.mean()) if len(heard) else 0.0


def _finding(view: View, ill: Illness, one: Odd) -> Finding:
    port = ill.own.ports[one.unit]
    lines = [_line(view, ill, one, place) for place in range(min(LINES, len(one.features)))]
    before = [early.since for early in view.before if early.about == port]
    what = ", ".join(
        f"{WORDS_OF[name]} {share:.0%}"
        for name, share in list(zip(one.features, one.shares, strict=True))[:LINES]
    )
    return Finding(
        kind=WATCH_DATA_IMPLAUSIBLE,
        about=port,
        score=max(one.distance, 1.0),
        since=min([since(view, ill.own, one), *before]),
        at=view.now,
        evidence=lines,
        because=f"{port}: readings that no other link of its sort has together ({what})",
    )


def _line(view: View, ill: Illness, one: Odd, place: int) -> Evidence:
    """Return one feature as evidence, under the first of the series that it is read off."""
    port, name = ill.own.ports[one.unit], one.features[place]
    says = (
        f"{port}: {WORDS_OF[name]} {one.values[place]:.3g}, usually {one.usual[place]:.3g} among "
        f"its peers; {one.shares[place]:.0%} of what is odd"
    )
    if name == ERRORS:
        where = ill.known.ends.find(port)
        metric = [*WORDS][max(int(ill.known.raw_metric[where]) if where is not None else 0, 0)]
        return evidence(metric, tuple(port), one.values[place], view.now, says, one.usual[place])
    quantity = next(each for each in QUANTITIES if each.name == name)
    lane = () if len(quantity.metric.labels) == 2 else ("",)
    labels = (*port, *lane, *quantity.tail)
    value, usual = one.values[place], one.usual[place]
    return evidence(quantity.metric, labels, value, view.now, says, usual)
