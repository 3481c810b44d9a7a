"""Waiting for a socket of which only its descriptor is known."""

import asyncio


async def readable(descriptor: int) -> None:
    """Wait until a socket has something to read."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def told() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, told)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
