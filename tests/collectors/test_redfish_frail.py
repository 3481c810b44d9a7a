"""Redfish services that refuse, rest, age and fall silent, and how they are spared."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.sources.redfish import Redfish
from collectors.transports.busy import LONGEST, retry_after
from emulator.loopback import Loopback
from emulator.redfish.service import SESSIONS, RedfishService
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.errors import SourceUnavailable
from tests.certificates import MISSING, Certificate, certificate, outdated
from tests.collectors.test_redfish import AT, LOGIN, cooling, serving, source
from tests.fixtures import readings

CHASSIS = "/redfish/v1/Chassis"
SENSORS = [f"{CHASSIS}/1/Sensors/S{n}" for n in range(4)]
LEADS = {
    "/redfish/v1": {"@odata.type": "#ServiceRoot.v1_0_0.ServiceRoot",
                    "Chassis": {"@odata.id": CHASSIS}},
    CHASSIS: {"Members": [{"@odata.id": f"{CHASSIS}/1"}]},
    f"{CHASSIS}/1": {"@odata.type": "#Chassis.v1_0_0.Chassis",
                     "Sensors": {"@odata.id": f"{CHASSIS}/1/Sensors"}},
    f"{CHASSIS}/1/Sensors": {"Members": [{"@odata.id": one} for one in SENSORS]},
}  # fmt: skip


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDFISH_SECRET", LOGIN[1])


def sensors(request: web.Request) -> web.Response:
    """Answer as a service with four temperatures that knows anybody."""
    path = request.path.rstrip("/")
    if request.method == "POST":
        raise web.HTTPNotFound
    if path in LEADS:
        return web.json_response(LEADS[path])
    return web.json_response({
        "@odata.id": path, "@odata.type": "#Sensor.v1_5_0.Sensor", "Id": path.rpartition("/")[2],
        "Reading": 40, "ReadingUnits": "Cel",
    })  # fmt: skip


@asynccontextmanager
async def answering(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]],
) -> AsyncIterator[Redfish]:
    """Return a reader of a service that answers so."""
    server = Loopback("*", "/redfish{rest:.*}", answer)
    await server.start()
    reader = source(server.address, {"events": False})
    try:
        yield reader
    finally:
        await reader.close()
        await server.stop()


async def test_a_password_that_is_refused_is_sent_once_and_again_when_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By no way at all: controllers lock an account that fails a few times, whoever asks."""
    said: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        word = (await request.json())["Password"] if request.method == "POST" else ""
        said.append(word or request.headers.get("Authorization", ""))
        if word == "new":
            return web.Response(status=201, headers={"X-Auth-Token": "t", "Location": CHASSIS})
        if request.headers.get("X-Auth-Token") != "t":
            raise web.HTTPUnauthorized
        return sensors(request)

    async with answering(answer) as reader:
        for number in range(4):
            with pytest.raises(SourceUnavailable, match=r"login is refused.*check user"):
                await reader.read(AT + 30 * number)
        assert said == [LOGIN[1]]
        monkeypatch.setenv("REDFISH_SECRET", "new")
        poll = await reader.read(AT + 200)
        assert len(readings(poll, reader.table, DEVICE_TEMPERATURE)) == 4


async def test_a_service_that_starts_again_and_knows_nobody_yet_is_soon_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("collectors.transports.redfish.STARTS", 0.2)
    async with serving(cooling(), {"events": False}) as (service, reader):
        await reader.read(AT)
        service.forget()
        known, service.password = service.password, ("nobody", "yet")
        for number in (1, 2):
            with pytest.raises(SourceUnavailable, match="login is refused"):
                await reader.read(AT + 30 * number)
        posts = [one for one in service.asked if one.startswith("POST")]
        assert len(posts) == 2  # the first login, and one that was refused
        service.password = known
        await asyncio.sleep(0.25)
        assert readings(await reader.read(AT + 90), reader.table, FLOW)


async def test_without_sessions_a_refused_password_is_sent_once_as_well() -> None:
    basic = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal basic
        if request.method == "POST":
            raise web.HTTPNotFound
        basic += "Authorization" in request.headers
        raise web.HTTPUnauthorized

    async with answering(answer) as reader:
        for number in range(4):
            with pytest.raises(SourceUnavailable, match=r"has no sessions.*check user"):
                await reader.read(AT + 30 * number)
    assert basic == 1


async def test_a_service_that_asks_to_be_left_alone_is() -> None:
    asked: list[str] = []
    busy = False

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        if busy:
            return web.Response(status=503, headers={"Retry-After": "1"})
        return sensors(request)

    async with answering(answer) as reader:
        await reader.read(AT)
        busy, before = True, len(asked)
        with pytest.raises(SourceUnavailable, match="answered 503, busy; asks for 1 s"):
            await reader.read(AT + 30)
        for number in (2, 3):
            with pytest.raises(SourceUnavailable, match=r"asked to be left alone, [01] s more"):
                await reader.read(AT + 30 * number)
        assert len(asked) == before + 2
        busy = False
        await asyncio.sleep(1.0)
        assert len(readings(await reader.read(AT + 120), reader.table, DEVICE_TEMPERATURE)) == 4


async def test_one_place_that_is_busy_for_good_keeps_no_other_from_being_read() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == SENSORS[1]:
            return web.Response(status=503, headers={"Retry-After": "600"})
        return sensors(request)

    async with answering(answer) as reader:
        for number in range(3):
            poll = await reader.read(AT + 30 * number)
            assert len(readings(poll, reader.table, DEVICE_TEMPERATURE)) == 3


async def test_a_session_that_was_turned_away_is_closed_at_the_end() -> None:
    """It may hold its slot all the same, where no other was to be had."""
    async with serving(cooling(), {"events": False}) as (service, reader):
        await reader.read(AT)
        (place,) = service.sessions
        service.forget()
        service.most_sessions = 0
        await reader.read(AT + 30)
        await reader.close()
        assert service.asked[-1] == f"DELETE {SESSIONS}/{place}"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "120"}, 120.0),
        ({"Retry-After": "86400"}, LONGEST),
        ({}, 0.0),
        ({"Retry-After": "Fri, 15 Jan 2027 08:01:00 GMT"}, 0.0),
        ({"Retry-After": "Fri, 15 Jan 2027 08:01:00 GMT",
          "Date": "Fri, 15 Jan 2027 08:00:00 GMT"}, 60.0),
    ],
    ids=["seconds", "a day", "nothing", "a date of an unknown clock", "a date"],
)  # fmt: skip
def test_how_long_it_asks_for(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers) == seconds


@settings(max_examples=50, deadline=None)
@given(said=st.text(max_size=40), date=st.text(max_size=40))
def test_whatever_it_says_the_wait_is_bounded(said: str, date: str) -> None:
    assert 0.0 <= retry_after({"Retry-After": said, "Date": date}) <= LONGEST


@pytest.mark.skipif(MISSING, reason="openssl is not installed")
@pytest.mark.parametrize(
    ("make", "why"), [(outdated, "has expired; renew it"), (certificate, "give ca_file")]
)
async def test_what_is_wrong_with_a_certificate_is_said(
    make: Callable[[Path, str], Certificate], why: str, tmp_path: Path
) -> None:
    own = make(tmp_path, "cdu")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(own.file, own.key)
    service = RedfishService(cooling(), LOGIN)
    await service.start(context)
    reader = source(service.address, ca_file=str(own.file) if make is outdated else "")
    try:
        with pytest.raises(SourceUnavailable, match=why):
            await reader.read(AT)
    finally:
        await reader.close()
        await service.stop()


async def test_a_stream_that_is_silent_for_long_is_begun_again_behind_what_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A far end that lost its power says no word of goodbye."""
    monkeypatch.setattr("collectors.redfish.pushed.QUIET", 0.1)
    async with serving(cooling()) as (service, reader):
        await reader.read(AT)
        async with asyncio.timeout(5):
            while len(service.last_ids) < 2:
                await asyncio.sleep(0.01)
        service.push({"@odata.type": "#Event.v1_7_0.Event", "Events": [
            {"MessageId": "Environmental.1.0.LeakDetectedCritical", "Severity": "Critical"}]},
        )  # fmt: skip
        async with asyncio.timeout(5):
            while service.last_ids[-1] != "1":
                await asyncio.sleep(0.01)
        poll = await reader.read(AT + 30)
        assert [event.more["code"] for event in poll.events] == [
            "Environmental.LeakDetectedCritical"
        ]
        assert readings(poll, reader.table, FLOW)
