"""Fabric: the physical state of an emulated supernode, and how it moves with time.

Written from the specifications, never from the decoders. A port counts what its receiver sees;
rates are events per second with Poisson noise from one seeded generator, so that a scenario
repeats to the letter.
"""

import math
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from emulator.congestion.buffers import Buffers
from emulator.congestion.traffic import Traffic
from emulator.ethernet import EthernetState
from emulator.machines import AcceleratorState, HostState
from emulator.plan import HOST_WATTS, Plan
from emulator.plant.plant import Plant, plant
from emulator.port import PortState
from emulator.receiver import ReceiverState
from emulator.scheduling.workload import Workload

IDLE, BUSY = 0.15, 0.72
"""Share of line rate that a rail carries outside and inside a collective phase."""

AIR_CELSIUS = 30.0
"""Air that reaches the modules."""

PHASE = 40.0
"""Seconds of one compute and communication phase."""

FRESH_SECONDS = 0.2
"""What flows carry is counted anew where it was not for so long."""

TRAINING_SECONDS = 8.0
"""A link is down for so long while it trains again."""


@dataclass
class Rates:
    """Ill events per second at one receiver; a healthy one has none."""

    symbol_errors: float = 0.0
    recoveries: float = 0.0
    replays: float = 0.0
    crc_errors: float = 0.0


class Fabric:
    """The whole supernode at one moment."""

    def __init__(self, plan: Plan, seed: int, now: float) -> None:
        self.plan = plan
        self.random = random.Random(seed)  # noqa: S311 - repeatable noise
        self._light = random.Random(seed + 1)  # noqa: S311 - the same, for what is optical
        self.now = now
        self._stepped = now
        self._moving = threading.Lock()
        """Steps are taken in a thread, while switches answer."""
        self.began = now
        self.last_step = 0.0
        """Length of the last step, in seconds."""
        self.ports: dict[str, PortState] = {}
        self._ports_by_device: dict[str, list[str]] = {}
        for cable in plan.cables:
            for end in (cable.a, cable.b):
                self.ports[end] = PortState(end, cable)
                self._ports_by_device.setdefault(end.partition("/")[0], []).append(end)
        for cable in plan.cables:  # they have been lit for long
            one, other = self.ports[cable.a].optical, self.ports[cable.b].optical
            if one is not None and other is not None:
                one.module.receive(other.module)
                other.module.receive(one.module)
        self.hosts = {
            name: HostState(
                name,
                now - self.random.uniform(2, 40) * 86_400,
                accelerators=[AcceleratorState(a) for a in plan.accelerators_of(name)],
            )
            for name in plan.hosts
        }
        self.dark: set[str] = set()
        """Devices without power: they answer nothing and their links are down."""
        self.unplugged: set[str] = set()
        """Ids of cables that are out."""
        self.ill: dict[str, Rates] = {}
        """Rates of ill receivers, by port."""
        self.buffers = {switch: Buffers() for switch in plan.makes}
        """Of each Ethernet switch; faults set them ill."""
        self.traffic = Traffic(plan, self.buffers, seed + 2) if plan.flows else None
        """What moves the Ethernet ports, where the plan has flows; else they all move alike."""
        self.plant = plant(plan) if plan.plant else None
        """What cools and feeds the racks, where the plan has that."""
        self.workload = Workload.of_one_job(plan, now) if plan.jobs else None
        """Who has the accelerators, where the plan has a scheduler."""
        self._training: dict[str, float] = {}
        self._fallen: set[str] = set()
        """Ids of cables that fell since the last step: down in the next, however long it is."""

    def accelerator(self, name: str) -> AcceleratorState:
        """Return an accelerator by name."""
        host = name.rpartition("-")[0]
        return next(one for one in self.hosts[host].accelerators if one.name == name)

    def optical(self, port: str) -> ReceiverState:
        """Return what the port of an optical cable has beyond others."""
        state = self.ports[port].optical
        if state is None:
            raise KeyError(port)
        return state

    def ethernet(self, port: str) -> EthernetState:
        """Return what the port of an Ethernet cable has beyond others."""
        state = self.ports[port].ethernet
        if state is None:
            raise KeyError(port)
        return state

    def flowing(self) -> Traffic:
        """Return the traffic of a plan that has flows."""
        if self.traffic is None:
            raise KeyError("this plan has no flows")
        return self.traffic

    def supplied(self) -> Plant:
        """Return the plant of a plan that has one."""
        if self.plant is None:
            raise KeyError("this plan has no plant")
        return self.plant

    def ports_of(self, device: str) -> Iterator[PortState]:
        """Yield the ports of a device."""
        for name in self._ports_by_device.get(device, ()):
            yield self.ports[name]

    def peer(self, port: PortState) -> PortState:
        """Return the port at the other end."""
        cable = port.cable
        return self.ports[cable.b if port.name == cable.a else cable.a]

    def facing(self, port: PortState) -> tuple[str, str]:
        """Return device and port at the other end, as LLDP tells them."""
        device, _, far = self.peer(port).name.partition("/")
        return device, far

    def retrain(self, cable_id: str, seconds: float = TRAINING_SECONDS) -> None:
        """Let a cable fall and come back after so many seconds."""
        self._training[cable_id] = self.now + seconds
        self._fallen.add(cable_id)

    def begin(self, now: float) -> None:
        """Let time begin to pass now: while it was set up nothing moved but meters of energy."""
        with self._moving:
            if self.plant is not None:
                self.plant.count(now - self.now)
            self.began = self.now = self._stepped = now

    def carry(self, now: float) -> None:
        """Let flows go on until now between two steps, so that counters are as fresh as asked."""
        if self.traffic is not None:
            with self._moving:
                if now - self.now >= FRESH_SECONDS:
                    self.traffic.step(self.ports, now - self.now)
                    self.now = now

    def advance(self, now: float) -> None:
        """Let the time between then and now happen."""
        with self._moving:
            carried, self.now = now - self.now, max(now, self.now)
            step, self._stepped = now - self._stepped, max(now, self._stepped)
            if step > 0:
                self._advance(step, max(carried, 0.0))

    def _advance(self, step: float, carried: float) -> None:
        now = self.now
        self.last_step = step
        for host in self.hosts.values():
            if host.name in self.dark and 0 < host.dark_until <= now:
                self.dark.difference_update(self.plan.held_by(host.name))
                host.booted_at, host.dark_until = now, 0.0
                self._reset(host)
        phase = math.sin(2 * math.pi * (now - self.began) / PHASE)
        load = (IDLE + BUSY) / 2 + (BUSY - IDLE) / 2 * phase
        for port in self.ports.values():
            if port.optical is not None:
                port.optical.module.shine(AIR_CELSIUS + self._warmer(port.name))
        for port in self.ports.values():
            self._move(port, step, load)
            if port.optical is not None:
                self._receive(port, port.optical, step)
            if port.ethernet is not None and port.up and self.traffic is None:
                self._pause(port, port.ethernet, step, load)
        if self.traffic is not None and carried > 0:
            self.traffic.step(self.ports, carried)
        self._fallen.clear()
        self._supply(step)
        if self.workload is not None:
            self.workload.now = self.now
        for host in self.hosts.values():
            self._work(host, phase)

    def _work(self, host: HostState, phase: float) -> None:
        """Let a host's accelerators compute, and grow warm of it."""
        cooled = self._cooled(host.name)
        for one in host.accelerators:
            busy = min(max(0.9 + 0.05 * phase + self.random.gauss(0, 0.01), 0), 1)
            held = self.workload is None or self.workload.holds(host.name, one.name)
            one.work(busy if held else 0.0, self.random.gauss(0, 5), *cooled)

    def _supply(self, step: float) -> None:
        """Let water and power flow for what was drawn in the last step."""
        if self.plant is None:
            return
        wanted = dict.fromkeys(self.plant.racks, 0.0)
        for host in self.hosts.values():
            if host.name not in self.dark:
                drawn = sum(one.power / (1.0 - one.slowed) for one in host.accelerators)
                wanted[self.plan.rack(host.name)] += drawn + HOST_WATTS
        self.plant.advance(step, wanted)

    def _cooled(self, host: str) -> tuple[float, float, float]:
        """Return the water at a host's plates (C), their kelvin a watt, and its slowing."""
        if self.plant is None:
            return 38.0, 0.035, 0.0
        rack = self.plan.rack(host)
        return (
            8.0 + self.plant.cdu.supply,
            self.plant.plate(host, rack),
            self.plant.racks[rack].slowed,
        )

    def _warmer(self, port: str) -> float:
        """Return by how many kelvin the module of a port sits warmer than it should."""
        if self.plant is None:
            return 0.0
        return self.plant.warmer(self.plan.stands_in(port.partition("/")[0]))

    def _move(self, port: PortState, step: float, load: float) -> None:
        should = self._lit(port)
        if port.up and not should:
            port.link_downs += 1
        port.up = should
        if not should:
            return
        if port.ethernet is None or self.traffic is None:
            words = load * port.gbps * 1e9 / 8 / 4 * step * self.random.uniform(0.97, 1.03)
            port.rx_words += words
            self.peer(port).tx_words += words
        rates = self.ill.get(port.name)
        if rates is not None:
            port.symbol_errors += self._poisson(rates.symbol_errors * step)
            port.recoveries += self._poisson(rates.recoveries * step)
            port.replays += self._poisson(rates.replays * step)
            port.crc_errors += self._poisson(rates.crc_errors * step)

    def _receive(self, port: PortState, state: ReceiverState, step: float) -> None:
        far = self.peer(port).optical
        if not port.up or far is None:
            state.module.receive(None)
        else:
            state.receive(far, port.gbps, step, lambda mean: self._poisson(mean, self._light))

    def _pause(self, port: PortState, state: EthernetState, step: float, load: float) -> None:
        far = self.peer(port).ethernet
        if far is not None:
            state.stop(far, port.gbps, step)
        state.mark(load, port.gbps, step, self._light)

    def _lit(self, port: PortState) -> bool:
        cable = port.cable
        if cable.id in self.unplugged or cable.id in self._fallen:
            return False
        if self._training.get(cable.id, 0.0) > self.now:
            return False
        return not ({cable.a.partition("/")[0], cable.b.partition("/")[0]} & self.dark)

    def _reset(self, host: HostState) -> None:
        """Counters of a host that booted start again from zero."""
        for device in self.plan.held_by(host.name):
            for port in list(self.ports_of(device)):
                self.ports[port.name] = PortState(port.name, port.cable)
        for one in host.accelerators:
            one.xid = 0

    def _poisson(self, mean: float, noise: random.Random | None = None) -> int:
        """Draw from Poisson's distribution (Knuth below 30, normal above)."""
        if mean <= 0:
            return 0
        noise = noise or self.random
        if mean > 30:
            return max(0, round(noise.gauss(mean, math.sqrt(mean))))
        limit, product, count = math.exp(-mean), noise.random(), 0
        while product > limit:
            product *= noise.random()
            count += 1
        return count
