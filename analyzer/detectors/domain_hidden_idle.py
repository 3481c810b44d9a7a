"""Accelerators of a domain that idle while the mean that everybody looks at looks well.

Half of a machine cannot idle at a true mean of 80 %, but a mean over those that report, that a job
holds, over hours, over busiest moments or over counters that count waiting is no true mean. So
what is idle is counted over the inventory, moment by moment, what says nothing included, and the
finding names the way in which the mean deceives and who answers for the idle ones. The same ones
must idle nearly all along: halves that take turns are a pipeline, not a waste.
"""

from collections.abc import Iterable, Iterator, MutableMapping

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.domain.idling import Bounds, Idling, idling, plainly
from analyzer.evidence.domain.illusions import Illusion
from analyzer.evidence.domain.inventory import inventory
from analyzer.evidence.domain.losses import losses
from analyzer.evidence.domain.owners import Owner, listed, owners, together
from analyzer.evidence.domain.spread import spread
from analyzer.evidence.domain.work import Work, work
from analyzer.evidence.testimony import evidence
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.accelerators import (
    ALLOCATED,
    POWER,
    TENSOR_ACTIVE,
    THROTTLED,
    UTILIZATION,
)
from fabrichealth.catalogue.devices import HOST_ALLOCATED, SCHEDULABLE
from fabrichealth.catalogue.verdicts import DOMAIN_LOST
from fabrichealth.kinds import DOMAIN_HIDDEN_IDLE
from fabrichealth.model import Evidence, Finding, Place, View
from fabrichealth.settings import Duration, seconds

MOST_LINES = 6


class DomainHiddenIdleSettings(DetectorSettings):
    """Hidden-idle section of the configuration."""

    hold: Duration = seconds(300)
    """The ticks of a window that is not yet filled must span so long."""

    idle: float = Field(default=0.05, gt=0, lt=1)
    """An accelerator that is busy for less than this share of the time idles."""

    share: float = Field(default=0.2, gt=0, lt=1)
    """This share of the inventory must idle or say nothing."""

    ticks: float = Field(default=0.6, gt=0, le=1)
    """At such a share of the ticks of the window there must be a busy and an idle class."""

    same: float = Field(default=0.9, gt=0, le=1)
    """The same accelerators must idle at such a share of the ticks; less is taking turns."""

    between: float = Field(default=0.8, gt=0, lt=1)
    """Share of the variance of utilisation that must lie between the two classes."""

    gap: float = Field(default=0.4, gt=0, lt=1)
    """Distance that the means of the two classes must have."""

    mean: float = Field(default=0.5, gt=0, lt=1)
    """From here on a published mean looks well."""

    hours: Duration = seconds(6 * 3600)
    """Means are also published over so long."""


class DomainHiddenIdle(Detector[DomainHiddenIdleSettings]):
    """Share of the inventory that idles over the share allowed; score 1.0 is `share`."""

    kinds = (DOMAIN_HIDDEN_IDLE,)
    metrics = (
        UTILIZATION, TENSOR_ACTIVE, POWER, THROTTLED, ALLOCATED, SCHEDULABLE, HOST_ALLOCATED,
    )  # fmt: skip
    recalls = (UTILIZATION,)
    settings_type = DomainHiddenIdleSettings

    @property
    def looks_back(self) -> float:
        """How many seconds of the long past are kept."""
        return self.settings.hours

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each domain that hides idle accelerators."""
        own = self.settings
        done = work(view)
        if done.told.span < own.hold:
            return
        bounds = Bounds(
            own.idle, own.share, own.ticks, own.same, own.between, own.gap, own.mean, own.hours
        )
        before = {str(one.about): one.since for one in view.before}
        for found in idling(view, done, bounds):
            yield self._finding(view, done, found, before)

    def _finding(self, view: View, done: Work, found: Idling, before: dict[str, float]) -> Finding:
        stock = done.stock
        answering = owners(view, stock, found.rows, found.silent)
        many = len(found.rows) + found.unlisted
        apart = f" ({found.uncounted} more do not say how busy they are)" * (found.uncounted > 0)
        return Finding(
            kind=DOMAIN_HIDDEN_IDLE,
            about=Place("domain", found.domain),
            score=found.share / self.settings.share,
            since=min(found.since, before.get(found.domain, found.since)),
            at=float(done.told.at[-1]),
            evidence=_evidence(done, found, answering),
            because=(
                f"{many} of {found.size} accelerators{apart} idle all along "
                f"({_owned(answering, found)}) behind a mean of {found.illusions[0].mean:.0%}; "
                f"{_deceived(found)}; the others work at {found.busy:.0%}"
            ),
            victims=tuple(Place("device", stock.names[row]) for row in found.rows.tolist()),
            detail={"idle": float(many), "plain": found.plain},
        )

    def verdicts(self, view: View, kept: MutableMapping[str, list[float]]) -> Iterable[Verdict]:
        """Return how utilisation is spread in each domain."""
        stock = inventory(view)
        if not len(view[UTILIZATION].table.of(UTILIZATION)):
            return []  # nobody here says how busy anything is
        done = work(view)
        newest = done.believed
        now = newest[:, -1] if newest.shape[1] else np.full(len(stock), np.nan)
        lost = [Verdict(DOMAIN_LOST, (one.domain, one.by), one.share) for one in losses(view, done)]
        return [*spread(stock, now, self.settings.idle), *lost]


def _owned(answering: list[Owner], found: Idling) -> str:
    told = [f"{len(one.rows)} {one.says}" for one in answering]
    if found.unlisted:
        told.append(f"{found.unlisted} never seen")
    return ", ".join(told)


HOW = {
    Illusion.DENOMINATOR: "counts only those that report",
    Illusion.ALLOCATION: "counts only those that a job holds",
    Illusion.SPINNING: "counts spinning as work",
    Illusion.SAMPLING: "takes the busiest moment for the interval",
    Illusion.TIME: "counts the hours before",
    Illusion.AVERAGE: "is true of all together and of nobody",
}


def _deceived(found: Idling) -> str:
    named = plainly(found.illusions)
    ways = " and ".join(HOW[one] for one in named)
    plain = "" if named == [Illusion.AVERAGE] else f", over all it is {found.plain:.0%}"
    return f"{named[0]}: it {ways}{plain}"


def _evidence(done: Work, found: Idling, answering: list[Owner]) -> list[Evidence]:
    stock, at = done.stock, float(done.told.at[-1])
    lines = []
    for owner in answering:
        row = int(owner.rows[0])
        named = listed([stock.names[one] for one in owner.rows.tolist()])
        says = f"{owner.says}: {len(owner.rows)} idle accelerators: {named}"
        own = done.believed[row]
        mean = float(own[np.isfinite(own)].mean()) if np.isfinite(own).any() else 0.0
        lines.append(evidence(UTILIZATION, (stock.names[row],), mean, at, says, found.busy))
    for one in found.illusions:
        says = f"{one.illusion}: a mean that {HOW[one.illusion]} says {one.mean:.0%}"
        lines.append(_of_all(found, {"mean": one.illusion}, one.mean, found.plain, at, says))
    for row in found.rows[done.rests[found.rows]][:1].tolist():
        labels, active = (stock.names[row],), float(done.tensor[row])
        says = "activity of its matrix units while it says that it is busy"
        lines.append(evidence(TENSOR_ACTIVE, labels, active, at, says))
    domain = stock.domain.rows(found.domain)
    domain = domain[~done.uncounted[domain]]
    for cluster in together(stock, domain, found.rows)[:2]:
        says = f"{cluster.idle} of {cluster.members} accelerators of {cluster.name} idle together"
        share = len(found.rows) / len(domain)
        part = {"part": cluster.name}
        lines.append(_of_all(found, part, cluster.idle / cluster.members, share, at, says))
    return lines[:MOST_LINES]


def _of_all(
    found: Idling, what: dict[str, str], value: float, expected: float, at: float, says: str
) -> Evidence:
    """Return a line that is about the domain, or a part of it, and not about one accelerator."""
    labels = {"domain": found.domain, **what}
    return Evidence(UTILIZATION, labels, value, expected, UTILIZATION.unit.value, at, says)
