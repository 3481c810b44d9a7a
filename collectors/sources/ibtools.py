"""A whole InfiniBand fabric, by the tools every subnet has: links, counters, credit stalls.

One target is one fabric, swept from a host that may send management packets. `iblinkinfo` tells the
state of every port, `perfquery` the counters of each node, `ibnetdiscover` now and then which
GUIDs belong together. A node that does not answer is missing and costs nobody else; a device is
known by its GUID, never by its description. Nothing is ever cleared.

A sweep loads the subnet manager's network: one sweeper a fabric, not more often than each minute.
Captures: what ibnetdiscover (also -p), iblinkinfo --line, perfquery, ibqueryerrors and ibswinfo
printed, stderr beside it, and ibdiagnet's db_csv.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import Field

from collectors.captures import captured
from collectors.fabric import replies
from collectors.fabric.counters import FabricCounters
from collectors.fabric.names import FabricNames
from collectors.fabric.replies import FabricReplies, Said
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.privilege import Privilege
from collectors.protocols import ib_counters, ib_links, ibswinfo
from collectors.protocols.ib_counters import PortCounters, QueryErrors
from collectors.protocols.ib_links import LinkEnd, Links
from collectors.protocols.ibswinfo import SwitchInfo
from collectors.source import Source, SourceSettings, Target
from collectors.transports.process import Output, run
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

LEAVE_TIME = 0.95
"""Share of the time-out after which no tool is waited for, so that what came is not lost."""


class IbtoolsSettings(SourceSettings):
    """Ibtools section of the configuration."""

    period: Duration = seconds(60)
    """How often the fabric is swept; each sweep loads the subnet's management."""

    timeout: Duration = seconds(50)
    """Give up on one sweep after this long; nodes not asked by then are missing."""

    tool_timeout: Duration = Field(default=seconds(10), gt=0)
    """Give up on one node after this long. The listings may take the whole time-out."""

    counters: Literal["all", "switches", "none"] = "all"
    """Whose counters are asked for; the ports of switches see both directions of most links."""

    at_once: int = Field(default=4, ge=1, le=64)
    """Nodes that are asked at the same time."""

    discover: Duration = seconds(3600)
    """How often ibnetdiscover is run beside iblinkinfo, which tells no GUIDs of adapters; 0
    never."""

    switch_info: Duration = seconds(0)
    """How often ibswinfo is asked for fans, supplies and temperature of each switch; 0 never. It
    needs the vendor's firmware tools."""

    wait_clock_hertz: float | None = Field(default=None, gt=0)
    """Ticks per second of PortXmitWait; default 4 octets at the active rate of the port."""


class Ibtools(Source):
    """One fabric, swept by tools, or captures of what they print."""

    settings_type = IbtoolsSettings
    settings: IbtoolsSettings
    privileges = (
        Privilege(
            "fabric",
            "the fabric by management packets",
            devices=("char-infiniband_mad rw",),
            udev='SUBSYSTEM=="infiniband_mad", KERNEL=="umad*", GROUP="fabrichealth", MODE="0660"',
        ),
    )
    metrics = tuple(dict.fromkeys(replies.METRICS))

    def __init__(self, settings: IbtoolsSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._names = FabricNames(target)
        counters = FabricCounters(table, settings.wait_clock_hertz)
        self._replies = FabricReplies(target, table, self._names, counters)
        self._discover_at = float("-inf")
        self._switch_info_at = float("-inf")
        self._classic: set[int] = set()
        """LIDs whose error counters only the classic block has."""

    async def read(self, at: float) -> Poll:
        """Sweep the fabric once.

        Raises:
            SourceUnavailable: no listing could be had; the message has the tool's own words.
        """
        columns = Columns(self.table)
        self._replies.begin()
        until = _now() + self.settings.timeout * LEAVE_TIME
        if self.settings.discover and at >= self._discover_at:
            listed = await self._listing(("ibnetdiscover",), ib_links.blocks, until, columns)
            if listed is not None:
                self._discover_at = at + self.settings.discover
                self._replies.links(Links(listed.nodes, [], []), Columns(self.table))
        links = await self._listing(("iblinkinfo", "--line"), ib_links.linkinfo, until, columns)
        if links is None:
            raise SourceUnavailable(
                f"{self.target.name}: iblinkinfo listed nothing "
                f"({_first(columns)}); is there a port in this subnet, and may this user send MADs?"
            )
        self._replies.links(links, columns)
        if self.settings.counters != "none":
            await self._counters(links, until, columns)
        if self.settings.switch_info and at >= self._switch_info_at:
            self._switch_info_at = at + self.settings.switch_info
            await self._switches(links, at, until, columns)
        return self._polled(columns, at)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one sweep from what the tools printed.

        Raises:
            SourceUnavailable: none of the files is of one of the tools.
        """
        columns = Columns(self.table)
        self._replies.begin()
        own = captured(files)
        found = [(file.name, said) for file in own if (said := replies.said(file.text)) is not None]
        errors = [file for file in own if file.stderr.strip()]
        silent = [file for file in own if not file.text.strip() and not file.stderr.strip()]
        if not found and not errors and not (silent and any(_of_tool(file.name) for file in own)):
            raise SourceUnavailable(
                f"{files[0]}: of no InfiniBand tool; give what ibnetdiscover, iblinkinfo --line, "
                "perfquery, ibqueryerrors or ibswinfo printed"
            )
        for kind in (Links, list, QueryErrors, SwitchInfo):
            for name, said in found:
                if isinstance(said, kind):
                    self._take(said, name, len(own), at, columns)
        for file in errors:
            self._replies.failed(file.stderr, columns, file.name)
        for file in silent:  # a tool that timed out prints nothing
            columns.refuse(Reason.FAILED, file.name, {}, "no output")
            columns.missing.append(file.name)
        return self._polled(columns, at)

    def _take(self, said: Said, name: str, files: int, at: float, columns: Columns) -> None:
        alone = self.target.subject if files == 1 else self.target.device
        device = device_name(alone or Path(name).stem)
        if isinstance(said, Links):
            self._replies.links(said, columns)
        elif isinstance(said, SwitchInfo):
            self._replies.switch(said, at, columns, device)
        elif isinstance(said, QueryErrors):
            for row in said.rows:
                self._replies.port_counters(row, columns)
            for line in said.malformed:
                columns.refuse(Reason.MALFORMED, "counters", {}, line)
        else:
            ports = [one for one in said if isinstance(one, PortCounters)]
            for port in ports:
                self._replies.port_counters(port, columns, device)
            if not ports:
                self._replies.database(
                    [one for one in said if not isinstance(one, PortCounters)], columns
                )

    def _polled(self, columns: Columns, at: float) -> Poll:
        poll = columns.poll(self.clock, at)
        poll.neighbors.extend(self._replies.neighbors)
        return poll

    async def _listing(
        self,
        words: tuple[str, ...],
        read: Callable[[str], Links],
        until: float,
        columns: Columns,
    ) -> Links | None:
        """Run a tool that lists the fabric; None, said, where it lists nothing."""
        try:
            output = await run(words, max(until - _now(), 0.1))
        except SourceUnavailable as wrong:
            raise SourceUnavailable(f"{self.target.name}: {wrong}") from None
        found = read(output.stdout)
        self._replies.failed(output.stderr, columns, words[0])
        if output.late:
            columns.missing.append(f"{words[0]}: no end in time")
        if not found:
            columns.refuse(Reason.FAILED, words[0], {}, output.complaint)
            return None
        return found

    async def _counters(self, links: Links, until: float, columns: Columns) -> None:
        """Ask every node for its counters, some at a time."""
        gate = asyncio.Semaphore(self.settings.at_once)
        asked = list(_nodes(links, everybody=self.settings.counters == "all").items())
        answers = await asyncio.gather(
            *(self._node(lid, port, until, gate) for (lid, port), _ in asked)
        )
        for ((_, port), guid), outputs in zip(asked, answers, strict=True):
            rows = [row for one in outputs if one for row in ib_counters.perfquery(one.stdout)]
            for row in rows:
                self._replies.port_counters(row, columns)
            if any(one is None or one.late or not one.stdout.strip() for one in outputs):
                device = self._names.device(guid)
                labels = {"device": device} | ({"port": port} if port else {})
                last = outputs[-1]
                why = last.complaint if last is not None else "not asked in time"
                columns.refuse(Reason.FAILED, "perfquery", labels, why)
                columns.missing.append(f"{device}/{port}" if port else device)

    async def _node(
        self, lid: int, port: str, until: float, gate: asyncio.Semaphore
    ) -> list[Output | None]:
        """Ask one node: the wide counters, and the classic ones where those are not all."""
        which = (str(lid), port) if port else ("-l", "-a", str(lid))
        async with gate:
            first = await self._in_time(("perfquery", "-x", *which), until)
            if lid not in self._classic:
                rows = ib_counters.perfquery(first.stdout) if first else []
                if rows and not all(row.wide for row in rows):
                    self._classic.add(lid)
            if lid not in self._classic:
                return [first]
            return [first, await self._in_time(("perfquery", *which), until)]

    async def _in_time(self, words: tuple[str, ...], until: float) -> Output | None:
        left = until - _now()
        if left <= 0:
            return None
        return await run(words, min(left, self.settings.tool_timeout))

    async def _switches(self, links: Links, at: float, until: float, columns: Columns) -> None:
        """Ask every switch for its hardware, one after the other."""
        for (lid, port), guid in _nodes(links, everybody=False).items():
            if port:
                continue
            output = await self._in_time(("ibswinfo", "-d", f"lid-{lid}"), until)
            found = ibswinfo.info(output.stdout) if output is not None else None
            device = self._names.device(guid)
            if found is not None:
                self._replies.switch(found, at, columns, device)
            else:
                why = output.complaint if output is not None else "not asked in time"
                columns.refuse(Reason.FAILED, "ibswinfo", {"device": device}, why)
                columns.missing.append(f"{device} hardware")


def _now() -> float:
    """Return the seconds of the event loop's clock, for deadlines."""
    return asyncio.get_running_loop().time()


def _nodes(links: Links, *, everybody: bool) -> dict[tuple[int, str], str]:
    """Return GUIDs by (LID, port) of what is to be asked; a switch answers for all its ports."""
    ends: dict[int, list[LinkEnd]] = {}
    for end in links.ends:
        if end.here.lid:
            ends.setdefault(end.here.lid, []).append(end)
    found: dict[tuple[int, str], str] = {}
    for lid, own in ends.items():
        if len({end.here.port for end in own}) > 1:  # only a switch has one LID for many ports
            found[lid, ""] = own[0].here.guid
        elif everybody:
            found[lid, str(own[0].here.port)] = own[0].here.guid
    return found


def _of_tool(name: str) -> bool:
    return name.startswith(("perfquery", "ib"))


def _first(columns: Columns) -> str:
    return str(columns.refused[-1].raw) if columns.refused else "no output"
