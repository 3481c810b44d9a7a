"""The daemon as an operator meets it: started, told, stopped, killed, started again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from emulator.fabric import Rates
from fabrichealth.catalogue.ports import LINK_DOWNS, SYMBOL_ERRORS, UP
from fabrichealth.catalogue.verdicts import INCIDENTS
from fabrichealth.catalogue.watchers import SOURCE_UP
from tests.end_to_end.conftest import MakeSite
from tests.end_to_end.emulated import CABLE, Emulated, Site
from tests.end_to_end.processes import answered, fabrichealth, fetched, status, until

TOKEN = "let-me-write"  # noqa: S105 - of this test alone


def page_of(site: Site) -> dict[str, object]:
    """Wait for the page about the cable, and return it."""
    (one,) = until(lambda: site.incidents(kind="link.down", open="true"), "the incident")
    return dict(one)


def test_it_ends_within_seconds_when_told(site: MakeSite) -> None:
    for how in (signal.SIGTERM, signal.SIGINT):
        daemon = site().start()
        children = psutil.Process(daemon.process.pid).children()
        began = time.monotonic()
        assert daemon.end(how) == 0
        assert time.monotonic() - began < 8
        assert "Traceback" not in daemon.said
        assert all(not child.is_running() for child in children)


def test_a_broken_site_file_is_not_taken_up_and_a_good_one_is(site: MakeSite) -> None:
    one = site()
    daemon = one.start()
    good = one.file.read_text()
    one.file.write_text(good + "unheard_of: 1\n")
    daemon.process.send_signal(signal.SIGHUP)
    until(lambda: "the old one stays" in daemon.said, "the refusal")
    assert "unheard_of: unknown key" in daemon.said
    until(lambda: one.series(str(SOURCE_UP), target="leaf-01") == 1.0, "leaf-01")
    kept = one.plain["targets"]
    one.plain["targets"] = [row for row in kept if row["name"] != "leaf-01"]
    one.write()
    daemon.process.send_signal(signal.SIGHUP)
    until(lambda: "site file taken up: 5 targets" in daemon.said, "the new site file")
    assert one.series(str(SOURCE_UP), target="leaf-01") is None
    assert one.series(str(UP), device="leaf-01") is None
    assert one.series(str(SOURCE_UP), target="leaf-02") == 1.0
    one.plain["targets"] = [*kept[:-1], {**kept[-1], "mapping": "nowhere.yaml"}]
    one.write()
    daemon.process.send_signal(signal.SIGHUP)
    until(lambda: daemon.said.count("the old one stays") == 2, "the second refusal")
    assert one.series(str(SOURCE_UP), target="leaf-02") == 1.0


def test_a_killed_daemon_takes_up_its_open_incident(site: MakeSite, emulated: Emulated) -> None:
    one = site()
    daemon = one.start()
    one.judged()
    emulated.fabric.ill["host-002/mlx5_1/1"] = _errors()
    emulated.fabric.unplugged.add(CABLE)
    before = page_of(one)
    errors = (
        until(lambda: one.series(str(SYMBOL_ERRORS), device="host-002", port="mlx5_1/1"), "errors")
        or 0.0
    )
    opened = one.series(str(INCIDENTS), kind="link.down")
    assert opened == 1.0
    assert daemon.end(signal.SIGKILL) == -signal.SIGKILL
    one.start()
    until(lambda: one.series(str(INCIDENTS), kind="link.down"), "the judge's counters")
    after = page_of(one)
    assert after["incident"] == before["incident"]
    assert after["opened_at"] == before["opened_at"]
    time.sleep(3)
    assert len(one.incidents(kind="link.down")) == 1
    assert one.series(str(INCIDENTS), kind="link.down") == opened
    assert (one.series(str(SYMBOL_ERRORS), device="host-002", port="mlx5_1/1") or 0.0) >= errors
    emulated.fabric.unplugged.clear()
    until(lambda: not one.incidents(kind="link.down", open="true"), "the incident's end")
    (closed,) = one.incidents(kind="link.down")
    assert closed["incident"] == before["incident"]
    assert closed["closed_at"] >= closed["opened_at"]


def test_a_person_at_a_terminal_sees_what_is_open(site: MakeSite, emulated: Emulated) -> None:
    one = site()
    one.start()
    one.judged()
    emulated.fabric.unplugged.add(CABLE)
    name = str(page_of(one)["incident"])
    for words in (["status", "--url", one.address], ["status", "-c", str(one.file)]):
        told = terminal(*words)
        assert told.splitlines()[0].startswith(f"PAGE   {name:>5}  link.down")
        assert told.splitlines()[-1] == "1 open"
    whole = terminal("explain", name, "--url", one.address)
    assert f"culprit    link {CABLE}" in whole
    assert "evidence   2 lines" in whole  # both ends say down


def terminal(*words: str) -> str:
    """Return what a command prints; it must end well."""
    return subprocess.run(
        [sys.executable, "-m", "fabrichealth", *words], capture_output=True, text=True, check=True
    ).stdout


def test_a_judge_that_dies_is_started_again(site: MakeSite) -> None:
    one = site()
    daemon = one.start()
    one.judged()
    (child,) = psutil.Process(daemon.process.pid).children()
    one.file.write_text(one.file.read_text() + "unfinish")  # nobody has said to take it up
    child.kill()
    until(lambda: "starting it again" in daemon.said, "the notice")

    def another() -> bool:
        return any(new.pid != child.pid for new in psutil.Process(daemon.process.pid).children())

    until(another, "another judge")
    until(lambda: psutil.Process(daemon.process.pid).children(), "its stay")
    assert daemon.said.count("starting it again") == 1
    assert status(f"{one.address}/-/ready") == 200


def test_the_api_tells_and_takes(site: MakeSite, emulated: Emulated, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "web.yml").write_text("bearer_token_file: token\n")
    one = site(web_config=str(tmp_path / "web.yml"))
    one.daemon = fabrichealth(one.folder / "daemon.log", "run", "-c", one.file)
    mine = {"Authorization": f"Bearer {TOKEN}"}
    until(lambda: fetched(f"{one.address}/-/ready", mine), "the daemon")

    def told(path: str) -> list[dict[str, object]]:
        body = fetched(f"{one.address}/api/v1/{path}", mine)
        return list(json.loads(body)["data"]) if body else []

    event = {"at": time.time(), "kind": "maintenance_start", "scope": {"rack": "r01"}, "id": "c-1"}
    events = f"{one.address}/api/v1/events"
    assert status(events, event) == 401
    assert status(events, event, {"Authorization": "Bearer guess"}) == 401
    assert status(events, {"kind": "boot"}, mine) == 400
    assert status(events, {**event, "kind": "party"}, mine) == 400
    assert status(events, [{"kind": "boot"}], mine) == 400
    assert status(events, {**event, "note": "\ud800"}, mine) == 400
    assert status(events, {**event, "scope": {}}, mine) == 400
    assert status(events, [event, {"kind": "boot"}], mine) == 202  # what is right is taken
    until(lambda: fetched(f"{one.address}/metrics", mine).count("fabric_analysis_seconds"), "judge")
    time.sleep(2.5)
    stream = subprocess.Popen(
        ["curl", "-sN", "-H", f"Authorization: Bearer {TOKEN}", f"{one.address}/api/v1/stream"],
        stdout=subprocess.PIPE,
    ) if os.access("/usr/bin/curl", os.X_OK) else None  # fmt: skip
    emulated.fabric.unplugged.add(CABLE)
    (found,) = until(lambda: told("incidents?kind=link.down"), "the incident")
    assert found["suppressed_by"] == "maintenance:c-1"  # what was posted reached the judge
    if stream is not None and stream.stdout is not None:
        line = stream.stdout.readline()
        stream.terminate()
        stream.wait(5)
        stream.stdout.close()
        assert json.loads(line.removeprefix(b"data: "))["incident"] == found["incident"]
    links = told(f"links?link={CABLE}")
    assert [(row["link"], row["a_up"], row["b_up"]) for row in links] == [(CABLE, False, False)]
    (port,) = told(f"series?metric={UP}&device=leaf-01&port=1")
    assert (port["metric"], port["value"]) == (str(UP), 0.0)
    (past,) = told(f"series?metric={UP}&device=leaf-01&port=1&start={time.time() - 60}")
    values = past["values"]
    assert isinstance(values, list)
    assert {1.0, 0.0} <= set(values)
    for query in ("metric=nothing", f"metric={UP}&color=red", f"metric={UP}&start=nan"):
        assert status(f"{one.address}/api/v1/series?{query}", None, mine) == 400


def test_nobody_writes_without_a_token_file(site: MakeSite) -> None:
    one = site()
    one.start()
    event = {"at": time.time(), "kind": "boot", "scope": {"device": "host-001"}}
    assert status(f"{one.address}/api/v1/events", event) == 403
    assert answered(f"{one.address}/api/v1/incidents") == {"data": []}


def test_an_exporting_daemon_needs_no_store(site: MakeSite) -> None:
    one = site()
    one.start("collect")
    assert one.series(str(UP), device="leaf-01") == 1.0
    assert one.series(str(LINK_DOWNS), device="host-001") is not None
    assert status(f"{one.address}/api/v1/series?metric={UP}") == 404
    assert not (one.folder / "state" / "series").exists()
    assert psutil.Process(one.daemon.process.pid).children() == []  # type: ignore[union-attr]  # started above


@pytest.mark.parametrize("taken", ["port", "state"])
def test_a_second_daemon_says_in_one_line_why_it_does_not_start(site: MakeSite, taken: str) -> None:
    first, second = site(), site()
    first.start()
    key = {"port": "listen", "state": "state"}[taken]
    second.plain[key] = first.plain[key]
    second.write()
    late = fabrichealth(second.folder / "late.log", "run", "-c", second.file)
    assert late.process.wait(20) == 1
    assert "Traceback" not in late.said
    assert late.said.strip().splitlines()[-1].startswith("fabrichealth: ")
    assert status(f"{first.address}/-/ready") == 200


def _errors() -> Rates:

    return Rates(symbol_errors=5.0)
