"""The emulated Redfish service held against DMTF's schemas, over HTTP."""

from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from emulator.redfish.equipment import Cdu, Circuit, Connector, Pdu, Shelf, Site
from emulator.redfish.resource import V1, collection, resource
from emulator.redfish.service import SESSIONS, RedfishService
from tests.emulator.redfish_schema import faults, links

SITE = Site(
    {"1": Cdu(secondary={"A": Connector(loop="r01"), "B": Connector(loop="r02",
                                                                     valve_percent=40.0)})},
    {"1": Pdu(), "2": Pdu({"1": Circuit((230.0,), (4.0,))})},
    {"s1": Shelf()},
    reported=("Total", "Cabinet"),
)  # fmt: skip


@pytest.fixture
async def service() -> AsyncIterator[RedfishService]:
    one = RedfishService(SITE)
    await one.start()
    yield one
    await one.stop()


async def everything(service: RedfishService) -> dict[str, Any]:
    """Return every resource that any link leads to, by its place."""
    found: dict[str, Any] = {}
    ahead = deque([V1])
    async with aiohttp.ClientSession(service.address) as session:
        while ahead:
            place = ahead.popleft()
            if place in found:
                continue
            async with session.get(place) as reply:
                assert reply.status == 200, place
                assert reply.content_type == "application/json"
                found[place] = await reply.json()
            ahead.extend(links(found[place]))
    return found


async def test_every_resource_is_as_its_schema_says_and_every_link_leads_somewhere(
    service: RedfishService,
) -> None:
    found = await everything(service)
    wrong = {place: list(faults(place, body)) for place, body in found.items()}
    assert {place: told for place, told in wrong.items() if told} == {}
    assert len(found) > 70
    assert set(found) == set(service.tree())  # nothing is there that no link leads to


async def test_expanded_collections_hold_what_their_members_are(service: RedfishService) -> None:
    place = f"{V1}/ThermalEquipment/CDUs/1/SecondaryCoolantConnectors"
    async with aiohttp.ClientSession(service.address) as session:
        async with session.get(f"{place}?$expand=.($levels=1)") as reply:
            body = await reply.json()
        assert list(faults(place, body)) == []
        for member in body["Members"]:
            async with session.get(member["@odata.id"]) as reply:
                assert await reply.json() == member
            assert list(faults(member["@odata.id"], member)) == []


async def test_pages_hold_every_member_once(service: RedfishService) -> None:
    service.page = 2
    found: list[str] = []
    page = f"{V1}/PowerEquipment/PowerShelves/s1/PowerSupplies"
    async with aiohttp.ClientSession(service.address) as session:
        while page:
            async with session.get(page) as reply:
                body = await reply.json()
            found += [member["@odata.id"].rpartition("/")[2] for member in body["Members"]]
            page = body.get("Members@odata.nextLink", "")
    assert found == ["1", "2", "3", "4", "5", "6"]


async def test_a_session_is_a_resource_with_a_token_and_a_place(service: RedfishService) -> None:
    service.password = ("monitor", "word")
    async with aiohttp.ClientSession(service.address) as session:
        pair = {"UserName": "monitor", "Password": "word"}
        async with session.post(SESSIONS, json=pair) as reply:
            assert reply.status == 201
            place, token = reply.headers["Location"], reply.headers["X-Auth-Token"]
        async with session.get(f"{V1}/Chassis") as reply:
            assert reply.status == 401
        async with session.delete(place, headers={"X-Auth-Token": token}) as reply:
            assert reply.status == 204
        async with session.get(f"{V1}/Chassis", headers={"X-Auth-Token": token}) as reply:
            assert reply.status == 401


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param({"FlowLitersPerMinute": 3.0}, "no object", id="a bare number"),
        pytest.param({"SupplyPressureKPa": {"Reading": 3.0}}, "is written Supply", id="case"),
        pytest.param({"CoolantConnectorType": "Hose"}, "is none of", id="a word"),
        pytest.param({"HeatRemovedkW": {"Reading": "3"}}, "is no number", id="text"),
        pytest.param({"DewPoint": {"Reading": 3}}, "is no property", id="unknown"),
        pytest.param({"Status": {"State": "On"}}, "is none of", id="a state"),
        pytest.param({"Links": {"ConnectedCoolingLoop": "/x"}}, "is no link", id="a link"),
    ],
)
def test_the_checker_finds_what_is_wrong(more: dict[str, Any], said: str) -> None:
    place = f"{V1}/ThermalEquipment/CDUs/1/SecondaryCoolantConnectors/A"
    (body,) = resource(place, "CoolantConnector", "1_1_0", "Connector", more).values()
    (wrong,) = faults(place, body)
    assert said in wrong


def test_the_checker_counts_the_members_of_collections() -> None:
    place = f"{V1}/Chassis"
    (body,) = collection(place, "Chassis", ["1", "2"]).values()
    assert list(faults(place, body)) == []
    body["Members@odata.count"] = 3
    assert len(list(faults(place, body))) == 1
