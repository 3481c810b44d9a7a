"""Supernode: an emulated site on loopback, its files and pages kept up to date.

Below one folder lie `topology.yaml`, `events.jsonl`, and for each host a sysfs tree and the log of
its kernel; one HTTP server serves a page for each host's accelerators and each InfiniBand switch,
and each Ethernet switch answers in its own protocol. What is dark answers nothing.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web

from emulator.fabric import Fabric
from emulator.faults import STEP
from emulator.hosttree import HostTree, Nic
from emulator.kernlog import KernelLog, interface_pci
from emulator.pages import dcgm, switch
from emulator.plan import Plan
from emulator.plant.serving import PlantServing, Served
from emulator.scenario import Scenario, World
from emulator.scheduling.serving import NAME, ClusterServer
from emulator.serving import MAKES, Clock


class Supernode:
    """One emulated site; `start`, then `run` until cancelled, then `stop`."""

    def __init__(
        self, folder: Path, plan: Plan, scenario: Scenario, seed: int, clock: Clock
    ) -> None:
        self.folder = folder
        self.plan = plan
        self._clock = clock
        self.world = World(Fabric(plan, seed, clock.now()), scenario.faults(plan))
        self.switches = {
            name: MAKES[make](self.world.fabric, name, clock) for name, make in plan.makes.items()
        }
        """The Ethernet switches; each has an address once started."""
        self.plant = PlantServing(self.world.fabric, clock.now) if plan.plant else None
        """What shows water and power, where the plan has them."""
        self.facility = self.plant.targets() if self.plant else []
        """Its targets, and the scheduler where there is one; each has an address once started."""
        if self.world.fabric.workload is not None:
            cluster = ClusterServer(self.world.fabric.workload)
            self.facility.append(Served(NAME, "scheduler", cluster, {}))
        self._silent: set[str] = set()
        self._logs = {host: KernelLog(self.world.fabric, host) for host in plan.hosts}
        self._trees = {host: self._tree(host) for host in plan.hosts}
        self._gone: set[str] = set()
        self._runner: web.AppRunner | None = None
        self.address = ""
        """Base address of the pages, once started."""

    @property
    def topology(self) -> Path:
        """The topology file."""
        return self.folder / "topology.yaml"

    @property
    def events(self) -> Path:
        """The events file; it grows."""
        return self.folder / "events.jsonl"

    def root(self, host: str) -> Path:
        """Return the root of a host's sysfs tree."""
        return self.folder / "hosts" / host

    async def start(self) -> None:
        """Write the files and serve the pages on a free port of loopback."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.topology.write_text(yaml.safe_dump(self.plan.topology(), sort_keys=False))
        self.events.touch()
        (self.folder / "logs").mkdir(exist_ok=True)
        for host in self.plan.hosts:
            self.log(host).touch()
        for tree in self._trees.values():
            tree.update()
        app = web.Application()
        app.router.add_get("/{device}/metrics", self._serve)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.address = f"http://{host}:{port}"
        for one in self.switches.values():
            await one.start()
        for target in self.facility:
            await target.server.start()

    async def stop(self) -> None:
        """Stop serving."""
        for one in self.switches.values():
            await one.stop()
        for target in self.facility:
            await target.server.stop()
        if self._runner is not None:
            await self._runner.cleanup()

    async def run(self) -> None:
        """Let time pass until cancelled.

        The scenario begins here, not when the files were written.
        """
        self.world.fabric.begin(self._clock.now())
        while True:
            events = await asyncio.to_thread(self.step, self._clock.now())
            if events:
                self._write_down(events)
            await self._hush()
            await self._clock.sleep(STEP)

    async def _hush(self) -> None:
        """Let switches that are dark answer nobody, and the others again."""
        for name, one in self.switches.items():
            dark = name in self.world.fabric.dark
            if dark and name not in self._silent:
                await one.stop()
                self._silent.add(name)
            elif not dark and name in self._silent:
                await one.start()
                self._silent.discard(name)

    def step(self, now: float) -> list[dict[str, Any]]:
        """Bring world and trees to `now`; return what was written down meanwhile."""
        events = self.world.step(now)
        fabric = self.world.fabric
        if self.plant is not None:
            self.plant.update()
        for host in self._trees:
            dark = host in fabric.dark
            if dark and host not in self._gone:
                self.root(host).rename(self.root(host).with_suffix(".dark"))
                self._gone.add(host)
            elif not dark and host in self._gone:
                self.root(host).with_suffix(".dark").rename(self.root(host))
                self._gone.discard(host)
        alive = {host: tree for host, tree in self._trees.items() if host not in fabric.dark}
        for host, tree in alive.items():
            self._reflect(host, tree)
            tree.update_links()
        for host, tree in alive.items():
            tree.update()
            self._log(host)
        return events

    def log(self, host: str) -> Path:
        """Return the file that the kernel of a host writes to."""
        return self.folder / "logs" / f"{host}.log"

    def _log(self, host: str) -> None:
        lines = self._logs[host].lines()
        if lines:
            with self.log(host).open("a", encoding="utf-8") as handle:
                handle.writelines(f"{line}\n" for line in lines)

    def _tree(self, host: str) -> HostTree:
        nics = [
            Nic(
                rdma=f"mlx5_{rail}",
                guid=self.plan.guid(host, rail),
                pci=f"0000:{0x10 + 8 * rail:02x}:00.0",
            )
            for rail in range(self.plan.rails)
        ]
        for plane in range(self.plan.planes if self.plan.access else 0):
            number = self.plan.rails + plane
            guid = self.plan.guid(host, number)
            nics.append(Nic(f"mlx5_{number}", guid, interface_pci(plane), interface=f"eth{plane}"))
        return HostTree(self.root(host), nics, self.world.fabric.hosts[host].booted_at)

    def _reflect(self, host: str, tree: HostTree) -> None:
        """Write the state of a host's ports into its NICs."""
        fabric = self.world.fabric
        tree.boot = fabric.hosts[host].booted_at
        for nic in tree.nics:
            port = fabric.ports[f"{host}/{nic.interface or f'{nic.rdma}/1'}"]
            nic.up, nic.lanes, nic.gbps = port.up, port.lanes, port.gbps
            nic.counters.update(
                symbol_error=min(int(port.symbol_errors), 65_535),
                link_error_recovery=min(int(port.recoveries), 255),
                link_downed=min(int(port.link_downs), 255),
                port_rcv_data=int(port.rx_words),
                port_xmit_data=int(port.tx_words),
            )
            if nic.interface:
                nic.carrier_downs = int(port.link_downs)
                nic.statistics.update(
                    rx_bytes=int(port.rx_octets),
                    tx_bytes=int(port.tx_octets),
                )
            if port.ethernet is not None:
                nic.hw_counters.update(
                    np_ecn_marked_roce_packets=int(port.ethernet.ecn_arrived),
                    np_cnp_sent=int(port.ethernet.notices_sent),
                    rp_cnp_handled=int(port.ethernet.notices_heeded),
                )

    async def _serve(self, request: web.Request) -> web.Response:
        device = request.match_info["device"]
        fabric = self.world.fabric
        if device in fabric.dark or device not in (*self.plan.hosts, *self.plan.leaves):
            raise web.HTTPServiceUnavailable(text=f"{device} is dark\n")
        render = dcgm.page if device in fabric.hosts else switch.page
        return web.Response(text=render(fabric, device), content_type="text/plain")

    def _write_down(self, events: list[dict[str, Any]]) -> None:
        with self.events.open("a", encoding="utf-8") as handle:
            handle.writelines(json.dumps(event) + "\n" for event in events)
