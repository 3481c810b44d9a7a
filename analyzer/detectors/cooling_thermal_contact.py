"""One chip that is hot for what it draws while the coolant at its plate is as it was.

Its thermal resistance, (case - supply) / power, rises against its own past and against the chips
that share its branch; flow and supply are theirs too, so what is left is the contact to the cold
plate. Stays quiet where all chips of a branch are hot (flow, or supply), on chips that always sat
worse, and on idle ones.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.evidence.cooling.baselines import STAYS
from analyzer.evidence.cooling.chips import Chips, chips
from analyzer.evidence.cooling.loops import ON_LOOPS, CoolingDetector, CoolingSettings
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import POWER, TEMPERATURE
from fabrichealth.kinds import COOLING_THERMAL_CONTACT
from fabrichealth.model import Finding, Floats, Place, View


class CoolingThermalContactSettings(CoolingSettings):
    """Cooling-thermal-contact section of the configuration."""

    risen_ratio: float = Field(default=1.2, gt=1)
    """A thermal resistance so many times its own usual one is a contact lost (our estimate)."""

    peers_ratio: float = Field(default=1.1, gt=1)
    """And so many times that of the chips beside it."""

    alone_ratio: float = Field(default=1.4, gt=1)
    """Without a past of its own, so many times that of the chips beside it."""


class CoolingThermalContact(CoolingDetector[CoolingThermalContactSettings]):
    """Thermal resistance of chips against themselves and peers; score 1.0 is the ratio."""

    kinds = (COOLING_THERMAL_CONTACT,)
    metrics = (TEMPERATURE, POWER, *ON_LOOPS)
    settings_type = CoolingThermalContactSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each chip that lost contact to its plate."""
        if not len(view[TEMPERATURE]):
            return
        found = chips(self.mains(view))
        if not found.names:
            return
        rise, thermal = found.against_peers(found.rise), found.against_peers(found.thermal)
        now = self._score(rise, thermal)
        known = {one.about.id: one for one in view.before if isinstance(one.about, Place)}
        limit = np.array([STAYS if name in known else 1.0 for name in found.names])
        with np.errstate(invalid="ignore", over="ignore"):
            ill = np.flatnonzero(now >= limit)
        for row in ill.tolist():
            risen, beside = found.trails(row)
            scores = self._score(risen, beside)
            yield _finding(found, row, float(now[row]), scores, beside, known.get(found.names[row]))

    def _score(self, risen: Floats, beside: Floats) -> Floats:
        """Return the score by own past and peers; by peers alone where there is no past."""
        own = self.settings
        both = np.minimum(risen / np.log(own.risen_ratio), beside / np.log(own.peers_ratio))
        alone = beside / np.log(own.alone_ratio)
        return np.asarray(np.where(np.isfinite(risen), both, alone), np.float64)


def _finding(
    found: Chips, row: int, score: float, scores: Floats, beside: Floats, old: Finding | None
) -> Finding:
    cooling, name = found.cooling, found.names[row]
    case, power = float(found.case[row]), float(found.power[row])
    cold = float(found.cold[row])
    ratio = float(np.exp(beside[-1]))
    usual = cold + (case - cold) / ratio
    known = np.isfinite(scores)
    calm = np.flatnonzero(known & (scores < STAYS))
    ill = np.flatnonzero(known & (np.arange(len(known)) > (calm[-1] if len(calm) else -1)))
    since = float(cooling.starts[ill[0]]) if len(ill) else cooling.view.now - cooling.hold
    says = f"{case:.1f} °C at {power:.0f} W and {cold:.1f} °C supply, its peers {usual:.1f} °C"
    return Finding(
        kind=COOLING_THERMAL_CONTACT,
        about=Place("device", name),
        score=max(score, 1.0),
        since=min(since, old.since) if old else since,
        at=cooling.view.now,
        evidence=[
            evidence(TEMPERATURE, (name,), case, cooling.view.now, says, usual),
            evidence(POWER, (name,), power, cooling.view.now, f"draws {power:.0f} W"),
        ],
        because=f"{name}: {says} ({ratio:.2f} times their thermal resistance); "
        "the coolant of its branch is well",
    )
