"""HistoryReport: what a history held, and what of it could not be used."""

from collections import Counter
from dataclasses import dataclass, field

from fabrichealth.model import Reason

MOST_WARNINGS = 100
"""More are counted only: a wrong file has as many as it has lines."""


@dataclass
class HistoryReport:
    """Counts of one `read`; nothing is dropped without appearing here."""

    samples: int = 0
    """Values handed to the store."""
    series: int = 0
    verdicts: int = 0
    """Series among them that are verdicts of an earlier judge; stored, not to be judged."""
    malformed: int = 0
    """Lines that could not be read."""
    refused: Counter[Reason] = field(default_factory=Counter)
    """Values by reason: `malformed` is no finite number or has no time, `implausible` is outside
    what the metric or a time stamp can be."""
    missing: int = 0
    """Values given as null or NaN."""
    clashes: int = 0
    """Series that several recorded ones fell together into."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Lines by metric name that the catalogue does not have."""
    warnings: list[str] = field(default_factory=list)
    """One line each: file, line or metric, what is wrong."""
    _named: int = field(default=0, init=False, repr=False)

    def warn(self, where: str, what: str) -> None:
        """Note one line that could not be used."""
        if self._named < MOST_WARNINGS:
            self.warnings.append(f"{where}: {what}")
        elif self._named == MOST_WARNINGS:
            self.warnings.append(f"{where}: more such lines follow; they are counted only")
        self._named += 1

    def sum_up(self, what: str) -> None:
        """Note what stands for many; there are few of these, so none is left out."""
        self.warnings.append(what)

    def refuse_line(self, where: str, what: str) -> None:
        """Count a line that could not be read, and say which."""
        self.malformed += 1
        self.warn(where, what)
