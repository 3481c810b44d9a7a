"""An emulated fabric read by the real sources over its real servers, kept and judged.

Time is the test's own: the world goes on by steps, each switch and host is visited every ten
seconds of it, and a pass of the judge follows. Nothing waits for the wall.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

import yaml

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from collectors.intake import Bounds
from collectors.inventory import Inventory
from collectors.source import Source, Target
from collectors.visit import visited
from collectors.watchers import Watcher
from emulator.faults import STEP, Fault
from emulator.plan import Plan
from emulator.scenario import Scenario
from emulator.supernode import Supernode
from fabrichealth.cli._site import source_type
from fabrichealth.kinds import Severity
from fabrichealth.model import Incident
from fabrichealth.runtime.clock import Clock
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import read

BEGAN = 1_800_000_000.0
PERIOD = 10.0


class Now(Clock):
    """Time as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.at = BEGAN

    def now(self) -> float:
        """Return unix seconds."""
        return self.at

    async def sleep(self, seconds: float) -> None:
        """Nobody sleeps here."""


class Judged:
    """A supernode with some faults, what reads it, and what is said of it."""

    def __init__(
        self, folder: Path, plan: Plan, faults: Sequence[Fault], period: float = PERIOD
    ) -> None:
        self.clock = Now()
        story = Scenario("faults of a test", lambda _: faults)
        self.supernode = Supernode(folder / "site", plan, story, 1, self.clock)
        self.heard: dict[str, Incident] = {}
        """Every ticket and page that nothing suppressed, by number."""
        self.noted: dict[str, Incident] = {}
        """Every incident of less, by number."""
        self._plan = plan
        self._period = period
        self._folder = folder
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        site = self.supernode
        await site.start()
        self._stack.push_async_callback(site.stop)
        self._store = EmbeddedStore.open(self._folder / "store")
        self._stack.callback(self._store.close)
        (self._folder / "topology.yaml").write_text(yaml.safe_dump(self._plan.topology()))
        topology = read(self._folder / "topology.yaml")
        self._inventory = Inventory(self._store.table, topology)
        self._bounds = Bounds(self._store.table)
        self._judge = Judge(self._store, topology, detectors(), Ledger())
        self._sources = [
            self._source(Target(name, self._plan.makes[name], server.address, topology=topology))
            for name, server in site.switches.items()
        ]
        self._sources += [
            self._source(
                Target(host, "host", options={"root": str(site.root(host))}, topology=topology)
            )
            for host in self._plan.hosts
        ]
        self._sources += [
            self._source(
                Target(one.name, one.source, one.server.address, options=one.options,
                       topology=topology)
            )
            for one in site.facility
        ]  # fmt: skip
        self._watchers = [
            Watcher(one.target.source, one.target.name, self._store.table) for one in self._sources
        ]
        for one in self._sources:
            self._stack.push_async_callback(one.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def live(self, minutes: float) -> None:
        """Let so many minutes pass, with a visit of everything and a pass each period."""
        for _ in range(round(minutes * 60 / STEP)):
            self.clock.at += STEP
            self.supernode.step(self.clock.at)
            if (self.clock.at - BEGAN) % self._period == 0:
                await self._visit()
                self._hear()

    async def _visit(self) -> None:
        now = self.clock.at
        for source, watcher in zip(self._sources, self._watchers, strict=True):
            poll = await visited(source, self._bounds, self.clock, now)
            taken = self._inventory.take(poll)
            self._store.append([*taken.batches, watcher.answered(taken, now, 0.01)])
            self._judge.tell(taken.events)
        if (now - BEGAN) % 60 == 0:
            self._store.append([self._inventory.batch(now)])

    def _hear(self) -> None:
        outcome = self._judge.judge(self.clock.at + 1.0)
        for one in (*outcome.changed, *outcome.closed):
            if one.severity >= Severity.TICKET and one.suppressed_by is None:
                self.heard[one.incident] = one
            elif one.severity < Severity.TICKET:
                self.noted[one.incident] = one

    def _source(self, target: Target) -> Source:
        kind = source_type(target.source)
        return kind(kind.settings_type.model_validate({"timeout": "20s"}), target,
                    self._store.table)  # fmt: skip
