"""A case: what is asked of a fabric from moment to moment, what is read of it, and the truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.congestion.fabrics import Fabric
from benchmarks.congestion.fluid import State

Queue = tuple[str, str]
"""(device, device at the far end)."""

STEP = 0.2
"""Seconds for which a fabric is sampled at once: the poll of a watchdog on a small switch."""

PAST = 8
"""Polls before the onset at the least, where there is one."""

WATCHED = 5.0
"""Seconds between polls up to which a fabric is sampled at STEP; what is polled more seldom is
steady, and sampled at its polls."""


@dataclass(frozen=True)
class Truth:
    """What should be said; nothing of it if it is empty."""

    right: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kinds that find it, each with the culprits that are right."""
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kinds that are true beside it, each with their culprits; none written: any."""
    says: str = ""
    """What the sentence must hold."""
    trigger: str = ""
    """Of a deadlock whose first queue was paused well before the others: its port."""


@dataclass(frozen=True)
class Read:
    """What is read of a fabric."""

    hosts: bool = True
    tx_time: bool = True
    """Whether ports count for how long they stop others; else frames only, as many switches do."""
    rx_time: bool = True
    """Whether ports count for how long they are stopped; else frames only."""
    silent: frozenset[str] = frozenset()
    """Switches that are not read."""
    thresholds: bool = False
    """Whether configured buffers and marking thresholds are read."""


@dataclass(frozen=True)
class Told:
    """What devices tell beside what flows, after the onset; by port name."""

    dropping: frozenset[Queue] = frozenset()
    """Queues whose far end loses what is under way whenever it stops them."""
    resuming: Mapping[Queue, float] = field(default_factory=dict)
    """Frames a second that let a queue go on and stop nothing."""
    speed: Mapping[Queue, float] = field(default_factory=dict)
    """Share of the line rate that a port says it runs at."""
    uncorrectable: Mapping[Queue, float] = field(default_factory=dict)
    """Codewords a second that what faces a queue cannot correct."""
    deaf: frozenset[str] = frozenset()
    """Hosts that notify nobody of marks."""
    mark_from: Mapping[str, float] = field(default_factory=dict)
    """By switch, so many times what a queue may hold lies K_max."""


@dataclass
class Case:
    """One history of one fabric."""

    fabric: Fabric
    truth: Truth
    ill: Callable[[float, float], State]
    """State from and until so many seconds after the onset."""
    read: Read = Read()
    told: Told = Told()
    period: float = 1.0
    """Seconds between polls."""
    before: float = 10.0
    """Seconds until the onset, and eight polls at least: a poller was there before the fault."""
    after: float = 15.0
    """Seconds from the onset on that are looked at."""
    duty: float = float("nan")
    """Share of time for which the culprit stops others; NaN where it is no such case."""
    turn: float = float("nan")
    """Seconds of one stop and the break after it; NaN where it stops without breaks."""
    faced: tuple[str, ...] = ()
    """Ports whose queues what is wrong stops itself; the others only wait."""
    lead: float = 0.0
    """Seconds before the onset from which on it is ill already, in part."""
    acting: bool = False
    """Whether the switches' watchdog drops what it takes for a storm, and its counters freeze."""
    also_links: bool = False
    """Whether the verdicts on links are asked too."""

    def __post_init__(self) -> None:
        phase = float(self.fabric.chance.uniform(0.0, self.period))
        self.step = STEP if self.period <= WATCHED else self.period
        before = max(self.before, PAST * self.period) if self.before > 0 else 0.0
        self.began = round((before + phase) / self.step) * self.step
        """Seconds from the first poll to the onset."""


def calm(fabric: Fabric) -> State:
    """Return a fabric in which nothing is wrong and every switch marks."""
    fluid = fabric.fluid
    switches = frozenset(fabric.switches)
    return State(
        fluid.demand.copy(),
        np.zeros(len(fluid.names)),
        np.full(len(fluid.names), fluid.line),
        np.array([device in switches for device, _ in fluid.names], np.bool_),
    )


def stopping(fabric: Fabric, shares: Mapping[Queue, float], state: State) -> State:
    """Return a state in which receivers stop some queues for a share of the time."""
    forced = state.forced.copy()
    for queue, share in shares.items():
        forced[fabric.fluid.number[queue]] = share
    return replace(state, forced=forced)


def asking(state: State, flows: list[int], times: float) -> State:
    """Return a state in which some flows ask for so many times what they did."""
    demand = state.demand.copy()
    demand[flows] *= times
    return replace(state, demand=demand)


@dataclass(frozen=True)
class Chop:
    """Stops for a share of each turn, then lets go; `turn` 0 is without breaks."""

    duty: float
    turn: float
    phase: float = 0.0

    def share(self, start: float, end: float) -> float:
        """Return for which share of a stretch of time it stops, to a hundredth."""
        if self.turn <= 0:
            return self.duty
        return round((self._until(end) - self._until(start)) / (end - start), 2)

    def _until(self, at: float) -> float:
        turns, rest = divmod(at + self.phase, self.turn)
        return self.duty * self.turn * turns + min(rest, self.duty * self.turn)


def log_uniform(chance: np.random.Generator, low: float, high: float) -> float:
    """Return a number between two, alike in every decade."""
    return float(np.exp(chance.uniform(np.log(low), np.log(high))))
