"""HTTP visits: what a peer answers that speaks none is said the same each time, in our words."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from collectors.source import Target
from collectors.transports.http import HttpClient
from fabrichealth.errors import SourceUnavailable

Serve = Callable[[bytes], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Return a maker of servers that answer anything with the same bytes."""
    servers: list[asyncio.Server] = []

    async def start(answer: bytes) -> str:
        async def told(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            writer.write(answer)
            writer.close()

        servers.append(await asyncio.start_server(told, "127.0.0.1", 0))
        return f"http://127.0.0.1:{servers[-1].sockets[0].getsockname()[1]}/"

    yield start
    for server in servers:
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(b"\xce_YEVIL\r\n\r\n", "speaks no HTTP; check host, port", id="no HTTP"),
        pytest.param(b"HTTP/1.1 EVIL x\r\n\r\n", "speaks no HTTP; check host", id="no status"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nEVIL\x00: \x01\r\n\r\n", "speaks no HTTP", id="no header"
        ),
        pytest.param(b"", "closed before an answer; is it up", id="silence"),
        pytest.param(
            b"HTTP/1.1 500 EVIL\x1b[31m\r\ncontent-length: 0\r\n\r\n", "500 Internal", id="words"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ncontent-encoding: EVIL\r\ncontent-length: 1\r\n\r\nx",
            "not asked for",
            id="encoding",
        ),
    ],
)
async def test_garbage_has_one_reason_that_repeats_none_of_it(
    serve: Serve, answer: bytes, says: str
) -> None:
    client = HttpClient(Target("leaf-01", "prom", await serve(answer)), 2.0, 1000)
    said = set()
    for _ in range(2):
        with pytest.raises(SourceUnavailable) as wrong:
            await client.get()
        said.add(re.sub(r":\d+/", "/", str(wrong.value)))
    await client.close()
    (only,) = said
    assert says in only
    assert "EVIL" not in only
    assert only.isprintable()
