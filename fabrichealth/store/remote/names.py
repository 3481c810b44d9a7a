"""Names of series on a shared engine: their labels, what read them, and the site's own words.

A window needs to know which poll a sample belongs to, so what read it travels with it: `job` is
the source and `instance` the target of its clock, which are also the names that Prometheus gives
to what it scrapes by itself. Words of `store.labels` tell one site's series from another's.
"""

from collections.abc import Mapping

from fabrichealth.model import SeriesTable

JOB, INSTANCE = "job", "instance"

CLOCK = (JOB, INSTANCE)
"""Labels that name the clock of a series: (source, target)."""


def labels_of(
    table: SeriesTable, series: int, clock: tuple[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    """Return the labels of a series as one clock reads it, sorted by name, empty ones left out."""
    named = dict(zip(table.metric(series).labels, table.labels(series), strict=True))
    named |= dict(zip(CLOCK, clock, strict=True)) | dict(own)
    return {name: text for name, text in sorted(named.items()) if text}
