"""A coolant unit whose controller answers, and says nothing: every reading of it is 0.

Its network half lives on while the half that measures is dead, so it is no silent source, and its
zeros are no burst, no stopped pump and no clogged filter either: none of them is judged, and what
the unit feeds is not known to be well. Somebody must look. Stays quiet while a unit starts again,
on a loop that merely stands (its water stays warm), and on single meters that fail.
"""

from collections.abc import Iterator

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.cooling.places import MEASURED
from analyzer.evidence.cooling.staying_cool import OF_CHIPS
from analyzer.evidence.cooling.zeros import answering_zeros
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds


class CoolingUnitMuteSettings(DetectorSettings):
    """Cooling-unit-mute section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll."""

    baseline: Duration = seconds(7 * 86_400.0)
    """What chips were like at high load is read off so long a past."""

    every: Duration = seconds(60)
    """How often it judges: nobody is called for it."""

    hold: Duration = seconds(600)
    """A unit that starts again has real readings by then."""


class CoolingUnitMute(Detector[CoolingUnitMuteSettings]):
    """Units that answer nothing but zeros; score 1.0 is the hold."""

    kinds = (WATCH_DATA_IMPLAUSIBLE,)
    metrics = (*MEASURED, *OF_CHIPS)
    recalls = OF_CHIPS
    settings_type = CoolingUnitMuteSettings

    @property
    def looks_back(self) -> float:
        """How long the past must be kept."""
        return self.settings.baseline

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each unit whose zeros are no readings."""
        before = {str(one.about): one.since for one in view.before}
        for unit in answering_zeros(view):
            about = Place("loop", unit.loop)
            since = min(unit.since, before.get(str(about), unit.since))
            if view.now - since < self.settings.hold:
                continue
            also = "its branches flow on" if unit.branches else "chips on it work and stay cool"
            if unit.metric is COOLANT_TEMPERATURE:
                also = "its water would be at 0 °C"
            says = f"{unit.read} readings of its unit are 0 together, and {also}"
            yield Finding(
                kind=WATCH_DATA_IMPLAUSIBLE,
                about=about,
                score=max((view.now - since) / self.settings.hold, 1.0),
                since=since,
                at=unit.at,
                evidence=[evidence(unit.metric, unit.labels, 0.0, unit.at, says)],
                because=f"{unit.loop}: {says}, for {(view.now - since) / 60.0:.0f} min: nothing is "
                "known of its pumps, its level and what it cools",
            )
