"""Names of series and clocks in the database, in the order of their numbers.

So a restart, or another process, gives each the number it had.
"""

import orjson

from fabrichealth.catalogue import METRICS
from fabrichealth.errors import StoreError
from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.model import SeriesTable
from fabrichealth.store.codec import compress, decompress
from fabrichealth.store.database import Database
from fabrichealth.units import Unit

NAMES_A_ROW = 50_000
"""Series in one row of names; bounds the memory that reading them takes."""


class Names:
    """What the file of one store names so far."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[Metric, int] = {}
        self._metrics: dict[int, Metric] = {}
        self._known = (0, 0)

    def load(self, table: SeriesTable) -> None:
        """Intern what the file names beyond what was loaded or saved before.

        Raises:
            StoreError: the table holds other series under these numbers, or the file is broken.
        """
        many_series, many_clocks = self._known
        for number, name, kind, unit, labels in self._database.rows(
            "SELECT id, name, kind, unit, labels FROM metric WHERE id > ?",
            (max(self._metrics, default=0),),
        ):
            metric = _metric(name, kind, unit, orjson.loads(labels))
            self._metrics[number], self._numbers[metric] = metric, number
        for first, many, body in self._database.rows(
            "SELECT first, many, body FROM series WHERE first >= ? ORDER BY first", (many_series,)
        ):
            for place, (number, *values) in enumerate(orjson.loads(decompress(body)), first):
                if table.intern(self._metrics[number], tuple(values)) != place:
                    raise StoreError(
                        f"{self._database.path}: series {place} has another number here"
                    )
            many_series = first + many
        for number, source, target in self._database.rows(
            "SELECT id, source, target FROM clock WHERE id >= ? ORDER BY id", (many_clocks,)
        ):
            if table.clock(source, target) != number:
                raise StoreError(f"{self._database.path}: clock {number} has another number here")
            many_clocks = number + 1
        self._known = (many_series, many_clocks)

    def missing(self, table: SeriesTable) -> bool:
        """Return whether the table names more than the file does."""
        return (len(table), len(table.clocks())) != self._known

    def save(self, table: SeriesTable) -> None:
        """Keep series and clocks of the table that the file does not name yet."""
        many_series, many_clocks = self._known
        clocks = table.clocks()
        fresh = [metric for metric in table.metrics() if metric not in self._numbers]
        numbers = dict(zip(fresh, range(len(self._numbers) + 1, 1 << 30), strict=False))
        total = len(table)
        with self._database.transaction():
            self._database.many(
                "INSERT INTO metric VALUES (?, ?, ?, ?, ?)",
                [
                    (n, m.name, m.kind.value, m.unit.value, orjson.dumps(m.labels).decode())
                    for m, n in numbers.items()
                ],
            )
            numbers |= self._numbers
            for first in range(many_series, total, NAMES_A_ROW):
                last = min(first + NAMES_A_ROW, total)
                rows = [(numbers[table.metric(s)], *table.labels(s)) for s in range(first, last)]
                self._database.rows(
                    "INSERT INTO series VALUES (?, ?, ?)",
                    (first, last - first, compress(orjson.dumps(rows))),
                )
            self._database.many(
                "INSERT INTO clock VALUES (?, ?, ?)",
                [(n, *clocks[n]) for n in range(many_clocks, len(clocks))],
            )
        self._numbers = numbers
        self._metrics = {number: metric for metric, number in numbers.items()}
        self._known = (total, len(clocks))


def _metric(name: str, kind: str, unit: str, labels: list[str]) -> Metric:
    """Return the catalogue's metric, or one as the file describes it where that knows no such."""
    known = METRICS.get(f"fabric_{name}")
    if known is not None and list(known.labels) == labels:
        return known
    return Metric(
        name, Kind(kind), Unit(unit), Subject.NONE, "Of another version.", extra=(*labels,)
    )
