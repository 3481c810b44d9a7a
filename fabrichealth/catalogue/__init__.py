"""The catalogue: every metric, one constant each, by subject.

`METRICS` finds them all by exported name; the folder is the list.
"""

from fabrichealth.metric import Metric
from fabrichealth.plugins import constants


def _collect() -> dict[str, Metric]:
    found: dict[str, Metric] = {}
    for place, metric in constants(__name__, Metric).items():
        if str(metric) in found and found[str(metric)] is not metric:
            raise ValueError(f"{place}: {metric} stands twice in the catalogue")
        found[str(metric)] = metric
    return found


METRICS: dict[str, Metric] = _collect()
