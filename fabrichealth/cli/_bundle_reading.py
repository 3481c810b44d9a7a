"""Reading a folder of tool outputs into a store: each file by the source that knows it.

A file is given to every source that reads captures; it belongs to the one that makes most of
it. The same sources, decoders and refusals as live, so what a bundle shows is what a daemon
would have seen.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from collectors.intake import Bounds, checked
from collectors.inventory import Inventory
from collectors.source import Source, Target
from collectors.visit import guarded
from fabrichealth.cli._bundle import Visit
from fabrichealth.cli._site import SOURCES, settings_for, source_type
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.events import Event
from fabrichealth.metric import Kind
from fabrichealth.model import Batch, Poll, SeriesTable
from fabrichealth.plugins import names
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

LASTS = 900.0
"""What was seen at one moment alone is judged as if it had lasted so long (seconds)."""

STEP = 60.0

LOGS = frozenset({"kernlog"})
"""Sources whose counters in a capture are the lines of a log: before it they stood at zero."""


@dataclass
class Bundle:
    """What was read of a folder."""

    store: Store
    written: Topology
    devices: set[str] = field(default_factory=set)
    moments: set[float] = field(default_factory=set)
    files: Counter[str] = field(default_factory=Counter)
    """Files by the source that read them."""
    strangers: list[Path] = field(default_factory=list)
    """Files that no source knows."""
    readings: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    events: list[Event] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _sources: dict[tuple[str, str], Source] = field(default_factory=dict)
    _last: dict[int, Batch] = field(default_factory=dict)
    """The newest batch by clock."""

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.store.table)
        self._inventory = Inventory(self.store.table, self.written)

    def read(self, visits: list[Visit], step: float | None) -> None:
        """Read visits in order; `step`: seconds between moments whose folders only count."""
        every = [(visit, self._sorted(visit)) for visit in visits]
        for (visit, by_source), at in zip(every, self._times(every, step), strict=True):
            for name, files in by_source.items():
                source = self._source(name, visit.device)
                try:
                    with guarded(files):
                        self._take(source, files, at)
                except SourceUnavailable as wrong:
                    self.warnings.append(str(wrong))
        if self._inventory.has_news and self.moments:
            self.store.append([self._inventory.batch(min(self.moments))])

    def _times(
        self, every: list[tuple[Visit, dict[str, list[Path]]]], step: float | None
    ) -> list[float]:
        """Return when each visit was (unix seconds).

        As its folder says; else as stamped inside, if all are and the stamps go on from moment
        to moment (a log without a new line has the stamp of its last); else as the files are
        dated, or so many seconds apart as is said.
        """
        dated = [max(file.stat().st_mtime for file in visit.files) for visit, _ in every]
        orders = sorted({visit.order for visit, _ in every})
        if step is not None:
            dated = [dated[0] + step * orders.index(visit.order) for visit, _ in every]
        stamps = [self._stamp(visit, by_source) for visit, by_source in every]
        newest: dict[str, float] = {}
        for (visit, _), stamp in zip(every, stamps, strict=True):
            if step is not None or stamp is None or stamp <= newest.get(visit.device, -1.0):
                stamps = [None] * len(every)
                break
            newest[visit.device] = stamp
        return [
            visit.at if visit.at is not None else when if stamp is None else stamp
            for (visit, _), stamp, when in zip(every, stamps, dated, strict=True)
        ]

    def _stamp(self, visit: Visit, by_source: dict[str, list[Path]]) -> float | None:
        """Return the newest time stamp inside a visit's files."""
        found = [
            self._source(name, visit.device).moment(files) for name, files in by_source.items()
        ]
        return max((at for at in found if at is not None), default=None)

    def hold_still(self) -> None:
        """Let what was seen at one moment last: levels alone, for counters say nothing of rates."""
        table = self.store.table
        for batch in self._last.values():
            still = [table.metric(one).kind is not Kind.COUNTER for one in batch.series.tolist()]
            kept = np.array(still, bool)
            ids, values = batch.series[kept], batch.values[kept]
            steps = np.arange(STEP, LASTS + STEP, STEP) if len(ids) else ()
            self.store.append([Batch(batch.clock, batch.at + one, ids, values) for one in steps])

    def _take(self, source: Source, files: list[Path], at: float) -> None:
        poll = source.captured(files, at)
        poll = checked(poll, self._bounds, self.store.table, at, source.settings.stale_after)
        poll = self._inventory.take(poll)
        self.readings += poll.readings
        self.refused.update(one.reason.value for one in poll.refused)
        self.events += poll.events
        self.devices.add(source.target.subject)
        self.moments.add(at)
        self.files[source.target.source] += len(files)
        if source.target.source in LOGS:
            self.store.append([self._before(batch) for batch in poll.batches
                               if batch.clock not in self._last])  # fmt: skip
        self.store.append(poll.batches)
        self._last.update((batch.clock, batch) for batch in poll.batches)

    def _before(self, batch: Batch) -> Batch:
        """Return what was counted before a log began: nothing, for it counts its own lines."""
        counts = [
            self.store.table.metric(one).kind is Kind.COUNTER for one in batch.series.tolist()
        ]
        ids = batch.series[np.array(counts, bool)]
        return Batch(batch.clock, batch.at - STEP, ids, np.zeros(len(ids)))

    def _source(self, name: str, device: str) -> Source:
        """Return the source that reads a device's files of one kind; one sees them all."""
        key = (name, device)
        if key not in self._sources:
            self._sources[key] = _built(name, device, self.store.table, self.written)
        return self._sources[key]

    def _sorted(self, visit: Visit) -> dict[str, list[Path]]:
        """Return the files of a visit by the source that makes most of each."""
        found: dict[str, list[Path]] = defaultdict(list)
        for file in visit.files:
            name = recognised(file, visit.device, self.written)
            if name is None:
                self.strangers.append(file)
            else:
                found[name].append(file)
        return dict(found)


def recognised(file: Path, device: str, topology: Topology) -> str | None:
    """Return the source that makes most of a file, None if none knows it."""
    best, most = None, (0, 0)
    for name in _readers():
        try:
            source = _built(name, device, SeriesTable(), topology)
            with guarded([file]):
                poll = source.captured([file], file.stat().st_mtime)
        except (SiteError, SourceUnavailable):  # or it must be told how to read, as by a map
            continue
        worth = (_brought(poll), -len(poll.refused))
        if worth > most:
            best, most = name, worth
    return best


def _brought(poll: Poll) -> int:
    return poll.readings + len(poll.neighbors) + len(poll.events)


def _readers() -> Iterator[str]:
    """Yield the names of the sources that can be used here."""
    for name in names(SOURCES):
        try:
            source_type(name)
        except SiteError:
            continue  # its library is not installed; `read NAME` says so
        yield name


def _built(name: str, device: str, table: SeriesTable, topology: Topology) -> Source:
    kind = source_type(name)
    return kind(settings_for(name, {}), Target(device, name, "", "", {}, topology), table)
