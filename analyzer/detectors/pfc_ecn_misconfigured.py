"""Pauses without marks: ECN is off, mapped wrongly, or set so high that pauses come first.

Four proofs, of which each suffices. By configuration alone: the marking threshold lies beyond
what a queue may hold before it pauses. By behaviour: a full queue for which others are paused
marks next to nothing, minute after minute. By the ends: marked packets arrive at a NIC that
sends no notification, or notifications at one that sends as fast as before.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import heard
from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.gathering import METRICS
from analyzer.evidence.pause.marking import advised, fair_bytes, marked_share
from analyzer.evidence.pause.reasons import reasons
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import (
    BUFFER_ALPHA,
    BUFFER_POOL,
    CNP_RX_PACKETS,
    CNP_TX_PACKETS,
    ECN_MARKED_PACKETS,
    ECN_RX_PACKETS,
    ECN_THRESHOLD,
    PFC_XOFF_THRESHOLD,
)
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.counters import increases
from fabrichealth.kinds import PFC_ECN_MISCONFIGURED
from fabrichealth.metric import Metric
from fabrichealth.model import Evidence, Finding, Labels, Place, Port, View, Window
from fabrichealth.settings import Duration, seconds

CONFIGURED = (ECN_THRESHOLD, BUFFER_ALPHA, BUFFER_POOL, PFC_XOFF_THRESHOLD)

LEAST_POLLS = 4
"""Of a sender's load, that it went on."""

MOST_LINES = 6
"""Of evidence; a switch has the same setting at all its ports."""


class PfcEcnMisconfiguredSettings(DetectorSettings):
    """ECN-misconfigured section of the configuration."""

    window: Duration = seconds(90)
    """How much of the recent past is looked at, poll by poll."""

    memory: Duration = seconds(7200)
    """How far back configured thresholds and the speed of ports are remembered."""

    every: Duration = seconds(60)
    """How often it judges: settings change seldom."""

    hold: Duration = seconds(60)
    """A queue that pauses without marks for less than this is a burst."""

    busy_queues: float = Field(default=8, ge=1)
    """So many queues of a switch are full at the same time, where that must be assumed."""

    marked: float = Field(default=0.01, gt=0, lt=1)
    """Marks that do less than this share of the control are none."""

    paused: float = Field(default=0.01, gt=0, lt=1)
    """Pauses of less than this share of the time need no marks."""

    explained: float = Field(default=0.6, gt=0, le=1)
    """A queue must explain this share of the pauses around it, else they have another reason."""

    arrivals: float = Field(default=10.0, gt=0)
    """Marked packets a second for which a NIC must notify the sender."""

    notified: float = Field(default=1000.0, gt=0)
    """Notifications a second that must slow a sender down: one each 50 us a flow is the most."""

    unmoved: float = Field(default=0.95, gt=0, le=1)
    """A sender that goes on at this share of its rate at every poll does not react."""


@dataclass(frozen=True, slots=True)
class _Proof:
    port: Port
    score: float
    line: Evidence
    because: str


class PfcEcnMisconfigured(Detector[PfcEcnMisconfiguredSettings]):
    """Marking that comes too late; score is how far beyond what can work it is."""

    kinds = (PFC_ECN_MISCONFIGURED,)
    metrics = (
        ECN_MARKED_PACKETS, *METRICS, *CONFIGURED, ECN_RX_PACKETS, CNP_RX_PACKETS, CNP_TX_PACKETS,
        SPEED,
    )  # fmt: skip
    remembers = (SPEED, *CONFIGURED)
    settings_type = PfcEcnMisconfiguredSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each device whose marking cannot work, or does not."""
        proofs = [
            *self._configured(view),
            *self._behaviour(view),
            *self._ends(view),
            *self._senders(view),
        ]
        by_device: dict[str, list[_Proof]] = {}
        for proof in proofs:
            by_device.setdefault(proof.port.device, []).append(proof)
        before = {str(finding.about): finding for finding in view.before}
        for device, mine in by_device.items():
            worst = max(mine, key=lambda proof: proof.score)
            ports = {proof.port for proof in mine}
            about = worst.port if len(ports) == 1 else Place("device", device)
            known = before.get(str(about))
            more = f", and {len(ports) - 1} more ports alike" if len(ports) > 1 else ""
            yield Finding(
                kind=PFC_ECN_MISCONFIGURED,
                about=about,
                score=worst.score,
                since=min(proof.line.at for proof in mine) if known is None else known.since,
                at=view.now,
                evidence=[proof.line for proof in mine[:MOST_LINES]],
                because=f"{worst.because}{more}",
            )

    def _configured(self, view: View) -> Iterator[_Proof]:
        """Yield thresholds that no queue reaches before it pauses."""
        pools = _said(view, BUFFER_POOL)
        alphas, fixed = _said(view, BUFFER_ALPHA), _said(view, PFC_XOFF_THRESHOLD)
        for labels, (most, since) in _said(view, ECN_THRESHOLD).items():
            device, port, priority, bound = labels
            if bound != "max":
                continue
            limits = []
            alpha, pool = alphas.get((device, port, priority)), pools.get((device,))
            if alpha is not None and pool is not None and min(alpha[0], pool[0]) > 0:
                fair = float(fair_bytes(alpha[0], pool[0], self.settings.busy_queues))
                says = f"with alpha {alpha[0]:g}, {self.settings.busy_queues:g} queues full"
                limits.append((fair, says))
            xoff = fixed.get((device, port, priority))
            if xoff is not None and xoff[0] > 0 and alpha is None:
                # of a dynamic threshold the switch may state its headroom by that name
                limits.append((xoff[0], "its fixed threshold"))
            if not limits:
                continue
            limit, why = min(limits)
            if most <= limit:
                continue
            low, high = advised(limit)
            says = (
                f"K_max {most / 1e3:.0f} kB lies beyond the {limit / 1e3:.0f} kB at which the "
                f"queue pauses ({why}): set K_min to {low / 1e3:.0f} kB, K_max to "
                f"{high / 1e3:.0f} kB"
            )
            whole = f"{device}/{port} priority {priority}: {says}"
            line = evidence(ECN_THRESHOLD, labels, most, since, whole, limit)
            yield _Proof(Port(device, port), most / limit, line, whole)

    def _behaviour(self, view: View) -> Iterator[_Proof]:
        """Yield full queues for which others are paused, and that mark next to nothing."""
        found = reasons(view)
        marks = view[ECN_MARKED_PACKETS]
        if found is None or not len(marks):
            return
        for origin in found.origins:
            labels = (*origin.port, str(origin.priority))
            row = marks.row(*labels)
            if not origin.full or row is None or origin.share < self.settings.explained:
                continue
            one = marks.select(np.array([row]))
            steps = increases(one.values, one.times)
            spent = float(steps.exposure()[0])
            if spent < self.settings.hold:
                continue
            device = found.pauses.crossings.device
            beside = np.flatnonzero(device == device[found.port_of(origin)])
            feeding = found.pauses.stops.share[beside * PRIORITIES + origin.priority]
            level = np.nan_to_num(feeding).mean(axis=1)
            held = float(level[level > self.settings.paused].sum())
            speed = float(found.pauses.speed[origin.queue])
            count = float(steps.total()[0])
            share = marked_share(count, held * spent, speed)
            if held < self.settings.paused or not share < self.settings.marked:
                continue
            says = (
                f"marked {count:.0f} packets in {spent:.0f} s while its ingresses were paused for "
                f"{held:.0%} of the time together"
            )
            line = evidence(ECN_MARKED_PACKETS, labels, count, float(one.times[0, 0]), says)
            because = f"{origin.port} {says}: ECN is off, mapped to another queue, or set too high"
            yield _Proof(origin.port, self.settings.marked / max(share, 1e-4), line, because)

    def _ends(self, view: View) -> Iterator[_Proof]:
        """Yield NICs to which marked packets come and that notify nobody."""
        arrive, notify = view[ECN_RX_PACKETS], view[CNP_TX_PACKETS]
        if not len(arrive) or not len(notify):
            return
        for row, rate in self._busy(arrive, self.settings.arrivals):
            labels = arrive.labels(row)
            place = notify.row(*labels)
            if place is None:
                continue
            sent = increases(notify.values[[place]], notify.times[[place]])
            if sent.exposure()[0] < self.settings.hold or sent.total()[0] > 0:
                continue
            says = f"{rate:.0f} marked packets a second arrive, and no notification is sent"
            line = evidence(ECN_RX_PACKETS, labels, rate, view.now, says, unit="1/s")
            port = Port(labels[0], labels[1])
            yield _Proof(port, rate / self.settings.arrivals, line,
                         f"{port}: {says}: enable the notification point")  # fmt: skip

    def _senders(self, view: View) -> Iterator[_Proof]:
        """Yield NICs that are notified all the time and send as fast as they can all the same."""
        told, found = view[CNP_RX_PACKETS], reasons(view)
        if not len(told) or found is None:
            return
        for row, rate in self._busy(told, self.settings.notified):
            port = Port(*told.labels(row))
            place = found.pauses.crossings.find(port)
            if place is None:
                continue
            load = found.pauses.carried[place]
            known = load[np.isfinite(load)]
            if len(known) < LEAST_POLLS or known.min() < self.settings.unmoved:
                continue
            says = (
                f"{rate:.0f} notifications a second arrive, and it sends at "
                f"{known.mean():.0%} of its rate all the same"
            )
            line = evidence(CNP_RX_PACKETS, tuple(port), rate, view.now, says, unit="1/s")
            yield _Proof(port, rate / self.settings.notified, line,
                         f"{port}: {says}: enable the reaction point")  # fmt: skip

    def _busy(self, window: Window, least: float) -> Iterator[tuple[int, float]]:
        """Yield the rows of a counter that rose by `least` a second for the hold, and the rate."""
        steps = increases(window.values, window.times)
        spent = steps.exposure()
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = steps.total() / spent
        for row in np.flatnonzero((rate >= least) & (spent >= self.settings.hold)).tolist():
            yield row, float(rate[row])


def _said(view: View, metric: Metric) -> dict[Labels, tuple[float, float]]:
    """Return what is configured now by labels, and since when it was seen (unix seconds)."""
    changes = view.changes(metric)
    since = np.where(np.isfinite(changes.changed_at), changes.changed_at, changes.first_at)
    return {
        changes.labels(row): (float(changes.value[row]), float(since[row]))
        for row in np.flatnonzero(heard(changes)).tolist()
    }
