"""A host whose ports are served on the wrong NUMA node.

Each interrupt that another node serves crosses the socket's own link, twice with its data, and the
port is slow without an error anywhere. Hosts say which share of a port's interrupts that are. Quiet
where it passes (a balancer at work, a boot), on hosts of one node, and on ports that are idle.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import fresh, unbroken
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.devices import IRQ_REMOTE
from fabrichealth.kinds import HOST_IRQ_MISPLACED
from fabrichealth.model import Finding, Place, View, Window
from fabrichealth.settings import Duration, seconds

LINES = 8


class HostIrqMisplacedSettings(DetectorSettings):
    """Host-irq-misplaced section of the configuration."""

    window: Duration = seconds(2700)
    """How much of the recent past is looked at, poll by poll."""

    hold: Duration = seconds(1800)
    """Interrupts must be misplaced for so long."""

    share: float = Field(default=0.5, gt=0, le=1)
    """This share of a port's interrupts served on another node is misplaced."""


class HostIrqMisplaced(Detector[HostIrqMisplacedSettings]):
    """Share of a port's interrupts served elsewhere over the share allowed; score 1.0 is that."""

    kinds = (HOST_IRQ_MISPLACED,)
    metrics = (IRQ_REMOTE,)
    settings_type = HostIrqMisplacedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each host with misplaced ports."""
        window = view[IRQ_REMOTE]
        if not len(window):
            return
        since, held = unbroken(window.values >= self.settings.share, window)
        covered = fresh(window) & (window.coverage >= self.settings.min_coverage)
        misplaced = covered & (held >= self.settings.hold)
        hosts: dict[str, list[int]] = {}
        for row in np.flatnonzero(misplaced).tolist():
            hosts.setdefault(window.labels(row)[0], []).append(row)
        before = {str(one.about): one.since for one in view.before}
        for host, rows in hosts.items():
            began = min(float(since[row]) for row in rows)
            yield self._finding(window, host, rows, min(began, before.get(host, began)))

    def _finding(self, window: Window, host: str, rows: list[int], since: float) -> Finding:
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
                    IRQ_REMOTE, window.labels(row), float(window.last[row]),
                    float(window.last_at[row]), "of its interrupts served on another node", 0.0,
                )
                for row in rows[:LINES]
            ],
            because=(
                f"{host}: {worst:.0%} of the interrupts of {ports[0]} are served on another NUMA "
                f"node than the port's; {len(rows)} of its {of} ports are misplaced"
            ),
            victims=tuple(Place("port", f"{host}/{port}") for port in ports),
        )  # fmt: skip
