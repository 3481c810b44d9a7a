"""Devices that run another firmware or driver than their role does, and are ill for it.

Versions drift all the time; a minority that is well is nobody's trouble. One is accused where those
that run it are ill far more often than the others of the same role and model: their links err or
are down, they report errors, or call themselves unhealthy. Then what is ill of them is one
incident and not many. A job that fell is no illness of the accelerators it ran on.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.domain.inventory import inventory
from analyzer.evidence.domain.jobs import jobs
from analyzer.evidence.domain.owners import listed
from analyzer.evidence.parts.ailing import Ailing, ailing
from analyzer.evidence.parts.illness import MEMORY, METRICS, RECALLED, REMEMBERED, WINDOW
from analyzer.evidence.parts.job_falls import of_one_fall
from analyzer.evidence.parts.versions import Odd, Running, odd_versions, running
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import ACCELERATOR_INFO, ERRORS, HEALTHY, UTILIZATION
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.kinds import PARTS_VERSION_DRIFT
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds
from fabrichealth.topology import Topology

LINES = 6

ALONE = "; it alone runs it, so that it may as well be ill of something else"


class PartsVersionDriftSettings(DetectorSettings):
    """Parts-version-drift section of the configuration."""

    window: Duration = seconds(WINDOW)
    """Links and what devices say of themselves are looked at over so long."""

    memory: Duration = seconds(MEMORY)
    """Errors are counted over so long: they are rare."""

    every: Duration = seconds(60)
    """How often it judges: versions change by hand."""

    past: Duration = seconds(21 * 86_400)
    """What light and signal of links usually are is read off so long a past."""

    doubt: float = Field(default=0.01, gt=0, lt=1)
    """Chance, over all odd versions of the site, at which an odd version is accused."""

    share: float = Field(default=0.5, gt=0, le=1)
    """Such a share of those that run it must be ill."""


class PartsVersionDrift(Detector[PartsVersionDriftSettings]):
    """Chance that those of an odd version are ill by accident; score 1.0 is the doubt allowed."""

    kinds = (PARTS_VERSION_DRIFT,)
    metrics = (*METRICS, DEVICE_INFO, ACCELERATOR_INFO, HEALTHY, ERRORS, UTILIZATION)
    remembers = (*REMEMBERED, ERRORS, DEVICE_INFO, ACCELERATOR_INFO)
    recalls = RECALLED
    settings_type = PartsVersionDriftSettings

    @property
    def looks_back(self) -> float:
        """How long the past of light and signal must be kept."""
        return self.settings.past

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each odd version whose devices are ill for it."""
        told = running(view)
        if len({(one.what, one.version) for one in told}) < 2:
            return
        stock = inventory(view)
        model = {name: stock.model.of(row) for row, name in enumerate(stock.names)}
        ill = ailing(view)
        fell = {name: max(one.since for one in symptoms) for name, symptoms in ill.items()}
        for odd in odd_versions(told, view.topology, model, fell):
            enough = len(odd.ill) >= self.settings.share * len(odd.devices)
            if not (odd.ill and enough and odd.chance <= self.settings.doubt):
                continue
            runs = [
                one for one in told
                if one.what == odd.what and one.labels[0] in odd.ill and one.version == odd.version
            ]  # fmt: skip
            own = {
                one.labels[0]: [by for by in ill[one.labels[0]] if by.since > one.since]
                for one in runs
            }
            ran = view.once((jobs, "events"), lambda: jobs(view.events))
            if not of_one_fall(own, ran) and not _one_link_of_many(view.topology, odd, own):
                yield self._finding(view, odd, runs, own)

    def _finding(self, view: View, odd: Odd, runs: Sequence[Running], by_device: Ailing) -> Finding:
        own = [symptom for mine in by_device.values() for symptom in mine]
        about = _place(view, odd)
        since = min(one.since for one in own)
        before = [one.since for one in view.before if one.about == about]
        lines = [
            evidence(one.metric, one.labels, 1.0, one.at, f"runs {odd.what} {one.version}")
            for one in runs[:2]
        ]
        lines += [one.line for one in own[: LINES - len(lines)]]
        victims = dict.fromkeys(place for one in own for place in one.ill)
        victims |= dict.fromkeys(Place("device", name) for name in odd.devices)
        return Finding(
            kind=PARTS_VERSION_DRIFT,
            about=about,
            score=max(log(max(odd.chance, 1e-300)) / log(self.settings.doubt), 1.0),
            since=min([since, *before]),
            at=max(one.line.at for one in own),
            evidence=lines,
            because=(
                f"{len(odd.ill)} of {len(odd.devices)} {odd.role}s with {odd.what} {odd.version} "
                f"are ill ({listed(odd.ill)}), {odd.others_ill} of {odd.others} with others; most "
                f"run {odd.usual} (chance {odd.chance:.1e}){ALONE if len(odd.devices) == 1 else ''}"
            ),
            victims=tuple(place for place in victims if place != about),
        )

    def coverage(self, view: View) -> float:
        """Return the share of devices of the topology that say what they run."""
        devices = view.topology.devices
        said = {one.labels[0] for one in running(view)} & devices.keys()
        return len(said) / len(devices) if devices else 0.0


def _one_link_of_many(topology: Topology, odd: Odd, by_device: Ailing) -> bool:
    """Return whether one device alone differs and one of its links alone is ill: it is the link."""
    if len(odd.devices) > 1:
        return False
    ill = {place for mine in by_device.values() for one in mine for place in one.ill or (None,)}
    return len(ill) == 1 and None not in ill and len(topology.links_of[odd.devices[0]]) > 1


def _place(view: View, odd: Odd) -> Place:
    """Return who is accused: the device that differs, of several the domain of most ill."""
    if len(odd.devices) == 1:
        return Place("device", odd.devices[0])
    domains = Counter(view.topology.domain_of(name) for name in odd.ill)
    del domains[""]
    if not domains:
        return Place("device", odd.ill[0])
    return Place("domain", min(domains, key=lambda name: (-domains[name], name)))
