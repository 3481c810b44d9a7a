"""SONiC switches over Redis: ports, queues, PFC, FEC, optics, neighbours and buffer settings.

The databases hold what the switch itself acts on, refreshed each second for ports and each minute
for modules. One visit reads COUNTERS_DB and the port table; modules, neighbours and configuration
are read at their own pace. A database that does not answer costs only what is in it.

Address: redis://HOST[:PORT], rediss://HOST, or unix://PATH on the switch itself. `map:` names a
database_config.json, or a database_global.json of a switch with several ASICs; beside a socket they
are found without it. Captures: JSON by database and key, or the hashes of one database.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from collectors.captures import Captured, captured
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.protocols import sonic_databases
from collectors.protocols.sonic_databases import STANDARD, Databases
from collectors.sonic import asking, namespace
from collectors.sonic.asking import Answer, Hashes, Keys, Part
from collectors.sonic.namespace import Namespace, Paces
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.redis import SCHEMES, RedisClient
from fabrichealth.errors import MalformedReply, SiteError, SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

PAUSE_WORTH = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}

CONFIG, GLOBAL = "database_config.json", "database_global.json"


class SonicSettings(SourceSettings):
    """Sonic section of the configuration."""

    modules: Duration = seconds(60)
    """How often the optical modules are read; the switch itself reads them once a minute."""

    neighbors: Duration = seconds(30)
    """How often LLDP neighbours are read."""

    configuration: Duration = seconds(300)
    """How often buffer, PFC and marking settings are read, and which ports there are."""

    max_bytes: Size = 64 * 2**20
    """What a server says beyond this size in one visit is not read, and costs the rest of it."""

    pause_unit: Literal["ms", "us", "ns"] = "us"
    """Unit of pause durations that do not say theirs; compare once with a known pause."""


class Sonic(Source):
    """One SONiC switch."""

    settings_type = SonicSettings
    settings: SonicSettings
    schemes = SCHEMES
    options = (*LOGIN, *TRUST, "map")
    closest = 1.0  # the switch itself counts ports once a second
    metrics = namespace.METRICS

    def __init__(self, settings: SonicSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._namespaces: dict[str, Namespace] = {}
        self._clients: dict[str, RedisClient] = {}
        if target.address:
            for name, databases, socket in _served(target):
                self._clients[name] = RedisClient(
                    target, databases, settings.timeout, settings.max_bytes, socket
                )

    async def read(self, at: float) -> Poll:
        """Visit every namespace of the switch once.

        Raises:
            SourceUnavailable: no database answered.
        """
        if not self._clients:
            raise self.addressless
        columns = Columns(self.table)
        neighbors: list[Neighbor] = []
        failures: dict[str, SourceUnavailable] = {}
        deadline = asyncio.get_running_loop().time() + self.settings.patience
        answers = 0
        for name, client in self._clients.items():
            client.begin()
            for database, part in self._namespace(name).parts(at, columns, neighbors):
                where = f"{name}/{database}" if name else database
                if where in failures:
                    continue
                try:
                    answers += await self._visit(client, part, columns, deadline)
                except SourceUnavailable as wrong:
                    failures[where] = wrong
        if failures and not answers:
            raise next(iter(failures.values()))
        columns.missing.extend(failures)
        return columns.poll(self.clock, at, neighbors)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the databases in these files.

        Raises:
            SourceUnavailable: none of them holds any.
        """
        found: dict[str, dict[str, dict[str, list[bytes]]]] = {}
        why = "there is no file"
        every = captured(files)
        documents = [(file, _document(file)) for file in every]
        known = next((one for file, one in documents if file.name == CONFIG), None)
        databases = sonic_databases.databases(known) if known is not None else STANDARD
        for file, document in documents:
            if file.name in {CONFIG, GLOBAL}:
                continue
            try:
                held = sonic_databases.captured(document, databases)
            except MalformedReply as wrong:
                why = str(wrong)
                continue
            asic = file.path.parent.name
            of_asic = found.setdefault(asic if asic.startswith("asic") else "", {})
            for database, content in held.items():
                of_asic.setdefault(database, {}).update(content)
        if not found:
            raise SourceUnavailable(
                f"{files[0]}: no SONiC database ({why}); give JSON of database -> key -> hash"
            )
        columns = Columns(self.table)
        neighbors: list[Neighbor] = []
        for name, space in found.items():
            for _, part in self._namespace(name).parts(at, columns, neighbors, whole=True):
                asking.run(part, space)
        return columns.poll(self.clock, at, neighbors)

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.close()

    def _namespace(self, name: str) -> Namespace:
        if name not in self._namespaces:
            settings = self.settings
            paces = Paces(
                settings.modules,
                settings.neighbors,
                settings.configuration,
                settings.stale_after,
                PAUSE_WORTH[settings.pause_unit],
            )
            device = device_name(self.target.subject)
            self._namespaces[name] = Namespace(self.table, self.target, device, paces, name)
        return self._namespaces[name]

    async def _visit(
        self, client: RedisClient, part: Part, columns: Columns, deadline: float
    ) -> int:
        """Answer what a part asks; return how many answers there were."""
        answers = 0
        try:
            asked = next(part)
            while True:
                async with asyncio.timeout_at(deadline):
                    answer = await self._answer(client, asked, columns)
                answers += 1
                asked = part.send(answer)
        except StopIteration:
            return answers
        except TimeoutError:
            raise SourceUnavailable(
                f"{self.target.name}: no whole answer within {self.settings.timeout:g} s; "
                "is it up, or is timeout: too short?"
            ) from None

    async def _answer(self, client: RedisClient, asked: Keys | Hashes, columns: Columns) -> Answer:
        if isinstance(asked, Keys):
            return await client.keys(asked.database, asked.pattern)
        replies = await client.hashes(asked.database, asked.keys)
        kept: list[list[bytes]] = []
        for key, reply in zip(asked.keys, replies, strict=True):
            if isinstance(reply, list):
                kept.append(reply)
            else:
                kept.append([])
                device = self.target.subject
                columns.refuse(Reason.MALFORMED, key, {"device": device}, str(reply)[:60])
        return kept


def _served(target: Target) -> Iterator[tuple[str, Databases, str]]:
    """Yield (namespace, databases, socket) of a switch, by its configuration files.

    Raises:
        SiteError: a file that is named cannot be used.
    """
    given = target.options.get("map", "")
    address = urlsplit(target.address)
    if not given and address.scheme == "unix":
        beside = Path(unquote(address.netloc + address.path)).parent / "sonic-db"
        given = next((str(beside / n) for n in (GLOBAL, CONFIG) if (beside / n).is_file()), "")
    if not given:
        yield "", STANDARD, ""
        return
    try:
        document = json.loads(Path(given).read_bytes())
        rows = sonic_databases.includes(document)
        if not rows:
            yield "", sonic_databases.databases(document), ""
            return
        for name, path in rows:
            file = Path(given).parent / path
            databases = sonic_databases.databases(json.loads(file.read_bytes()))
            yield name, databases, databases.instance("COUNTERS_DB").socket
    except (OSError, ValueError, RecursionError, MalformedReply) as wrong:
        raise SiteError(
            f"{target.name}: map {given} cannot be used ({wrong}); give a {CONFIG} or a {GLOBAL}"
        ) from None


def _document(file: Captured) -> Any:
    """Return the JSON of a file, None where it is none."""
    try:
        return json.loads(file.text)
    except (ValueError, RecursionError):
        return None
