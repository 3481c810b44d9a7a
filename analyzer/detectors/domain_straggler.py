"""One accelerator, host or rail that the others of its job wait for.

Peers are of one job, one role and one model; in a synchronous job they should do the same at the
same time. Whoever stands out among them all along is waited for if it waits least itself: its clock
is low, it is held up outside its kernels, or it computes while the others spin. A place in the host
that is different in every host is a trait of the machine, and where all are slow nobody is. What
passes the ports of the job's hosts accuses a host that stops its switches, a link, or a rail that
carries less on all of them.
"""

from collections.abc import Iterable, Iterator, MutableMapping

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.domain.allocation import allocation
from analyzer.evidence.domain.inventory import inventory
from analyzer.evidence.domain.lagging import SETTLING, Lagging, lagging, readings
from analyzer.evidence.domain.losses import WAITING, waited
from analyzer.evidence.domain.peers import hosts_of, peers
from analyzer.evidence.domain.rails import slow_rails
from analyzer.evidence.domain.reasons import reasons
from analyzer.evidence.domain.waited_for import Bounds
from analyzer.evidence.domain.ways import (
    Way,
    by_device,
    group_of,
    in_words,
    of_accelerators,
    of_rails,
)
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.accelerators import (
    ALLOCATED,
    CLOCK,
    POWER,
    TEMPERATURE,
    TENSOR_ACTIVE,
    THROTTLED,
    UTILIZATION,
)
from fabrichealth.catalogue.congestion import PFC_TX_PAUSE
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.catalogue.ports import TRANSMIT_WAIT, TX_BYTES
from fabrichealth.catalogue.verdicts import DOMAIN_LOST
from fabrichealth.kinds import DOMAIN_STRAGGLER
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds


class DomainStragglerSettings(DetectorSettings):
    """Straggler section of the configuration."""

    hold: Duration = seconds(120)
    """Whoever stands out must do so for so long."""

    deviations: float = Field(default=5.0, gt=0)
    """And by so many robust deviations of its peers, smoothed over half a minute."""

    first: float = Field(default=0.8, gt=0, le=1)
    """At such a share of the moments it must be the one that stands out most."""

    busy: float = Field(default=0.3, ge=0, le=1)
    """Peers that are used less than this have nothing to be held back from."""

    pause: Duration = seconds(300)
    """While its peers do no work at all, or that is not read, it must last so long: it may write a
    checkpoint that the others wait for."""


class DomainStraggler(Detector[DomainStragglerSettings]):
    """Smoothed robust deviations from the peers over those allowed; score 1.0 is `deviations`."""

    kinds = (DOMAIN_STRAGGLER,)
    metrics = (
        UTILIZATION, CLOCK, TENSOR_ACTIVE, POWER, THROTTLED, TEMPERATURE, ALLOCATED,
        HOST_ALLOCATED, PFC_TX_PAUSE, TRANSMIT_WAIT, TX_BYTES,
    )  # fmt: skip
    settings_type = DomainStragglerSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each accelerator, host or rail that is waited for."""
        before = {str(one.about): one.since for one in view.before}
        for name, ways in by_device(self._ways(view)).items():
            yield self._finding(view, name, ways, before)

    def verdicts(self, view: View, kept: MutableMapping[str, list[float]]) -> Iterable[Verdict]:
        """Return which share of each domain waits for stragglers."""
        for name, share in waited(view, self._lagging(view)).items():
            yield Verdict(DOMAIN_LOST, (name, WAITING), share)

    def _lagging(self, view: View) -> list[Lagging]:
        """Return who lags in each group of peers, once a pass."""
        own = self.settings
        bounds = Bounds(own.deviations, own.hold, own.first, own.busy, own.pause)
        accused = _accused(view)
        key = (Lagging, bounds, accused, view[UTILIZATION].seconds)
        return view.once(key, lambda: _every(view, bounds, accused))

    def _ways(self, view: View) -> Iterator[Way]:
        """Yield how each machine that is waited for shows it."""
        own, stock = self.settings, inventory(view)
        rules, accused = (own.deviations, own.hold, own.first), _accused(view)
        for one in self._lagging(view):
            yield of_accelerators(stock, one)
        for job in allocation(view).running if view.events else ():
            hosts = hosts_of(job, view.topology)
            start = job.since + SETTLING
            for slow in slow_rails(view, job, hosts, start, rules, accused):
                yield of_rails(job.name, len(hosts), slow)

    def _finding(self, view: View, name: str, ways: list[Way], before: dict[str, float]) -> Finding:
        worst = ways[0]
        lagging = group_of(ways)
        why = [] if lagging is None else reasons(view, inventory(view), *lagging)
        since = min(one.since for one in ways)
        words = "; ".join([*in_words(ways), *(reason.says for reason in why)])
        jobs = dict.fromkeys(Place("job", one.job) for one in ways)
        parts = dict.fromkeys(place for one in ways for place in one.victims)
        return Finding(
            kind=DOMAIN_STRAGGLER,
            about=Place("device", name),
            score=worst.score / self.settings.deviations,
            since=min(since, before.get(name, since)),
            at=worst.at,
            evidence=[*(one.line for one in ways), *(reason.line for reason in why)],
            because=f"{name} holds back {worst.peers}: {words}",
            victims=(*jobs, *parts),
        )


def _accused(view: View) -> frozenset[str]:
    """Return the devices, and the ports, that were found to hold others back a pass before."""
    ports = [place.id for one in view.before for place in one.victims if place.type == "port"]
    return frozenset(
        (*ports, *(one.about.id for one in view.before if isinstance(one.about, Place)))
    )


def _every(view: View, bounds: Bounds, accused: frozenset[str]) -> list[Lagging]:
    stock = inventory(view)
    groups = list(peers(stock, allocation(view))) if view.events else []
    if not groups:
        return []
    told = readings(view, stock)
    return [one for group in groups for one in lagging(view, stock, group, told, bounds, accused)]
