"""A Redis of a switch: the few commands that readers of SONiC use, over RESP on loopback.

Written from the Redis protocol specification (RESP2). `content` gives the hashes of a database when
it is asked, so that what is read is the state at that moment. SCAN gives all keys at once.
"""

import asyncio
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Hashes = Mapping[str, Mapping[str, str]]
LONGEST = 1 << 20
DATABASES = 32
OK = b"+OK\r\n"


@dataclass
class RespServer:
    """One server; `start`, then `port` (or the socket given) answers."""

    content: Callable[[int], Hashes]
    """Gives key -> hash of a database by its number."""
    password: str = ""
    loading: bool = False
    """Whether it is still reading its dump: it says so to every command."""
    silent: bool = False
    """Whether it takes connections and never answers."""
    port: int = 0
    _server: asyncio.Server | None = None
    _clients: dict[asyncio.Task[None], asyncio.StreamWriter] = field(default_factory=dict)

    async def start(self) -> None:
        """Listen on loopback."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the server and its connections."""
        if self._server is None:
            return
        self._server.close()
        for writer in self._clients.values():
            writer.close()
        await asyncio.gather(*list(self._clients))
        await self._server.wait_closed()

    @property
    def address(self) -> str:
        """Where it listens, once started."""
        return f"redis://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients[task] = writer
        client = _Client(self)
        try:
            while (words := await _command(reader)) is not None:
                if self.silent:
                    continue
                writer.write(client.answer(words))
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            if task is not None:
                self._clients.pop(task, None)


@dataclass
class _Client:
    """What the server knows of one connection."""

    server: RespServer
    database: int = 0
    admitted: bool = False

    def answer(self, words: Sequence[bytes]) -> bytes:
        name, *rest = words
        command = name.upper().decode("ascii", "replace")
        if command == "AUTH":
            return self._admit(rest)
        if self.server.password and not self.admitted:
            return _error("NOAUTH Authentication required.")
        if self.server.loading:
            return _error("LOADING Redis is loading the dataset in memory")
        known = COMMANDS.get((command, len(rest))) or COMMANDS.get((command, ANY))
        if known is None:
            return _error(f"ERR unknown command '{command[:40]}', or wrong number of arguments")
        return known(self, [word.decode("utf-8", "replace") for word in rest])

    def select(self, rest: Sequence[str]) -> bytes:
        """Choose a database."""
        if not rest[0].isdecimal() or int(rest[0]) >= DATABASES:
            return _error("ERR DB index is out of range")
        self.database = int(rest[0])
        return OK

    def row(self, rest: Sequence[str]) -> bytes:
        """Give a whole hash, or one field of it."""
        found = self.server.content(self.database).get(rest[0], {})
        if len(rest) > 1:
            return _bulk(found.get(rest[1]))
        return _array([_bulk(one) for pair in found.items() for one in pair])

    def keys(self, rest: Sequence[str]) -> bytes:
        """Give all keys that match a pattern."""
        every = self.server.content(self.database)
        return _array([_bulk(key) for key in every if fnmatch.fnmatchcase(key, rest[0])])

    def scan(self, rest: Sequence[str]) -> bytes:
        """Give all keys that match, and the cursor of the end."""
        given = dict(zip(rest[1::2], rest[2::2], strict=False))
        return b"*2\r\n" + _bulk("0") + self.keys([given.get("MATCH", "*")])

    def _admit(self, rest: Sequence[bytes]) -> bytes:
        self.admitted = bool(rest) and rest[-1].decode() == self.server.password
        if self.admitted:
            return OK
        return _error("WRONGPASS invalid username-password pair or user is disabled.")


ANY = -1
"""Any number of arguments."""
COMMANDS: dict[tuple[str, int], Callable[[_Client, Sequence[str]], bytes]] = {
    ("PING", 0): lambda *_: b"+PONG\r\n",
    ("CLIENT", ANY): lambda *_: OK,
    ("SELECT", 1): _Client.select,
    ("HGETALL", 1): _Client.row,
    ("HGET", 2): _Client.row,
    ("KEYS", 1): _Client.keys,
    ("SCAN", ANY): _Client.scan,
}
"""By name and number of arguments."""


async def _command(reader: asyncio.StreamReader) -> list[bytes] | None:
    """Read an array of bulk strings; None at the end of the stream."""
    line = await reader.readline()
    if not line:
        return None
    words = []
    for _ in range(_length(line, b"*")):
        size = _length(await reader.readline(), b"$")
        words.append((await reader.readexactly(size + 2))[:-2])
    if not words:
        raise ValueError("an empty command")
    return words


def _length(line: bytes, mark: bytes) -> int:
    size = int(line[1:]) if line.startswith(mark) else -1
    if not 0 <= size <= LONGEST:
        raise ValueError("no command of RESP")
    return size


def _bulk(text: str | None) -> bytes:
    if text is None:
        return b"$-1\r\n"
    raw = text.encode()
    return b"$%d\r\n%s\r\n" % (len(raw), raw)


def _array(items: Sequence[bytes]) -> bytes:
    return b"*%d\r\n" % len(items) + b"".join(items)


def _error(text: str) -> bytes:
    return f"-{text}\r\n".encode()
