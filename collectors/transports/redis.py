"""Redis of a switch: one connection a database, many commands in one write, replies as bytes.

Everything that a visit asks of a database goes out at once and comes back in order, so that a visit
costs a few round trips whatever the size of the switch. The library's connections are used without
its pipeline, which takes twice as long for each reply (41 against 19 ms for 1,088 hashes). Keys are
found with SCAN, which lets the switch go on with its work. No message holds a secret.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    InvalidResponse,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from collectors.protocols.sonic_databases import Databases
from collectors.protocols.sonic_values import Hash
from collectors.source import Target
from collectors.transports.secrets import secret
from collectors.transports.trust import ca_file
from fabrichealth.address import checked_url, shown
from fabrichealth.errors import SiteError, SourceUnavailable

SCAN_COUNT = 1000
"""Keys that the server looks at for one SCAN: under a millisecond of its time."""

MOST_SCANS = 10_000
"""A cursor that does not end is a server that is broken."""

AT_ONCE = 500
"""Replies after which other targets get their turn."""


class TooMuch(InvalidResponse):
    """The replies of one visit are larger than they may be."""


REASONS: dict[type[RedisError], str] = {
    TooMuch: "more than max_bytes came in one visit; raise max_bytes, or check the address",
    BusyLoadingError: "Redis is still loading its data; it is asked again at the next poll",
    AuthenticationError: "access is refused; check user and secret_file",
    NoPermissionError: "access is refused; check user and secret_file",
    ResponseError: "refuses the database or the command; check database_config.json (map:)",
    InvalidResponse: "what answers is no Redis; check the address",
}
UNREACHED = "cannot connect, or the connection broke; is it up, and the address right?"

SCHEMES = ("redis", "rediss", "unix")


PROMISE = re.compile(rb"\*\d{8,}\r\n")
"""An array of so many elements: the parser makes room for all of them before it reads one.

Begun by what stands literally in it, which is found eighty times as fast as a choice.
"""

LONGEST_PROMISE = 32
"""Bytes of one, and of the line's end before it: it may come in two parts."""


class _Metered:
    """What a connection reads, as far as the visit has room for it: nothing more is taken in."""

    def __init__(self, stream: asyncio.StreamReader, client: "RedisClient") -> None:
        self._stream = stream
        self._client = client
        self._before = b"\r\n"
        """What came last, with which a promise may have begun."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def read(self, size: int) -> bytes:
        return self._taken(await self._stream.read(size))

    async def readexactly(self, size: int) -> bytes:
        if not 0 <= size <= self._client.room:
            raise TooMuch
        return self._taken(await self._stream.readexactly(size))

    async def readline(self) -> bytes:
        return self._taken(await self._stream.readline())

    def _taken(self, part: bytes) -> bytes:
        self._client.room -= len(part)
        seam = self._before + part[:LONGEST_PROMISE]
        if self._client.room < 0 or _promises(seam) or _promises(part):
            raise TooMuch
        self._before = (self._before + part[-LONGEST_PROMISE:])[-LONGEST_PROMISE:]
        return part


def _promises(part: bytes) -> bool:
    """Return whether a line of some bytes promises more elements than any switch has."""
    starts = (found.start() for found in PROMISE.finditer(part))
    return any(start > 1 and part[start - 2 : start] == b"\r\n" for start in starts)


@dataclass(slots=True)
class RedisClient:
    """The databases of one namespace.

    Raises:
        SiteError: address or options cannot be used; the message says which.
    """

    target: Target
    databases: Databases
    timeout: float
    max_bytes: int
    """Of all replies of one visit."""
    socket: str = ""
    """The socket of the namespace's first instance, if the address is one."""
    room: int = 0
    """Bytes that may still come in this visit."""
    _open: dict[str, AbstractConnection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _checked(self.target)
        self.begin()

    def begin(self) -> None:
        """Start a visit, which has room for `max_bytes` again."""
        self.room = self.max_bytes

    async def hashes(self, database: str, keys: Sequence[str]) -> list[Hash | str]:
        """Return hashes in the order of the keys; a text in place of one says why it is not read.

        Raises:
            SourceUnavailable: no answer, or none that can be used.
        """
        return await self._ask(database, [("HGETALL", key) for key in keys])

    async def keys(self, database: str, pattern: str) -> list[str]:
        """Return the keys of a database that match a pattern.

        Raises:
            SourceUnavailable: no answer, or none that can be used.
        """
        found: set[bytes] = set()
        cursor = b"0"
        for _ in range(MOST_SCANS):
            scan = ("SCAN", cursor, "MATCH", pattern, "COUNT", SCAN_COUNT)
            (reply,) = await self._ask(database, [scan])
            if not isinstance(reply, list) or len(reply) != 2 or not isinstance(reply[1], list):
                raise self._unavailable(database, "SCAN is not allowed, or is no SCAN of Redis")
            cursor = reply[0]
            found.update(reply[1])
            if cursor == b"0":
                break
        return sorted(key.decode("utf-8", "replace") for key in found)

    async def close(self) -> None:
        """Close the connections."""
        while self._open:
            _, connection = self._open.popitem()
            await connection.disconnect(nowait=True)

    async def _ask(self, database: str, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Send commands and return their replies in order."""
        kept = database in self._open
        try:
            connection = self._open.get(database)
            if connection is None:  # connects when it is first written to
                connection = self._open[database] = self._connection(database)
            await connection.send_packed_command(connection.pack_commands(commands))
            return [await self._reply(connection, place) for place in range(len(commands))]
        except BaseException as wrong:
            # replies that were not read must not be taken for those of the next visit
            await self._dropped(database)
            known = RedisError | OSError | asyncio.IncompleteReadError | ValueError
            if not isinstance(wrong, known):  # ValueError: a length that is no number, or no line
                raise
            if kept and not isinstance(wrong, ResponseError | InvalidResponse):
                return await self._ask(database, commands)  # the server had closed the old one
            raise self._unavailable(database, _reason(wrong)) from None

    async def _reply(self, connection: AbstractConnection, place: int) -> Any:
        if place % AT_ONCE == AT_ONCE - 1:
            await asyncio.sleep(0)
        try:
            return await connection.read_response(disable_decoding=True)
        except (BusyLoadingError, AuthenticationError, NoPermissionError):
            raise
        except ResponseError as wrong:  # of this key alone, such as WRONGTYPE
            if str(wrong).startswith("NOAUTH"):
                raise
            return str(wrong)

    async def _dropped(self, database: str) -> None:
        connection = self._open.pop(database, None)
        if connection is not None:
            await connection.disconnect(nowait=True)

    def _connection(self, database: str) -> AbstractConnection:
        options = self.target.options
        instance = self.databases.instance(database)
        address = urlsplit(self.target.address)
        given: dict[str, Any] = {
            "db": self.databases.number(database),
            "username": options.get("user"),
            "password": secret(self.target),
            "socket_connect_timeout": self.timeout,
            "socket_timeout": None,  # the visit has one deadline
            "protocol": 2,
            "driver_info": None,
            "retry": Retry(NoBackoff(), 0),  # else a broken peer is tried ten times, with rests
            "redis_connect_func": self._metered,
        }
        if address.scheme == "unix":
            path = instance.socket or self.socket or unquote(address.netloc + address.path)
            return UnixDomainSocketConnection(path=path, **given)
        given |= {"host": address.hostname, "port": address.port or instance.port or 6379}
        if address.scheme == "rediss":
            return SSLConnection(
                ssl_ca_certs=ca_file(self.target), ssl_cert_reqs="required", **given
            )
        return Connection(**given)

    async def _metered(self, connection: Any) -> None:
        """Measure what a connection reads, from the first reply on."""
        # the library has no other place to hold a parser back from what the peer promises
        connection._reader = _Metered(connection._reader, self)  # noqa: SLF001 - as said
        await connection.on_connect()

    def _unavailable(self, database: str, why: str) -> SourceUnavailable:
        return SourceUnavailable(
            f"{self.target.name}: {database} of {shown(self.target.address)}: {why}"
        )


def _checked(target: Target) -> None:
    """Refuse addresses and options that cannot be used."""
    try:
        checked_url(target.address, SCHEMES)
    except ValueError as wrong:
        raise SiteError(f"{target.name}: {wrong}") from None
    address = urlsplit(target.address)
    if not (address.netloc + address.path if address.scheme == "unix" else address.hostname):
        raise SiteError(
            f"{target.name}: the address must be redis://HOST, rediss://HOST or unix://PATH"
        )
    if target.options.get("fingerprint"):
        raise SiteError(f"{target.name}: give ca_file instead of fingerprint for rediss://")
    ca_file(target)


def _reason(wrong: BaseException) -> str:
    """Return what went wrong in one line, without the words of others that may hold anything."""
    chain: list[BaseException] = []  # the library wraps what went wrong while it connected
    inner: BaseException | None = wrong
    while inner is not None and inner not in chain:
        chain.append(inner)
        inner = inner.__cause__ or inner.__context__
    said = " ".join(map(str, chain))
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return "the certificate cannot be verified; give ca_file"
    if "SSL" in said:
        return "no TLS there; is it redis:// instead of rediss://?"
    if "NOAUTH" in said:
        return REASONS[AuthenticationError]
    if "Invalid Database" in said or any(type(one) is ValueError for one in chain):
        return REASONS[InvalidResponse]
    for kind, why in REASONS.items():
        if any(isinstance(one, kind) for one in chain):
            return why
    return UNREACHED
