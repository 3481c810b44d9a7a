"""Survey: what polls say of ports, under the words of a topology file.

The device knows speed, lanes, FEC and its modules; records know cables. What several say of one
port is joined, the first word first.
"""

from collections.abc import Iterable, Iterator, Mapping

from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.catalogue.ports import CABLE_LENGTH, LANES, PORT_INFO, SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Labels, Port, SeriesTable
from fabrichealth.topology import Module, PortSaid

MEDIUM = {"dac": "dac", "aoc": "aoc", "aec": "aec", "acc": "acc", "lpo": "lpo", "cpo": "cpo"}
"""Medium of a link by the kind of its modules, where the kind alone tells it."""

TOLD = (SPEED, LANES, PORT_INFO, OPTICS_INFO, CABLE_LENGTH)


def surveyed(batches: Iterable[Batch], table: SeriesTable) -> dict[Port, PortSaid]:
    """Return what readings say of each port."""
    found: dict[Port, PortSaid] = {}
    for batch in batches:
        for metric, labels, value in _told(batch, table):
            port = Port(labels[0], labels[1])
            said = _said(metric, labels, value)
            found[port] = found[port].or_else(said) if port in found else said
    return found


def of_port(facts: Mapping[str, str]) -> PortSaid:
    """Return what the labels of a port's info series say."""
    return PortSaid(
        fec=facts.get("fec", ""),
        technology=facts.get("technology", ""),
        medium=facts.get("medium", ""),
        role=facts.get("role", ""),
        uid=facts.get("uid", ""),
    )


def _told(batch: Batch, table: SeriesTable) -> Iterator[tuple[Metric, Labels, float]]:
    for series, value in zip(batch.series.tolist(), batch.values.tolist(), strict=True):
        metric = table.metric(series)
        if metric in TOLD:
            yield metric, table.labels(series), value


def _said(metric: Metric, labels: Labels, value: float) -> PortSaid:
    if metric is SPEED:
        return PortSaid(speed_gbps=value / 1e9 if value > 0 else None)
    if metric is LANES:
        return PortSaid(lanes=int(value) if value >= 1 else None)
    if metric is CABLE_LENGTH:
        return PortSaid(length_m=value)
    words = dict(zip(metric.labels, labels, strict=True))
    if metric is PORT_INFO:
        return of_port(words)
    identity = {key: words[key] for key in Module.model_fields}
    module = Module(**identity) if any(identity.values()) else None
    return PortSaid(medium=MEDIUM.get(words["kind"], ""), module=module)
