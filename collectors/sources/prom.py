"""Prometheus pages of other exporters: accelerators, hosts, anything that speaks the text format.

One visit reads one page. Which names mean what is data (`collectors/maps/pages`): a map is
told by the names in the page, or by `mapping:`; a page in the catalogue's own names needs none.
Time stamps of the exporter are honoured, so one page may give several batches, and what an
exporter shows long after it was read is refused as stale. A gauge of the last error code becomes
a counter that survives restarts.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from collectors.captures import content, files_below
from collectors.maps.page_rules import all_maps, named
from collectors.maps.pages import Pages
from collectors.protocols.exposition import Dialect, Page, Reader
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.http import HttpClient
from fabrichealth.catalogue import METRICS
from fabrichealth.errors import SourceUnavailable
from fabrichealth.metric import Kind
from fabrichealth.model import Poll, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

ACCEPT = "text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1"

IN_A_THREAD = 2**18
"""Bytes of a page from which on its parsing would hold up other targets at first contact."""

AT_ONCE = 2000
"""Series that are named at a time, for the same reason."""


KEPT = frozenset({"dcgm", "npu"})
"""Maps of exporters that keep what they read for 5 to 30 s, however often they are asked."""


class PromSettings(SourceSettings):
    """Prom section of the configuration."""

    period: Duration = seconds(15)
    """How often a page is read."""

    max_bytes: Size = 64 * 2**20
    """A page beyond this size is not read to its end, and the target counts as unavailable."""


class Prom(Source):
    """The page of one exporter."""

    settings_type = PromSettings
    schemes = ("http", "https")
    options = (*LOGIN, *TRUST, "mapping")
    queries = True
    metrics = tuple(
        metric for metric in METRICS.values() if metric.kind not in {Kind.HISTOGRAM, Kind.PART}
    )

    def __init__(self, settings: PromSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        mapping = target.options.get("mapping", "")
        self.closest = None if mapping in KEPT else 1.0
        self._reader = Reader()
        self._pages = Pages(table, target, [named(mapping)] if mapping else all_maps())
        # A capture has no address to be read from.
        self._http = (
            HttpClient(target, settings.timeout, settings.max_bytes) if target.address else None
        )

    async def read(self, at: float) -> Poll:
        """Read the page once."""
        if self._http is None:
            raise self.addressless
        reply = await self._http.get(headers={"Accept": ACCEPT})
        kind = reply.content_type
        if "html" in kind or reply.body.lstrip()[:1] == b"<":
            raise SourceUnavailable(
                f"{self.target.name}: {self._http.where} answers {kind or 'HTML'}, not a "
                "Prometheus page; check the address"
            )
        dialect = Dialect.OPENMETRICS if "openmetrics" in kind else Dialect.TEXT
        page = await self._parsed(reply.body, dialect)
        unknown = self._pages.unknown(page)
        for start in range(0, len(unknown), AT_ONCE):
            self._pages.learn(unknown[start : start + AT_ONCE])
            await asyncio.sleep(0)
        return self._poll(page, at)

    async def _parsed(self, body: bytes, dialect: Dialect) -> Page:
        """Parse a page; one that may take long does so in a thread."""
        if len(body) < IN_A_THREAD:
            return self._reader.read(body, dialect)
        try:
            return await asyncio.to_thread(self._reader.read, body, dialect)
        except asyncio.CancelledError:
            self._reader = Reader()  # the thread still works on the old one
            raise

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the pages among these files; what cannot be read is missing.

        Raises:
            SourceUnavailable: none of them is a page that can be read.
        """
        page, missing = _joined(files)
        poll = self._poll(page, at)
        poll.missing.extend(missing)
        return poll

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time stamp in the pages among these files."""
        stamps = _joined(files)[0].at
        return None if np.isnan(stamps).all() else float(np.nanmax(stamps))

    def memory(self) -> dict[str, Any]:
        """Return the error codes shown last, and how often each appeared."""
        return self._pages.memory()

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up what `memory` returned."""
        self._pages.remember(memory)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._http is not None:
            await self._http.close()

    def _poll(self, page: Page, at: float) -> Poll:
        if not page.series:
            first = page.broken[0] if page.broken else None
            why = f"line {first.line}: {first.why}" if first else "it holds no sample"
            raise SourceUnavailable(
                f"{self.target.name}: not a Prometheus page ({why}); check address or file"
            )
        return self._pages.poll(page, at, self.settings.stale_after)


def _captured(file: Path) -> Page:
    try:
        body = content(file)
    except OSError as wrong:
        raise SourceUnavailable(f"{file}: cannot be read ({wrong.strerror})") from None
    ended = body.rstrip().endswith(b"# EOF")
    return Reader().read(body, Dialect.OPENMETRICS if ended else Dialect.TEXT)


def _joined(files: list[Path]) -> tuple[Page, list[str]]:
    """Return the pages among files and folders as one, and the files that cannot be read.

    Where none is a page, it is what the first one holds.

    Raises:
        SourceUnavailable: none can be read.
    """
    every = [file for path in files for file in (files_below(path) if path.is_dir() else [path])]
    pages: list[Page] = []
    unread: list[tuple[Path, SourceUnavailable]] = []
    for file in every:
        try:
            pages.append(_captured(file))
        except SourceUnavailable as wrong:
            unread.append((file, wrong))
    if not pages:
        raise unread[0][1] if unread else SourceUnavailable(f"{files[0]}: holds no file")
    missing = [str(file) for file, _ in unread]
    good = [page for page in pages if page.series] or pages[:1]
    if len(good) == 1:
        return good[0], missing
    joined = Page(
        tuple(series for page in good for series in page.series),
        np.concatenate([np.empty(0), *(page.values for page in good)]),
        np.concatenate([np.empty(0), *(page.at for page in good)]),
        [broken for page in good for broken in page.broken],
    )
    return joined, missing
