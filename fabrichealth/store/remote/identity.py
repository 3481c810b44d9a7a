"""Identity: which series and which clock a line of an answer is about.

What the catalogue's metric does not declare is ignored; a label that is absent is empty (contract
3). A series without a name for what it measures is somebody else's. So may be series that differ
only in labels that nobody declared: both are read, the newest sample counts, and it is told once.
"""

import logging
from collections.abc import Callable, Mapping

from fabrichealth.metric import Metric
from fabrichealth.model import Labels, SeriesTable
from fabrichealth.store.remote.names import CLOCK, INSTANCE, JOB

log = logging.getLogger(__name__)

Keeps = Callable[[Metric, Labels], bool]
"""Whether a reader wants a series."""

Known = tuple[int, int] | None
"""(series, clock), or None for what is not wanted or cannot be ours."""

SHOWN = 3


class Identities:
    """Names of answers, as a table numbers them; each is looked at once."""

    def __init__(
        self, where: str, table: SeriesTable, own: Mapping[str, str], keeps: Keeps
    ) -> None:
        """`where` names the engine in messages; `own` are the labels that every series has."""
        self._where = where
        self._table = table
        self._own = own
        self._keeps = keeps
        self._known: dict[Metric, dict[bytes, Known]] = {}
        self._seen: dict[tuple[int, int], dict[str, str]] = {}
        self._told: set[str] = set()

    def of(self, metric: Metric) -> dict[bytes, Known]:
        """Return what is known of a metric's names, by how the engine writes them."""
        return self._known.setdefault(metric, {})

    def learn(self, metric: Metric, labels: Mapping[str, str]) -> Known:
        """Return series and clock of what an engine calls by these labels."""
        values = tuple(labels.get(name, "") for name in metric.labels)
        must = len(metric.subject.value)
        if not all(values[:must]):
            lacking = ", ".join(
                name for name, text in zip(metric.labels[:must], values, strict=False) if not text
            )
            self._tell(f"{metric}: a series without {lacking} is not ours and is left out")
            return None
        if not self._keeps(metric, values):
            return None
        series = self._table.intern(metric, values)
        known = series, self._table.clock(labels.get(JOB, ""), labels.get(INSTANCE, ""))
        ignored = {
            name: text
            for name, text in labels.items()
            if name not in {"__name__", *metric.labels, *CLOCK, *self._own}
        }
        other = self._seen.setdefault(known, ignored)
        if other != ignored:
            differ = sorted(
                name
                for name in other.keys() | ignored.keys()
                if other.get(name) != ignored.get(name)
            )
            self._tell(
                f"{metric}: series differ only in {', '.join(differ[:SHOWN])}; if another system"
                " writes under these names, give ours a label with store.labels"
            )
        return known

    def _tell(self, what: str) -> None:
        """Log what is wrong with names once."""
        if what not in self._told:
            self._told.add(what)
            log.warning("%s: %s", self._where, what)
