"""HistoryReport: what a history held, and what of it could not be used."""

from collections import Counter
from dataclasses import dataclass, field

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
    refused: int = 0
    """Values that are no finite number (text, infinities), or without a time."""
    missing: int = 0
    """Values given as null or NaN."""
    clashes: int = 0
    """Series that several recorded ones fell together into."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Lines by metric name that the catalogue does not have."""
    warnings: list[str] = field(default_factory=list)
    """One line each: file, line, what is wrong."""

    def warn(self, where: str, what: str) -> None:
        """Note one line that could not be used."""
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(f"{where}: {what}")
        elif len(self.warnings) == MOST_WARNINGS:
            self.warnings.append(f"{where}: more such lines follow; they are counted only")

    def refuse_line(self, where: str, what: str) -> None:
        """Count a line that could not be read, and say which."""
        self.malformed += 1
        self.warn(where, what)
