"""A domain of 128 hosts with eight accelerators and eight rails, step by step of its jobs.

Jobs are synchronous: a step lasts as long as the slowest of its accelerators computes, plus what
is sent. Who is ready earlier spins, which its duty cycle counts as work and its matrix units do
not. Clocks differ by silicon and place; power follows what is computed. Every port sends the same
bytes a step; a link that is slower than the others lets its switch wait. Readings have noise and
come in steps.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.domain.faults import BY_NAME, Fault
from fabrichealth.catalogue.accelerators import (
    ALLOCATED,
    CLOCK,
    POWER,
    TENSOR_ACTIVE,
    UTILIZATION,
)
from fabrichealth.catalogue.congestion import PFC_TX_PAUSE
from fabrichealth.catalogue.ports import TRANSMIT_WAIT, TX_BYTES
from fabrichealth.events import Event
from fabrichealth.model import Batch, Floats, SeriesTable
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

START = 1_800_000_000.0
HOSTS, CARDS, RAILS = 128, 8, 8
SIZE = HOSTS * CARDS
DOMAIN = "pod-a"
COMPUTE, SEND = 0.7, 0.3
"""Parts of a step that is as it should be."""
ACTIVE = 0.62
"""Activity of the matrix units while they compute."""
HERTZ, PORT_BYTES = 1.83e9, 30e9
IDLE_WATTS, SPIN_WATTS, WORK_WATTS = 90.0, 240.0, 680.0

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """One run: what befalls the domain, or what sort of quiet day it is."""

    fault: Fault | None = None
    strength: int = 0
    quiet: str = ""

    @property
    def far(self) -> float:
        """How far the fault goes."""
        return self.fault.strengths[self.strength] if self.fault else 0.0

    @property
    def period(self) -> float:
        """Seconds between two polls."""
        return self.fault.period if self.fault else 10.0


@dataclass
class Job:
    """Accelerators that work in step."""

    name: str
    cards: NDArray[np.intp]
    busy: float = 1.0
    """Share of the time in which it has anything to do."""
    active: float = ACTIVE


@dataclass
class State:
    """What every accelerator and port does at one moment."""

    load: Floats = field(default_factory=lambda: np.zeros(SIZE))
    tensor: Floats = field(default_factory=lambda: np.zeros(SIZE))
    watts: Floats = field(default_factory=lambda: np.full(SIZE, IDLE_WATTS))
    sent: Floats = field(default_factory=lambda: np.zeros((HOSTS, RAILS)))
    paused: Floats = field(default_factory=lambda: np.zeros((HOSTS, RAILS)))
    waited: Floats = field(default_factory=lambda: np.zeros((HOSTS, RAILS)))


class World:
    """The domain, poll by poll."""

    def __init__(self, case: Case, chance: np.random.Generator, table: SeriesTable) -> None:
        self.case, self._chance, self._table = case, chance, table
        self.onset = START + (case.fault.healthy if case.fault else 12 * 60.0)
        self.hosts = [f"host-{h:03d}" for h in range(HOSTS)]
        self.cards = [f"{host}-{c}" for host in self.hosts for c in range(CARDS)]
        self._silicon = chance.normal(1.0, 0.006, SIZE)
        if case.quiet == "lottery":
            self._silicon = chance.normal(1.0, 0.015, SIZE)
            self._silicon[CARDS - 1 :: CARDS] *= 0.93
        self.jobs = self._begun()
        self._host = int(chance.integers(0, HOSTS // 2))
        self._card = self._host * CARDS + int(chance.integers(0, CARDS))
        self._rail = int(chance.integers(0, RAILS))
        self._counters = {
            what: chance.uniform(0, 1e6, (HOSTS, RAILS)) for what in ("sent", "paused", "waited")
        }
        self._of_host = [self._named(host) for host in range(HOSTS)]
        self._of_leaf = [
            table.intern_all((TRANSMIT_WAIT, (f"leaf-{r}", f"{h}")) for h in range(HOSTS))
            for r in range(RAILS)
        ]
        self._of_scheduler = table.intern_all((ALLOCATED, (card,)) for card in self.cards)

    @property
    def culprit(self) -> str:
        """Whom an attentive person would accuse."""
        name = self.case.fault.name if self.case.fault else ""
        if name in {"clock", "stalls", "work"}:
            return self.cards[self._card]
        if name in {"host_clock", "link", "receiver"}:
            return self.hosts[self._host]
        return f"leaf-{self._rail}" if name == "rail" else DOMAIN

    def topology(self) -> Topology:
        """Return the inventory."""
        racks = [Rack(name=f"r{n:02d}", domain=DOMAIN) for n in range(HOSTS // 8)]
        devices = [Device(name=f"leaf-{r}", role="switch", tier=1) for r in range(RAILS)]
        devices += [
            Device(name=name, role="host", rack=f"r{h // 8:02d}")
            for h, name in enumerate(self.hosts)
        ]
        devices += [
            Device(name=name, role="accelerator", host=self.hosts[n // CARDS], model="X")
            for n, name in enumerate(self.cards)
        ]
        links = [
            Link(a=f"{name}/eth{r}", b=f"leaf-{r}/{h}", technology="ib", speed_gbps=400)
            for h, name in enumerate(self.hosts)
            for r in range(RAILS)
        ]
        return Topology(devices, links, [Domain(name=DOMAIN, accelerators=SIZE)], racks)

    def _begun(self) -> list[Job]:
        """Return the jobs: a half, a quarter and two eighths of the domain, by hosts."""
        sizes = (HOSTS // 2, HOSTS // 4, HOSTS // 8, HOSTS // 8)
        first, found = 0, []
        for number, size in enumerate(sizes):
            cards = np.arange(first * CARDS, (first + size) * CARDS)
            busy = float(self._chance.uniform(0.93, 0.99))
            found.append(Job(f"j{number}", cards, busy))
            first += size
        if self.case.fault is BY_NAME["unallocated"]:
            left = round((1 - self.case.far) * HOSTS) * CARDS
            found = [Job(one.name, one.cards[one.cards < left], one.busy) for one in found]
            found = [one for one in found if len(one.cards)]
        if self.case.quiet == "memory_bound":
            found[1].active = 0.03
        if self.case.quiet in {"rests", "tenth"}:
            share = 0.6 if self.case.quiet == "rests" else 0.9
            left = int(share * HOSTS) * CARDS
            low = 0.45 if self.case.quiet == "rests" else 0.9
            found = [Job(one.name, one.cards[one.cards < left], low) for one in found]
            found = [one for one in found if len(one.cards)]
        return found

    def events(self) -> list[Event]:
        """Return the beginnings of the jobs, and on a busy day ends and others' beginnings."""
        found = [self._start(one, START - 3600.0) for one in self.jobs]
        if self.case.quiet == "churn":
            last = self.jobs[-1]
            found.append(Event(START + 900.0, "job_end", {"job": last.name}))
            found.append(self._start(Job("next", last.cards), START + 1080.0))
        return found

    def _start(self, job: Job, at: float) -> Event:
        cards = [self.cards[card] for card in job.cards.tolist()]
        return Event(at, "job_start", {"job": job.name}, more={"accelerators": cards})

    def poll(self, number: int) -> list[Batch]:
        """Return what every target says at one moment."""
        at = START + number * self.case.period
        clock = self._clocks(at)
        now = self._worked(at, clock)
        roll = self._chance.standard_normal
        noisy = {
            "load": np.clip(now.load + 0.01 * roll(SIZE) * (now.load > 0), 0, 1).round(2),
            "tensor": np.clip(now.tensor * (1 + 0.04 * roll(SIZE)), 0, 1).round(3),
            "watts": (now.watts * (1 + 0.02 * roll(SIZE))).round(0),
            "hertz": (clock * (1 + 0.003 * roll(SIZE)) / 15e6).round() * 15e6,
        }
        for what, rate in (("sent", now.sent), ("paused", now.paused), ("waited", now.waited)):
            noise = np.maximum(1 + 0.05 * roll((HOSTS, RAILS)), 0)
            self._counters[what] += rate * noise * self.case.period
        return self._told(at, noisy)

    def _ill(self, at: float) -> bool:
        return self.case.fault is not None and at >= self.onset

    def _is(self, name: str, at: float) -> bool:
        return self._ill(at) and self.case.fault is BY_NAME[name]

    def _clocks(self, at: float) -> Floats:
        clock = HERTZ * self._silicon
        if self._is("clock", at):
            clock[self._card] *= 1 - self.case.far
        if self._is("host_clock", at):
            clock[self._of(self._host)] *= 1 - self.case.far
        if self.case.quiet == "all_slow" and at >= self.onset:
            clock *= 0.75
        return clock

    @staticmethod
    def _of(host: int) -> slice:
        return slice(host * CARDS, (host + 1) * CARDS)

    def _worked(self, at: float, clock: Floats) -> State:
        now = State()
        for number, job in enumerate(self.jobs):
            if len(job.cards) and not self._gone(job, at):
                self._step(now, number, job, clock, at)
        self._idle(now, at)
        return now

    def _gone(self, job: Job, at: float) -> bool:
        churns = self.case.quiet == "churn" and job is self.jobs[-1]
        return churns and START + 900.0 <= at < START + 1080.0

    def _step(self, now: State, number: int, job: Job, clock: Floats, at: float) -> None:
        """Work one step of a job: the slowest of it sets the pace of all."""
        cards = job.cards
        mine = np.zeros(SIZE, np.bool_)
        mine[cards] = True
        compute = COMPUTE * HERTZ / clock[cards]
        stalls = np.zeros(len(cards))
        here = cards == self._card
        if self._is("work", at):
            compute[here] *= 1 + self.case.far
        if self._is("stalls", at):
            stalls[here] = self.case.far / (1 - self.case.far) * (COMPUTE + SEND)
        if self.case.quiet == "stages" and number == 0:
            compute *= np.where(np.arange(len(cards)) < len(cards) // 4, 1.0, 0.6)
        send = SEND
        ports: Bools = np.asarray(mine.reshape(HOSTS, CARDS).any(axis=1), np.bool_)
        share = np.ones((HOSTS, RAILS))
        if self._is("link", at) and ports[self._host]:
            slow = SEND / self.case.far
            now.waited[self._host, self._rail] = (slow - SEND) / (COMPUTE + slow)
            send = slow
        if self._is("rail", at):
            share[:, self._rail] = self.case.far
            share /= share.mean(axis=1, keepdims=True)
        if self._is("receiver", at) and ports[self._host]:
            now.paused[self._host] = self.case.far
            send = SEND * (1 + self.case.far)
        lasts = float((compute + stalls).max()) + send
        works = job.busy
        if self.case.quiet == "halves" and at >= self.onset:
            turn = int((at - START) // 30.0) % 2
            first = np.arange(len(cards)) < len(cards) // 2
            half = first if turn else ~first
            now.load[cards] = np.where(half, works, 0.0)
            now.tensor[cards] = np.where(half, job.active * COMPUTE, 0.0)
            now.watts[cards] = np.where(half, WORK_WATTS, IDLE_WATTS)
            return
        part = compute / lasts
        now.load[cards] = works * (1 - stalls / lasts)
        now.tensor[cards] = works * job.active * part
        drawn = SPIN_WATTS + (WORK_WATTS - SPIN_WATTS) * part / COMPUTE
        now.watts[cards] = IDLE_WATTS + works * (drawn - IDLE_WATTS)
        now.sent[ports] = PORT_BYTES * works * (COMPUTE + SEND) / lasts * share[ports]

    def _idle(self, now: State, at: float) -> None:
        """Let the last part of the domain do nothing, in the way of the fault."""
        fault = self.case.fault
        if fault is None or not self._ill(at) or not fault.names:
            return
        first = round((1 - self.case.far) * HOSTS) * CARDS
        idle: Bools = np.asarray(np.arange(SIZE) >= first, np.bool_)
        if fault.name == "spinning":
            now.load[idle], now.tensor[idle], now.watts[idle] = 0.99, 0.0, SPIN_WATTS
        elif fault.name == "flashing":
            turn = int((at - START) // self.case.period)
            flash: Bools = np.asarray((np.arange(SIZE) // CARDS + turn) % 12 == 0, np.bool_)
            now.load[idle] = np.where(flash, 0.95, 0.0)[idle]
            now.tensor[idle] = np.where(flash, 0.3, 0.0)[idle]
            now.watts[idle] = np.where(flash, 500.0, IDLE_WATTS)[idle]
        elif fault.name in {"stopped", "idle_job"}:
            now.load[idle], now.tensor[idle], now.watts[idle] = 0.0, 0.0, IDLE_WATTS

    def _told(self, at: float, said: dict[str, Floats]) -> list[Batch]:
        silent = HOSTS
        if self._is("silent", at):
            silent = round((1 - self.case.far) * HOSTS)
        batches = []
        for host in range(silent):
            own = self._of(host)
            values = np.concatenate([
                said["load"][own], said["tensor"][own], said["watts"][own], said["hertz"][own],
                self._counters["sent"][host], self._counters["paused"][host],
            ])  # fmt: skip
            clock = self._table.clock("sim", self.hosts[host])
            batches.append(Batch(clock, at + 0.001 * host, self._of_host[host], values))
        for rail in range(RAILS):
            clock = self._table.clock("sim", f"leaf-{rail}")
            values = self._counters["waited"][:, rail].copy()
            batches.append(Batch(clock, at + 0.2, self._of_leaf[rail], values))
        held = np.zeros(SIZE)
        for job in self.jobs:
            held[job.cards] = 0.0 if self._gone(job, at) else 1.0
        clock = self._table.clock("sim", "scheduler")
        batches.append(Batch(clock, at + 0.3, self._of_scheduler, held))
        return batches

    def _named(self, host: int) -> NDArray[np.int32]:
        cards = self.cards[self._of(host)]
        name = self.hosts[host]
        return self._table.intern_all([
            *((metric, (card,)) for metric in (UTILIZATION, TENSOR_ACTIVE, POWER, CLOCK)
              for card in cards),
            *((TX_BYTES, (name, f"eth{r}")) for r in range(RAILS)),
            *((PFC_TX_PAUSE, (name, f"eth{r}", "3")) for r in range(RAILS)),
        ])  # fmt: skip
