"""gNMI subscriptions of one target: streams that sample, kept up, and read when the poller comes.

Each group of paths has a stream of its own, so that a device that does not know one group still
tells the others; all share one connection. What comes between two visits is kept by place, the
newest of each; a stream that broke is asked for again at the next visit. No message holds a secret.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

# read when the library is imported, by whoever is first; its core writes to stderr past our log
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
import grpc.aio

from collectors.source import Target
from collectors.transports import gnmi_messages
from collectors.transports.gnmi_streams import Group, Heard, Stream
from collectors.transports.secrets import secret
from collectors.transports.trust import ca_file
from fabrichealth.address import checked_url, shown
from fabrichealth.errors import SiteError, SourceUnavailable

SCHEMES = ("grpc", "grpcs")
DEFAULT_PORT = 9339
"""Of gNMI, by IANA."""
LARGEST = 64 * 2**20
"""Bytes of one message; a whole switch in one blob is a few MiB."""
LATE = 1.5
"""A sample that is due for so many intervals is missed."""
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
    """Seconds between samples, unless visits come more often."""
    retry: float
    """Seconds for which a group that the device does not know is left alone."""
    _paced: float = field(init=False)
    """Seconds between samples of the groups that follow the visits."""
    _slow_until: float = 0.0
    """The device does not sample more often; it is not asked to again before then."""
    _channel: grpc.aio.Channel | None = None
    _streams: dict[str, Stream] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _arrived: float = 0.0

    def __post_init__(self) -> None:
        _checked(self.target)
        self._paced = self.interval
        self._streams = {group.name: Stream(group) for group in self.groups}

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
        slow = False
        for name, stream in self._streams.items():
            if stream.heard.updates or stream.heard.malformed:
                heard[name] = stream.heard
                stream.synced = True  # a device that never says so is not waited for again
            elif self._excused(stream):
                continue
            elif stream.synced and stream.interval < self.interval and not stream.failure:
                slow = True  # it was not refused, and samples at an interval of its own
            else:
                silent[name] = stream.failure or "no sample came in time"
            stream.heard = Heard()
        if slow:
            self._slow()
        if silent and not heard:
            name, why = next(iter(silent.items()))
            raise SourceUnavailable(
                f"{self.target.name}: {shown(self.target.address)}: {name}: {why}"
            )
        return heard, silent

    @property
    def hurries(self) -> bool:
        """Whether the device samples more often than usual, as far as is known."""
        return asyncio.get_running_loop().time() >= self._slow_until

    async def pace(self, interval: float) -> None:
        """Have samples of the groups that follow the visits every `interval` seconds from now on.

        Their streams are asked for anew; a device that refuses goes on at the usual interval.
        """
        self._paced = min(interval, self.interval) if self.hurries else self.interval
        await self._ended(
            one for one in self._streams.values() if one.interval != self._interval(one.group)
        )

    @property
    def unknown(self) -> list[str]:
        """The groups whose paths the device does not know."""
        now = asyncio.get_running_loop().time()
        return [name for name, stream in self._streams.items() if stream.unknown_until > now]

    async def close(self) -> None:
        """End the streams and close the connection."""
        await self._ended(self._streams.values())
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    def _slow(self) -> None:
        """Take note that the device does not sample more often than usual."""
        self._slow_until = asyncio.get_running_loop().time() + self.retry
        self._paced = self.interval

    def _interval(self, group: Group) -> float:
        return self._paced if group.follows else self.interval

    def _awaited(self, stream: Stream) -> bool:
        """Return whether a visit waits for a stream; not for one of a slower pace, unless late."""
        late = asyncio.get_running_loop().time() - stream.arrived > LATE * stream.interval
        return stream.interval <= self._paced or late

    def _excused(self, stream: Stream) -> bool:
        """Return whether a stream may have nothing to tell: it knows of nothing, or is not due."""
        unknown = stream.unknown_until > asyncio.get_running_loop().time()
        return unknown or (stream.synced and not (stream.told and self._awaited(stream)))

    async def _ended(self, streams: Iterable[Stream]) -> None:
        """End these streams, as far as they run."""
        tasks = [stream.task for stream in streams if stream.task is not None]
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
            silent = one.told and not one.heard.updates
            if not one.synced or (silent and self._awaited(one)):
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
                stream.interval = self._interval(stream.group)
                stream.task = asyncio.create_task(self._follow(stream, self._channel, metadata))

    async def _follow(
        self, stream: Stream, channel: grpc.aio.Channel, metadata: tuple[tuple[str, str], ...]
    ) -> None:
        """Listen to one stream until it ends; as usual, where it is not sampled more often."""
        request = gnmi_messages.subscription(
            stream.group.target, self.origin, stream.group.paths, stream.interval
        )
        hurried = stream.interval < self.interval

        async def asked() -> AsyncIterator[bytes]:
            yield request
            await asyncio.Event().wait()  # a stream that is closed by the client may be ended

        # bytes in, bytes out: the stubs know messages alone
        streams = cast("Any", channel).stream_stream(gnmi_messages.SUBSCRIBE)
        call = streams(asked(), metadata=metadata)
        try:
            async for raw in call:
                self._arrived = asyncio.get_running_loop().time()
                stream.take(raw, self._arrived)
                self._news.set()
            stream.failure = "the device ended the stream"
        except grpc.aio.AioRpcError as wrong:
            code = wrong.code()
            if code in UNKNOWN and hurried and not stream.heard.updates:
                # gNMI specification, 3.5.1.5.2: an interval that the target cannot keep is refused
                self._slow()
                stream.interval = self.interval
            elif code in UNKNOWN:
                stream.unknown_until = asyncio.get_running_loop().time() + self.retry
            default = f"the stream broke ({code.name.lower()})"
            stream.failure = REASONS.get(code, default)
        except SourceUnavailable as wrong:
            stream.failure = str(wrong)
        finally:
            call.cancel()
            self._news.set()
        if hurried and stream.interval == self.interval:
            stream.failure = ""
            await self._follow(stream, channel, metadata)

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
