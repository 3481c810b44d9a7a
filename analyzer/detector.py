"""Detector: one opinion, pure.

A detector looks at windows, changes, topology and events, and yields findings. It keeps nothing
between passes; what it said last time comes back as `view.before`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import Field

from analyzer.evidence.durations import heard
from analyzer.verdicts import Verdict
from fabrichealth.kinds import IncidentKind
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, View
from fabrichealth.settings import Duration, Settings, seconds


class DetectorSettings(Settings):
    """What every detector has; its own settings add to it."""

    window: Duration = seconds(600)
    """How much of the recent past is looked at, poll by poll."""

    memory: Duration = seconds(0)
    """How much of the long past is looked at, as changes only; 0 if the detector needs none."""

    hold: Duration = seconds(60)
    """A condition younger than this is not yet a finding."""

    every: Duration = seconds(0)
    """How often it judges; what it said last holds meanwhile. 0: at every pass."""

    min_coverage: float = Field(default=0.5, ge=0, le=1)
    """Where a window is needed as a whole, a row with a smaller share of its polls is left out."""


S = TypeVar("S", bound=DetectorSettings)


class Detector(ABC, Generic[S]):
    """One opinion. The file's name is its section in the site file."""

    kinds: ClassVar[tuple[IncidentKind, ...]]
    """The kinds it may speak of."""
    metrics: ClassVar[tuple[Metric, ...]]
    """The metrics it looks at; the first is what it cannot do without."""
    remembers: ClassVar[tuple[Metric, ...] | None] = None
    """Those whose changes it asks for; None: all of them, if its setting `memory` is not 0.

    A counter that moves at every poll does not belong here: look at its window.
    """
    recalls: ClassVar[tuple[Metric, ...]] = ()
    """Those whose long past it asks for, in bins over its `looks_back`: weeks of a gauge."""
    settings_type: ClassVar[type[DetectorSettings]] = DetectorSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def judge(self, view: View) -> Iterator[Finding]:
        """Yield a finding for each row beyond its margin, every pass as long as it is."""

    def verdicts(self, view: View, kept: MutableMapping[str, list[float]]) -> Iterable[Verdict]:
        """Return verdict series of its own, after judging; most detectors have none.

        `kept` is what it left there in the last pass, restarts included: small, and its own.
        """
        return ()

    @property
    def remembered(self) -> tuple[Metric, ...]:
        """The metrics whose changes must be kept over its setting `memory`."""
        if self.settings.memory <= 0:
            return ()
        return self.metrics if self.remembers is None else self.remembers

    @property
    def looks_back(self) -> float:
        """How many seconds of the long past of what it `recalls` must be kept."""
        return 0.0

    def coverage(self, view: View) -> float:
        """Return the share of what it should judge that had data enough."""
        if self.metrics[0] in self.remembered:
            changes = view.changes(self.metrics[0])
            return float(heard(changes).mean()) if len(changes.rows) else 0.0
        window = view[self.metrics[0]]
        if not len(window):
            return 0.0
        return float((window.coverage >= self.settings.min_coverage).mean())


AnyDetector = Detector[Any]
