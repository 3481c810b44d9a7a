"""Events of collectors reach analyzers that are apart, each once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from aiohttp import web

from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._events_in import EventsIn
from fabrichealth.events import Event
from fabrichealth.runtime.forwarding import EVENTS, Forwarding
from fabrichealth.runtime.peer import Credentials, Peer
from tests.end_to_end.processes import HOST, free_port


@dataclass
class Journal:
    """What an analyzer notes."""

    journal: object = "kept"
    noted: list[Event] = field(default_factory=list)

    def note(self, event: Event) -> None:
        self.noted.append(event)


@dataclass
class Analyzer:
    """One that takes events, and does not always say so."""

    port: int = field(default_factory=free_port)
    kept: Journal = field(default_factory=Journal)
    mute: int = 0
    """So many answers are lost after the events were taken."""
    runner: web.AppRunner | None = None

    async def begin(self) -> None:
        taker = EventsIn(cast("Collecting", self.kept))

        async def take(request: web.Request) -> web.Response:
            answer = await taker.take(request)
            if self.mute:
                self.mute -= 1
                raise web.HTTPBadGateway(text="lost on the way\n")
            return answer

        app = web.Application()
        app.add_routes([web.post(EVENTS, take)])
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        await web.TCPSite(self.runner, HOST, self.port).start()

    async def end(self) -> None:
        if self.runner is not None:
            await self.runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    async def heard(self, many: int) -> list[Event]:
        """Return what it noted, once that is so many."""
        async with asyncio.timeout(10):
            while len(self.kept.noted) < many:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        return self.kept.noted


@contextlib.asynccontextmanager
async def telling(one: Forwarding) -> AsyncIterator[Forwarding]:
    task = asyncio.create_task(one.run())
    try:
        yield one
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def logged(number: int, **more: Any) -> Event:
    return Event(
        1e9 + number, "device_log", {"device": f"host-{number}"}, more={"code": "79", **more}
    )


async def test_each_event_arrives_once_though_an_answer_is_lost() -> None:
    analyzer = Analyzer(mute=2)
    await analyzer.begin()
    async with telling(Forwarding(Peer(analyzer.url), retry=0.05)) as one:
        sent = [logged(number) for number in range(450)]
        for event in sent:
            one.tell(event)
        assert await analyzer.heard(450) == sent
        assert (one.up, one.lost) == (True, 0)
    await analyzer.end()


async def test_events_wait_for_an_analyzer_that_is_away(caplog: pytest.LogCaptureFixture) -> None:
    analyzer = Analyzer()
    async with telling(Forwarding(Peer(analyzer.url), retry=0.05)) as one:
        one.tell(logged(1))
        await asyncio.sleep(0.3)
        states = [one.up]
        one.tell(logged(2))
        await analyzer.begin()
        assert await analyzer.heard(2) == [logged(1), logged(2)]
        await asyncio.sleep(0.1)
        assert [*states, one.up] == [False, True]
    await analyzer.end()
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


async def test_of_a_batch_what_is_right_is_taken_and_one_that_is_all_wrong_is_left_out() -> None:
    analyzer = Analyzer()
    await analyzer.begin()
    async with telling(Forwarding(Peer(analyzer.url), retry=0.05)) as one:
        one.tell(Event(1e9, "party", {"device": "host-0"}))
        async with asyncio.timeout(10):
            while not one.lost:
                await asyncio.sleep(0.01)
        one.tell(Event(1e9, "party", {"device": "host-0"}))
        one.tell(logged(3))
        assert await analyzer.heard(1) == [logged(3)]
        assert (one.up, one.lost) == (True, 1)
    await analyzer.end()


async def test_the_oldest_go_first_where_too_many_wait() -> None:
    one = Forwarding(Peer("http://127.0.0.1:9"), held=3)
    for number in range(5):
        one.tell(logged(number))
    assert one.lost == 2


async def test_an_analyzer_that_knows_nobody_of_ours_is_tried_again_and_no_secret_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def closed(request: web.Request) -> web.Response:
        return web.Response(status=401, text="who are you\n")

    app, port = web.Application(), free_port()
    app.add_routes([web.post(EVENTS, closed)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, HOST, port).start()
    peer = Peer(f"http://{HOST}:{port}", Credentials("", None, "FORWARDING_SECRET"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORWARDING_SECRET", "hunter2")
        async with telling(Forwarding(peer, retry=0.05)) as one:
            one.tell(logged(1))
            await asyncio.sleep(0.3)
            assert (one.up, one.lost) == (False, 0)
    await runner.cleanup()
    (record,) = caplog.records
    assert "refuses (401" in record.getMessage()
    assert "hunter2" not in record.getMessage()
