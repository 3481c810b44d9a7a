"""A syslog receiver: hears what others send over UDP (RFC 5426) or TCP (RFC 6587).

It is bound where the address says and holds a bounded number of messages between two polls; what
does not fit is counted. Senders are not authenticated: bind it to a network of your own.
"""

import asyncio
import contextlib
from collections import deque
from typing import Any
from urllib.parse import urlsplit

from collectors.protocols.syslog_frames import Frames
from fabrichealth.address import shown
from fabrichealth.errors import SiteError, SourceUnavailable

LONGEST = 8192
"""Bytes of a message that are looked at (RFC 5424 asks for 2048)."""
MOST_SENDERS = 1000
"""Connections at a time; a further one is closed at once."""
PORT = {"syslog+udp": 514, "syslog+tcp": 514}


class Syslog:
    """One listening socket.

    Raises:
        SiteError: the address names no host, or a port that is none.
    """

    def __init__(self, address: str, name: str, most_lines: int) -> None:
        try:
            parts = urlsplit(address)
            self._host, port = parts.hostname, parts.port
        except ValueError:
            self._host, port = None, None
        if not self._host:
            raise SiteError(
                f"{name}: {shown(address)!r} is not an address to listen at, such as syslog+udp://0.0.0.0:514"
            )
        self._name = name
        self._scheme = parts.scheme
        self._port = PORT[self._scheme] if port is None else port
        self._held: deque[str] = deque(maxlen=most_lines)
        self._came = 0
        self._taken = 0
        self._server: asyncio.Server | None = None
        self._transport: asyncio.DatagramTransport | None = None
        self._senders: set[asyncio.Transport] = set()

    @property
    def port(self) -> int:
        """The port it listens at; where 0 was asked for, the one that the system chose."""
        if self._transport is not None:
            return int(self._transport.get_extra_info("sockname")[1])
        if self._server is not None:
            return int(self._server.sockets[0].getsockname()[1])
        return self._port

    async def lines(self) -> list[str]:
        """Return the messages that came since the last call; listens from the first call on.

        Raises:
            SourceUnavailable: the address cannot be bound.
        """
        if self._server is None and self._transport is None:
            await self._listen()
        found = list(self._held)
        self._held.clear()
        return found

    def lost(self) -> int:
        """Return how many messages did not fit into what is held."""
        lost = max(self._came - self._taken - (self._held.maxlen or 0), 0)
        self._taken = self._came
        return lost

    def cursor(self) -> dict[str, Any]:
        """Return nothing: what was sent while nobody listened is gone."""
        return {}

    async def close(self) -> None:
        """Stop listening."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None
        if self._server is not None:
            self._server.close()
            for sender in list(self._senders):
                sender.abort()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._server.wait_closed()
            self._server = None

    def heard(self, message: bytes) -> None:
        """Hold one message."""
        self._came += 1
        self._held.append(message[:LONGEST].decode("utf-8", "replace"))

    def joined(self, sender: asyncio.Transport) -> bool:
        """Take a new connection; False where there are too many."""
        if len(self._senders) >= MOST_SENDERS:
            return False
        self._senders.add(sender)
        return True

    def parted(self, sender: asyncio.Transport) -> None:
        """Forget a connection."""
        self._senders.discard(sender)

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            if self._scheme == "syslog+udp":
                self._transport, _ = await loop.create_datagram_endpoint(
                    lambda: _Datagrams(self), local_addr=(self._host or "", self._port)
                )
            else:
                self._server = await loop.create_server(
                    lambda: _Stream(self), self._host, self._port
                )
        except OSError as wrong:
            raise SourceUnavailable(
                f"{self._name}: cannot listen at {self._host}:{self._port} "
                f"({wrong.strerror or 'no such host'}); is the port taken, or below 1024?"
            ) from None


class _Datagrams(asyncio.DatagramProtocol):
    """Each datagram is one message."""

    def __init__(self, receiver: Syslog) -> None:
        self._receiver = receiver

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._receiver.heard(data)


class _Stream(asyncio.Protocol):
    """One sender's connection."""

    def __init__(self, receiver: Syslog) -> None:
        self._receiver = receiver
        self._frames = Frames(LONGEST)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            if not self._receiver.joined(transport):
                transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._receiver.parted(self._transport)

    def data_received(self, data: bytes) -> None:
        for message in self._frames.feed(data):
            self._receiver.heard(message)
