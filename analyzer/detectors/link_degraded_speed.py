"""A link that is up but slower or narrower than it was built for.

The written speed and width count first; where nothing is written, what the link itself had
before; else what its peers have (same role, same technology, same role at the far end). Stays
quiet for a link that is down, for groups too small or too mixed to have a norm, and for a
retraining shorter than the hold.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import fresh, unbroken
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import LANES, SPEED, UP
from fabrichealth.kinds import LINK_DEGRADED_SPEED, Cause
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Port, View, Window
from fabrichealth.settings import Duration, seconds


class LinkDegradedSpeedSettings(DetectorSettings):
    """Link-degraded-speed section of the configuration."""

    memory: Duration = seconds(86_400)
    """What a link had in so long a past is what it should have, where nothing is written."""

    peers: int = Field(default=4, ge=2)
    """Fewer peers than this have no norm."""

    agreement: float = Field(default=0.7, gt=0.5, le=1)
    """Share of the peers that must agree on the norm."""


class LinkDegradedSpeed(Detector[LinkDegradedSpeedSettings]):
    """Speed and lanes against what is written, was, or is usual among peers."""

    kinds = (LINK_DEGRADED_SPEED,)
    metrics = (SPEED, LANES)
    settings_type = LinkDegradedSpeedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per port below its norm, speed before width."""
        said: set[str] = set()
        for metric in self.metrics:
            window = view[metric]
            if not len(window):
                continue
            should, source = self._should(view, window)
            low = window.values < should[:, None] * 0.98  # speeds are told with rounding
            since, held = unbroken(low, window)
            due = fresh(window) & (held >= self.settings.hold)
            for row in np.flatnonzero(due):
                port = Port(*window.labels(int(row)))
                name = _link_name(view, port)
                if name in said or _down(view, port):
                    continue
                said.add(name)
                yield _finding(view, window, int(row), port, should[row], source[row], since[row])

    def _should(self, view: View, window: Window) -> tuple[Floats, list[str]]:
        """Return for each row what it should show, NaN if nobody knows, and who says so."""
        should = np.full(len(window), np.nan)
        source = [""] * len(window)
        best = _best(view, window)
        norms = self._norms(view, window)
        for row in range(len(window)):
            port = Port(*window.labels(row))
            link = view.topology.link_of.get(port)
            written = None
            if link is not None:
                written = link.speed_gbps if window.metric is SPEED else link.lanes
            if written is not None:
                should[row] = written * (1e9 if window.metric is SPEED else 1.0)
                source[row] = "as written"
            elif best[row] > window.last[row]:
                should[row], source[row] = best[row], "as it had before"
            elif row in norms:
                should[row], source[row] = norms[row], "as its peers have"
        return should, source

    def _norms(self, view: View, window: Window) -> dict[int, float]:
        """Return the value that most peers of a row have."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for row in range(len(window)):
            port = Port(*window.labels(row))
            groups.setdefault(_stratum(view, port), []).append(row)
        found: dict[int, float] = {}
        for rows in groups.values():
            values = [float(window.last[row]) for row in rows if np.isfinite(window.last[row])]
            if len(values) < self.settings.peers:
                continue
            usual, count = Counter(values).most_common(1)[0]
            if count >= self.settings.agreement * len(values):
                found.update(dict.fromkeys(rows, usual))
        return found


def _stratum(view: View, port: Port) -> tuple[str, ...]:
    topology = view.topology
    link = topology.link_of.get(port)
    other = topology.peer(port)
    here = topology.devices.get(port.device)
    there = topology.devices.get(other.device) if other else None
    return (
        here.role if here else "",
        link.technology if link else port.port.rstrip("0123456789/"),
        there.role if there else "",
        "" if here else port.device,
    )


def _best(view: View, window: Window) -> Floats:
    """Return the highest value that each row had within memory and window."""
    changes = view.changes(window.metric)
    best: Floats = np.max(np.where(np.isfinite(window.values), window.values, -np.inf), axis=1)
    rows = np.searchsorted(window.series, changes.series)
    inside = rows < len(window)
    inside[inside] &= window.series[rows[inside]] == changes.series[inside]
    np.fmax.at(best, rows[inside], changes.before[inside])
    return best


def _down(view: View, port: Port) -> bool:
    up = view[UP]
    row = up.row(*port)
    return row is not None and up.last[row] == 0


def _link_name(view: View, port: Port) -> str:
    link = view.topology.link_of.get(port)
    return link.id if link else str(port)


def _worded(metric: Metric, value: float) -> str:
    return f"{value / 1e9:g} Gb/s" if metric is SPEED else f"{value:g} lanes"


def _finding(
    view: View,
    window: Window,
    row: int,
    port: Port,
    should: float,
    source: str,
    since: float,
) -> Finding:
    value, metric = float(window.last[row]), window.metric
    says = f"{_worded(metric, value)} instead of {_worded(metric, should)} {source}"
    return Finding(
        kind=LINK_DEGRADED_SPEED,
        about=port,
        score=float(should / value) if value > 0 else 2.0,
        since=since,
        at=view.now,
        evidence=[
            evidence(metric, port, value, float(window.last_at[row]), f"{port}: {says}", should)
        ],
        because=f"{port} runs at {says}",
        causes={Cause.LOOSE_OR_BAD_MODULE: 0.5, Cause.COPPER_CABLE: 0.2, Cause.UNKNOWN: 0.3},
    )
