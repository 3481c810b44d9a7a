"""Readings that make a metric of the catalogue show on a page, one series or a whole histogram."""

from fabrichealth.catalogue import METRICS
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Labels

Readings = dict[tuple[Metric, Labels], float]


def readings_of(metric: Metric, labels: Labels, value: float = 1.0) -> Readings:
    """Return what must be told; of a histogram two buckets, sum and count, of a part nothing."""
    if metric.kind is Kind.PART:
        return {}
    if metric.kind is not Kind.HISTOGRAM:
        return {(metric, labels): value}
    bucket, total, count = (METRICS[f"{metric}{part}"] for part in ("_bucket", "_sum", "_count"))
    return {
        (bucket, (*labels, "+Inf")): 3.0,
        (bucket, (*labels, "60.0")): 1.0,
        (total, labels): 333.0,
        (count, labels): 3.0,
    }
