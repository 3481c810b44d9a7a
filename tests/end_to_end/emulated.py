"""A small emulated supernode that lives beside the test, and the site file that watches it.

Time is the wall's own; periods and hold-downs are short instead. Faults are the test's to make:
it lays hands on the fabric.
"""

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import yaml

from emulator.fabric import Fabric
from emulator.plan import Plan
from emulator.scenario import Scenario
from emulator.supernode import Supernode
from tests.end_to_end.processes import Running, answered, fabrichealth, fetched, free_port, until

PLAN = Plan(racks=1, hosts_per_rack=2, accelerators=2, rails=2)

CABLE = "host-001/mlx5_0/1--leaf-01/1"

STEP = 0.5
"""Seconds between two steps of the world."""


class Wall:
    """The wall's clock, and a world that moves by short steps."""

    def now(self) -> float:
        """Return unix seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait for one short step, however long is asked for."""
        await asyncio.sleep(STEP)


class Emulated:
    """The supernode, in a thread with a loop of its own."""

    def __init__(self, folder: Path) -> None:
        nothing = Scenario("nothing happens by itself", lambda plan: [])
        self.supernode = Supernode(folder, PLAN, nothing, seed=1, clock=Wall())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._call(self.supernode.start())
        self._world = asyncio.run_coroutine_threadsafe(self.supernode.run(), self._loop)

    @property
    def fabric(self) -> Fabric:
        """What the test lays hands on."""
        return self.supernode.world.fabric

    def close(self) -> None:
        """Let it end."""
        self._world.cancel()
        self._call(self.supernode.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def _call(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


class Site:
    """A site file for the supernode, and the daemon that follows it."""

    def __init__(self, folder: Path, emulated: Emulated, **more: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.file = folder / "site.yaml"
        self.listen = f"127.0.0.1:{free_port()}"
        self.address = f"http://{self.listen}"
        self.plain: dict[str, Any] = {
            "topology": str(emulated.supernode.topology),
            "events": str(emulated.supernode.events),
            "state": str(folder / "state"),
            "listen": self.listen,
            "sources": {name: {"period": "1s", "timeout": "2s"} for name in ("host", "prom")},
            "targets": _targets(emulated.supernode),
            "detectors": {"link_down": {"settle": "2s"}},
            "policy": {"judge_every": "1s", "hold_down": "4s", "grace": "1s"},
            **more,
        }
        self.write()
        self.daemon: Running | None = None

    def write(self) -> None:
        """Write the site file."""
        self.file.write_text(yaml.safe_dump(self.plain))

    def start(self, command: str = "run") -> Running:
        """Start a daemon and wait until every target was visited."""
        self.daemon = fabrichealth(self.folder / "daemon.log", command, "-c", self.file)
        daemon = self.daemon
        until(
            lambda: fetched(f"{self.address}/-/ready") or daemon.process.poll() is not None,
            "the daemon",
        )
        assert daemon.process.poll() is None, daemon.said
        return daemon

    def judged(self) -> None:
        """Wait until the judge has seen links up, so that it misses one that goes."""
        until(lambda: "fabric_analysis_seconds" in fetched(f"{self.address}/metrics"), "the judge")
        time.sleep(2.5)

    def incidents(self, **filters: str) -> list[dict[str, Any]]:
        """Return incidents as the API tells them."""
        query = "&".join(f"{key}={value}" for key, value in filters.items())
        found = answered(f"{self.address}/api/v1/incidents?{query}")
        return list(found["data"]) if found else []

    def series(self, name: str, **labels: str) -> float | None:
        """Return the value of the one series of /metrics that has these labels."""
        for line in fetched(f"{self.address}/metrics").splitlines():
            head, _, value = line.rpartition(" ")
            if head.partition("{")[0] == name and all(
                f"{key}={json.dumps(text)}" in head for key, text in labels.items()
            ):
                return float(value)
        return None


def _targets(supernode: Supernode) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for host in PLAN.hosts:
        found.append({"name": host, "source": "host", "root": str(supernode.root(host))})
        page = f"{supernode.address}/{host}/metrics"
        found.append({"name": host, "source": "prom", "address": page, "mapping": "dcgm"})
    found += [
        {"name": leaf, "source": "prom", "address": f"{supernode.address}/{leaf}/metrics"}
        for leaf in PLAN.leaves
    ]
    return found
