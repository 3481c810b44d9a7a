"""Interconnects: verdict series about the links of each domain, worked out beside the incidents.

They need what no detector sees: which links incidents say are not to be relied on, what was
drained, and the site's floor of capacity. They change slowly, so they are told once a minute.
"""

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.bisection import Bisection, Cuts
from analyzer.evidence.domain.interconnect import Loads, headroom, loads, quantiles
from analyzer.evidence.domain.inventory import stock
from analyzer.evidence.domain.machine import Pieces
from analyzer.evidence.domain.wiring import NETWORKS, Carried, Wiring, carried, wiring
from analyzer.evidence.durations import heard
from analyzer.evidence.pause.crossings import Crossings, crossings
from analyzer.verdicts import Verdict
from analyzer.viewing import Viewing
from fabrichealth.catalogue.ports import REPLAYS, RX_BYTES, SPEED, TX_BYTES, TX_PACKETS, UP
from fabrichealth.catalogue.verdicts import (
    DOMAIN_BISECTION,
    DOMAIN_BISECTION_HEADROOM,
    DOMAIN_BISECTION_SHARE,
    EFFECTIVE_ACCELERATORS,
    HOT_LINKS,
    INTERCONNECT_UTILIZATION,
)
from fabrichealth.counters import increases
from fabrichealth.errors import StoreError
from fabrichealth.model import Changes, Floats
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

log = logging.getLogger(__name__)

EVERY = 60.0
RECENT = 900.0
"""Seconds within which a reading is the present one, where no pass remembers states."""

WINDOW = 600.0
"""Seconds over which loads are taken: the hot-link detector looks at the same."""

STATES_REMEMBERED = 7200.0
"""Seconds for which a port's state and speed are remembered without being told again."""

REMEMBERED = {UP: STATES_REMEMBERED, SPEED: STATES_REMEMBERED, REPLAYS: WINDOW}


class Interconnects:
    """Tells how the links of each domain are used, and what they still carry."""

    def __init__(self, viewing: Viewing, floor: float) -> None:
        self._viewing = viewing
        self._floor = floor
        self._due = -np.inf
        self._failing = False
        self._cuts = Cuts()
        self._pieces: Pieces | None = None
        self._standing: dict[str, _Standing] = {}
        self.said: list[Verdict] = []

    def verdicts(
        self, now: float, topology: Topology, lost: Collection[str], hot: Collection[str]
    ) -> list[Verdict]:
        """Return what links of every domain carry.

        `lost` are links that carry nothing or are not to be relied on, by name; `hot` those that
        incidents call hot.
        """
        self._due = now + EVERY
        try:
            self.said = list(self._judged(topology, lost, hot))
            self._failing = False
        except StoreError:
            raise
        except Exception:  # what one reading does here silences no incident
            if not self._failing:
                log.exception("what links of domains carry cannot be told; incidents go on")
            self._failing, self.said = True, []
        return self.said

    def due(self, now: float) -> bool:
        """Return whether it is time to look again; what was `said` holds meanwhile."""
        return now >= self._due

    def _judged(
        self, topology: Topology, lost: Collection[str], hot: Collection[str]
    ) -> Iterator[Verdict]:
        wired = wiring(topology)
        viewing = self._viewing
        sent, received = (viewing.window(metric, WINDOW) for metric in (TX_BYTES, RX_BYTES))
        ports = crossings(sent.table, topology)
        states = [viewing.changes(metric, STATES_REMEMBERED) for metric in (UP, SPEED)]
        now = heard_of(wired, ports, states[0], states[1], lost, fresh(viewing, ports))
        busy = loads(wired, ports, now, (sent, True), (received, False))
        warm = np.fromiter((name in hot for name in wired.links), bool, len(wired.links))
        inventory = stock(topology, sent.table)
        pieces = self._pieces
        if pieces is None or pieces.wired is not wired or not now.alike(pieces.now):
            pieces = self._pieces = Pieces(wired, now)
            self._standing = {}
        hot_now = busy.hot | warm
        for domain, mine in wired.links_in.items():
            levels = quantiles(busy, mine)
            for level, load in levels.items():
                yield Verdict(INTERCONNECT_UTILIZATION, (domain, f"{level:g}"), load)
            if levels:
                yield Verdict(HOT_LINKS, (domain,), float(hot_now[mine].sum()))
            yield from self._carrying(pieces, domain, busy, inventory.size(domain))

    def _carrying(self, pieces: Pieces, domain: str, busy: Loads, size: int) -> Iterator[Verdict]:
        standing = self._standing.get(domain)
        if standing is None or standing.size != size:
            standing = self._standing[domain] = self._stands(pieces, domain, size)
        if standing.effective is not None:
            yield Verdict(EFFECTIVE_ACCELERATORS, (domain,), float(standing.effective))
        for number, cut in enumerate(standing.cuts):
            if cut is None:
                continue
            name = NETWORKS[number]
            yield Verdict(DOMAIN_BISECTION_SHARE, (domain, name), cut.share)
            if pieces.wired.counted[number]:
                continue  # links, not bits: their share means something, their number none
            yield Verdict(DOMAIN_BISECTION, (domain, name), cut.gbps * 1e9)
            free = headroom(cut, busy, pieces.now)
            if free is not None:
                yield Verdict(DOMAIN_BISECTION_HEADROOM, (domain, name), free)

    def _stands(self, pieces: Pieces, domain: str, size: int) -> "_Standing":
        whole = pieces.machine(domain, self._floor, size)
        wired, now = pieces.wired, pieces.now
        return _Standing(
            size,
            None if whole is None else whole.effective,
            [self._cuts.cut(wired, domain, number, now) for number in range(len(NETWORKS))],
        )


@dataclass(frozen=True, slots=True)
class _Standing:
    """What a domain still can, while none of its links changes."""

    size: int
    effective: int | None
    cuts: list[Bisection | None]
    """By network."""


def fresh(viewing: Viewing, ports: Crossings) -> Floats | None:
    """Return what share of what each port sends is no repetition ([p], NaN where nothing is).

    Packets are looked at only where something was repeated in the window at all; a retry that
    sends several packets again counts as one, so that the share is an upper bound.
    """
    replays = viewing.changes(REPLAYS, WINDOW)
    again = replays.total(WINDOW)
    if not again.any():
        return None
    found = np.full(len(ports), np.nan)
    repeated = np.zeros(len(ports))
    repeated[ports.places(replays.table, REPLAYS, replays.rows)] = again
    sent = viewing.window(TX_PACKETS, WINDOW)
    place = ports.places(sent.table, TX_PACKETS, sent.series)
    rows = np.flatnonzero(repeated[place] > 0)
    chosen = sent.select(rows)
    packets = increases(chosen.values, chosen.times).total()
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1.0 - repeated[place[rows]] / packets
    found[place[rows]] = np.where(packets > 0, np.clip(share, 0.0, 1.0), np.nan)
    return found


def heard_of(
    wired: Wiring,
    ports: Crossings,
    up: Changes,
    speed: Changes,
    lost: Iterable[str] = (),
    new: Floats | None = None,
) -> Carried:
    """Return what each link carries by the remembered states and speeds of its ports."""
    columns = []
    for change in (up, speed):
        place = ports.places(change.table, change.metric, change.rows)
        values = np.where(heard(change), change.value, np.nan)
        columns.append((place, values))
    return _carried(wired, ports, columns, lost, new)


def read_of(
    wired: Wiring, ports: Crossings, store: Store, now: float, lost: Iterable[str] = ()
) -> Carried:
    """Return what each link carries by what its ports said last, in a quarter of an hour."""
    columns = []
    for metric in (UP, SPEED):
        said = store.latest(metric, now, RECENT)
        columns.append((ports.places(store.table, metric, said.series), said.values))
    return _carried(wired, ports, columns, lost)


def _carried(
    wired: Wiring,
    ports: Crossings,
    told: Iterable[tuple[NDArray[np.intp], Floats]],
    lost: Iterable[str],
    new: Floats | None = None,
) -> Carried:
    up, speed = (np.full(len(ports), np.nan) for _ in range(2))
    for whole, (place, values) in zip((up, speed), told, strict=True):
        whole[place] = values
    return carried(wired, ports, up, speed, frozenset(lost), new)
