"""gNMI subscriptions of one target: streams that sample, kept up, and read when the poller comes.

Each group of paths has a stream of its own, so that a device that does not know one group still
tells the others; all share one connection. What comes between two visits is kept by place, the
newest of each; a stream that broke is asked for again at the next visit. No message holds a secret.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

# read when the library is imported, by whoever is first; its core writes to stderr past our log
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
import grpc.aio

from collectors.protocols.gnmi_paths import Step
from collectors.source import Target
from collectors.transports import gnmi_messages
from collectors.transports.gnmi_messages import Notice, Update
from collectors.transports.secrets import secret
from collectors.transports.trust import ca_file
from fabrichealth.address import checked_url, shown
from fabrichealth.errors import MalformedReply, SiteError, SourceUnavailable

SCHEMES = ("grpc", "grpcs")
DEFAULT_PORT = 9339
"""Of gNMI, by IANA."""
LARGEST = 64 * 2**20
"""Bytes of one message; a whole switch in one blob is a few MiB."""
MOST_PLACES = 1_000_000
"""Places of one stream that are kept between visits; more is no device."""
QUIET = 0.1
"""Seconds without news after which a round of samples is whole."""

UNKNOWN = {
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
}
REASONS = {
    grpc.StatusCode.UNAUTHENTICATED: "access is refused; check user and secret_file",
    grpc.StatusCode.PERMISSION_DENIED: "access is refused; check user and secret_file",
    grpc.StatusCode.UNAVAILABLE: "cannot connect, or the connection broke; is it up, the address "
    "right, and its certificate known (ca_file)?",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "a message is too large, or the device has no free stream",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Paths that are asked for together."""

    name: str
    target: str
    paths: tuple[str, ...]


@dataclass(slots=True)
class Heard:
    """What one stream told since it was last asked."""

    updates: dict[tuple[str, tuple[Step, ...]], tuple[float, Update]] = field(default_factory=dict)
    """By target and path: the device's time stamp (0: it gives none), and what stands there."""
    malformed: list[tuple[str, str]] = field(default_factory=list)
    """(path, why) of what cannot be read."""
    arrived: float = 0.0
    """When the newest of it came, in the loop's time."""


@dataclass(slots=True)
class _Stream:
    group: Group
    heard: Heard = field(default_factory=Heard)
    task: asyncio.Task[None] | None = None
    synced: bool = False
    told: bool = False
    """Whether anything ever came: a device may know the paths and have nothing there."""
    failure: str = ""
    unknown_until: float = 0.0
    """The device does not know the group's paths; it is not asked again before then."""


@dataclass(slots=True)
class GnmiClient:
    """The streams of one target.

    Raises:
        SiteError: address or options cannot be used; the message says which.
    """

    target: Target
    groups: tuple[Group, ...]
    origin: str
    interval: float
    retry: float
    """Seconds for which a group that the device does not know is left alone."""
    _channel: grpc.aio.Channel | None = None
    _streams: dict[str, _Stream] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _arrived: float = 0.0

    def __post_init__(self) -> None:
        _checked(self.target)
        self._streams = {group.name: _Stream(group) for group in self.groups}

    async def news(self, deadline: float) -> tuple[dict[str, Heard], dict[str, str]]:
        """Return what each group told since the last visit, and why others told nothing.

        Waits for a whole round of samples until `deadline` (the loop's time).

        Raises:
            SourceUnavailable: no group told anything, and not for want of the paths.
        """
        loop = asyncio.get_running_loop()
        self._keep_up(self._metadata())
        while not self._whole() and loop.time() < deadline:
            self._news.clear()
            left = deadline - loop.time()
            try:
                async with asyncio.timeout(
                    max(min(QUIET if self._heard_any else left, left), 1e-3)
                ):
                    await self._news.wait()
            except TimeoutError:
                continue
        heard: dict[str, Heard] = {}
        silent: dict[str, str] = {}
        for name, stream in self._streams.items():
            if stream.heard.updates or stream.heard.malformed:
                heard[name] = stream.heard
                stream.synced = True  # a device that never says so is not waited for again
            elif stream.unknown_until > loop.time() or (stream.synced and not stream.told):
                continue
            else:
                silent[name] = stream.failure or "no sample came in time"
            stream.heard = Heard()
        if silent and not heard:
            name, why = next(iter(silent.items()))
            raise SourceUnavailable(
                f"{self.target.name}: {shown(self.target.address)}: {name}: {why}"
            )
        return heard, silent

    async def pace(self, interval: float) -> None:
        """Have samples every `interval` seconds from now on; what runs is asked for anew."""
        if interval == self.interval:
            return
        self.interval = interval
        await self._ended()

    @property
    def unknown(self) -> list[str]:
        """The groups whose paths the device does not know."""
        now = asyncio.get_running_loop().time()
        return [name for name, stream in self._streams.items() if stream.unknown_until > now]

    async def close(self) -> None:
        """End the streams and close the connection."""
        await self._ended()
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    async def _ended(self) -> None:
        """End every stream that runs."""
        tasks = [stream.task for stream in self._streams.values() if stream.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _heard_any(self) -> bool:
        return any(stream.heard.updates for stream in self._streams.values())

    def _whole(self) -> bool:
        """Return whether every stream that runs has told its round, and nothing more comes."""
        running = [one for one in self._streams.values() if one.task and not one.task.done()]
        for one in running:
            if not one.synced or (one.told and not one.heard.updates):
                return False
        quiet = asyncio.get_running_loop().time() - self._arrived >= QUIET
        return quiet or not running

    def _keep_up(self, metadata: tuple[tuple[str, str], ...]) -> None:
        """Start what does not run."""
        if self._channel is None:
            self._channel = self._connected()
        now = asyncio.get_running_loop().time()
        for stream in self._streams.values():
            if (stream.task is None or stream.task.done()) and stream.unknown_until <= now:
                stream.failure, stream.synced = "", False
                stream.task = asyncio.create_task(self._follow(stream, self._channel, metadata))

    async def _follow(
        self, stream: _Stream, channel: grpc.aio.Channel, metadata: tuple[tuple[str, str], ...]
    ) -> None:
        """Listen to one stream until it ends."""
        request = gnmi_messages.subscription(
            stream.group.target, self.origin, stream.group.paths, self.interval
        )

        async def asked() -> AsyncIterator[bytes]:
            yield request
            await asyncio.Event().wait()  # a stream that is closed by the client may be ended

        # bytes in, bytes out: the stubs know messages alone
        streams = cast("Any", channel).stream_stream(gnmi_messages.SUBSCRIBE)
        call = streams(asked(), metadata=metadata)
        try:
            async for raw in call:
                self._take(stream, raw)
            stream.failure = "the device ended the stream"
        except grpc.aio.AioRpcError as wrong:
            code = wrong.code()
            if code in UNKNOWN:
                stream.unknown_until = asyncio.get_running_loop().time() + self.retry
            default = f"the stream broke ({code.name.lower()})"
            stream.failure = REASONS.get(code, default)
        except SourceUnavailable as wrong:
            stream.failure = str(wrong)
        finally:
            call.cancel()
            self._news.set()

    def _take(self, stream: _Stream, raw: bytes) -> None:
        heard = stream.heard
        heard.arrived = self._arrived = asyncio.get_running_loop().time()
        try:
            notice: Notice = gnmi_messages.notice(raw)
        except MalformedReply as wrong:
            if len(heard.malformed) < gnmi_messages.DEEPEST:
                heard.malformed.append((stream.group.name, str(wrong)))
            self._news.set()
            return
        for path in notice.deleted:
            for place in [key for key in heard.updates if key[1][: len(path)] == path]:
                del heard.updates[place]
        for update in notice.updates:
            heard.updates[update.target, update.path] = notice.at, update
            stream.told = True
        for path, why in notice.malformed:
            heard.malformed.append(("".join(f"/{step.name}" for step in path), why))
        stream.synced |= notice.synced
        self._news.set()
        if len(heard.updates) + len(heard.malformed) > MOST_PLACES:
            stream.heard = Heard()
            raise SourceUnavailable(f"more than {MOST_PLACES} places; ask for less")

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        """Return user and secret as the gNMI authentication specification has them."""
        user, known = self.target.options.get("user"), secret(self.target)
        if known is None:
            return ()
        return (("username", user), ("password", known)) if user else (
            ("authorization", f"Bearer {known}"),
        )  # fmt: skip

    def _connected(self) -> grpc.aio.Channel:
        address = urlsplit(self.target.address)
        host = address.hostname or ""
        place = f"{f'[{host}]' if ':' in host else host}:{address.port or DEFAULT_PORT}"
        options = [("grpc.max_receive_message_length", LARGEST), ("grpc.enable_http_proxy", 0),
                   ("grpc.initial_reconnect_backoff_ms", 500)]  # fmt: skip
        if address.scheme == "grpc":
            return grpc.aio.insecure_channel(place, options)
        roots = _roots(self.target)
        return grpc.aio.secure_channel(place, grpc.ssl_channel_credentials(roots), options)


def _checked(target: Target) -> None:
    """Refuse addresses and options that cannot be used."""
    try:
        checked_url(target.address, SCHEMES)
    except ValueError as wrong:
        raise SiteError(f"{target.name}: {wrong}") from None
    if not urlsplit(target.address).hostname:
        raise SiteError(f"{target.name}: the address must be grpc://HOST:PORT or grpcs://HOST:PORT")
    if target.options.get("fingerprint"):
        raise SiteError(f"{target.name}: give ca_file instead of fingerprint for grpcs://")
    _roots(target)


def _roots(target: Target) -> bytes | None:
    given = ca_file(target)
    return Path(given).read_bytes() if given else None
