"""Cases of the field: files that are no part of this repository, read where they are at hand."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from collectors.intake import Bounds, checked
from collectors.source import Source, SourceSettings
from fabrichealth.metric import Metric
from fabrichealth.model import Incident, Poll
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Topology

CASES = Path(__file__).parents[3] / "shared" / "cases"

at_hand = pytest.mark.skipif(not CASES.exists(), reason="no cases of the field here")


def of_json(name: str) -> Any:
    """Return what a case holds."""
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))


@dataclass
class Watched:
    """A source whose polls are checked, stored and judged, as a running site does it."""

    store: EmbeddedStore
    source: Source
    ledger: Ledger = field(default_factory=Ledger)
    closed: list[Incident] = field(default_factory=list)
    polls: list[Poll] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.store.table)
        self.started()

    def started(self) -> None:
        """Judge from now on in a process that knows what the store and the ledger hold."""
        self._judge = Judge(self.store, Topology(), detectors(), self.ledger)

    def read(self, file: Path, at: float) -> Poll:
        """Take in one reply and judge."""
        settings = self.source.settings
        assert isinstance(settings, SourceSettings)
        raw = self.source.captured([file], at)
        poll = checked(raw, self._bounds, self.store.table, at, settings.stale_after)
        self.polls.append(poll)
        self.store.append(poll.batches)
        self._judge.tell(list(poll.events))
        self.judge(at + 0.1)
        return poll

    def judge(self, now: float) -> Sequence[Incident]:
        """Judge without a new reply."""
        self.closed += self._judge.judge(now).closed
        return self.ledger.incidents

    def stored(self, metric: Metric, *labels: str) -> dict[float, float]:
        """Return what the store holds of one series, by time."""
        held = self.store.span()
        assert held is not None
        window = self.store.window(metric, held[1], held[1] - held[0] + 1.0)
        row = window.row(*labels)
        return dict(_known(window.at[window.clock[row]].tolist(), window.values[row].tolist()))


def _known(at: Sequence[float], values: Sequence[float]) -> Iterator[tuple[float, float]]:
    return ((when, value) for when, value in zip(at, values, strict=True) if value == value)
