"""The process of a daemon that owns writing, the journal and HTTP: polls, keeps, exports.

Judging is a child that reads the store; what it finds comes back as JSON lines. `collect` has no
child, `analyze` no targets; both write to a store that is shared, if there is one.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from collectors.inventory import Inventory
from collectors.poller import Poller
from collectors.source import Source
from fabrichealth.catalogue import METRICS
from fabrichealth.cli import _accused as accused
from fabrichealth.cli import _judged as judged
from fabrichealth.cli import _memory as memory
from fabrichealth.cli._events import EventsFile
from fabrichealth.cli._incidents import newest
from fabrichealth.cli._judge_child import JudgeChild
from fabrichealth.cli._site import Setup
from fabrichealth.cli._stores import Stores
from fabrichealth.config import AT_START
from fabrichealth.errors import StoreError
from fabrichealth.events import Event
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.runtime.clock import Clock
from fabrichealth.runtime.exporter import Exporter
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.journal import SqliteJournal
from fabrichealth.store.protocol import Store

log = logging.getLogger("collecting")

INVENTORY = "inventory"
"""Under this key lies what is known of links; the keys of sources hold a slash."""

FOLLOW_PERIOD, SAVE_PERIOD, OWN_PERIOD = 2.0, 60.0, 10.0
JUDGE_PATIENCE = 60.0
"""Seconds beyond one pass without a word of the judge, after which we are not ready."""
AGAIN = 5.0
"""Seconds before work that failed is begun again."""

Told = Callable[[dict[str, Any]], None]
Brought = Callable[[Event], None]
Work = Callable[[], Coroutine[Any, Any, None]]


@dataclass
class Collecting:
    """Everything that lives in the collecting process, but for HTTP."""

    setup: Setup
    clock: Clock
    keep: bool
    """Whether there is a journal, and a store that answers; an exporting daemon has none."""
    polls: bool = True
    """Whether targets are read; an analyzing daemon reads none."""
    table: SeriesTable = field(default_factory=SeriesTable)
    told: Told = lambda incident: None  # hears each incident object that the judge sends
    brought: Brought = lambda event: None  # hears each event that our own sources bring

    def __post_init__(self) -> None:
        self.paths = StatePaths(self.setup.site.state)
        self.stores: Stores | None = None
        self.journal: SqliteJournal | None = None
        self.incidents: dict[str, dict[str, Any]] = {}
        """Newest object of every incident of this process's life, by id."""
        self.judging = asyncio.Event()
        """Set once the judging child has made its first pass."""
        self._judge: JudgeChild | None = None
        self._judged_at: float | None = None
        """When the judge was heard last (`time.monotonic`); None where none is to be."""
        self._refusing = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def store(self) -> Store | None:
        """Where questions are answered from; None where this daemon is not asked."""
        return None if self.stores is None else self.stores.reader

    async def start(self) -> None:
        """Open the store and follow every target.

        Raises:
            SiteError: the folder of the state cannot be made, or a target's files not be read.
            StoreError: the store cannot be opened.
        """
        self.paths.make()
        if self.keep or self.setup.store.shared:
            self.stores = Stores(self.setup.store, self.clock, answers=self.keep)
            self.table = self.stores.writer.table
        if self.keep:
            self.journal = SqliteJournal.open(self.paths.journal)
            self.incidents = newest(self.journal)
        self.exporter = Exporter(self.table)
        inventory = Inventory(self.table, self.setup.topology, shard=self.setup.shard)
        for clock in (inventory.clock, self._verdicts()):
            self.exporter.whole(clock)
        inventory.remember(memory.read(self.paths.memory).get(INVENTORY))
        watch = self.setup.site.close_watch
        self.poller = Poller(self.table, self.clock, inventory, self.take, close_watch=watch)
        if self.polls:
            await self._follow(self._sources(self.setup))
        self._spawn("own watchers", self._tell_own)
        self._spawn("saving of memory", self._save_memory)
        if self.stores is not None:
            self._spawn("commits", self.stores.committer.run)
        if self.setup.site.events is not None and self.journal is not None:
            known = [entry.body for entry in self.journal.since(0, "event", limit=10_000_000)]
            file = EventsFile(self.setup.site.events, known, self.setup.topology)
            self._spawn("following of events", partial(self._follow_events, file))

    def waiting_for(self) -> str:
        """Return what is not there yet, in a few words; nothing when all is."""
        number = self.poller.unvisited
        if number:
            return f"{number} targets not visited yet"
        quiet = 0.0 if self._judged_at is None else time.monotonic() - self._judged_at
        patience = JUDGE_PATIENCE + self.setup.site.policy.judge_every / self.clock.speed
        return "nothing judges" if quiet > patience else ""

    async def stop(self) -> None:
        """Stop polling, commit what is left, close."""
        await self.poller.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._remember()
        if self.stores is not None:
            await self.stores.close()
        if self.journal is not None:
            self.journal.close()

    async def reload(self, setup: Setup) -> None:
        """Take up another site file; what did not change goes on undisturbed.

        Raises:
            SiteError: a target's files cannot be read; the old site goes on.
        """
        if setup.topology.same_as(self.setup.topology):
            setup = replace(setup, topology=self.setup.topology)
        self._remember()
        sources = self._sources(setup) if self.polls else []
        if setup.topology is not self.setup.topology:
            self.poller.inventory = self.poller.inventory.under(setup.topology)
        for key in AT_START:
            if getattr(setup.site, key) != getattr(self.setup.site, key):
                log.warning("%s: changed in the site file; restart to take it up", key)
        self.setup = setup
        self.poller.closely.settings = setup.site.close_watch
        if self.polls:
            await self._follow(sources)
        if self._judge is not None:
            judged.write(self.setup, self.paths.judged)
            self._judge.replace()

    def take(self, batches: list[Batch], events: list[Event]) -> None:
        """Take what a poll, the inventory or the judge brought."""
        for batch in batches:
            self.exporter.observe(batch)
        if self.stores is not None:
            self.stores.committer.add(batches)
        for event in events:
            self.note(event)
            self.brought(event)

    def note(self, event: Event) -> None:
        """Write an event into the journal, where the judge reads it."""
        self._write("event", event.at, event.to_json())

    def _write(self, kind: str, at: float, body: dict[str, Any]) -> None:
        """Write into the journal; one that takes nothing is told once, and stops nobody."""
        if self.journal is None:
            return
        try:
            self.journal.append(kind, at, body)
        except StoreError as wrong:
            if not self._refusing:
                log.error("journal takes nothing: %s", wrong)
            self._refusing = True
        else:
            self._refusing = False

    def _spawn(self, name: str, work: Work) -> None:
        self._tasks.append(asyncio.create_task(self._kept_up(name, work), name=name))

    async def _kept_up(self, name: str, work: Work) -> None:
        """Begin work again that ended by a fault of ours: silence would look like health."""
        while True:
            try:
                await work()
            except Exception:
                log.exception("%s: failed; begun again in %g s", name, AGAIN)
            else:
                return
            await asyncio.sleep(AGAIN)

    async def _follow(self, sources: list[Source]) -> None:
        """Follow these sources; the readings of those that went are forgotten."""
        former = self.poller.clocks()
        await self.poller.follow(sources)
        present = self.poller.clocks()
        for clock, period in present.items():
            self.exporter.period(clock, period)
        for clock in former.keys() - present.keys():
            self.exporter.drop(clock)
        self.exporter.period(self._verdicts(), self.setup.site.policy.judge_every)

    def _sources(self, setup: Setup) -> list[Source]:
        """Build the sources; those that remember take up where they stopped."""
        kept = memory.read(self.paths.memory)
        sources = setup.sources(self.table)
        for source in sources:
            known = kept.get(f"{source.target.source}/{source.target.name}")
            if isinstance(known, dict):
                source.remember(known)
        return sources

    def _remember(self) -> None:
        """Save what sources must know after a restart; what was saved before stays until then."""
        known: dict[str, Any] = {
            f"{source.target.source}/{source.target.name}": kept
            for source in self.poller.targets
            if (kept := source.memory())
        }
        if links := self.poller.inventory.memory():
            known[INVENTORY] = links
        if known:
            memory.write(known, self.paths.memory)

    async def _save_memory(self) -> None:
        while True:
            await self.clock.sleep(SAVE_PERIOD)
            self._remember()

    async def _tell_own(self) -> None:
        """Export the store's own watchers."""
        while self.stores is not None:
            self.take([self.stores.watched(self.setup.part)], [])
            await self.clock.sleep(OWN_PERIOD)

    async def _follow_events(self, file: EventsFile) -> None:
        """Take the events of a file as it grows."""
        while True:
            for event in file.news():
                self.note(event)
            await self.clock.sleep(FOLLOW_PERIOD)

    async def judged(self) -> None:
        """Run the judging child until cancelled."""
        self._judged_at = time.monotonic()
        judged.write(self.setup, self.paths.judged)
        self._judge = JudgeChild(self.paths.folder, self.clock, self.hear)
        await self._judge.run()

    def hear(self, plain: dict[str, Any]) -> None:
        """Take one line of the judge."""
        self._judged_at = time.monotonic()
        if "open" in plain:
            self._settle({incident["incident"]: incident for incident in plain["open"]})
        if "incident" in plain:
            self._learn(plain["incident"])
        if "verdicts" in plain:
            self.judging.set()
            self._show(plain["verdicts"]["at"], plain["verdicts"]["rows"])

    def _settle(self, open_now: dict[str, dict[str, Any]]) -> None:
        """Take what a new judge holds open for the truth: the last one's words may be lost."""
        for incident in open_now.values():
            self._learn(incident)
        for name, incident in list(self.incidents.items()):
            if incident["closed_at"] is None and name not in open_now:
                seen = [line["at"] for line in incident["evidence"]]
                self._learn({**incident, "closed_at": max([incident["opened_at"], *seen])})

    def _learn(self, incident: dict[str, Any]) -> None:
        known = self.incidents.get(incident["incident"])
        if known == incident:
            return
        self.incidents[incident["incident"]] = incident
        accused.tell(self.poller.closely, known, incident, self.clock.now())
        self._write("incident", self.clock.now(), incident)
        self.told(incident)

    def _show(self, at: float, rows: list[tuple[str, list[str], float]]) -> None:
        """Export a pass's verdicts; what is not among them is no more."""
        series = self.table.intern_all([(METRICS[name], tuple(labels)) for name, labels, _ in rows])
        values = np.array([value for _, _, value in rows], np.float64)
        self.take([Batch(self._verdicts(), at, series, values)], [])

    def _verdicts(self) -> int:
        """Return the clock of what the judge says; of several judges each has its own."""
        return self.table.clock("verdicts", f"judge{self.setup.part}")
