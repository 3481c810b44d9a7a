"""A module whose light, bias or signal falls ill while its link still works.

Dirt, a bent fibre, a tired laser or receiver show here days before the link drops. Each lane is
held against its module's own limits, its long baseline together with its peers, and its
siblings; then both ends of the link are heard and the pattern names cause and side
(docs/methods.md, Light). Stays quiet on modules that warm up, are switched off or were just put
in, on daily cycles of temperature, on copper, on limits that nobody filled in, on what all
modules of a part show alike, and on links that are down.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.causes.weighing import Diagnosis
from analyzer.evidence.optics.banks import banks, ill_banks
from analyzer.evidence.optics.causes import diagnose_light
from analyzer.evidence.optics.complaints import (
    Complaint,
    behind_siblings,
    beyond_limit,
    fallen,
)
from analyzer.evidence.optics.fleet import RECALLED, REMEMBERED, RESTLESS, WINDOWED, Optics
from analyzer.evidence.optics.frozen import key_of
from analyzer.evidence.optics.jumps import Restlessness, restless
from analyzer.evidence.optics.lasers import aged, end_of_life, faulty, hungry
from analyzer.evidence.optics.levels import Look
from analyzer.evidence.optics.quantities import BIAS, RX, SNR_HOST, SNR_MEDIA, TX
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.kinds import OPTICS_DEGRADING
from fabrichealth.model import Evidence, Finding, Place, Port, View
from fabrichealth.settings import Duration, seconds

LINES = 8
"""Evidence lines in one finding."""


class OpticsDegradingSettings(DetectorSettings):
    """Optics-degrading section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll; modules are read once a minute."""

    memory: Duration = seconds(7200)
    """How far back limits, flags, identities and the state of ports are remembered."""

    every: Duration = seconds(300)
    """How often it judges: modules are read once a minute, and ail for hours."""

    baseline: Duration = seconds(21 * 86_400)
    """A lane's own baseline and its ageing are read off so long a past."""

    hold: Duration = seconds(600)
    """A lane that is low for less than this is not yet a finding: a fibre being moved."""

    warm_up: Duration = seconds(900)
    """A module that was just put in, or whose link just came up, is not judged for so long."""

    margin_db: float = Field(default=2.0, gt=0)
    """Light so far below its own baseline, and below the peers' 5th percentile, is low."""

    sudden_db: float = Field(default=4.0, gt=0)
    """Light so far below its own baseline is low whatever its peers have."""

    signal_margin_db: float = Field(default=1.5, gt=0)
    """Signal-to-noise ratio so far below its own baseline is low: ten times the errors or more."""

    sibling_db: float = Field(default=3.0, gt=0)
    """A lane so far below the others of its module has lost half its light."""

    sibling_deviations: float = Field(default=6.0, gt=0)
    """And so many robust deviations further below than lanes of its peers."""

    unrest_db: float = Field(default=0.75, gt=0)
    """Light or signal that goes up and down by so much from poll to poll is restless."""

    unrest_times: float = Field(default=5.0, gt=1)
    """And so many times as much as that of its peers."""

    dip_db: float = Field(default=1.0, gt=0)
    """Light or signal that falls by so much below its own median dips."""

    dips: int = Field(default=4, ge=2)
    """So many dips in two dozen polls are a loose plug; one or two, and a plug was touched."""

    bias_excess: float = Field(default=1.2, gt=1)
    """A laser that needs so much more bias than before, at the same temperature, ages."""

    ageing: Duration = seconds(14 * 86_400)
    """Growth of bias is told from so long a past at least."""

    ageing_doubt: float = Field(default=0.01, gt=0, lt=1)
    """And only if chance gives such a growth less often than this."""

    peers: int = Field(default=8, ge=2)
    """Fewer lanes of the same part than this have no percentile."""


class OpticsDegrading(Detector[OpticsDegradingSettings]):
    """Lanes against limits, baseline, peers and siblings; score 1.0 is the margin or limit."""

    kinds = (OPTICS_DEGRADING,)
    metrics = (RX_POWER, *(one for one in (*WINDOWED, *REMEMBERED) if one is not RX_POWER))
    remembers = REMEMBERED
    recalls = RECALLED
    settings_type = OpticsDegradingSettings

    @property
    def looks_back(self) -> float:
        """How long the past of the lanes must be kept."""
        return self.settings.baseline

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per ill link, and one for all links of an ill laser bank."""
        own = self.settings
        optics = Optics(view, Look(own.hold, own.warm_up, own.peers))
        cables: dict[str, list[Complaint]] = {}
        for one in self._complaints(optics):
            link = view.topology.link_of.get(one.port)
            cables.setdefault(link.id if link else str(one.port), []).append(one)
        if not cables:
            return
        of_bank = banks(view.topology)
        dim = [one.port for every in cables.values() for one in every if one.quantity is TX]
        ill = ill_banks(dim, _sending(optics, of_bank), of_bank)
        together: dict[str, list[Finding]] = {}
        for every in cables.values():
            finding, bank = self._finding(optics, every, of_bank, ill)
            if bank:
                together.setdefault(bank, []).append(finding)
            else:
                yield finding
        for bank, findings in sorted(together.items()):
            yield _of_bank(bank, findings, view)

    def _complaints(self, optics: Optics) -> Iterator[Complaint]:
        own = self.settings
        for quantity in (RX, TX):
            for bound in ("low", "high"):
                yield from beyond_limit(optics, quantity, bound, own.margin_db)
            yield from fallen(optics, quantity, own.margin_db, own.sudden_db)
            yield from behind_siblings(optics, quantity, own.sibling_db, own.sibling_deviations)
        for quantity in (SNR_MEDIA, SNR_HOST):
            yield from fallen(optics, quantity, own.signal_margin_db, own.sudden_db)
        jumps = Restlessness(own.unrest_db, own.unrest_times, own.dip_db, own.dips)
        for quantity in RESTLESS:
            yield from restless(optics, quantity, jumps)
        for bound in ("low", "high"):
            yield from beyond_limit(optics, BIAS, bound, BIAS_DEPTH)
        yield from hungry(optics, own.bias_excess)
        days = own.ageing / 86_400.0
        yield from aged(optics, own.bias_excess, days, own.ageing_doubt)
        yield from faulty(optics)

    def _finding(
        self,
        optics: Optics,
        every: Sequence[Complaint],
        of_bank: Mapping[Port, str],
        ill: set[str],
    ) -> tuple[Finding, str]:
        """Return what is said of one link, and the laser bank that is to blame, if one is."""
        worst = max(every, key=lambda one: (one.score, str(one.port), one.lane))
        here, there = worst.port, optics.view.topology.peer(worst.port)
        sender = here if worst.quantity in {TX, BIAS} else there
        bank = of_bank.get(sender, "") if sender else ""
        ends = {end: optics.of(end) for end in (here, there) if end is not None}
        link = optics.view.topology.link_of.get(here)
        dim = {end: of_bank[end] in ill for end in ends if end in of_bank}
        found, signs = diagnose_light(link, ends, dim)
        same_way = {
            one.lane for one in every if one.port == here and one.quantity == worst.quantity
        }
        since = min(one.since for one in every)
        before = [one for one in optics.view.before if one.about == here and one.since < since]
        finding = Finding(
            kind=OPTICS_DEGRADING,
            about=here,
            score=max(worst.score, 1.0),
            since=min((one.since for one in before), default=since),
            at=max(one.at for one in every),
            evidence=_lines(every),
            because=_because(worst, found),
            causes=found.causes,
            side=found.side,
            direction=found.direction,
            lane=worst.lane if len(same_way) == 1 and worst.lane else None,
            forecast=end_of_life(optics, worst),
            signs=signs,
            detail=_baselines(optics, every),
        )
        return finding, bank if bank in ill else ""


BIAS_DEPTH = 0.02
"""Amperes beyond its limit at which a bias scores twice."""


def _sending(optics: Optics, of_bank: Mapping[Port, str]) -> list[Port]:
    """Return the ports with a laser bank whose light sent is known."""
    if not of_bank:
        return []
    told = optics.lanes.port[np.isfinite(optics[TX].level)]
    return [optics.lanes.ports[number] for number in np.unique(told).tolist()]


def _lines(every: Sequence[Complaint]) -> list[Evidence]:
    """Return the gravest complaint of each quantity of each lane as evidence."""
    gravest: dict[tuple[Port, str, str], Complaint] = {}
    for one in every:
        key = (one.port, one.lane, one.quantity.name)
        if key not in gravest or one.score > gravest[key].score:
            gravest[key] = one
    ordered = sorted(gravest.values(), key=lambda one: (-one.score, str(one.port), one.lane))
    return [
        evidence(
            one.metric, _labels(one), one.value, one.at, f"{_place(one)}: {one.says}", one.expected
        )
        for one in ordered[:LINES]
    ]


def _labels(one: Complaint) -> tuple[str, ...]:
    tail = one.quantity.tail if one.metric is one.quantity.metric else ()
    return (*one.port, *([one.lane] if "lane" in one.metric.labels else []), *tail)


def _place(one: Complaint) -> str:
    return f"{one.port} lane {one.lane}" if one.lane else str(one.port)


def _because(worst: Complaint, found: Diagnosis) -> str:
    cause, share = next(iter(found.causes.items()))
    blame = f" at {found.side}" if found.side else ""
    return f"{_place(worst)}: {worst.says}; {share:.0%} {cause}{blame} ({found.signature})"


def _baselines(optics: Optics, every: Sequence[Complaint]) -> dict[str, float]:
    """Return what the ill lanes were before: their baselines are frozen while they are ill."""
    found = {}
    for one in every:
        place = optics.lanes.find(one.port, one.lane)
        usual = optics[one.quantity].baseline[place] if place is not None else np.nan
        if np.isfinite(usual):
            found[key_of(one.quantity, one.port, one.lane)] = float(usual)
    return found


def _of_bank(bank: str, findings: Sequence[Finding], view: View) -> Finding:
    """Return one finding about an ill laser bank: the dimmest link, the others its victims."""
    worst = max(findings, key=lambda one: (one.score, str(one.about)))
    others = []
    for one in findings:
        link = view.topology.link_of.get(one.about) if isinstance(one.about, Port) else None
        if one is not worst and link is not None:
            others.append(Place("link", link.id))
    return Finding(
        kind=worst.kind,
        about=worst.about,
        score=worst.score,
        since=min(one.since for one in findings),
        at=max(one.at for one in findings),
        evidence=[line for one in findings for line in one.evidence[:1]][:LINES],
        because=f"{worst.because}; {len(findings)} links of laser bank {bank} are dim together",
        causes=worst.causes,
        side=worst.side,
        direction=worst.direction,
        victims=tuple(sorted(others, key=lambda place: place.id)),
        signs=worst.signs,
        detail={key: value for one in findings for key, value in one.detail.items()},
    )
