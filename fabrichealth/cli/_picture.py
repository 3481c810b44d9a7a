"""What the page draws: the layout, which seldom changes, and the states of one moment.

A layout of 8,192 accelerators has some 150,000 links: both are columns, states are small numbers in
the layout's order, so that a moment is a few hundred kilobytes and two moments compare row by row.
"""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.accelerators import UTILIZATION
from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.ports import UP
from fabrichealth.catalogue.verdicts import LINK_STATE
from fabrichealth.metric import Metric
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

STATES = ("", "unknown", "healthy", "watch", "subhealthy", "drain", "down")
"""States of links by number; 0 is a link of which nobody said anything."""


def layout(topology: Topology) -> dict[str, Any]:
    """Return what there is and where: devices[device], links[link] by columns."""
    place = {name: index for index, name in enumerate(topology.devices)}
    devices = topology.devices.values()
    links = [link for link in topology.links.values() if _inside(link.ends, place)]
    return {
        "domains": [
            {"name": one.name, "kind": one.kind, "accelerators": one.accelerators}
            for one in topology.domains.values()
        ],
        "racks": [
            {"name": one.name, "domain": one.domain, "loop": one.loop}
            for one in topology.racks.values()
        ],
        "loops": list(topology.loops),
        "feeds": list(topology.feeds),
        "states": STATES,
        "devices": {
            "name": list(topology.devices),
            "role": [one.role for one in devices],
            "rack": [topology.rack_of(one.name) or "" for one in devices],
            "domain": [one.domain for one in devices],
            "host": [one.host for one in devices],
        },
        "links": {
            "a": [place[link.ends[0].device] for link in links],
            "b": [place[link.ends[1].device] for link in links],
            "id": [link.id for link in links],
            "technology": [link.technology for link in links],
        },
    }


def _inside(ends: Iterable[Any], place: Mapping[str, int]) -> bool:
    return all(end.device in place for end in ends)


class Pictures:
    """Draws moments from one store; where each series belongs is looked up once."""

    def __init__(self, store: Store, topology: Topology) -> None:
        self.topology = topology
        self._store = store
        self._devices = {name: index for index, name in enumerate(topology.devices)}
        links = [one for one in topology.links.values() if _inside(one.ends, self._devices)]
        self._links = {link.id: row for row, link in enumerate(links)}
        self._ends = {
            (end.device, end.port): row for row, link in enumerate(links) for end in link.ends
        }
        self._places: dict[Metric, NDArray[np.int64]] = {}

    def at(self, moment: float, within: float) -> dict[str, str]:
        """Return the states at a moment, as far back as `within` seconds: bytes in base64.

        links[link] are `STATES`; devices[device] 0 unknown, 1 answers, 2 silent; busy[device] 0
        to 100, 255 where nothing was said.
        """
        devices = np.zeros(len(self._devices), np.uint8)
        busy = np.full(len(self._devices), 255, np.uint8)
        rows, values = self._newest(DEVICE_UP, moment, within)
        devices[rows] = np.where(values > 0, 1, 2)
        rows, values = self._newest(UTILIZATION, moment, within)
        busy[rows] = np.rint(100 * np.clip(values, 0.0, 1.0))
        links = self._link_states(moment, within)
        return {"links": _packed(links), "devices": _packed(devices), "busy": _packed(busy)}

    def _link_states(self, moment: float, within: float) -> NDArray[np.uint8]:
        """Return what was judged of each link; where nothing was, whether an end is down."""
        states = np.zeros(len(self._links), np.uint8)
        rows, values = self._newest(UP, moment, within)
        states[rows[values > 0]] = STATES.index("unknown")
        states[rows[values == 0]] = STATES.index("down")
        coded, values = self._newest(LINK_STATE, moment, within)
        said = coded[values > 0]
        states[said // len(STATES)] = said % len(STATES)
        return states

    def _newest(
        self, metric: Metric, moment: float, within: float
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return (places, values) of a metric's newest values, the oldest first."""
        found = self._store.latest(metric, moment, within)
        places = self._placed(metric)[found.series]
        order = np.argsort(found.at, kind="stable")
        order = order[places[order] >= 0]
        return places[order], found.values[order]

    def _placed(self, metric: Metric) -> NDArray[np.int64]:
        """Return the place of each series of a metric; -1 where it has none here."""
        known = self._places.get(metric)
        series = self._store.table.of(metric)
        most = int(series.max()) + 1 if len(series) else 0
        if known is None or len(known) < most:
            before = 0 if known is None else len(known)
            grown = np.full(most, -1, np.int64)
            if known is not None:
                grown[:before] = known
            for one in series[series >= before].tolist():
                grown[one] = self._place(metric, self._store.table.labels(one))
            self._places[metric] = known = grown
        return known

    def _place(self, metric: Metric, labels: tuple[str, ...]) -> int:
        if metric is LINK_STATE:
            told = dict(zip(metric.labels, labels, strict=True))
            row = self._links.get(told["link"], -1)
            if row < 0 or told["side"] or told["state"] not in STATES:
                return -1  # its ends say why; the picture shows the link as a whole
            return row * len(STATES) + STATES.index(told["state"])
        if metric is UP:
            return self._ends.get((labels[0], labels[1]), -1)
        return self._devices.get(labels[0], -1)


def open_then(incidents: Iterable[Mapping[str, Any]], at: float) -> list[dict[str, Any]]:
    """Return the incidents that were open at a moment, as they were then."""
    return [_then(one, at) for one in incidents if _was_open(one, at)]


def _packed(states: NDArray[np.uint8]) -> str:
    return base64.b64encode(states.tobytes()).decode()


def _was_open(incident: Mapping[str, Any], at: float) -> bool:
    closed = incident["closed_at"]
    return bool(incident["opened_at"] <= at and (closed is None or closed > at))


def _then(incident: Mapping[str, Any], at: float) -> dict[str, Any]:
    """Return what an incident was at a moment: kind and severity of its last step until then."""
    steps = [step for step in incident["history"] if step["at"] <= at] or incident["history"][:1]
    last = steps[-1] if steps else incident
    return {
        "incident": incident["incident"],
        "kind": last["kind"],
        "severity": last["severity"],
        "culprit": incident["culprit"],
        "victims": incident["victims"],
        "suppressed_by": incident["suppressed_by"],
    }
