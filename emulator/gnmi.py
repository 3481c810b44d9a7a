"""A device that streams over gNMI, on loopback: what it has, each interval, in any encoding.

Written from the gNMI specification (gnmi.proto 0.10, sections 3.5.1 and 3.5.2) down to the bytes:
fields are encoded by hand as protobuf's wire format has them, so that whoever reads them proves
that it knows their numbers. It can refuse groups of paths, ask for a password, and talk nonsense.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# read when the library is imported, by whoever is first; its core writes to stderr past every log
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
import grpc.aio

SUBSCRIBE = "/gnmi.gNMI/Subscribe"

Value = str | int | float | bool | bytes | Mapping[str, Any]
Values = Mapping[str, Mapping[str, Value]]
"""By target, and by path."""


def varint(number: int) -> bytes:
    """Return a base-128 number, negatives as 64-bit two's complement."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def whole(number: int, value: int) -> bytes:
    """Return a field that is a varint."""
    return varint(number << 3) + varint(value)


def block(number: int, value: bytes | str) -> bytes:
    """Return a field that is a message, bytes or text."""
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def path(text: str, target: str = "") -> bytes:
    """Return a Path for text such as `/a/b[name=x]/c`."""
    out = b"".join(
        block(3, block(1, name) + b"".join(block(2, block(1, k) + block(2, v)) for k, v in keys))
        for name, keys in elements(text)
    )
    return out + (block(4, target) if target else b"")


def elements(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the elements of a path: a name, and its keys. Values of keys may hold slashes."""
    part, depth = "", 0
    for letter in text.strip("/") + "/":
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter != "/" or depth:
            part += letter
            continue
        name, *keys = part.split("[")
        pairs = [key.rstrip("]").partition("=") for key in keys]
        yield name, [(key, value) for key, _, value in pairs]
        part = ""


def typed(value: Value) -> bytes:
    """Return a TypedValue: JSON_IETF for trees, the scalar's own field otherwise."""
    if isinstance(value, Mapping):
        return block(11, json.dumps(value))
    if isinstance(value, bool):
        return whole(4, value)
    if isinstance(value, int):
        return whole(3, value) if value >= 0 else whole(2, value)
    if isinstance(value, float):  # Decimal64, with nine digits after the point
        return block(7, whole(1, round(value * 10**9)) + whole(2, 9))
    return block(5, value) if isinstance(value, bytes) else block(1, value)


def notification(prefix: bytes, values: Mapping[str, Value], stamp: int) -> bytes:
    """Return a SubscribeResponse with one Notification; `stamp` is in nanoseconds."""
    updates = b"".join(
        block(4, block(1, path(where)) + block(3, typed(value))) for where, value in values.items()
    )
    return block(1, whole(1, stamp) + block(2, prefix) + updates)


SYNCED = whole(3, 1)
"""The SubscribeResponse that ends the first round."""


@dataclass
class GnmiDevice:
    """One server; `values` are by target and path, and may change while it runs."""

    values: dict[str, dict[str, Value]]
    tell: Callable[[], Values] | None = None
    """Gives what takes the place of `values` when a round begins."""
    interval: float | None = None
    """Seconds between rounds; what the subscriber asks for if None."""
    refused: dict[str, grpc.StatusCode] = field(default_factory=dict)
    """Answers for subscriptions whose first path begins so."""
    least: float = 0.0
    """Seconds between samples below which a subscription is refused."""
    password: tuple[str, str] | None = None
    noise: list[bytes] = field(default_factory=list)
    """Responses that are sent before each round, as they are."""
    sync: bool = True
    skew: float = 0.0
    """Seconds by which its clock is off."""
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Its clock, which may run faster than the wall's."""
    asked: list[bytes] = field(default_factory=list)
    """The requests that came."""
    rounds: int = 10**9
    """After so many rounds a stream is ended by the device."""
    port: int = 0
    _server: grpc.aio.Server | None = None

    async def start(self, credentials: grpc.ServerCredentials | None = None) -> None:
        """Listen on loopback."""
        self._server = grpc.aio.server()
        handler: Any = grpc.stream_stream_rpc_method_handler(self._subscribe)
        service, _, method = SUBSCRIBE.strip("/").rpartition("/")
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {method: handler}),)
        )
        place = f"127.0.0.1:{self.port}"
        self.port = (
            self._server.add_secure_port(place, credentials)
            if credentials
            else self._server.add_insecure_port(place)
        )
        await self._server.start()

    async def stop(self) -> None:
        """End the server and its streams."""
        if self._server is not None:
            await self._server.stop(None)

    @property
    def address(self) -> str:
        """Where it listens, once started."""
        return f"grpc://127.0.0.1:{self.port}"

    def _now(self) -> Values:
        return self.tell() if self.tell else self.values

    async def _subscribe(
        self, requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> AsyncIterator[bytes]:
        request = await anext(requests)
        self.asked.append(request)
        if self.password and self.password != _given(context):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no")
        listing = fields(request)[1][0]
        prefix = fields(fields(listing)[1][0]) if 1 in fields(listing) else {}
        target = prefix[4][0].decode() if 4 in prefix else ""
        wanted = [_text(fields(one)[1][0]) for one in fields(listing)[2]]
        for begin, code in self.refused.items():
            if wanted[0].startswith(begin):
                await context.abort(code, "not here")
        sampled = fields(fields(listing)[2][0])[3][0] * 1e-9
        if sampled < self.least:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not so often")
        step = self.interval or sampled
        for number in range(self.rounds):
            for one in self.noise:
                yield one
            told = {
                where: value
                for where, value in self._now().get(target, {}).items()
                if any(_bare(where).startswith(_bare(begin)) for begin in wanted)
            }
            stamp = round((self.now() + self.skew) * 1e9)
            for where, value in told.items():
                yield notification(block(4, target) if target else b"", {where: value}, stamp)
            if self.sync and not number:
                yield SYNCED
            await self.sleep(step)


def fields(raw: bytes) -> dict[int, list[Any]]:
    """Return the fields of a message by number: varints as numbers, blocks as bytes."""
    found: dict[int, list[Any]] = {}
    place = 0
    while place < len(raw):
        key, place = _varint(raw, place)
        value, place = _varint(raw, place)
        if key & 7 == 2:
            found.setdefault(key >> 3, []).append(raw[place : place + value])
            place += value
        else:
            found.setdefault(key >> 3, []).append(value)
    return found


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while raw[place] & 0x80:
        number |= (raw[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return number | raw[place] << shift, place + 1


def _text(raw: bytes) -> str:
    """Return a Path as text without its keys."""
    return "".join("/" + fields(elem)[1][0].decode() for elem in fields(raw).get(3, []))


def _bare(text: str) -> str:
    return "".join(f"/{name.partition('*')[0]}" for name, _ in elements(text))


def _given(context: Any) -> tuple[str, str]:
    said = dict(context.invocation_metadata() or ())
    return said.get("username", ""), said.get("password", "")
