"""A storm on one port of an emulated fabric: who is read more often, over real protocols.

Time runs faster than the wall, for the devices as for their readers; no step of it is asserted,
only who was read closely and who was not.
"""

import asyncio
import contextlib
import logging
import socket

import pytest

pytest.importorskip("redis")
pytest.importorskip("grpc")
pytest.importorskip("gufo.snmp")

from collectors.inventory import Inventory
from collectors.poller import Poller
from collectors.source import Source, Target
from emulator.fabric import Fabric
from emulator.plan import Plan
from emulator.serving import MAKES
from fabrichealth.cli._site import source_type
from fabrichealth.config import CloseWatch as CloseWatchSettings
from fabrichealth.events import Event
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.runtime.clock import Clock
from fabrichealth.topology import Topology

SPEED = 4.0
"""Seconds of the fabric in one of the wall."""
STEP = 0.5
PERIOD = 5.0

PLAN = Plan(racks=1, hosts_per_rack=3, accelerators=1, rails=1, access=("sonic", "gnmi", "snmp"))


class Site:
    """Four switches, what reads them, and who is watched closely."""

    def __init__(self) -> None:
        self.clock = Clock(SPEED)
        self.fabric = Fabric(PLAN, 1, self.clock.now())
        self.servers = {n: MAKES[m](self.fabric, n, self.clock) for n, m in PLAN.makes.items()}
        self.table = SeriesTable()
        self.answered: dict[str, list[float]] = {name: [] for name in PLAN.makes}
        """When each switch answered (unix seconds)."""
        self.poller = Poller(
            self.table,
            self.clock,
            Inventory(self.table, Topology()),
            self._take,
            # of a busy machine that runs all of it: a visit may take all the time there is
            close_watch=CloseWatchSettings.model_validate({"quiet": "8s", "visits": 5, "busy": 1}),
        )

    def _take(self, batches: list[Batch], events: list[Event]) -> None:
        for batch in batches:
            source, target = self.table.clocks()[batch.clock]
            if source in MAKES:
                self.answered[target].append(batch.at)

    async def __aenter__(self) -> "Site":
        for server in self.servers.values():
            await server.start()
        self._world = asyncio.create_task(self._lives())
        await self.poller.follow([self._source(name) for name in self.servers])
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.poller.stop()
        self._world.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._world
        for server in self.servers.values():
            await server.stop()

    def _source(self, name: str) -> Source:
        kind = source_type(PLAN.makes[name])
        settings = {"period": f"{PERIOD:g}s", "timeout": "12s"}
        target = Target(name, PLAN.makes[name], self.servers[name].address)
        return kind(kind.settings_type.model_validate(settings), target, self.table)

    async def _lives(self) -> None:
        while True:
            self.fabric.advance(self.clock.now())
            await self.clock.sleep(STEP)

    def storm(self, name: str, duty: float) -> None:
        """Let the host behind an access switch stop its port for a share of the time."""
        port = next(
            one for one in self.fabric.ports_of(name) if "host" in self.fabric.facing(one)[0]
        )
        self.fabric.ethernet(self.fabric.peer(port).name).pausing = duty

    def close(self) -> set[str]:
        """Return the targets that are read more often than their period, and pace it."""
        return {one.target.name for one in self.poller.targets if one.paced < PERIOD}

    async def until(self, close: set[str], seconds: float) -> None:
        """Wait until these and no others are watched closely; fail where another is meanwhile."""
        end = self.clock.now() + seconds
        before = self.close()
        while self.close() != close and self.clock.now() < end:
            await asyncio.sleep(0.02)
            assert self.close() <= before | close
        assert self.close() == close


@pytest.mark.parametrize("name", ["tor-01", "tor-02", "tor-03"], ids=PLAN.access)
async def test_a_storm_on_one_port_has_its_switch_read_each_second_and_no_other(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with Site() as site:
            site.storm(name, 0.3)
            await site.until({name}, 120)
            before = site.poller.closely.visits
            await site.clock.sleep(8)
            assert site.close() == {name}
            assert site.poller.closely.visits - before > 8 / PERIOD + 1
            site.storm(name, 0.0)
            await site.until(set(), 120)
    begins, ends = [line for line in caplog.messages if "watched closely" in line]
    assert f"{PLAN.makes[name]} {name}: watched closely: {name}/" in begins
    assert "of the time (fabric_" in begins
    assert ends.endswith("watched closely no more: it is quiet")


async def test_the_budget_holds_when_all_switches_ask() -> None:
    async with Site() as site:
        for name in PLAN.makes:
            with contextlib.suppress(StopIteration):
                site.storm(name, 0.3)
        for _ in range(30):
            await site.clock.sleep(1)
            assert len(site.poller.closely.close) <= 1  # a share of four targets is one
        assert len(site.poller.closely.close) == 1
        assert site.poller.closely.waiting >= 1


async def test_a_switch_that_hangs_under_a_storm_delays_no_other() -> None:
    async with Site() as site:
        site.storm("tor-01", 0.3)
        await site.until({"tor-01"}, 120)
        host, _, port = site.servers["tor-01"].address.rpartition("/")[2].rpartition(":")
        await site.servers["tor-01"].stop()
        with socket.create_server((host, int(port))):  # connects, and never says a word
            await site.until(set(), 120)
            began = site.clock.now()
            await site.clock.sleep(30)
            answers = {name: sum(at >= began for at in ats) for name, ats in site.answered.items()}
    assert answers["tor-01"] == 0
    assert all(answers[name] >= 3 for name in answers if name != "tor-01")
