"""Arrays that promise more elements than any switch has are not begun, however they arrive."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from collectors.transports import redis
from collectors.transports.redis import TooMuch

PROMISED = b"*2000000000\r\n"


async def taken(*parts: bytes) -> bytes:
    """Read parts as they come, through what meters a connection; return all of it."""
    client: Any = SimpleNamespace(room=1 << 20)
    stream = asyncio.StreamReader()
    metered = redis._Metered(stream, client)  # the parser of the library has no other seam
    whole = b""
    for part in parts:
        stream.feed_data(part)
        whole += await metered.read(1 << 16)
    return whole


@pytest.mark.parametrize("cut", range(len(PROMISED) - 1))
async def test_a_promise_is_seen_wherever_it_is_cut(cut: int) -> None:
    before = b"$2\r\nok\r\n"
    with pytest.raises(TooMuch):
        await taken(before + PROMISED[:cut], PROMISED[cut:]) if cut else await taken(
            before, PROMISED
        )


async def test_an_answer_of_nothing_else_is_seen() -> None:
    with pytest.raises(TooMuch):
        await taken(PROMISED)


async def test_a_text_that_looks_like_one_is_read() -> None:
    text = b"$20\r\nname*2000000000\r\n*3\r\n"
    assert await taken(text[:9], text[9:]) == text
