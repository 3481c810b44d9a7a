"""A link that is up but loses or repeats data beyond what its technology allows.

Symbol and CRC errors are judged as a ratio to the bits that the link carried the time for
(speed times exposure), retrains and replays as a rate; each with its exact interval, so that
three errors in twelve minutes are evidence and not proof. A link is ill when even the lower
bound is beyond the limit; with too few bits nothing is said. Stays quiet in the warm-up after a
link came up, over resets, and for a link that is down (docs/methods.md).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import Bools, heard
from analyzer.evidence.exposure import garwood
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    LINK_RECOVERIES,
    REPLAYS,
    RX_CRC_ERRORS,
    SPEED,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.kinds import LINK_SUBHEALTHY, Cause, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Finding, Floats, Place, Port, View
from fabrichealth.settings import Duration, seconds


class LinkSubhealthySettings(DetectorSettings):
    """Link-subhealthy section of the configuration."""

    memory: Duration = seconds(7500)
    """The long window: 125 minutes show a symbol error ratio of 1e-15 at 400 Gb/s."""

    short: Duration = seconds(720)
    """The short window: 12 minutes show 1e-14 at 400 Gb/s."""

    warm_up: Duration = seconds(60)
    """Errors of so long after a link came up belong to its training."""

    symbol_error_ratio: float = Field(default=1e-14, gt=0)
    """Error limit of errors left after FEC and retry, per bit (NDR with PLR)."""

    symbol_warning_ratio: float = Field(default=5e-15, gt=0)
    """Warning limit of the same."""

    crc_error_ratio: float = Field(default=1e-12, gt=0)
    """Error limit of frames or flits with a wrong checksum, per bit; warning is a tenth."""

    recoveries_warning: float = Field(default=1 / 3600, gt=0)
    """Retrains per second that are a ticket; a healthy fleet has none."""

    recoveries_error: float = Field(default=1 / 60, gt=0)
    """Retrains per second that page: each one stalls the link."""

    replays_warning: float = Field(default=1.0, gt=0)
    """Link-level retransmissions per second that are a ticket."""

    replays_error: float = Field(default=1000.0, gt=0)
    """Link-level retransmissions per second that page."""


@dataclass(frozen=True)
class _Rule:
    metric: Metric
    warning: float
    error: float
    per_bit: bool
    words: str


class LinkSubhealthy(Detector[LinkSubhealthySettings]):
    """Lower bounds of error ratios and rates against their limits; score 1.0 is the warning."""

    kinds = (LINK_SUBHEALTHY,)
    metrics = (SYMBOL_ERRORS, LINK_RECOVERIES, REPLAYS, RX_CRC_ERRORS, SPEED, UP, LINK_DOWNS)
    settings_type = LinkSubhealthySettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield the gravest finding of each receiving port."""
        worst: dict[Port | Place, Finding] = {}
        for rule in self._rules():
            for finding in self._apply(view, rule):
                port = finding.about
                if port not in worst or finding.score > worst[port].score:
                    worst[port] = finding
        yield from worst.values()

    def coverage(self, view: View) -> float:
        """Return the share of watched ports whose exposure can show anything."""
        watched = [view.changes(metric) for metric in self.metrics[:4]]
        exposure = np.concatenate([changes.exposure(self.settings.short) for changes in watched])
        if not len(exposure):
            return 0.0
        return float((exposure >= self.settings.min_coverage * self.settings.short).mean())

    def _rules(self) -> tuple[_Rule, ...]:
        own = self.settings
        return (
            _Rule(SYMBOL_ERRORS, own.symbol_warning_ratio, own.symbol_error_ratio, True,
                  "symbol errors"),
            _Rule(RX_CRC_ERRORS, own.crc_error_ratio / 10, own.crc_error_ratio, True,
                  "checksum errors"),
            _Rule(LINK_RECOVERIES, own.recoveries_warning, own.recoveries_error, False,
                  "retrains"),
            _Rule(REPLAYS, own.replays_warning, own.replays_error, False, "replays"),
        )  # fmt: skip

    def _apply(self, view: View, rule: _Rule) -> Iterator[Finding]:
        changes = view.changes(rule.metric)
        speaks = heard(changes)
        for span in (self.settings.short, self.settings.memory):
            suspects = np.flatnonzero((changes.total(span) > 0) & speaks)
            if not len(suspects):
                continue
            # only rows that would be ill with their training errors are looked at closely
            watched = changes.exposure(span)
            exposure = watched[suspects]
            if rule.per_bit:
                exposure *= _bits_per_second(view, changes, suspects)
            count = changes.total(span)[suspects]
            lit = [not _is_down(view, Port(*changes.labels(int(row)))) for row in suspects]
            ill = np.array(lit) & (garwood(count, exposure).lower > rule.warning)
            rows, exposure = suspects[ill], exposure[ill]
            if not len(rows):
                continue
            training = self._training(view, changes, rows)
            count = changes.total(span, leaving_out=training)[rows]
            interval = garwood(count, exposure)
            for place in np.flatnonzero(interval.lower > rule.warning).tolist():
                seen = _Seen(
                    int(rows[place]),
                    float(count[place]),
                    float(interval.rate[place]),
                    float(interval.lower[place]),
                    float(watched[rows[place]]),
                    span,
                )
                yield _finding(changes, rule, seen)

    def _training(self, view: View, changes: Changes, rows: NDArray[np.intp]) -> Bools:
        """Return which changes of some rows belong to the warm-up of their link ([i])."""
        inside = np.zeros(len(changes.series), bool)
        began = changes.at - changes.step
        for row in rows.tolist():
            mine = changes.row_of == row
            for up in _came_up(view, Port(*changes.labels(row))):
                inside |= mine & (began < up + self.settings.warm_up) & (changes.at >= up)
        return inside


def _bits_per_second(view: View, changes: Changes, rows: NDArray[np.intp]) -> Floats:
    """Return the speed of some ports, as told, else as written; NaN if nobody knows."""
    told = view.changes(SPEED)
    rates = np.full(len(rows), np.nan)
    for place, row in enumerate(rows.tolist()):
        port = Port(*changes.labels(row))
        link, said = view.topology.link_of.get(port), told.row(*port)
        if said is not None and told.value[said] > 0:
            rates[place] = told.value[said]
        elif link is not None and link.speed_gbps:
            rates[place] = link.speed_gbps * 1e9
    return rates


def _is_down(view: View, port: Port) -> bool:
    up = view.changes(UP)
    row = up.row(*port)
    return row is not None and bool(up.value[row] == 0)


def _came_up(view: View, port: Port) -> list[float]:
    """Return when a port or its peer came up, or was seen to have fallen, within memory."""
    found: list[float] = []
    rose, fell = view.changes(UP), view.changes(LINK_DOWNS)
    for changes, which in ((rose, rose.after > rose.before), (fell, fell.increase > 0)):
        for end in (port, view.topology.peer(port)):
            if end is not None and (row := changes.row(*end)) is not None:
                mine = which & (changes.row_of == row)
                found += (changes.at[mine] - changes.step[mine]).tolist()
    return found


@dataclass(frozen=True)
class _Seen:
    """What was counted of one row in one span."""

    row: int
    count: float
    rate: float
    lower: float
    watched: float
    span: float


def _finding(changes: Changes, rule: _Rule, seen: _Seen) -> Finding:
    port = Port(*changes.labels(seen.row))
    mine = np.flatnonzero(
        (changes.row_of == seen.row) & changes.last(seen.span) & (changes.increase > 0)
    )
    last = float(changes.at[mine[-1]])
    contradicted = changes.seen_at[seen.row] > last  # a later poll brought no error
    beyond = seen.lower > rule.error
    unit = "per bit" if rule.per_bit else "per second"
    limit = rule.error if beyond else rule.warning
    says = (
        f"{seen.count:.0f} {rule.words} in {seen.watched / 60:.0f} min: {seen.rate:.2g} {unit}, "
        f"at least {seen.lower:.2g} with 95 % confidence, limit {limit:.2g}"
    )
    return Finding(
        kind=LINK_SUBHEALTHY,
        about=port,
        score=seen.lower / rule.warning,
        since=float(changes.at[mine[0]]),
        at=last if contradicted else max(changes.until, last),
        evidence=[evidence(rule.metric, port, seen.rate, last, says, limit, unit)],
        because=f"{port}: {says}",
        side=port,
        direction="rx",
        severity=Severity.PAGE if beyond else Severity.TICKET,
        causes={
            Cause.CONTAMINATED_CONNECTOR: 0.3,
            Cause.LOOSE_OR_BAD_MODULE: 0.3,
            Cause.UNKNOWN: 0.4,
        },
    )
