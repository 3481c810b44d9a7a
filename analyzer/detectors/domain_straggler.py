"""One accelerator, or one host, that the others of its job wait for.

Peers are of one job, one role and one model; in a synchronous job they should do the same at the
same time. Whoever stands out among them all along is waited for if it waits least itself: its clock
is low, it is held up outside its kernels, or it computes while the others spin. A place in the host
that is different in every host is a trait of the machine, and where all are slow nobody is.
"""

from collections.abc import Iterable, Iterator, MutableMapping

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.domain.allocation import allocation
from analyzer.evidence.domain.inventory import Inventory, inventory
from analyzer.evidence.domain.lagging import Bounds, Lagging, lagging, readings
from analyzer.evidence.domain.losses import WAITING, waited
from analyzer.evidence.domain.owners import listed
from analyzer.evidence.domain.peers import peers
from analyzer.evidence.domain.reasons import reasons
from analyzer.evidence.domain.work import work
from analyzer.evidence.testimony import evidence
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
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.catalogue.verdicts import DOMAIN_LOST
from fabrichealth.kinds import DOMAIN_STRAGGLER
from fabrichealth.model import Evidence, Finding, Place, View
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


class DomainStraggler(Detector[DomainStragglerSettings]):
    """Smoothed robust deviations from the peers over those allowed; score 1.0 is `deviations`."""

    kinds = (DOMAIN_STRAGGLER,)
    metrics = (
        UTILIZATION, CLOCK, TENSOR_ACTIVE, POWER, THROTTLED, TEMPERATURE, ALLOCATED,
        HOST_ALLOCATED,
    )  # fmt: skip
    settings_type = DomainStragglerSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each accelerator or host that is waited for."""
        stock = inventory(view)
        found: dict[str, list[Lagging]] = {}
        for one in self._lagging(view):
            found.setdefault(one.host or stock.names[int(one.rows[0])], []).append(one)
        before = {str(one.about): one.since for one in view.before}
        for name, ways in sorted(found.items()):
            yield self._finding(view, stock, name, ways, before)

    def verdicts(self, view: View, kept: MutableMapping[str, list[float]]) -> Iterable[Verdict]:
        """Return which share of each domain waits for stragglers."""
        stock = inventory(view)
        for name, share in waited(stock, work(view), self._lagging(view)).items():
            yield Verdict(DOMAIN_LOST, (name, WAITING), share)

    def _lagging(self, view: View) -> list[Lagging]:
        """Return who lags in each group of peers, once a pass."""
        own = self.settings
        bounds = Bounds(own.deviations, own.hold, own.first, own.busy)
        return view.once((Lagging, bounds, view[UTILIZATION].seconds), lambda: _every(view, bounds))

    def _finding(
        self,
        view: View,
        stock: Inventory,
        name: str,
        ways: list[Lagging],
        before: dict[str, float],
    ) -> Finding:
        ways.sort(key=lambda one: -one.score)
        worst = ways[0]
        why = reasons(view, stock, worst.rows, worst.group.rows)
        since = min(one.since for one in ways)
        words = "; ".join([*dict.fromkeys(_words(one) for one in ways), *(r.says for r in why)])
        return Finding(
            kind=DOMAIN_STRAGGLER,
            about=Place("device", name),
            score=worst.score / self.settings.deviations,
            since=min(since, before.get(name, since)),
            at=worst.at,
            evidence=[*(_line(stock, one) for one in ways), *(reason.line for reason in why)],
            because=f"{name} holds back {worst.group.but(len(worst.rows))}: {words}",
            victims=_victims(stock, name, ways),
        )


def _every(view: View, bounds: Bounds) -> list[Lagging]:
    stock = inventory(view)
    groups = list(peers(stock, allocation(view))) if view.events else []
    if not groups:
        return []
    told = readings(view, stock)
    return [one for group in groups for one in lagging(view, stock, group, told, bounds)]


def _victims(stock: Inventory, name: str, ways: list[Lagging]) -> tuple[Place, ...]:
    """Return the jobs that wait, and of a host its accelerators."""
    jobs = dict.fromkeys(one.group.job.name for one in ways)
    own = sorted({row for one in ways if one.host for row in one.rows.tolist()})
    return (
        *(Place("job", job) for job in jobs),
        *(Place("device", stock.names[row]) for row in own if stock.names[row] != name),
    )


def _words(one: Lagging) -> str:
    """Return a number beside that of its peers, in the unit that a person reads."""
    if one.signal.metric is CLOCK:
        return f"{one.signal.says}, {one.value / 1e9:.2f} GHz beside {one.usual / 1e9:.2f} GHz"
    return f"{one.signal.says}, {one.signal.metric} {one.value:.0%} beside {one.usual:.0%}"


def _line(stock: Inventory, one: Lagging) -> Evidence:
    names = [stock.names[row] for row in one.rows.tolist()]
    others = one.group.but(len(names))
    who = f"{one.host}: {listed(names)}" if one.host else names[0]
    says = f"{who}: {one.signal.says}; {one.score:.1f} robust deviations from {others}"
    return evidence(one.signal.metric, (names[0],), one.value, one.at, says, one.usual)
