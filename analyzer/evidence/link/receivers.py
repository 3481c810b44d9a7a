"""Receivers: every port that says anything of its errors, numbered, and what is known of it.

What a port was built for (line rate, code, limits) and who its peers are follows from the
topology and from what the port says it is, so it is worked out once for each port and kept
beside the table of series; a pass only indexes arrays.
"""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.link.built import Built, of_cable, with_lane, worked_out
from analyzer.evidence.link.limits import IB_LANES, Facts, Quantity
from fabrichealth.catalogue.ports import LANES, PORT_INFO, SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats, Ids, Labels, Port, SeriesTable
from fabrichealth.topology import Link, Topology

Places = NDArray[np.intp]

USUAL_LANES = 4.0
ROUNDED = 0.07
"""Rates are told of the line or of the payload, rounded: 96.97 and 106.25 Gb/s are 100."""


class Receivers:
    """Ports by number, in the order in which they were first met; arrays are [r]."""

    def __init__(self, topology: Topology, infos: int) -> None:
        self._topology = topology
        self.infos = infos
        """How many words of ports on themselves there were."""
        self.ports: list[Port] = []
        self._number: dict[Port, int] = {}
        self._keys = np.empty(0, np.int64)
        """Device and port as words of the table, ascending, and the numbers that go with them."""
        self._of_key: Places = np.empty(0, np.intp)
        self._places: dict[Metric, Places] = {}
        self._kinds: dict[Built, int] = {}
        self._kind: list[int] = []
        self._alike: dict[tuple[object, ...], Built] = {}
        self._columns: dict[str, tuple[int, Floats]] = {}
        self._peer: Places = np.empty(0, np.intp)
        self._lane: dict[int, float] = {}
        """Gb/s of a lane of InfiniBand ports of which nobody wrote it: as told, 0 if not yet."""
        self._said: dict[Port, Labels] | None = None
        self._sides: list[tuple[str, str]] = []
        self.reported: object = None
        """What was last told of them, kept by `reporting` so that it need not be built again."""

    def __len__(self) -> int:
        return len(self.ports)

    def places(self, table: SeriesTable, metric: Metric, series: Ids) -> Places:
        """Return the number of the port of each series of a port metric."""
        known = self._places.get(metric, np.empty(0, np.intp))
        numbers = table.of(metric)
        if len(numbers) > len(known):
            words = table.words(metric)[len(known) :, :2].astype(np.int64)
            fresh = self._numbered(table, numbers[len(known) :], words[:, 0] << 32 | words[:, 1])
            known = np.concatenate([known, fresh])
            self._places[metric] = known
        if len(series) == len(numbers):
            return known
        return known[np.searchsorted(numbers, series)]

    def _numbered(self, table: SeriesTable, series: Ids, keys: NDArray[np.int64]) -> Places:
        """Return the numbers of the ports of some series, new ports included."""
        place = np.searchsorted(self._keys, keys)
        unmet = np.ones(len(keys), bool)
        inside = place < len(self._keys)
        unmet[inside] = self._keys[place[inside]] != keys[inside]
        if unmet.any():
            fresh, first = np.unique(keys[unmet], return_index=True)
            met = [self._meet(table, int(one)) for one in series[unmet][first]]
            joined = np.concatenate([self._keys, fresh])
            order = np.argsort(joined)
            self._keys = joined[order]
            self._of_key = np.concatenate([self._of_key, np.array(met, np.intp)])[order]
            place = np.searchsorted(self._keys, keys)
        return self._of_key[place]

    def hear(self, speed: Changes, lanes: Changes) -> None:
        """Take the generation of InfiniBand ports from their own word where nobody wrote it.

        The highest that was told counts: a link may be met while it is degraded. Of a port that
        does not tell its width four lanes are assumed, as nearly all have.
        """
        if not self._lane or not len(speed.rows):
            return
        told, width = np.zeros(len(self)), np.full(len(self), USUAL_LANES)
        told[self.places(speed.table, SPEED, speed.rows)] = np.nan_to_num(speed.value) / 1e9
        given = lanes.value > 0
        width[self.places(lanes.table, LANES, lanes.rows)[given]] = lanes.value[given]
        open_ones = np.array(list(self._lane), np.intp)
        rate = told[open_ones] / width[open_ones]
        for number in np.flatnonzero(rate > np.array(list(self._lane.values()))).tolist():
            place, lane = int(open_ones[number]), float(rate[number])
            usual = min(IB_LANES, key=lambda one: abs(one - lane))
            self._lane[place] = lane
            if abs(usual - lane) > ROUNDED * usual:
                continue
            before = self.built(place)
            built = with_lane(before, float(usual), int(width[place]))
            self._kind[place] = self._kinds.setdefault(built, len(self._kinds))
            self._columns.clear()
            self.reported = None

    def find(self, port: Port) -> int | None:
        """Return the number of a port, None if it says nothing of its errors."""
        return self._number.get(port)

    def built(self, place: int) -> Built:
        """Return what a port was built for."""
        return self._distinct[self._kind[place]]

    @property
    def payload(self) -> Floats:
        """Written speed, bit/s."""
        return self._column("payload", lambda one: one.payload)

    @property
    def line_over_payload(self) -> Floats:
        """By how much the line is faster than its payload."""
        return self._column("factor", lambda one: one.line_over_payload)

    @property
    def word_bits(self) -> Floats:
        """Bits of a codeword."""
        return self._column("word", lambda one: one.word_bits)

    def limit(self, quantity: Quantity, name: str) -> Floats:
        """Return one limit (normal, warning, error, drain, page) of a quantity; NaN where none."""

        def of(one: Built) -> float:
            band = one.limits.bands.get(quantity) if one.limits else None
            return float("nan") if band is None else float(getattr(band, name))

        return self._column(f"{quantity} {name}", of)

    @property
    def stratum(self) -> Places:
        """One integer for each port, equal for ports that can be compared."""
        codes: dict[tuple[str, ...], int] = {}
        found = self._column(
            "stratum", lambda one: float(codes.setdefault(one.stratum, len(codes)))
        )
        return found.astype(np.intp)

    @property
    def peer(self) -> Places:
        """Number of the port at the far end, -1 where it is not met."""
        if len(self._peer) != len(self.ports):
            ends = (self._topology.peer(port) for port in self.ports)
            found = [-1 if end is None else self._number.get(end, -1) for end in ends]
            self._peer = np.array(found, np.intp)
        return self._peer

    @property
    def sides(self) -> list[tuple[str, str]]:
        """(id of the link, port as text) of every port; without a cable the id is empty."""
        for port in self.ports[len(self._sides) :]:
            link = self._topology.link_of.get(port)
            self._sides.append((link.id if link else "", str(port)))
        return self._sides

    def link(self, place: int) -> Link | None:
        """Return the link of a port by its number."""
        return self._topology.link_of.get(self.ports[place])

    @property
    def _distinct(self) -> list[Built]:
        return list(self._kinds)

    def _column(self, key: str, of: Callable[[Built], float]) -> Floats:
        """Return a fact of every port; what ports were built for has few distinct values."""
        known = self._columns.get(key)
        if known is None or known[0] != len(self.ports):
            distinct = np.array([of(one) for one in self._kinds], np.float64)
            column = distinct[np.array(self._kind, np.intp)]
            known = self._columns[key] = len(self.ports), column
        return known[1]

    def _meet(self, table: SeriesTable, series: int) -> int:
        port = Port(*table.labels(series)[:2])
        found = self._number[port] = len(self.ports)
        self.ports.append(port)
        self.reported = None
        if self._said is None:  # the latest word of a port on itself counts
            rows = (table.labels(int(one)) for one in table.of(PORT_INFO))
            self._said = {Port(*labels[:2]): labels for labels in rows}
        built = self._built(port, self._said.get(port))
        facts = built.facts
        if facts.technology == "ib" and not facts.generation and not facts.lane_gbps:
            self._lane[found] = 0.0
        self._kind.append(self._kinds.setdefault(built, len(self._kinds)))
        return found

    def _built(self, port: Port, said: Labels | None) -> Built:
        link, devices = self._topology.link_of.get(port), self._topology.devices
        technology, medium, fec = (said[place] for place in TOLD) if said else ("", "", "")
        here = devices.get(port.device)
        if link is None:
            silicon = here.silicon if here else ""
            facts = Facts(technology, "", silicon, 0.0, fec, None, medium)
            return worked_out(facts, float("nan"), 0.0, 0, ("alone", port.device))
        one, other = link.ends
        there = devices.get((other if port == one else one).device)
        # of a hundred thousand ports a handful are built differently: asked before worked out
        retry = link.plr if "plr" in link.model_fields_set else None
        key = (
            link.technology, link.generation, link.speed_gbps, link.lanes, link.fec, link.medium,
            link.line_rate_gbps, link.length_m, retry, medium, fec,
            here and (here.role, here.silicon), there and (there.role, there.silicon),
        )  # fmt: skip
        built = self._alike.get(key)
        if built is None:
            built = self._alike[key] = of_cable(link, here, there, medium, fec)
        return built


TOLD = tuple(PORT_INFO.labels.index(name) for name in ("technology", "medium", "fec"))


# Derived and never decided upon: made again it is the same, only slower.
_known: WeakKeyDictionary[SeriesTable, WeakKeyDictionary[Topology, Receivers]]
_known = WeakKeyDictionary()


def receivers(table: SeriesTable, topology: Topology) -> Receivers:
    """Return the ports of a table under a topology."""
    mine = _known.setdefault(table, WeakKeyDictionary())
    found = mine.get(topology)
    infos = len(table.of(PORT_INFO))
    if found is None or found.infos != infos:  # ports say more of themselves now
        found = mine[topology] = Receivers(topology, infos)
    return found
