"""What many tests need: readings of a poll by labels."""

from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, SeriesTable


def readings(poll: Poll, table: SeriesTable, metric: Metric) -> dict[Labels, float]:
    """Return one metric's values of a poll by label values; a later batch wins."""
    return {
        table.labels(int(series)): float(value)
        for batch in poll.batches
        for series, value in zip(batch.series, batch.values, strict=True)
        if table.metric(int(series)) is metric
    }
