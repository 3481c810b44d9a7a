"""Telling a real Alertmanager: opened, changed, suppressed, closed, and while it is away."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from alerts.generate import alerts
from fabrichealth.kinds import LINK_DOWN, LINK_SUBHEALTHY, Cause, Severity
from fabrichealth.model import Incident, Owner, Place
from fabrichealth.runtime import alertmanager as telling
from fabrichealth.runtime.alertmanager import Alertmanager, alert_labels
from fabrichealth.runtime.peer import Peer, PeerError
from tests.end_to_end.processes import HOST, Running, alertmanager, answered, free_port, needs

LINK = "host-001/mlx5_0/1--leaf-01/1"


def incident(name: str = "i1", **changes: Any) -> dict[str, Any]:
    """Return a page about a link, as the judge sends it, with some facts changed."""
    one = Incident(
        incident=name,
        kind=LINK_DOWN,
        severity=Severity.PAGE,
        opened_at=time.time() - 60,
        confirmed_at=time.time() - 50,
        culprit=Place("link", LINK),
        because="both ends down for 1.0 min",
        action="Look for light.",
        domain="pod-a",
        cause=Cause.UNKNOWN,
        owner=Owner("r01", "hall-2", "fabric-east"),
    )
    return {**json.loads(json.dumps(one.to_json())), **changes}


def test_its_labels_are_those_of_the_rules() -> None:
    for severity in ("page", "ticket"):
        labels = dict(alert_labels(incident(severity=severity)) or ())
        (rule,) = [rule for rule in alerts() if rule.name == labels["alertname"]]
        first = next(case for case in rule.cases if case.fires)
        assert set(labels) == {"alertname", "severity", *(first.labels or {})}
        assert labels["severity"] == str(rule.severity)


@pytest.mark.parametrize(
    "changes",
    [
        {"severity": "watch"},
        {"severity": "info"},
        {"suppressed_by": "maintenance:chg-7"},
        {"closed_at": 1.0},
        {"operator": {"says": "ack", "at": 1.0, "note": "", "silent": True}},
    ],
)
def test_nobody_is_told_of_what_needs_nobody(changes: dict[str, Any]) -> None:
    assert alert_labels(incident(**changes)) is None


def test_an_empty_label_is_left_out() -> None:
    labels = dict(alert_labels(incident(domain=None, cause=None)) or ())
    assert {"domain", "cause"} & labels.keys() == set()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    running, address = alertmanager(tmp_path_factory.mktemp("alertmanager"))
    yield f"http://{address}"
    running.end()


@pytest.fixture
async def told(server: str) -> AsyncIterator[Alertmanager]:
    one = Alertmanager(Peer(server + "/"), "http://fabric.example:9480/", again=0.5, retry=0.2)
    task = asyncio.create_task(one.run())
    yield one
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def active(server: str, name: str) -> list[dict[str, Any]]:
    """Return the active alerts of an incident."""
    found = await asyncio.to_thread(answered, f"{server}/api/v2/alerts?active=true")
    return [one for one in found or [] if one["labels"]["incident"] == name]


async def becomes(server: str, name: str, severities: list[str]) -> list[dict[str, Any]]:
    """Wait until the active alerts of an incident have these severities."""
    for _ in range(100):
        found = await active(server, name)
        if [one["labels"]["severity"] for one in found] == severities:
            return found
        await asyncio.sleep(0.1)
    pytest.fail(f"{name} has {[one['labels'] for one in found]}, not {severities}")


@needs("prometheus-alertmanager")
class TestRealAlertmanager:
    async def test_an_incident_is_an_alert_until_it_closes(
        self, server: str, told: Alertmanager
    ) -> None:
        told.tell(incident("open"))
        (alert,) = await becomes(server, "open", ["page"])
        assert alert["labels"]["culprit"] == LINK
        assert "both ends down" in alert["annotations"]["description"]
        assert alert["generatorURL"] == "http://fabric.example:9480/#/incident/open"
        told.tell(incident("open", closed_at=time.time() - 5))
        await becomes(server, "open", [])

    @pytest.mark.parametrize("wrong", [-3600.0, 3600.0], ids=["behind", "ahead"])
    async def test_a_daemon_whose_clock_is_wrong_is_heard_all_the_same(
        self, server: str, wrong: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = time.time
        monkeypatch.setattr(time, "time", lambda: right() + wrong)
        one, name = Alertmanager(Peer(server), again=0.5, retry=0.2), f"skewed{wrong}"
        one.tell(incident(name, opened_at=time.time() - 60))
        task = asyncio.create_task(one.run())
        (alert,) = await becomes(server, name, ["page"])
        began = datetime.fromisoformat(alert["startsAt"]).timestamp()
        assert right() - 90 < began < right()
        one.tell(incident(name, closed_at=time.time()))
        await becomes(server, name, [])
        task.cancel()

    async def test_a_graver_incident_is_one_alert_of_the_new_severity(
        self, server: str, told: Alertmanager
    ) -> None:
        told.tell(incident("grave", severity="ticket", kind=LINK_SUBHEALTHY.name))
        await becomes(server, "grave", ["ticket"])
        told.tell(incident("grave"))
        await becomes(server, "grave", ["page"])

    async def test_an_incident_that_is_suppressed_later_ends(
        self, server: str, told: Alertmanager
    ) -> None:
        told.tell(incident("excused"))
        await becomes(server, "excused", ["page"])
        told.tell(incident("excused", suppressed_by="boot:host-001"))
        await becomes(server, "excused", [])
        told.tell(incident("excused"))
        await becomes(server, "excused", ["page"])

    async def test_what_ended_and_came_back_before_it_was_sent_is_open(self, server: str) -> None:
        one = Alertmanager(Peer(server))
        for changes in ({}, {"suppressed_by": "boot:host-001"}, {}):
            one.tell(incident("brief-excuse", **changes))
        task = asyncio.create_task(one.run())
        await becomes(server, "brief-excuse", ["page"])
        await asyncio.sleep(0.5)
        await becomes(server, "brief-excuse", ["page"])
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def test_it_is_told_again_before_it_forgets(
        self, server: str, told: Alertmanager, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(telling, "FORGOTTEN", 1.5)
        told.tell(incident("long"))
        await becomes(server, "long", ["page"])
        await asyncio.sleep(3)
        await becomes(server, "long", ["page"])

    async def test_one_that_nobody_repeats_is_forgotten(
        self, server: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(telling, "FORGOTTEN", 1.5)
        one = Alertmanager(Peer(server))
        task = asyncio.create_task(one.run())
        one.tell(incident("lost"))
        await becomes(server, "lost", ["page"])
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await becomes(server, "lost", [])

    async def test_many_are_told_in_portions(self, server: str, told: Alertmanager) -> None:
        for number in range(250):
            told.tell(incident(f"many-{number}"))
        await becomes(server, "many-249", ["page"])
        found = await asyncio.to_thread(answered, f"{server}/api/v2/alerts?active=true")
        assert sum(one["labels"]["incident"].startswith("many-") for one in found) == 250

    async def test_while_it_is_away_nothing_is_lost_and_one_line_is_logged(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        address = f"{HOST}:{free_port()}"
        one = Alertmanager(Peer(f"http://{address}"), again=0.5, retry=0.1)
        running: Running | None = None
        with caplog.at_level(logging.WARNING):
            task = asyncio.create_task(one.run())
            one.tell(incident("away"))
            one.tell(incident("brief"))
            await asyncio.sleep(1)
            one.tell(incident("brief", closed_at=time.time()))
            assert len(caplog.records) == 1
            try:
                running, _ = await asyncio.to_thread(alertmanager, tmp_path, address)
                await becomes(f"http://{address}", "away", ["page"])
                assert await active(f"http://{address}", "brief") == []
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                if running is not None:
                    await asyncio.to_thread(running.end)
        assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
        assert "takes alerts again" in caplog.records[1].getMessage()

    async def test_an_address_of_something_else_is_said(
        self, server: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        one = Alertmanager(Peer(f"{server}/nowhere"), retry=0.1)
        task = asyncio.create_task(one.run())
        one.tell(incident("wrong"))
        await asyncio.sleep(0.5)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        (record,) = caplog.records
        assert "takes no alerts" in record.getMessage()
        assert "refuses (404" in record.getMessage()


def test_telling_never_waits() -> None:
    """Without a task that sends, and without a loop, telling only notes."""
    one = Alertmanager(Peer("http://127.0.0.1:9"))
    for _ in range(1000):
        one.tell(incident())
        one.tell(incident(closed_at=time.time()))


async def test_one_that_is_away_is_known_to_be_before_there_is_anything_to_say() -> None:
    one = Alertmanager(Peer(f"http://{HOST}:{free_port()}"), retry=0.1)
    before = one.up
    task = asyncio.create_task(one.run())
    for _ in range(50):
        if not one.up:
            break
        await asyncio.sleep(0.1)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert (before, one.up) == (True, False)


async def test_whatever_goes_wrong_it_goes_on_telling(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = Alertmanager(Peer(f"http://{HOST}:{free_port()}"), retry=0.01)
    tries: list[int] = []

    async def breaks(*asked: object) -> bytes:
        tries.append(1)
        raise RuntimeError("nobody thought of it")

    monkeypatch.setattr(Peer, "ask", breaks)
    task = asyncio.create_task(one.run())
    async with asyncio.timeout(5):
        while len(tries) < 3:
            await asyncio.sleep(0.01)
    task.cancel()
    assert not one.up
    assert "nobody thought of it" in caplog.text


async def test_certificates_that_are_not_there_are_no_fault_of_the_peer(tmp_path: Path) -> None:
    peer = Peer("https://127.0.0.1:9", ca_file=tmp_path / "ca.pem")
    with pytest.raises(PeerError, match=r"ca.pem: no certificates .*; check ca_file"):
        await peer.ask("GET")
