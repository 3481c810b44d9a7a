"""Turns a row of a window, or a change, into a line of evidence."""

from fabrichealth.metric import Metric
from fabrichealth.model import Evidence, Labels


def evidence(
    metric: Metric,
    labels: Labels,
    value: float,
    at: float,
    says: str,
    expected: float | None = None,
    unit: str = "",
) -> Evidence:
    """Return one line of evidence; the unit is the metric's own unless a ratio of it is meant."""
    named = dict(zip(metric.labels, labels, strict=True))
    return Evidence(metric, named, value, expected, unit or metric.unit.value, at, says)
