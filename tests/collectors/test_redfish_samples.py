"""Captures and cases from the field that lie beside the repository; skipped where they do not."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from collectors.source import Target
from collectors.sources.redfish import Redfish, RedfishSettings
from emulator.loopback import Loopback
from fabrichealth.catalogue.devices import (
    DEVICE_TEMPERATURE,
    DEVICE_TEMPERATURE_LIMIT,
    FAN_SPEED,
    FAN_SPEED_RATIO,
)
from fabrichealth.catalogue.power import SUPPLY_INPUT, SUPPLY_OUTPUT
from fabrichealth.model import Poll, Reason, SeriesTable
from tests.fixtures import readings
from tests.house.checkout import ROOT

AT = 1_800_000_000.0
SHARED = ROOT.parent / "shared"
SAMPLES = SHARED / "samples" / "redfish"
CASES = SHARED / "cases"
CHASSIS = "/redfish/v1/Chassis"

SERVICE = {
    "@odata.type": "#ServiceRoot.v1_0_0.ServiceRoot",
    "Chassis": {"@odata.id": CHASSIS},
}

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"no captures in {SAMPLES}")

NOTHING = {"example_filter", "example_heater", "example_portmetrics", "example_powerequipment",
           "example_telemetryservice", "example_telemetryservice_2",
           "example_thermalequipment"}  # fmt: skip
"""Captures of resources that hold no reading of the catalogue."""


def source(address: str = "", **settings: Any) -> Redfish:
    given = RedfishSettings.model_validate({"spacing": "0", "events": False, **settings})
    options = {"user": "u", "secret_env": "REDFISH_SECRET"} if address else {}
    return Redfish(given, Target("bmc-1", "redfish", address, "", options), SeriesTable())


def captured(file: Path) -> tuple[Poll, SeriesTable]:
    one = source()
    return one.captured([file], AT), one.table


@pytest.mark.parametrize(
    "file", sorted(SAMPLES.glob("*.json")), ids=lambda file: file.stem
)  # fmt: skip
def test_every_capture_is_read_without_a_refusal(file: Path) -> None:
    poll, _ = captured(file)
    assert (poll.readings == 0) == (file.stem in NOTHING)
    assert poll.refused == []


def test_old_thermal_with_null_text_offline_and_relative_readings() -> None:
    poll, table = captured(CASES / "c19.json")
    told = {
        labels[-1]: value for labels, value in readings(poll, table, DEVICE_TEMPERATURE).items()
    }
    assert told == {"Inlet": 24.0, "Coolant Supply": 31.5, "Outlet": 38.0}
    limits = readings(poll, table, DEVICE_TEMPERATURE_LIMIT)
    assert sorted(limits.values()) == [45.0, 50.0]
    assert sorted(readings(poll, table, FAN_SPEED).values()) == [0.0, 4410.0]
    assert list(readings(poll, table, FAN_SPEED_RATIO).values()) == [0.62]
    assert sorted(readings(poll, table, SUPPLY_INPUT).values()) == [900.0, 910.5]
    assert list(readings(poll, table, SUPPLY_OUTPUT).values()) == [830.0]
    assert {one.labels["sensor"]: one.reason for one in poll.refused} == {
        "CPU1 DTS": Reason.UNSUPPORTED,
        "NIC": Reason.FAILED,
    }


@asynccontextmanager
async def answering(answer: Any) -> AsyncIterator[str]:
    server = Loopback("*", "/redfish{rest:.*}", answer)
    await server.start()
    try:
        yield server.address
    finally:
        await server.stop()


def sensor(path: str) -> web.Response:
    return web.json_response({
        "@odata.id": path, "@odata.type": "#Sensor.v1_5_0.Sensor", "Id": path.rpartition("/")[2],
        "Reading": 40, "ReadingUnits": "Cel",
    })  # fmt: skip


async def test_pages_loops_empty_collections_and_html(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDFISH_SECRET", "word")
    pages = json.loads((CASES / "c21.json").read_text())["pages"]

    async def answer(request: web.Request) -> web.StreamResponse:
        path = request.path_qs.rstrip("/")
        if request.method == "POST":
            raise web.HTTPNotFound
        if path in pages:
            page = pages[path]
            if "__body" in page:
                return web.Response(text=page["__body"], content_type=page["__content_type"])
            return web.json_response(page)
        if path == "/redfish/v1":
            return web.json_response(SERVICE)
        if path == CHASSIS:
            return web.json_response(
                {"Members": [{"@odata.id": f"{CHASSIS}/{n}"} for n in (1, 2, 3, 4)]}
            )
        if path.count("/") == 4:
            return web.json_response({"@odata.type": "#Chassis.v1_0_0.Chassis",
                                      "Sensors": {"@odata.id": f"{path}/Sensors"}})  # fmt: skip
        return sensor(path)

    async with answering(answer) as address:
        reader = source(address)
        poll = await reader.read(AT)
        await reader.close()
    found = readings(poll, reader.table, DEVICE_TEMPERATURE)
    assert sorted(labels[-1] for labels in found) == ["S1", "S2", "S3", "S4", "S5"]
    wrong = {one.what: str(one.raw) for one in poll.refused}
    assert set(wrong) == {f"{CHASSIS}/2/Sensors", f"{CHASSIS}/4/Sensors"}
    assert "text/html" in wrong[f"{CHASSIS}/4/Sensors"]


async def test_logins_that_expire_and_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDFISH_SECRET", "word")
    script = json.loads((CASES / "c20.json").read_text())["server_script"]
    place = f"{CHASSIS}/1/Sensors/S1"
    asked: list[tuple[str, str, str]] = []
    poll_now = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        token = request.headers.get("X-Auth-Token", "")
        basic = "Authorization" in request.headers
        asked.append((str(poll_now), request.method, request.path))
        if request.method == "DELETE":
            return web.Response(status=204)
        step = "POST" if request.method == "POST" else "GET"
        told = [one["reply"] for one in script if one["poll"] == poll_now and step in one["on"]]
        tried = sum(one[:2] == (str(poll_now), step) for one in asked)
        path = request.path.rstrip("/")
        if step == "POST" and told:
            reply = told[0]
            return web.Response(
                status=reply["status"], headers=reply.get("headers"), text=reply.get("body", "")
            )
        known = {1: "t-1", 2: "t-1", 3: "t-2"}.get(poll_now)
        if path != "/redfish/v1" and token != known and not basic:
            raise web.HTTPUnauthorized
        assert tried < 10
        leads = {"/redfish/v1": SERVICE,
                 CHASSIS: {"Members": [{"@odata.id": f"{CHASSIS}/1"}]},
                 f"{CHASSIS}/1": {"@odata.type": "#Chassis.v1_0_0.Chassis",
                                  "Sensors": {"@odata.id": f"{CHASSIS}/1/Sensors"}},
                 f"{CHASSIS}/1/Sensors": {"Members": [{"@odata.id": place}]}}  # fmt: skip
        return web.json_response(leads[path]) if path in leads else sensor(path)

    async with answering(answer) as address:
        reader = source(address)
        polls = {}
        for poll_now in range(1, 6):
            polls[poll_now] = await reader.read(AT + 30 * poll_now)
        await reader.close()
    logins = [number for number, method, _ in asked if method == "POST"]
    assert logins == ["1", "3", "4"]  # one each, and none in poll 5: they are spaced out
    ended = [place for _, method, place in asked if method == "DELETE"]
    assert ended == ["/redfish/v1/SessionService/Sessions/9"]  # at the stop, the last that was open
    third = [method for number, method, _ in asked if number == "3"]
    assert third == ["GET", "POST", "GET"]  # one new login, one repeat
    assert all(poll.readings == 1 for poll in polls.values())  # in 4 and 5 by basic authentication
    assert [len(poll.refused) for poll in polls.values()] == [0, 0, 0, 1, 0]
    assert "login slot" in str(polls[4].refused[0].raw)
