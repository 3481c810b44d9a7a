"""Receivers: every port that says anything of its errors, numbered, and what is known of it.

What a port was built for (line rate, code, limits) and who its peers are follows from the
topology and from what the port says it is, so it is worked out once for each port and kept
beside the table of series; a pass only indexes arrays.
"""

from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.link.fec import CODES, KP4, RATE_OF_CODE
from analyzer.evidence.link.limits import Band, Facts, Limits, Quantity, limits_of
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Labels, Port, SeriesTable
from fabrichealth.topology import Link, Topology

Places = NDArray[np.intp]

LENGTHS = (3.0, 30.0, 500.0)
"""Metres that part the classes of length: in the rack, in the row, in the hall, beyond."""

LANE_LINE_RATES = {10: 10.3125, 25: 25.78125, 50: 53.125, 100: 106.25, 200: 212.5}
"""Gb/s of one lane, coding included (IEEE 802.3, InfiniBand alike), by its payload rate."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a port was built for."""

    payload: float
    """Written speed in bit/s; NaN where nothing is written."""
    line_over_payload: float
    word_bits: float
    """Bits of a codeword; those of KP4 where the code is not known."""
    limits: Limits | None
    stratum: tuple[str, ...]
    """Who its peers are: role, technology, speed, code, medium, length, role at the far end."""


class Receivers:
    """Ports by number, in the order in which they were first met; arrays are [r]."""

    def __init__(self, topology: Topology, infos: int) -> None:
        self._topology = topology
        self.infos = infos
        """How many words of ports on themselves there were."""
        self.ports: list[Port] = []
        self.built: list[Built] = []
        self._number: dict[Port, int] = {}
        self._places: dict[Metric, Places] = {}
        self._columns: dict[str, NDArray[np.float64] | Places] = {}
        self._heard = 0
        self._sides: list[tuple[str, str]] = []
        self._said: dict[Port, Labels] = {}

    def __len__(self) -> int:
        return len(self.ports)

    def places(self, table: SeriesTable, metric: Metric, series: Ids) -> Places:
        """Return the number of the port of each series of a port metric."""
        known = self._places.get(metric, np.empty(0, np.intp))
        numbers = table.of(metric)
        if len(numbers) > len(known):
            self._hear(table)
            fresh = [self._meet(table.labels(int(one))) for one in numbers[len(known) :]]
            known = np.concatenate([known, np.array(fresh, np.intp)])
            self._places[metric] = known
        return known[np.searchsorted(numbers, series)]

    def find(self, port: Port) -> int | None:
        """Return the number of a port, None if it says nothing of its errors."""
        return self._number.get(port)

    @property
    def payload(self) -> Floats:
        """Written speed, bit/s."""
        return self._column("payload", [one.payload for one in self.built])

    @property
    def line_over_payload(self) -> Floats:
        """By how much the line is faster than its payload."""
        return self._column("factor", [one.line_over_payload for one in self.built])

    @property
    def word_bits(self) -> Floats:
        """Bits of a codeword."""
        return self._column("word", [one.word_bits for one in self.built])

    def limit(self, quantity: Quantity, name: str) -> Floats:
        """Return one limit (normal, warning, error, drain, page) of a quantity; NaN where none."""
        key = f"{quantity} {name}"
        if len(self._columns.get(key, ())) == len(self.built):
            return self._column(key, [])
        nothing = Band(*[float("nan")] * 5)
        bands = [one.limits.bands.get(quantity, nothing) if one.limits else nothing
                 for one in self.built]  # fmt: skip
        return self._column(key, [float(getattr(band, name)) for band in bands])

    @property
    def peer(self) -> Places:
        """Number of the port at the far end, -1 where it is not met."""
        if len(self._columns.get("peer", ())) != len(self.ports):
            ends = (self._topology.peer(port) for port in self.ports)
            found = [-1 if end is None else self._number.get(end, -1) for end in ends]
            self._columns["peer"] = np.array(found, np.intp)
        return self._columns["peer"].astype(np.intp, copy=False)

    @property
    def stratum(self) -> Places:
        """One integer for each port, equal for ports that can be compared."""
        if len(self._columns.get("stratum", ())) != len(self.ports):
            codes: dict[tuple[str, ...], int] = {}
            found = [codes.setdefault(one.stratum, len(codes)) for one in self.built]
            self._columns["stratum"] = np.array(found, np.intp)
        return self._columns["stratum"].astype(np.intp, copy=False)

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

    def _column(self, key: str, values: list[float]) -> Floats:
        known = self._columns.get(key)
        if known is None or len(known) != len(self.built):
            known = self._columns[key] = np.array(values, np.float64)
        return known.astype(np.float64, copy=False)

    def _hear(self, table: SeriesTable) -> None:
        """Take in what ports say they are; the latest word counts."""
        infos = table.of(PORT_INFO)
        for one in infos[self._heard :]:
            labels = table.labels(int(one))
            self._said[Port(*labels[:2])] = labels
        self._heard = len(infos)

    def _meet(self, labels: Labels) -> int:
        port = Port(*labels[:2])
        found = self._number.get(port)
        if found is None:
            found = self._number[port] = len(self.ports)
            self.ports.append(port)
            self.built.append(self._built(port))
        return found

    def _built(self, port: Port) -> Built:
        said = self._said.get(port)
        link, peer = self._topology.link_of.get(port), self._topology.peer(port)
        here = self._topology.devices.get(port.device)
        there = self._topology.devices.get(peer.device) if peer else None
        silicon = (here.silicon if here else "") or (there.silicon if there else "")
        told = {name: said[PORT_INFO.labels.index(name)] if said else "" for name in TOLD}
        if link is None:
            facts = Facts(told["technology"], "", silicon, 0.0, told["fec"], None, told["medium"])
            return _worked_out(facts, float("nan"), 0.0, 0, ("alone", port.device))
        retry = link.plr if "plr" in link.model_fields_set else None
        speed = float(link.speed_gbps or 0.0)
        lanes = int(link.lanes or 0)
        fec, medium = told["fec"] or link.fec, link.medium or told["medium"]
        lane = speed / lanes if lanes else 0.0
        facts = Facts(link.technology, link.generation, silicon, lane, fec, retry, medium)
        roles = (here.role if here else "", there.role if there else "", _length(link))
        return _worked_out(facts, speed or float("nan"), link.line_rate_gbps or 0.0, lanes, roles)


TOLD = ("technology", "medium", "fec")


@lru_cache(maxsize=4096)
def _worked_out(
    facts: Facts, speed: float, line_rate: float, lanes: int, roles: tuple[str, ...]
) -> Built:
    """Return what all ports with the same facts have in common."""
    factor = 1.0
    if line_rate and speed > 0:
        factor = line_rate / speed
    elif lanes and round(facts.lane_gbps) in LANE_LINE_RATES and facts.technology != "pcie":
        factor = LANE_LINE_RATES[round(facts.lane_gbps)] / facts.lane_gbps
    elif facts.fec in RATE_OF_CODE:
        factor = RATE_OF_CODE[facts.fec]
    code = CODES.get(facts.fec, KP4)
    stratum = (*roles, facts.technology, f"{speed:g}", facts.fec, facts.medium)
    return Built(speed * 1e9, factor, float(code.bits), limits_of(facts), stratum)


def _length(link: Link) -> str:
    if link.length_m is None:
        return ""
    return str(sum(link.length_m > edge for edge in LENGTHS))


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
