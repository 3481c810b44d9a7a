"""A link that is up but slower or narrower than it was built for.

The written speed and width count first; where nothing is written, what the link itself had
before; else what its peers have (same role, same technology, same role at the far end). Stays
quiet for a link that is down, for groups too small or too mixed to have a norm, for what a link
claimed to be in a single poll only, for a retraining shorter than the hold, and for a link
aggregation that lost a member, which is told itself.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.causes.signs import Symptom, sign
from analyzer.evidence.durations import heard
from analyzer.evidence.ends import is_bundle
from analyzer.evidence.link.signs import diagnosed
from analyzer.evidence.optics.fleet import RECALLED
from analyzer.evidence.optics.recalled import LOOKS_BACK
from analyzer.evidence.strata import strata
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import LANES, PORT_INFO, SPEED, UP
from fabrichealth.kinds import LINK_DEGRADED_SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Finding, Floats, Ids, Port, View
from fabrichealth.settings import Duration, seconds

ROUNDING = 0.98
"""Speeds are told with rounding: 96.97 Gb/s are 100."""


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
    metrics = (SPEED, LANES, UP, PORT_INFO)
    remembers = (SPEED, LANES, UP)
    recalls = RECALLED
    settings_type = LinkDegradedSpeedSettings

    @property
    def looks_back(self) -> float:
        """How long the past of the modules must be kept: light speaks for causes."""
        return LOOKS_BACK

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per port below its norm, speed before width."""
        said: set[str] = set()
        up = view.changes(UP)
        for metric in (SPEED, LANES):
            changes = view.changes(metric)
            if not len(changes.rows):
                continue
            facts = strata(view.changes(metric).table, view.topology, metric)
            written = facts.written(changes.table, view.topology, changes.rows)
            codes = facts.codes(changes.table, view.topology, changes.rows)
            norms = (written, _best(changes), self._usual(changes.value, codes))
            should = written
            for norm in norms[1:]:
                with np.errstate(invalid="ignore"):
                    better = ~np.isfinite(should) & (norm > changes.value)
                should = np.where(better, norm, should)
            low = (changes.value < should * ROUNDING) & heard(changes)
            for row in np.flatnonzero(low):
                port = Port(*changes.labels(int(row)))
                since = _since(changes, int(row), float(should[row]))
                link = view.topology.link_of.get(port)
                name = link.id if link else str(port)
                young = changes.seen_at[row] - since < self.settings.hold
                if young or name in said or _down(up, port) or is_bundle(view.topology, port):
                    continue
                said.add(name)
                source = next(
                    words
                    for words, norm in zip(SOURCES, norms, strict=True)
                    if norm[row] == should[row]
                )
                yield _finding(view, changes, int(row), port, float(should[row]), source, since)

    def _usual(self, values: Floats, codes: Ids) -> Floats:
        """Return the value that most ports of a row's stratum have, NaN if they disagree ([r])."""
        distinct, place = np.unique(values, return_inverse=True)
        keys = codes.astype(np.int64) * len(distinct) + place
        pairs, count = np.unique(keys, return_counts=True)
        members = np.bincount(codes)[codes]
        most = np.zeros(int(codes.max()) + 1, np.int64)
        np.maximum.at(most, pairs // len(distinct), count)
        norm = np.full(len(most), np.nan)
        top = count == most[pairs // len(distinct)]
        norm[pairs[top] // len(distinct)] = distinct[pairs[top] % len(distinct)]
        agreed = most[codes] >= self.settings.agreement * members
        return np.where(agreed & (members >= self.settings.peers), norm[codes], np.nan)


SOURCES = ("as written", "as it had before", "as its peers have")


def _best(changes: Changes) -> Floats:
    """Return the highest value that each row has, or had for more than a single poll ([r])."""
    best = changes.value.copy()
    order = np.lexsort((changes.at, changes.row_of))
    row, at = changes.row_of[order], changes.at[order]
    same = np.diff(row, prepend=-1) == 0
    began = np.where(same, np.roll(at, 1), -np.inf)  # when the value before was read first
    lasted = at - changes.step[order] > began
    np.fmax.at(best, row[lasted], changes.before[order][lasted])
    return best


def _since(changes: Changes, row: int, should: float) -> float:
    """Return since when a row is low without a break."""
    mine = changes.row_of == row
    well = np.flatnonzero(mine & (changes.before >= should * ROUNDING))
    return float(changes.at[well[-1]]) if len(well) else float(changes.first_at[row])


def _down(up: Changes, port: Port) -> bool:
    row = up.row(*port)
    return row is not None and bool(up.value[row] == 0)


def _worded(metric: Metric, value: float) -> str:
    return f"{value / 1e9:g} Gb/s" if metric is SPEED else f"{value:g} lanes"


def _finding(
    view: View,
    changes: Changes,
    row: int,
    port: Port,
    should: float,
    source: str,
    since: float,
) -> Finding:
    value, metric = float(changes.value[row]), changes.metric
    says = f"{_worded(metric, value)} instead of {_worded(metric, should)} {source}"
    found, signs = diagnosed(view, port, {sign(Symptom.NARROW, None): True}, since)
    return Finding(
        kind=LINK_DEGRADED_SPEED,
        about=port,
        score=float(should / value) if value > 0 else 2.0,
        since=since,
        at=view.now,
        evidence=[
            evidence(metric, port, value, float(changes.seen_at[row]), f"{port}: {says}", should)
        ],
        because=f"{port} runs at {says}",
        causes=found.causes,
        side=found.side,
        direction=found.direction,
        signs=signs,
    )
