"""Traffic: what NICs send each other, and how it moves the counters of every Ethernet port.

A collective goes on for about half of the time, harmless incasts of some hundred milliseconds come
by chance, and faults add theirs. A step of the world is a mixture of the states this makes; each is
settled once and remembered, so that time may run fast.
"""

import math
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from emulator.congestion.buffers import Buffers
from emulator.congestion.settling import Asked, Settled, settle
from emulator.congestion.wires import Detour, Flow, Wires, padded
from emulator.ethernet import FRAME_BYTES, LOSSLESS, MOST_QUANTA, QUANTUM_BITS, EthernetState
from emulator.hosttree import WORD_BYTES
from emulator.plan import Plan
from emulator.port import PortState

COMPUTING = (0.35, 0.55)
"""Share of time without any communication, least and most."""

RING_SHARE = 0.12
"""Of the line rate, that a NIC sends to each of its two partners while a collective goes on."""

BURST_SECONDS = (0.2, 0.6)
BURST_EVERY = 30.0
"""Seconds between two harmless incasts, in the mean."""

BURST_SENDERS = 5
REMEMBERED = 512

FOREVER = 0.999
"""From this share on a port stops its peer whether anything comes or not."""


@dataclass(frozen=True)
class Job:
    """Flows that run for a share of the time beside the collective."""

    flows: tuple[Flow, ...]
    share: float = 1.0


@dataclass(frozen=True)
class State:
    """What is so for a share of a step."""

    flows: tuple[Flow, ...]
    stopping: frozenset[str]
    """Ports that stop their peers in turns, and do so now."""


class Traffic:
    """Flows between the NICs of one plan, and all that faults do to them."""

    def __init__(self, plan: Plan, buffers: Mapping[str, Buffers], seed: int) -> None:
        self.wires = Wires(plan)
        self.jobs: dict[str, Job] = {}
        """What runs beside the collective, by a name."""
        self.detour = Detour()
        self.drain: dict[str, float] = {}
        """Share of its rate at which a port sends; all of it if not named."""
        self.deaf: set[str] = set()
        """NICs that notify nobody of marks."""
        self.locked: set[int] = set()
        """Queues in a deadlock; they stay so until somebody clears them."""
        self._buffers = buffers
        self._chance = random.Random(seed)  # noqa: S311 - repeatable noise
        self._switch = {name: place for place, name in enumerate(dict.fromkeys(self.wires.device))}
        self._settled: dict[object, tuple[tuple[Flow, ...], Settled]] = {}
        self._collective = tuple(_rings(self.wires))

    def step(self, ports: Mapping[str, PortState], seconds: float) -> None:
        """Let so many seconds of traffic pass through these ports, among them all of the wires."""
        mixture = list(self._mixture(ports, seconds))
        (now,) = self._chance.choices(range(len(mixture)), [share for _, share in mixture])
        for number, (state, share) in enumerate(mixture):
            flows, settled = self._at(ports, state)
            if number == now:  # which of them is when somebody asks is chance
                self._hold(ports, settled)
            self._move(ports, settled, share * seconds)
            self._notify(ports, flows, settled, share * seconds)
            self.locked |= set(np.flatnonzero(settled.circle).tolist())

    def _mixture(
        self, ports: Mapping[str, PortState], seconds: float
    ) -> Iterator[tuple[State, float]]:
        """Yield the states of a step, and the share of it that each has."""
        activities = [(self._collective, self._communicating(ports))]
        if self._chance.random() < -math.expm1(-seconds / BURST_EVERY):
            target = self._chance.choice(self.wires.nics)
            lasts = self._chance.uniform(*BURST_SECONDS)
            activities.append((incast(self.wires, target), min(lasts / seconds, 1.0)))
        activities += [(job.flows, job.share) for job in self.jobs.values()]
        chopping = {
            name: _ethernet(ports[name]).pausing
            for name in self.wires.ports
            if _ethernet(ports[name]).chops
        }
        turns = [*(share for _, share in activities), *chopping.values()]
        for on in product((True, False), repeat=len(turns)):
            weight = math.prod(
                share if one else 1.0 - share for one, share in zip(on, turns, strict=True)
            )
            if weight > 0.0:
                going = zip(activities, on, strict=False)
                flows = tuple(flow for (some, _), one in going if one for flow in some)
                now = zip(chopping, on[len(activities) :], strict=True)
                yield State(flows, frozenset(name for name, one in now if one)), weight

    def _communicating(self, ports: Mapping[str, PortState]) -> float:
        """Return for which share of the time a collective goes on: it waits for its slowest flow.

        What stands still altogether stands still until somebody mends it.
        """
        usual = 1.0 - self._chance.uniform(*COMPUTING)
        jobs = tuple(flow for job in self.jobs.values() for flow in job.flows)
        flows, settled = self._at(ports, State((*self._collective, *jobs), frozenset()))
        going = zip(flows, settled.went.tolist(), strict=True)
        mine = set(self._collective)
        slowest = min((went for flow, went in going if flow in mine), default=1.0)
        return usual / (usual + (1.0 - usual) * slowest)

    def _at(self, ports: Mapping[str, PortState], state: State) -> tuple[tuple[Flow, ...], Settled]:
        """Return what a state comes to, with the flows that have a way in it."""
        here = [ports[name] for name in self.wires.ports]
        line = [port.up * port.gbps * 1e9 / 8 * self.drain.get(port.name, 1.0) for port in here]
        pausing = [
            float(port.name in state.stopping) if one.chops else one.pausing
            for port, one in ((port, _ethernet(port)) for port in here)
        ]
        key = (
            state, self.detour, tuple(line), tuple(pausing), frozenset(self.deaf),
            frozenset(self.locked), tuple(tuple(vars(one).values()) for one in
                                          self._buffers.values()),
        )  # fmt: skip
        if key not in self._settled:
            if len(self._settled) >= REMEMBERED:
                self._settled.clear()
            self._settled[key] = self._settle(state.flows, line, pausing)
        return self._settled[key]

    def _settle(
        self, wanted: tuple[Flow, ...], line: list[float], pausing: list[float]
    ) -> tuple[tuple[Flow, ...], Settled]:
        wires = self.wires
        lit = {queue: rate > 0 for queue, rate in enumerate(line)}
        found = [(flow, wires.way(flow, lit, self.detour)) for flow in wanted]
        flows = tuple(flow for flow, way in found if way is not None)
        ways = [way for _, way in found if way is not None]
        busy = {queue for way in ways for queue in way}
        forced = [
            pausing[queue ^ 1] if queue in busy or pausing[queue ^ 1] >= FOREVER else 0.0
            for queue in range(len(line))
        ]  # a slow receiver stops only what comes
        owner = [self._buffers.get(device) for device in wires.device]
        settled = settle(
            Asked(
                path=padded(ways),
                demand=np.array([
                    flow.share * line[way[0]] for flow, way in zip(flows, ways, strict=True)
                ]),
                heeds=np.array([flow.heeds and flow.to not in self.deaf for flow in flows], bool),
                line=np.array(line),
                forced=np.array(forced),
                locked=np.isin(np.arange(len(line)), list(self.locked)),
                owner=owner,
                far=[owner[queue ^ 1] for queue in range(len(line))],
                switch=np.array([self._switch[device] for device in wires.device]),
            )
        )  # fmt: skip
        return flows, settled

    def _move(self, ports: Mapping[str, PortState], settled: Settled, seconds: float) -> None:
        """Move both ends of every cable by what their queues come to."""
        for queue, name in enumerate(self.wires.ports):
            port, far = ports[name], ports[self.wires.ports[queue ^ 1]]
            if not port.up:
                continue
            mine, other = _ethernet(port), _ethernet(far)
            words = float(settled.sent[queue]) * seconds / WORD_BYTES
            port.tx_words += words
            far.rx_words += words
            mine.ecn_marked += float(settled.marked[queue]) * seconds
            lost = float(settled.lost[queue]) * seconds / FRAME_BYTES
            other.ingress_drops += lost
            other.rx_discards += lost
            stopped = float(settled.stopped[queue])
            refreshed = 2 * stopped * port.gbps * 1e9 / QUANTUM_BITS / MOST_QUANTA
            frames = (refreshed + 2 * float(settled.stops[queue])) * seconds
            other.tx_pause_seconds[LOSSLESS] += stopped * seconds
            other.tx_pause_frames[LOSSLESS] += frames
            mine.rx_pause_seconds[LOSSLESS] += stopped * seconds
            mine.rx_pause_frames[LOSSLESS] += frames

    def _hold(self, ports: Mapping[str, PortState], settled: Settled) -> None:
        """Set what the queues hold at this moment."""
        for queue, name in enumerate(self.wires.ports):
            _ethernet(ports[name]).held = float(settled.held[queue])

    def _notify(
        self,
        ports: Mapping[str, PortState],
        flows: tuple[Flow, ...],
        settled: Settled,
        seconds: float,
    ) -> None:
        """Count marks and notifications at the NICs."""
        for number, flow in enumerate(flows):
            if not settled.arrived[number]:
                continue
            to = _ethernet(ports[flow.to])
            to.ecn_arrived += float(settled.arrived[number]) * seconds
            if flow.to not in self.deaf:
                notified = float(settled.notified[number]) * seconds
                to.notices_sent += notified
                _ethernet(ports[flow.source]).notices_heeded += notified


def incast(wires: Wires, target: str, senders: int = BURST_SENDERS) -> tuple[Flow, ...]:
    """Return flows from so many NICs at full rate to one, too short for anybody to slow down."""
    return tuple(converging(wires, target, senders, share=1.0, heeds=False))


def converging(
    wires: Wires, target: str, senders: int, *, share: float, heeds: bool = True
) -> Iterator[Flow]:
    """Yield flows from the NICs that follow one in the same plane, over each spine in turn."""
    plane = _plane(wires.nics, target)
    place = plane.index(target)
    turns: Counter[str] = Counter()
    for number in range(min(senders, len(plane) - 1)):
        source = plane[(place + 1 + number) % len(plane)]
        yield Flow(source, target, share, heeds, turns[wires.leaf(source)])
        turns[wires.leaf(source)] += 1


def _rings(wires: Wires) -> Iterator[Flow]:
    """Yield the flows of a collective: two rings in each plane, spread over the spines."""
    turns: Counter[tuple[str, str]] = Counter()
    for first in dict.fromkeys(nic.partition("/")[2] for nic in wires.nics):
        plane = [nic for nic in wires.nics if nic.endswith(f"/{first}")]
        for step in sorted({1, max(len(plane) // 2, 1)}):
            for place, nic in enumerate(plane):
                to = plane[(place + step) % len(plane)]
                pair = wires.leaf(nic), wires.leaf(to)
                if to != nic:
                    yield Flow(nic, to, RING_SHARE, turn=turns[pair])
                    turns[pair] += 1


def _plane(nics: Collection[str], nic: str) -> list[str]:
    """Return the NICs of the same place in their hosts, which face the same leaves."""
    return [one for one in nics if one.partition("/")[2] == nic.partition("/")[2]]


def _ethernet(port: PortState) -> EthernetState:
    if port.ethernet is None:
        raise KeyError(port.name)
    return port.ethernet
