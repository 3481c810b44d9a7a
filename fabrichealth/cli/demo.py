"""`demo`: an emulated supernode goes through collectors, store and analyzer, beside this host.

Two racks of eight hosts with eight accelerators each, four InfiniBand leaf switches, and an
Ethernet fabric with switches of every make that a source reads, live through a scenario in
compressed time. Incidents are printed as they open and close.
"""

import argparse
import asyncio
import contextlib
import logging
import tempfile
from pathlib import Path
from typing import Any

import yaml

from emulator.plan import Plan
from emulator.scenario import Scenario
from emulator.serving import MAKES
from emulator.supernode import Supernode
from fabrichealth import narrative
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._daemon import live
from fabrichealth.cli._site import load
from fabrichealth.errors import UsageError
from fabrichealth.history import write as write_history
from fabrichealth.own_name import host_name
from fabrichealth.plugins import constants
from fabrichealth.runtime.clock import Clock
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore

SCENARIOS = "emulator.scenarios"
PERIOD = "10s"
TIMEOUT = "120s"
"""In compressed time; six seconds of the wall, for everything runs on one machine."""
CLOSE_PERIOD = "4s"
"""Of what is watched closely: everything runs on one machine, in compressed time."""
SEED = 20_260_101


class Demo(Command):
    """Shows the main job on a machine with nothing but Python."""

    help = "an emulated supernode, collected and judged in compressed time, beside this host"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the scenario and how long it takes."""
        parser.add_argument("--scenario", default="night", help=f"one of {', '.join(_names())}")
        parser.add_argument("--minutes", type=float, default=3.0, help="minutes of the wall")
        parser.add_argument("--speed", type=float, help="how much faster time runs; default: as "
                            "the scenario says, mostly 20")  # fmt: skip
        parser.add_argument("--listen", default="127.0.0.1:0", help="where /metrics is served")
        parser.add_argument("--seed", type=int, default=SEED, help="of the noise")
        parser.add_argument("--state", type=Path, help="keep the site's files in this folder")
        parser.add_argument("--record", type=Path, help="write the history here at the end")

    def run(self, asked: argparse.Namespace) -> int:
        """Run the scenario, and end by itself."""
        if asked.scenario not in _names():
            raise UsageError(f"no scenario {asked.scenario!r}; there are {', '.join(_names())}")
        if asked.speed is None:
            asked.speed = _scenario(asked.scenario).speed
        if not 0 < asked.minutes < 1e5 or not 0 < asked.speed <= 100:
            raise UsageError("--minutes must be above 0, --speed above 0 and at most 100")
        # the incidents tell what the log would, in fewer words
        logging.getLogger("collectors").setLevel(logging.ERROR)
        with contextlib.ExitStack() as stack:
            folder = asked.state or Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="fabrichealth-demo-"))
            )
            folder.mkdir(parents=True, exist_ok=True)
            incidents = asyncio.run(_demo(asked, folder.resolve()))
            _tell_own_host(folder)
            if asked.record:
                _record(folder, asked.record)
        _summary(incidents)
        return WELL


def _names() -> list[str]:
    return sorted(place.partition(".")[0] for place in constants(SCENARIOS, Scenario))


def _scenario(name: str) -> Scenario:
    return constants(SCENARIOS, Scenario)[f"{name}.SCENARIO"]


async def _demo(asked: argparse.Namespace, folder: Path) -> dict[str, dict[str, Any]]:
    clock = Clock(asked.speed)
    scenario = _scenario(asked.scenario)
    plan = scenario.plan or Plan(access=tuple(MAKES), plant=True)
    supernode = Supernode(folder, plan, scenario, asked.seed, clock)
    await supernode.start()
    site = _write_site(folder, supernode, asked.listen)
    _terminal.say(
        f"{scenario.about}: {len(plan.hosts)} hosts x {plan.accelerators} accelerators, "
        f"{len(plan.leaves) + len(plan.makes)} switches, seed {asked.seed}; "
        f"time runs {asked.speed:g} times faster"
    )
    seen: dict[str, dict[str, Any]] = {}

    def told(incident: dict[str, Any]) -> None:
        known = seen.get(incident["incident"])
        seen[incident["incident"]] = incident
        if known is None or _differs(known, incident):
            minutes = (clock.now() - supernode.world.fabric.began) / 60
            _terminal.say(f"{minutes:5.1f} min  {narrative.headline(incident)}")

    def serving(address: str) -> None:
        _terminal.say(f"metrics at {address}/metrics, incidents at {address}/api/v1/incidents")

    stop = asyncio.Event()
    worlds: list[asyncio.Task[None]] = []

    def judged() -> None:
        worlds.append(asyncio.create_task(supernode.run()))
        asyncio.get_running_loop().call_later(asked.minutes * 60, stop.set)

    try:
        await live(
            load(site),
            clock,
            keep=True,
            judge=True,
            told=told,
            serving=serving,
            judged=judged,
            stop=stop,
        )
    finally:
        for world in worlds:
            world.cancel()
        await asyncio.gather(*worlds, return_exceptions=True)
        await supernode.stop()
    return seen


def _differs(known: dict[str, Any], incident: dict[str, Any]) -> bool:
    facts = ("kind", "severity", "suppressed_by", "closed_at")
    return any(known[fact] != incident[fact] for fact in facts) or (
        known["culprit"]["id"] != incident["culprit"]["id"]
    )


def _write_site(folder: Path, supernode: Supernode, listen: str) -> Path:
    """Write the site file of the emulated supernode, and of this host beside it."""
    plan = supernode.plan
    targets: list[dict[str, str]] = [{"name": host_name(), "source": "host"}]
    for host in plan.hosts:
        root = str(supernode.root(host))
        targets.append({"name": host, "source": "host", "root": root})
        page = f"{supernode.address}/{host}/metrics"
        targets.append({"name": host, "source": "prom", "address": page, "mapping": "dcgm"})
        log = str(supernode.log(host))
        targets.append({"name": host, "source": "kernlog", "address": log})
    for leaf in plan.leaves:
        page = f"{supernode.address}/{leaf}/metrics"
        targets.append({"name": leaf, "source": "prom", "address": page})
    for name, switch in supernode.switches.items():
        targets.append({"name": name, "source": plan.makes[name], "address": switch.address})
    for one in supernode.facility:
        address = one.server.address
        targets.append({"name": one.name, "source": one.source, "address": address, **one.options})
    site = {
        "topology": str(supernode.topology),
        "events": str(supernode.events),
        "state": str(folder / "state"),
        "listen": listen,
        "sources": {
            name: {"period": PERIOD, "timeout": TIMEOUT}
            for name in dict.fromkeys(target["source"] for target in targets)
        },
        "close_watch": {"period": CLOSE_PERIOD},
        "targets": targets,
    }
    path = folder / "site.yaml"
    path.write_text(yaml.safe_dump(site, sort_keys=False), encoding="utf-8")
    return path


def _tell_own_host(folder: Path) -> None:
    """Say what was read of the machine that the demo runs on."""
    store = EmbeddedStore.open(StatePaths(folder / "state").store, read_only=True)
    try:
        own = host_name()
        readings = {
            metric: sum(
                own == store.table.labels(series)[0] for series in store.table.of(metric).tolist()
            )
            for metric in store.table.metrics()
            if metric.labels[:1] == ("device",)
        }
    finally:
        store.close()
    _terminal.say(f"\nthis host ({own}) was read beside it: {sum(readings.values())} series")


def _record(folder: Path, path: Path) -> None:
    store = EmbeddedStore.open(StatePaths(folder / "state").store, read_only=True)
    try:
        span = store.span()
        if span is not None:
            write_history(store, path, span[0] - 1.0, span[1])
    finally:
        store.close()
    _terminal.say(
        f"recorded {path}; judge it again with `fabrichealth replay {path} "
        f"--topology TOPOLOGY --events EVENTS` (--state keeps both files)"
    )


def _summary(incidents: dict[str, dict[str, Any]]) -> None:
    paged = [
        one for one in incidents.values() if one["severity"] == "page" and not one["suppressed_by"]
    ]
    excused = sum(bool(one["suppressed_by"]) for one in incidents.values())
    _terminal.say(
        f"\n{len(incidents)} incidents: {len(paged)} would page, {excused} were suppressed"
    )
    if paged:
        gravest = max(paged, key=lambda one: len(one["victims"]))
        _terminal.say("\nthe one with most victims, as `fabrichealth explain` tells it:\n")
        _terminal.say(narrative.story(gravest))
