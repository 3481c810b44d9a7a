"""A module that is hotter than its own limit, or than its siblings in the same device.

Heat wears lasers out and costs signal long before a module switches itself off. One hot module
has a fault or no air; many hot modules of one device have no air, or warm air: that is one
incident about cooling. Stays quiet on modules that warm up, on the daily cycle of the room that
all of them follow, on limits that nobody filled in, and on warmth that is no danger.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.causes.signs import Symptom, sign
from analyzer.evidence.causes.weighing import diagnose_link
from analyzer.evidence.optics.complaints import Complaint, beyond_limit, warmer
from analyzer.evidence.optics.fleet import RECALLED, REMEMBERED, Optics
from analyzer.evidence.optics.frozen import key_of
from analyzer.evidence.optics.levels import Look
from analyzer.evidence.optics.quantities import HEAT
from analyzer.evidence.optics.recalled import recalled_signs
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.optics import TEMPERATURE
from fabrichealth.kinds import OPTICS_OVERHEATING
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds


class OpticsOverheatingSettings(DetectorSettings):
    """Optics-overheating section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll; modules are read once a minute."""

    memory: Duration = seconds(7200)
    """How far back limits, identities and the state of ports are remembered."""

    every: Duration = seconds(300)
    """How often it judges: modules are read once a minute, and ail for hours."""

    baseline: Duration = seconds(21 * 86_400)
    """A module's own usual temperature is read off so long a past."""

    hold: Duration = seconds(300)
    """A module that is hot for less than this is not yet a finding."""

    warm_up: Duration = seconds(900)
    """A module that was just put in is not judged for so long."""

    limit_celsius: float = Field(default=70.0, gt=0)
    """Limit of a module that has none of its own (that of NVIDIA UFM's port isolation)."""

    siblings_kelvin: float = Field(default=12.0, gt=0)
    """So much hotter than the usual module of the same part in the same device is too hot."""

    siblings_deviations: float = Field(default=6.0, gt=0)
    """And so many robust deviations of those modules."""

    risen_kelvin: float = Field(default=12.0, gt=0)
    """And so much hotter than it used to be itself, where that is known: some seats are warm."""

    least_celsius: float = Field(default=55.0)
    """Below this no comparison makes a module too hot."""

    peers: int = Field(default=6, ge=3)
    """Fewer modules of the same part in one device than this cannot be compared."""

    cooling_share: float = Field(default=0.3, gt=0, le=1)
    """Where such a share of a device's modules is hot, and three at least, the air is to blame."""


class OpticsOverheating(Detector[OpticsOverheatingSettings]):
    """Temperature against the module's own limit and its siblings; score 1.0 is the limit."""

    kinds = (OPTICS_OVERHEATING,)
    metrics = (TEMPERATURE, *REMEMBERED)
    remembers = REMEMBERED
    recalls = RECALLED
    settings_type = OpticsOverheatingSettings

    @property
    def looks_back(self) -> float:
        """How long the past of the modules must be kept."""
        return self.settings.baseline

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per hot module, and one per device without air."""
        own = self.settings
        optics = Optics(view, Look(own.hold, own.warm_up, own.peers))
        worst: dict[str, Complaint] = {}
        for one in self._complaints(optics):
            known = worst.get(str(one.port))
            if known is None or one.score > known.score:
                worst[str(one.port)] = one
        by_device: dict[str, list[Complaint]] = {}
        for one in worst.values():
            by_device.setdefault(one.port.device, []).append(one)
        told = optics.lanes.port[np.isfinite(optics[HEAT].level)].tolist()
        every: dict[str, int] = {}
        for number in told:
            device = optics.lanes.ports[number].device
            every[device] = every.get(device, 0) + 1
        for device, hot in by_device.items():
            if len(hot) >= max(AIR_AT_LEAST, own.cooling_share * every.get(device, 0)):
                yield _of_device(optics, hot, every.get(device, len(hot)))
            else:
                yield from (_finding(optics, one, air=False) for one in hot)

    def _complaints(self, optics: Optics) -> Iterator[Complaint]:
        own = self.settings
        yield from beyond_limit(optics, HEAT, "high", DEPTH_KELVIN, own.limit_celsius)
        yield from warmer(
            optics,
            own.siblings_kelvin,
            own.siblings_deviations,
            own.risen_kelvin,
            own.least_celsius,
        )


AIR_AT_LEAST = 3
"""Fewer hot modules than this are not the air's fault."""

DEPTH_KELVIN = 5.0
"""Kelvin beyond its limit at which a module scores twice; alarms lie 5 K above warnings."""


def _finding(optics: Optics, one: Complaint, *, air: bool) -> Finding:
    """Return what is said of one hot module; `air`: its neighbours are hot as well."""
    before = [old for old in optics.view.before if old.about == one.port and old.since < one.since]
    place = optics.lanes.find(one.port)
    usual = float(optics[HEAT].baseline[place]) if place is not None else float("nan")
    since = min((old.since for old in before), default=one.since)
    link = optics.view.topology.link_of.get(one.port)
    signs = recalled_signs(optics.view, link.ends if link else (one.port,), since)
    signs |= {sign(Symptom.HOT, one.port): True, sign(Symptom.NEIGHBOURS_HOT, one.port): air}
    found = diagnose_link(signs, link, one.port)
    return Finding(
        kind=OPTICS_OVERHEATING,
        about=one.port,
        score=max(one.score, 1.0),
        since=since,
        at=one.at,
        evidence=[
            evidence(one.metric, one.port, one.value, one.at, f"{one.port}: {one.says}",
                     one.expected)
        ],
        because=f"{one.port}: {one.says}; its neighbours are not hot",
        causes=found.causes,
        side=one.port,
        signs=signs,
        detail={key_of(HEAT, one.port, ""): usual} if np.isfinite(usual) else {},
    )  # fmt: skip


def _of_device(optics: Optics, hot: Sequence[Complaint], every: int) -> Finding:
    """Return one finding about all hot modules of a device: the hottest, the others victims."""
    findings = [_finding(optics, one, air=True) for one in hot]
    leading = max(range(len(hot)), key=lambda n: (hot[n].score, str(hot[n].port)))
    worst, complaint = findings[leading], hot[leading]
    links = {
        link.id
        for one in hot
        if one is not complaint and (link := optics.view.topology.link_of.get(one.port))
    }
    mine = optics.view.topology.link_of.get(complaint.port)
    return replace(
        worst,
        since=min(one.since for one in findings),
        at=max(one.at for one in findings),
        evidence=[line for one in findings for line in one.evidence][:8],
        because=(
            f"{complaint.port}: {complaint.says}; so are {len(hot)} of {every} modules of "
            f"{complaint.port.device}: they share its air"
        ),
        victims=tuple(
            Place("link", name) for name in sorted(links - ({mine.id} if mine else set()))
        ),
        detail={key: value for one in findings for key, value in one.detail.items()},
    )
