"""Progress of the maintenance, kept in the database with the work that it tells of.

Notes are made inside the transaction that does the work, so that a kill repeats work and loses
none.
"""

from collections.abc import Sequence
from math import inf

from fabrichealth.store.database import Database


class Progress:
    """What has been folded, imported, downsampled and forgotten, by number of the metric."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def folded(self, metric: int) -> int:
        """Return up to which entry of the head a metric is in chunks."""
        ((number,),) = self._database.noted(
            "SELECT coalesce(max(number), 0) FROM folded WHERE metric IN (0, ?)", (metric,)
        )
        return int(number)

    def set_folded(self, metric: int, number: int) -> None:
        """Note up to which entry a metric (0: every one) is in chunks (inside a transaction)."""
        self._database.rows("INSERT OR REPLACE INTO folded VALUES (?, ?)", (metric, number))

    def imported(self, metric: int) -> int:
        """Return how often chunks of a metric came past the head."""
        found = self._database.noted("SELECT many FROM imported WHERE metric = ?", (metric,))
        return int(found[0][0]) if found else 0

    def add_imported(self, metric: int) -> None:
        """Note that chunks of a metric came past the head (inside a transaction)."""
        self._database.rows(
            "INSERT INTO imported VALUES (?, 1) ON CONFLICT DO UPDATE SET many = many + 1",
            (metric,),
        )

    def horizon(self, tier: int) -> float:
        """Return the time after which a tier still has everything; -inf at first."""
        found = self._database.noted("SELECT since FROM horizon WHERE tier = ?", (tier,))
        return float(found[0][0]) if found else -inf

    def raise_horizon(self, tier: int, since: float) -> None:
        """Note that a tier has lost samples up to this time (inside a transaction)."""
        if since > self.horizon(tier):
            self._database.rows("INSERT OR REPLACE INTO horizon VALUES (?, ?)", (tier, since))

    def cooked(self, metric: int) -> float | None:
        """Return up to which time the tiers of a metric reach; None if there are none."""
        found = self._database.noted("SELECT until FROM cooked WHERE metric = ?", (metric,))
        return float(found[0][0]) if found else None

    def set_cooked(self, metric: int, until: float) -> None:
        """Note up to which time the tiers of a metric reach (inside a transaction)."""
        self._database.rows("INSERT OR REPLACE INTO cooked VALUES (?, ?)", (metric, until))

    def late(self, metric: int) -> list[float]:
        """Return the ends of hours that got samples after they were downsampled."""
        rows = self._database.rows(
            "SELECT hour FROM late WHERE metric = ? ORDER BY hour", (metric,)
        )
        return [float(hour) for (hour,) in rows]

    def add_late(self, metric: int, hours: Sequence[float]) -> None:
        """Note hours to downsample again (inside a transaction)."""
        self._database.many(
            "INSERT OR IGNORE INTO late VALUES (?, ?)", [(metric, hour) for hour in hours]
        )

    def clear_late(self, metric: int, hour: float) -> None:
        """Forget an hour that was done again (inside a transaction)."""
        self._database.rows("DELETE FROM late WHERE metric = ? AND hour = ?", (metric, hour))
