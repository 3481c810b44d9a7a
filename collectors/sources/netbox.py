"""NetBox: which port is cabled to which, as it is recorded there, and by what cable.

A record and no measurement: what devices say of each other is believed before it. All cables are
read page by page; planned and decommissioning ones are passed over. Through patch panels a cable is
followed where both sides of them are known. The address is that of NetBox (`https://netbox`, with
its folder where it has one); `secret_file` holds the token. Captures: bodies of its pages of
cables, front ports and interfaces.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from collectors.captures import captured
from collectors.maps import cabling
from collectors.maps.columns import Columns
from collectors.protocols import netbox
from collectors.protocols.netbox import Cable, FrontPort, Page, Reached
from collectors.protocols.netbox_paths import paths, through_panels
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.http import HttpClient
from collectors.transports.secrets import secret
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

CABLES, FRONT_PORTS = "cables", "front-ports"
MOST_PAGES = 10_000


class NetboxSettings(SourceSettings):
    """Netbox section of the configuration."""

    period: Duration = seconds(600)
    """How often all cables are read; records change seldom."""

    timeout: Duration = seconds(120)
    """Give up on all pages together after this long; thousands of cables take a while."""

    page_size: int = Field(default=500, ge=1, le=1000)
    """Cables asked for at a time; never all at once, which takes NetBox tens of seconds."""

    header: Literal["auto", "token", "bearer"] = "auto"
    """How the token is sent: `Token ..`, or `Bearer ..` as from version 4.5 on; auto tells the
    new ones by their beginning (nbt_)."""

    max_bytes: Size = 64 * 2**20
    """A page beyond this size is not read to its end, and the target counts as unavailable."""


@dataclass(slots=True)
class _Gathered:
    """Everything that some pages said."""

    cables: dict[int, Cable] = field(default_factory=dict)
    fronts: list[FrontPort] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)

    def take(self, page: Page) -> None:
        """Take one page."""
        self.malformed += page.malformed
        for row in page.rows:
            if isinstance(row, Cable):
                self.cables[row.id] = row
            elif isinstance(row, FrontPort):
                self.fronts.append(row)
            else:
                self.reached.append(row)


class Netbox(Source):
    """All cables of one NetBox."""

    settings_type = NetboxSettings
    settings: NetboxSettings
    schemes = ("http", "https")
    options = (*LOGIN, *TRUST)
    metrics = cabling.METRICS

    def __init__(self, settings: NetboxSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._http = (
            HttpClient(target, settings.timeout, settings.max_bytes) if target.address else None
        )
        folder = urlsplit(target.address).path.rstrip("/").removesuffix("/api")
        self._deadline = 0.0
        self._folder = f"{folder}/api/dcim/"

    async def read(self, at: float) -> Poll:
        """Read all cables, and the panels where cables end in one.

        Raises:
            SourceUnavailable: no first page of cables could be had.
        """
        if self._http is None:
            raise self.addressless
        columns = Columns(self.table)
        gathered = _Gathered()
        self._deadline = asyncio.get_running_loop().time() + self.settings.patience
        await self._pages(self._http, CABLES, gathered, columns)
        if any(through_panels(gathered.cables.values())):
            try:
                await self._pages(self._http, FRONT_PORTS, gathered, columns)
            except SourceUnavailable as wrong:
                self._lost(columns, FRONT_PORTS, str(wrong))
        return self._poll(gathered, columns, at)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read bodies of pages as one poll.

        Raises:
            SourceUnavailable: none of the files is one.
        """
        columns = Columns(self.table)
        gathered = _Gathered()
        wrong, read = "", 0
        for file in captured(files):
            try:
                page = netbox.page(file.text)
            except MalformedReply as broken:
                wrong = str(broken)
                columns.refuse(Reason.MALFORMED, file.name, {}, wrong)
                columns.missing.append(file.name)
                continue
            read += bool(page.rows) or page.count == 0
            gathered.take(page)
        if not read:
            why = f" ({wrong})" if wrong else ""
            raise SourceUnavailable(
                f"{files[0]}: no page of NetBox{why}; give bodies of /api/dcim/cables/"
            )
        return self._poll(gathered, columns, at)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._http is not None:
            await self._http.close()

    async def _pages(
        self, http: HttpClient, what: str, gathered: _Gathered, columns: Columns
    ) -> None:
        """Read all pages of a kind by our own offsets; what `next` says is followed by nobody."""
        seen: set[int] = set()
        for _ in range(MOST_PAGES):
            try:
                async with asyncio.timeout_at(self._deadline):
                    page = await self._page(http, what, len(seen))
            except (SourceUnavailable, TimeoutError) as wrong:
                late = isinstance(wrong, TimeoutError)
                why = f"no whole page within {self.settings.timeout:g} s" if late else str(wrong)
                if seen:
                    self._lost(columns, what, why)
                    return
                if late:
                    raise SourceUnavailable(
                        f"{self.target.name}: {http.where}: {why}; is it up, or timeout: too short?"
                    ) from None
                raise
            fresh = set(page.ids) - seen
            if page.ids and not fresh:
                why = f"the page at offset {len(seen)} holds nothing new; reading stopped"
                self._lost(columns, what, why)
                return
            gathered.take(page)
            seen |= fresh
            if not page.ids or not page.more or (page.count or 0) <= len(seen):
                return

    async def _page(self, http: HttpClient, what: str, offset: int) -> Page:
        path = f"{self._folder}{what}/?limit={self.settings.page_size}&offset={offset}"
        reply = await http.get(path, headers=self._authorized())
        try:
            return netbox.page(reply.body)
        except MalformedReply as wrong:
            kind = reply.content_type.partition(";")[0] or "of no type"
            raise SourceUnavailable(
                f"{self.target.name}: {http.where}: {wrong} but {kind} at {what}; "
                "is this the address of NetBox?"
            ) from None

    def _authorized(self) -> dict[str, str]:
        word = secret(self.target)
        if word is None:
            return {}
        form = self.settings.header
        new = form == "bearer" or (form == "auto" and word.startswith("nbt_"))
        return {"Authorization": f"{'Bearer' if new else 'Token'} {word}"}

    def _lost(self, columns: Columns, what: str, why: str) -> None:
        columns.refuse(Reason.FAILED, what, {}, why)
        columns.missing.append(what)

    def _poll(self, gathered: _Gathered, columns: Columns, at: float) -> Poll:
        found = paths(gathered.cables.values(), gathered.fronts, gathered.reached)
        neighbors: dict[Neighbor, None] = {}
        for path in found.found:
            cabling.take(path, self.target.topology, columns, neighbors)
        for cable in found.unpaired:
            ends = f"{len(cable.a)} to {len(cable.b)} ends"
            columns.refuse(Reason.UNSUPPORTED, "cable", {"cable": str(cable.id)}, ends)
        for cable in _unknown(gathered.cables.values()):
            columns.refuse(Reason.MALFORMED, "cable", {"cable": str(cable.id)}, "an end unknown")
        for text in gathered.malformed:
            columns.refuse(Reason.MALFORMED, "result", {}, text)
        return columns.poll(self.clock, at, list(neighbors))


def _unknown(cables: Iterable[Cable]) -> list[Cable]:
    """Return connected cables of which an end is nothing that has a kind, or has no name."""
    return [
        cable
        for cable in cables
        if cable.connected
        and any(
            not end.kind or (end.kind == "interface" and not (end.device and end.name))
            for end in (*cable.a, *cable.b)
        )
    ]
