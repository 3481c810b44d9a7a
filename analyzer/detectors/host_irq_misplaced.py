"""A host whose ports are served on the wrong NUMA node.

Each interrupt that another node serves crosses the socket's own link, twice with its data, and the
port is slow without an error anywhere. Hosts say which share of a port's interrupts that are; where
they also say which share lies behind another socket, that counts, since nodes of one socket are
near. Quiet where it passes (a balancer at work, a boot), on hosts of one node, on ports that are
idle, and on slow ones, such as those for management: they need no node of their own.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import fresh, unbroken
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.devices import IRQ_FAR, IRQ_REMOTE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import HOST_IRQ_MISPLACED
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Place, View, Window
from fabrichealth.settings import Duration, seconds

LINES = 8

WHERE = {
    IRQ_FAR: "behind another socket than the port's",
    IRQ_REMOTE: "on another NUMA node than the port's",
}


class HostIrqMisplacedSettings(DetectorSettings):
    """Host-irq-misplaced section of the configuration."""

    window: Duration = seconds(2700)
    """How much of the recent past is looked at, poll by poll."""

    memory: Duration = seconds(3600)
    """How long the speed of a port counts that was not told again."""

    hold: Duration = seconds(1800)
    """Interrupts must be misplaced for so long."""

    share: float = Field(default=0.5, gt=0, le=1)
    """This share of a port's interrupts served on another node is misplaced."""

    least_speed: float = Field(default=10e9, ge=0)
    """Ports slower than this (bit/s) are not looked at; those of unknown speed are."""


class HostIrqMisplaced(Detector[HostIrqMisplacedSettings]):
    """Share of a port's interrupts served elsewhere over the share allowed; score 1.0 is that."""

    kinds = (HOST_IRQ_MISPLACED,)
    metrics = (IRQ_FAR, IRQ_REMOTE, SPEED)
    remembers = (SPEED,)
    settings_type = HostIrqMisplacedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each host with misplaced ports."""
        far = view[IRQ_FAR]
        yield from self._of(far, IRQ_FAR, self._misplaced(far, view), view)
        near = self._misplaced(view[IRQ_REMOTE], view)
        if near:  # of hosts that tell what is far that alone counts
            telling = {far.labels(row)[0] for row in range(len(far))}
            near = {host: rows for host, rows in near.items() if host not in telling}
        yield from self._of(view[IRQ_REMOTE], IRQ_REMOTE, near, view)

    def _slow(self, view: View) -> set[Labels]:
        """Return the ports that are too slow to suffer."""
        speeds = view.changes(SPEED)
        rows = np.flatnonzero(speeds.value < self.settings.least_speed)
        return {speeds.labels(row) for row in rows.tolist()}

    def _misplaced(self, window: Window, view: View) -> dict[str, list[int]]:
        """Return the misplaced ports of each host, as rows of a window."""
        if not len(window):
            return {}
        _, held = unbroken(window.values >= self.settings.share, window)
        covered = fresh(window) & (window.coverage >= self.settings.min_coverage)
        misplaced = covered & (held >= self.settings.hold)
        hosts: dict[str, list[int]] = {}
        slow = self._slow(view) if misplaced.any() else set()
        for row in np.flatnonzero(misplaced).tolist():
            labels = window.labels(row)
            if labels not in slow:
                hosts.setdefault(labels[0], []).append(row)
        return hosts

    def _of(
        self, window: Window, metric: Metric, hosts: dict[str, list[int]], view: View
    ) -> Iterator[Finding]:
        """Yield what is misplaced of each host by one of both shares."""
        if not hosts:
            return
        since, _ = unbroken(window.values >= self.settings.share, window)
        before = {str(one.about): one.since for one in view.before}
        for host, rows in hosts.items():
            began = min(float(since[row]) for row in rows)
            yield self._finding(window, metric, host, rows, min(began, before.get(host, began)))

    def _finding(
        self, window: Window, metric: Metric, host: str, rows: list[int], since: float
    ) -> Finding:
        rows.sort(key=lambda row: -float(window.last[row]))
        ports = [window.labels(row)[1] for row in rows]
        worst = float(window.last[rows[0]])
        of = int((window.codes("device") == window.codes("device")[rows[0]]).sum())
        return Finding(
            kind=HOST_IRQ_MISPLACED,
            about=Place("device", host),
            score=max(worst / self.settings.share, 1.0),
            since=since,
            at=max(float(window.last_at[row]) for row in rows),
            evidence=[
                evidence(
                    metric, window.labels(row), float(window.last[row]),
                    float(window.last_at[row]), f"of its interrupts served {WHERE[metric]}", 0.0,
                )
                for row in rows[:LINES]
            ],
            because=(
                f"{host}: {worst:.0%} of the interrupts of {ports[0]} are served {WHERE[metric]}; "
                f"{len(rows)} of its {of} ports are misplaced"
            ),
            victims=tuple(Place("port", f"{host}/{port}") for port in ports),
        )  # fmt: skip
