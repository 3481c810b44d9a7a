"""Switches over NVUE's REST API: Cumulus Linux, and NVOS on InfiniBand and NVLink switches.

One request tells of all interfaces; what it leaves out (counters, PHYs, queues, modules) is read
where this release keeps it, a few requests at a time. What the answers mean is data
(`collectors/maps/nvue`); `map:` may name a file of the same form with rules of your own, which rank
first. Text that was rounded for people (`9.73 MB`) counts nothing.

Address: https://HOST:8765 (the path is /nvue_v1 where none is given). `user` and `secret_file` log
in. Captures: bodies of the API, told apart by the names in them; that of one interface belongs to
`port`, else to the port that the file is named after.
"""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from collectors.captures import captured
from collectors.maps import tree_rules
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.nvue import parts, ports
from collectors.nvue.parts import Part, Parts
from collectors.protocols import json_tree, nvue
from collectors.protocols.nvue import Tree
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.http import HttpClient
from collectors.trees.pace import Pace
from collectors.trees.sheets import Sheets
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

PATH = "/nvue_v1"
INTERFACES = "interface?rev=operational"
NVUE = tree_rules.FOLDER / "nvue" / "nvue.yaml"
ALONE = "1"
"""The port of a body that does not say whose it is."""


class NvueSettings(SourceSettings):
    """Nvue section of the configuration."""

    period: Duration = seconds(30)
    """How often interfaces and counters are read; the API is slow, a second for all interfaces."""

    timeout: Duration = seconds(25)
    """Give up on one visit after this long; what has come by then is kept."""

    modules: Duration = seconds(60)
    """How often the optical modules and the environment are read."""

    phys: Duration = seconds(60)
    """How often PHYs and their FEC are read: one request a port."""

    neighbors: Duration = seconds(60)
    """How often LLDP neighbours are read, where the list of interfaces does not have them."""

    retry: Duration = seconds(600)
    """What a switch does not have is looked for again only after this long."""

    at_once: int = Field(default=4, ge=1, le=64)
    """Requests that are open at a time; the API answers few at once."""

    max_bytes: Size = 64 * 2**20
    """A body beyond this size is not read to its end, and counts as missing."""


class Nvue(Source):
    """One switch with Cumulus Linux or NVOS."""

    settings_type = NvueSettings
    settings: NvueSettings
    schemes = ("https", "http")
    options = (*LOGIN, *TRUST, "map")
    closest = 5.0  # an answer takes the switch about a second
    metrics = tree_rules.metrics((tree_rules.read(NVUE),))

    def __init__(self, settings: NvueSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._sheets = Sheets(
            table,
            target,
            device_name(target.subject),
            tree_rules.rules(tree_rules.maps(NVUE, target.options.get("map", ""))),
            ports.placed(target.options.get("port", ALONE)),
            ports.technology,
            settings.stale_after,
        )
        self._wanted = parts.parts(settings.modules, settings.phys, settings.neighbors)
        self._parts = Parts(Pace(settings.retry))
        self._turn = asyncio.Semaphore(settings.at_once)
        path = urlsplit(target.address).path.rstrip("/") if target.address else ""
        self._path = path.removesuffix("/interface") or PATH
        self._http = (
            HttpClient(target, settings.timeout, settings.max_bytes) if target.address else None
        )

    async def read(self, at: float) -> Poll:
        """Read the interfaces, and what else is due.

        Raises:
            SourceUnavailable: no answer, or one that is not NVUE's.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.settings.patience
        interfaces = await self._ask(INTERFACES)
        if not isinstance(interfaces, dict):
            raise SourceUnavailable(
                f"{self.target.name}: {self._where} has no interfaces; check the path in the "
                "address"
            )
        columns = Columns(self.table)
        self._sheets.begin()
        self._sheets.take("interface", {"interface": interfaces}, at, columns)
        names = ports.live_first(interfaces)
        told: list[Any] = [interfaces[name] for name in names]
        slack = self.settings.slack
        for part in self._wanted:
            if not self._parts.due(part, at, slack) or _told(part, told):
                continue
            left = deadline - loop.time()
            found = await self._parts.read(part, names, at, self._ask, left)
            if found.unknown:
                columns.refuse(Reason.UNSUPPORTED, part.name, {"device": self.target.subject})
            columns.missing.extend(found.missing)
            if found.why:
                labels = {"device": self.target.subject}
                columns.refuse(Reason.FAILED, part.name, labels, found.why)
            told.append(found.tree)
            self._sheets.take(part.name, found.tree, at, columns)
        return self._poll(at, columns)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the bodies in these files.

        Raises:
            SourceUnavailable: none of them is a body of NVUE.
        """
        tree: Tree = {}
        wrong = "there is no file"
        for file in captured(files):
            stem = file.path.name.partition(".")[0]
            port = self.target.options.get("port") or (stem if ports.is_port(stem) else ALONE)
            try:
                json_tree.merge(tree, nvue.captured(json_tree.document(file.text), port))
            except MalformedReply as broken:
                wrong = str(broken)
        if not self._sheets.knows(tree):
            raise SourceUnavailable(
                f"{files[0]}: no body of NVUE's REST API ({wrong}); give JSON as it answers it"
            )
        columns = Columns(self.table)
        self._sheets.begin()
        self._sheets.take("capture", tree, at, columns)
        return self._poll(at, columns)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._http is not None:
            await self._http.close()

    @property
    def _where(self) -> str:
        return self._http.where if self._http is not None else ""

    async def _ask(self, resource: str) -> Any:
        if self._http is None:
            raise self.addressless
        async with self._turn:
            reply = await self._http.get(f"{self._path}/{resource}")
        try:
            return json_tree.document(reply.body)
        except MalformedReply as wrong:
            raise SourceUnavailable(
                f"{self.target.name}: {self._where}: {wrong}; is NVUE's API enabled there, and "
                "the address right?"
            ) from None

    def _poll(self, at: float, columns: Columns) -> Poll:
        neighbors = self._sheets.finish(columns)
        return columns.poll(self.clock, at, neighbors)


def _told(part: Part, trees: list[Any]) -> bool:
    """Return whether what was read before holds a part already, as some releases have it."""
    return bool(part.each) and any(nvue.holds(tree, part.marks) for tree in trees)
