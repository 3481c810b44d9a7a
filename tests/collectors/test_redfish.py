"""Redfish over HTTP: an emulated service that pages, expands, pushes, hangs and forgets."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from collectors.source import Target
from collectors.sources.redfish import Redfish, RedfishSettings
from emulator.redfish.equipment import CRITICAL, Cdu, Circuit, Connector, Pdu, Sensor, Shelf, Site
from emulator.redfish.resource import V1, Json
from emulator.redfish.service import SESSIONS, RedfishService
from emulator.redfish.tree import CHASSIS, REPORT
from fabrichealth.catalogue.cooling import FLOW, LEAK, PUMP_SPEED, RESERVOIR_LEVEL
from fabrichealth.catalogue.devices import DEVICE_POWER, DEVICE_TEMPERATURE, FAN_SPEED_RATIO
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_POWER, SUPPLY_HEALTHY, SUPPLY_INPUT
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from tests.certificates import MISSING, certificate
from tests.fixtures import readings

AT = 1_800_000_000.0
LOGIN = ("monitor", "open sesame")
CDUS = f"{V1}/ThermalEquipment/CDUs"


def site() -> Site:
    """Return a service with one of each kind of equipment."""
    return Site({"1": Cdu()}, {"1": Pdu()}, {"s1": Shelf()})


def cooling() -> Site:
    """Return a service with one CDU."""
    return Site({"1": Cdu()})


@asynccontextmanager
async def serving(
    equipment: Site, settings: dict[str, Any] | None = None, **fields: Any
) -> AsyncIterator[tuple[RedfishService, Redfish]]:
    """Serve equipment for a while, with a reader that knows the password."""
    service = RedfishService(equipment, LOGIN, **fields)
    await service.start()
    reader = source(service.address, settings)
    try:
        yield service, reader
    finally:
        await reader.close()
        await service.stop()


def source(
    address: str, settings: dict[str, Any] | None = None, user: str = LOGIN[0], **options: str
) -> Redfish:
    """Return a reader whose secret stands in the environment."""
    given = {"timeout": "5s", "spacing": "0", **(settings or {})}
    options = {"user": user, "secret_env": "REDFISH_SECRET", **options}
    target = Target("cdu-1", "redfish", address, "", options)
    return Redfish(RedfishSettings.model_validate(given), target, SeriesTable())


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDFISH_SECRET", LOGIN[1])


def values(poll: Poll) -> int:
    return sum(len(batch) for batch in poll.batches)


async def test_everything_that_the_equipment_measures_arrives() -> None:
    async with serving(site()) as (_, reader):
        poll = await reader.read(AT)
        table = reader.table
        assert poll.missing == []
        assert poll.refused == []
        assert readings(poll, table, FLOW)["cdu-1-CDUs-1", "", ""] == 100.0  # one of three units
        assert readings(poll, table, PUMP_SPEED)["cdu-1-CDUs-1", "", "2"] == 0.6
        assert set(readings(poll, table, LEAK).values()) == {0.0}
        pdu = "cdu-1-RackPDUs-1"
        feed = (pdu, f"{pdu}/1")
        assert readings(poll, table, FEED_CURRENT)[*feed, "3"] == 10.0
        assert readings(poll, table, FEED_POWER)[feed] == pytest.approx(6693.0)
        assert readings(poll, table, SUPPLY_INPUT)["cdu-1-s1", "cdu-1-s1/4"] == 3000.0
        assert readings(poll, table, SUPPLY_HEALTHY)["cdu-1-s1", "cdu-1-s1/6"] == 1.0
        assert readings(poll, table, DEVICE_TEMPERATURE)["cdu-1", "Cabinet"] == 33.0


async def test_a_known_tree_is_read_by_few_requests_and_makes_no_series() -> None:
    async with serving(cooling(), {"events": False}) as (service, reader):
        first = await reader.read(AT)
        known, asked = len(reader.table), len(service.asked)
        service.site.cdus["1"].secondary["1"].flow = 87.5
        second = await reader.read(AT + 30)
        assert len(reader.table) == known
        assert readings(second, reader.table, FLOW)["cdu-1", "", ""] == 87.5
        assert values(second) == values(first)
        # sensors, connectors of two sides, pumps, filters, reservoirs, leaks, air
        assert len(service.asked) - asked == 8
        assert service.most_open == 1
        assert len(service.connections) == 1


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"expand": False}, id="one by one"),
        pytest.param({"expand_fails": True}, id="offers what it cannot do"),
        pytest.param({"page": 1}, id="pages of one"),
        pytest.param({"expand": False, "page": 2}, id="pages of two, one by one"),
        pytest.param({"etags": False}, id="without ETags"),
    ],
)
async def test_every_way_of_listing_gives_the_same(fields: dict[str, Any]) -> None:
    async with serving(site()) as (_, plain), serving(site(), **fields) as (service, reader):
        expected = values(await plain.read(AT))
        for number in range(3):
            poll = await reader.read(AT + 30 * number)
            assert values(poll) == expected
            assert poll.missing == []
        assert service.most_open == 1


async def test_a_page_that_leads_to_itself_is_read_once_and_said() -> None:
    pumps = f"{CDUS}/1/Pumps"
    async with serving(cooling(), looping={pumps}) as (service, reader):
        poll = await reader.read(AT)
        assert len(readings(poll, reader.table, PUMP_SPEED)) == 2
        assert [(one.reason, one.what) for one in poll.refused] == [(Reason.MALFORMED, pumps)]
        assert sum(one.startswith(f"GET {pumps}") for one in service.asked) <= 2


async def test_html_in_place_of_a_resource_costs_itself_only() -> None:
    place = f"{CDUS}/1/Pumps"
    async with serving(cooling(), pages={place: "<html>busy</html>"}) as (_, reader):
        poll = await reader.read(AT)
        assert readings(poll, reader.table, FLOW)
        (wrong,) = poll.refused
        assert (wrong.reason, wrong.what) == (Reason.MALFORMED, place)
        assert "text/html" in str(wrong.raw)


async def test_html_at_the_root_is_one_line() -> None:
    async with serving(cooling(), pages={V1: "<html>login</html>"}) as (_, reader):
        with pytest.raises(SourceUnavailable, match=r"\Acdu-1: .*HTML.*\Z"):
            await reader.read(AT)


async def test_what_has_not_changed_is_not_sent_again() -> None:
    async with serving(cooling()) as (service, reader):
        first = await reader.read(AT)
        await reader.read(AT + 30)
        before = service.unchanged
        third = await reader.read(AT + 60)
        assert service.unchanged > before
        assert values(third) == values(first)


async def test_one_session_is_opened_used_and_closed() -> None:
    async with serving(cooling()) as (service, reader):
        for number in range(3):
            await reader.read(AT + 30 * number)
        assert service.opened == 1
        assert len(service.sessions) == 1
        await reader.close()
        assert service.sessions == {}
        assert service.asked[-1] == f"DELETE {SESSIONS}/1"


async def test_a_forgotten_session_is_renewed_once() -> None:
    async with serving(cooling(), {"events": False}) as (service, reader):
        await reader.read(AT)
        await reader.read(AT + 30)
        asked = len(service.asked)
        service.forget()
        poll = await reader.read(AT + 60)
        assert poll.missing == []
        assert service.opened == 2
        assert len(service.sessions) == 1
        again = service.asked[asked:]
        assert again[0] == again[2]  # the read that was turned away, repeated
        assert again[1] == f"POST {SESSIONS}"


async def test_without_a_free_slot_it_gives_its_name_each_time_and_says_so_once() -> None:
    async with serving(cooling(), {"events": False}, most_sessions=0) as (service, reader):
        first = await reader.read(AT)
        assert readings(first, reader.table, FLOW)
        (note,) = first.refused
        assert (note.reason, note.what) == (Reason.FAILED, "session")
        assert "login slot" in str(note.raw)
        assert (await reader.read(AT + 30)).refused == []
        assert sum(one.startswith("POST") for one in service.asked) == 1


async def test_without_a_slot_and_without_basic_authentication_it_says_why() -> None:
    async with serving(cooling(), most_sessions=0, basic_allowed=False) as (service, reader):
        for number in range(3):
            with pytest.raises(SourceUnavailable, match=r"\A.*login slot.*\Z") as wrong:
                await reader.read(AT + 30 * number)
            assert LOGIN[1] not in str(wrong.value)
        assert sum(one.startswith("POST") for one in service.asked) == 1


async def test_a_wrong_password_is_not_tried_again_and_again() -> None:
    async with serving(cooling()) as (service, _):
        other = source(service.address, user="nobody")
        for number in range(3):
            with pytest.raises(SourceUnavailable, match="check user and secret_file"):
                await other.read(AT + 30 * number)
        await other.close()
        assert sum(one.startswith("POST") for one in service.asked) == 1


async def test_what_does_not_come_in_time_is_missing_and_comes_later() -> None:
    slow = f"{CDUS}/1/Reservoirs"
    settings = {"timeout": "4s", "answer": "400ms", "events": False}
    async with serving(cooling(), settings) as (service, reader):
        await reader.read(AT)
        service.slow[slow] = 1.0
        poll = await reader.read(AT + 30)
        assert poll.missing == [slow]
        assert readings(poll, reader.table, FLOW)
        assert readings(poll, reader.table, RESERVOIR_LEVEL) == {}
        service.slow.clear()
        whole = await reader.read(AT + 60)
        assert whole.missing == []
        assert readings(whole, reader.table, RESERVOIR_LEVEL)


async def test_a_visit_begins_with_what_the_last_did_not_come_to() -> None:
    async with serving(cooling(), {"timeout": "2s", "events": False}) as (service, reader):
        await reader.read(AT)
        service.slow[""] = 0.35
        seen = set()
        for number in range(1, 4):
            asked = len(service.asked)
            poll = await reader.read(AT + 30 * number)
            assert poll.missing
            seen |= set(service.asked[asked:])
        assert len(seen) == 8  # five a visit at most, and each in its turn


async def test_parts_that_hang_for_good_keep_no_other_from_being_read() -> None:
    settings = {"timeout": "5s", "answer": "400ms", "events": False}
    hanging = {f"{CDUS}/1/Pumps": 2.0, f"{CDUS}/1/Filters": 2.0, f"{CHASSIS}/Sensors": 2.0}
    async with serving(cooling(), settings) as (service, reader):
        await reader.read(AT)
        service.slow = hanging
        await reader.read(AT + 30)
        poll = await reader.read(AT + 60)
        assert readings(poll, reader.table, FLOW)
        assert readings(poll, reader.table, RESERVOIR_LEVEL)
        assert len(poll.missing) == 3


async def test_parts_that_hang_are_walked_around() -> None:
    settings = {"timeout": "5s", "answer": "400ms", "events": False}
    hanging = {f"{CDUS}/1/Pumps": 2.0, f"{CDUS}/1/Filters": 2.0, f"{CHASSIS}/Sensors": 2.0}
    async with serving(cooling(), settings, slow=hanging) as (_, reader):
        for number in range(30):
            with suppress(SourceUnavailable):
                poll = await reader.read(AT + number)
                if readings(poll, reader.table, FLOW):
                    break
        assert readings(poll, reader.table, FLOW)["cdu-1", "", ""] == 100.0


async def test_a_controller_that_hangs_is_left_alone_after_two_requests() -> None:
    settings = {"timeout": "5s", "answer": "400ms", "events": False}
    async with serving(cooling(), settings) as (service, reader):
        await reader.read(AT)
        service.slow[""] = 2.0
        asked = len(service.asked)
        with pytest.raises(SourceUnavailable, match=r"within 0\.4 s"):
            await reader.read(AT + 30)
        assert len(service.asked) - asked == 2


async def test_a_slow_service_is_walked_through_over_several_visits() -> None:
    settings = {"timeout": "400ms", "events": False}
    async with serving(cooling(), settings, slow={"": 0.03}, expand=False) as (_, reader):
        first = await reader.read(AT)
        assert first.missing
        assert values(first) == 0
        for number in range(1, 100):
            poll = await reader.read(AT + number)
            if readings(poll, reader.table, FLOW):
                break
        assert number > 1
        assert readings(poll, reader.table, FLOW)


async def test_parts_that_come_later_are_found_by_the_next_walk() -> None:
    async with serving(cooling(), {"rediscover": "60s", "events": False}) as (service, reader):
        await reader.read(AT)
        service.site.cdus["1"].secondary["2"] = Connector(flow=40.0)
        await reader.read(AT + 90)
        poll = await reader.read(AT + 120)
        assert set(readings(poll, reader.table, FLOW)) == {
            ("cdu-1-facility", "", ""),
            ("cdu-1", "1", ""),
            ("cdu-1", "2", ""),
        }


async def test_a_part_that_is_gone_is_missing_until_the_walk_is_made_again() -> None:
    async with serving(cooling(), {"rediscover": "60s", "events": False}) as (service, reader):
        await reader.read(AT)
        del service.site.cdus["1"].pumps["2"]
        poll = await reader.read(AT + 30)
        assert poll.missing == [f"{CDUS}/1/Pumps/2"]
        assert len(readings(poll, reader.table, PUMP_SPEED)) == 1
        await reader.read(AT + 90)
        assert (await reader.read(AT + 120)).missing == []


async def test_what_a_service_takes_away_is_not_asked_for_any_more() -> None:
    pumps = f"{CDUS}/1/Pumps"
    async with serving(cooling(), {"events": False}) as (service, reader):
        await reader.read(AT)
        service.lacking.add(pumps)
        poll = await reader.read(AT + 30)
        assert poll.missing == [pumps]
        asked = len(service.asked)
        assert (await reader.read(AT + 60)).missing == []
        assert not [one for one in service.asked[asked:] if pumps in one]
        service.lacking.clear()  # and is looked for again after a while
        await reader.read(AT + 120)
        poll = await reader.read(AT + 150)
        assert len(readings(poll, reader.table, PUMP_SPEED)) == 2


async def test_a_walk_that_fails_costs_no_reading() -> None:
    settings = {"rediscover": "60s", "events": False, "answer": "1s"}
    async with serving(cooling(), settings) as (service, reader):
        await reader.read(AT)
        service.pages[V1] = "<html>busy</html>"
        poll = await reader.read(AT + 90)
        assert readings(poll, reader.table, FLOW)
        assert poll.missing == ["the walk through the service"]
        service.pages.clear()
        assert (await reader.read(AT + 120)).missing == []


async def test_a_report_stands_for_the_sensors_that_it_tells_of() -> None:
    equipment = cooling()
    equipment.reported = ("Total", "Cabinet")
    async with serving(equipment, {"events": False}, expand=False) as (service, reader):
        await reader.read(AT)
        asked = len(service.asked)
        equipment.sensors["Total"] = Sensor(2500.0, "W", "Power")
        service.sequence += 1
        service.now = lambda: AT + 28
        poll = await reader.read(AT + 30)
        again = service.asked[asked:]
        assert f"GET {REPORT}" in again
        assert not [one for one in again if one.endswith(("Sensors/Total", "Sensors/Cabinet"))]
        assert f"GET {CHASSIS}/Sensors/Fan1" in again
        told = {batch.at: batch for batch in poll.batches}
        assert readings(Poll([told[AT + 28]]), reader.table, DEVICE_POWER) == {
            ("cdu-1", "Total"): 2500.0
        }
        assert readings(Poll([told[AT + 30]]), reader.table, FAN_SPEED_RATIO)
        still = await reader.read(AT + 60)  # the same report: nothing was measured since
        assert readings(still, reader.table, DEVICE_TEMPERATURE) == {}


def leak(state: str, severity: str, stamp: str) -> Json:
    """Return an event that tells of the rope of the unit."""
    return {
        "@odata.type": "#Event.v1_10_0.Event",
        "Id": "1",
        "Name": "Leak",
        "Events": [
            {
                "EventId": "1",
                "MessageId": f"Environmental.1.0.LeakDetected{state}",
                "Message": f"Leak detector reports {state}",
                "MessageSeverity": severity,
                "EventTimestamp": stamp,
                "OriginOfCondition": {
                    "@odata.id": f"{CDUS}/1/LeakDetection/LeakDetectors/Rope"
                },
            }
        ],
    }  # fmt: skip


async def heard(service: RedfishService, listeners: int = 1) -> None:
    """Wait until so many listen, and what was pushed has arrived."""
    async with asyncio.timeout(5):
        while service.listeners < listeners:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)


async def test_a_leak_between_two_visits_is_heard() -> None:
    async with serving(cooling()) as (service, reader):
        await reader.read(AT)
        await heard(service)
        service.push(leak("Critical", "Critical", "2027-01-15T08:00:10Z"))
        service.push(leak("Normal", "OK", "2027-01-15T08:00:20Z"))
        service.push({"no": "event"})
        await heard(service)
        poll = await reader.read(AT + 30)
        wet = {
            batch.at: list(readings(Poll([batch]), reader.table, LEAK).values())
            for batch in poll.batches
        }
        assert wet == {AT + 10: [1.0], AT + 30: [0.0]}  # others of its zone may still be wet
        (event,) = poll.events
        assert (event.at, event.kind, event.scope) == (AT + 10, "device_log", {"device": "cdu-1"})
        assert event.more["code"] == "Environmental.LeakDetectedCritical"
        assert event.more["fatal"] is True
        assert (await reader.read(AT + 60)).events == []


async def test_a_leak_is_not_lost_to_a_clock_that_was_never_set() -> None:
    async with serving(cooling()) as (service, reader):
        await reader.read(AT)
        await heard(service)
        service.push(leak("Critical", "Critical", "2012-01-01T00:00:10Z"))
        await heard(service)
        poll = await reader.read(AT + 30)
        (event,) = poll.events
        assert AT + 25 < event.at < AT + 30
        assert [
            list(readings(Poll([batch]), reader.table, LEAK).values()) for batch in poll.batches
        ] == [[0.0], [1.0]]


async def test_places_that_are_written_with_a_slash_are_read_so() -> None:
    async with serving(cooling(), slashes=True) as (service, reader):
        poll = await reader.read(AT)
        assert readings(poll, reader.table, FLOW)
        assert poll.refused == []
        assert any(one.startswith(f"GET {CDUS}/1/Pumps/?") for one in service.asked)
        gets = [one.partition("?")[0] for one in service.asked if one.startswith("GET")]
        bare = [one for one in gets if not one.endswith(("/", "SSE"))]
        assert len(bare) == 1  # it is moved once, and then known how places are written


async def test_a_report_that_is_pushed_counts_at_its_time() -> None:
    async with serving(cooling()) as (service, reader):
        await reader.read(AT)
        await heard(service)
        service.push({
            "@odata.type": "#MetricReport.v1_5_0.MetricReport",
            "MetricValues": [{
                "MetricProperty": f"{CDUS}/1/SecondaryCoolantConnectors/1#/FlowLitersPerMinute",
                "MetricValue": "64.5", "Timestamp": "2027-01-15T08:00:12Z",
            }],
        })  # fmt: skip
        await heard(service)
        poll = await reader.read(AT + 30)
        flows = {batch.at: readings(Poll([batch]), reader.table, FLOW) for batch in poll.batches}
        assert flows[AT + 12] == {("cdu-1", "", ""): 64.5}
        assert flows[AT + 30]["cdu-1", "", ""] == 100.0


async def test_a_stream_that_broke_off_goes_on_behind_what_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("collectors.redfish.pushed.FIRST_WAIT", 0.01)
    async with serving(cooling()) as (service, reader):
        reader._pushed._wait = 0.01
        await reader.read(AT)
        await heard(service)
        service.push(leak("Warning", "Warning", "2027-01-15T08:00:05Z"))
        await heard(service)
        service.hang_up()
        await asyncio.sleep(0.1)
        service.push(leak("Critical", "Critical", "2027-01-15T08:00:15Z"))
        first = await reader.read(AT + 30)
        await heard(service)
        second = await reader.read(AT + 60)
        assert service.last_ids == ["", "1"]
        assert [event.more["code"] for event in (*first.events, *second.events)] == [
            "Environmental.LeakDetectedWarning",
            "Environmental.LeakDetectedCritical",
        ]


async def test_a_wet_detector_and_one_that_cannot_be_read() -> None:
    async with serving(cooling()) as (service, reader):
        service.site.cdus["1"].detectors["Rope"] = CRITICAL
        poll = await reader.read(AT)
        assert readings(poll, reader.table, LEAK) == {("cdu-1", "", "cdu"): 1.0}


async def test_a_part_that_goes_offline_is_refused_and_comes_back() -> None:
    pump = f"{CDUS}/1/Pumps/1"

    def offline(path: str, body: Json) -> None:
        for one in (body, *body.get("Members", [])):
            if one.get("@odata.id") == pump and "Status" in one:
                one["Status"]["State"] = "UnavailableOffline"
                one["PumpSpeedPercent"]["Reading"] = 0

    async with serving(cooling()) as (service, reader):
        await reader.read(AT)
        service.changes = offline
        poll = await reader.read(AT + 30)
        assert ("cdu-1", "", "1") not in readings(poll, reader.table, PUMP_SPEED)
        assert {one.reason for one in poll.refused} == {Reason.FAILED}
        service.changes = None
        poll = await reader.read(AT + 60)
        assert readings(poll, reader.table, PUMP_SPEED)["cdu-1", "", "1"] == 0.6


@pytest.mark.skipif(MISSING, reason="openssl is not installed")
async def test_a_certificate_is_believed_by_its_authority_or_its_print_alone(
    tmp_path: Path,
) -> None:
    own = certificate(tmp_path, "cdu")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(own.file, own.key)
    service = RedfishService(cooling(), LOGIN)
    await service.start(context)
    try:
        for ca_file, fingerprint, believed in (
            (str(own.file), "", True),
            ("", own.fingerprint, True),
            ("", "00" * 32, False),
            ("", "", False),
        ):
            reader = source(service.address, ca_file=ca_file, fingerprint=fingerprint)
            try:
                if believed:
                    assert readings(await reader.read(AT), reader.table, FLOW)
                else:
                    with pytest.raises(SourceUnavailable, match=r"certificate|fingerprint"):
                        await reader.read(AT)
            finally:
                await reader.close()
    finally:
        await service.stop()


def test_a_secret_in_the_address_is_refused_unseen() -> None:
    with pytest.raises(SiteError) as wrong:
        source("https://user:hunter2@cdu-1")
    assert "hunter2" not in str(wrong.value)


async def test_one_phase_and_a_tripped_breaker() -> None:
    equipment = Site(pdus={"1": Pdu({"1": Circuit((230.0,), (7.0,))})})
    async with serving(equipment) as (_, reader):
        poll = await reader.read(AT)
        assert readings(poll, reader.table, FEED_CURRENT) == {("cdu-1", "cdu-1/1", "1"): 7.0}
