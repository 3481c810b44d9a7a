"""What a person says at a terminal becomes an event, and verdicts become truth."""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from analyzer.scoring import truths
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.catalogue.ports import LINK_INFO, UP
from fabrichealth.cli import _incidents, _telling
from fabrichealth.cli._events import read_events
from fabrichealth.cli._truths import said_of
from fabrichealth.errors import SourceUnavailable, UsageError
from fabrichealth.events import Event, parse
from fabrichealth.kinds import LINK_DOWN, Severity
from fabrichealth.model import Batch, Incident, Place
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.journal import SqliteJournal
from fabrichealth.web.access import Access, WebConfig
from fabrichealth.web.server import Route, Server, application, serve
from tests.fabrichealth.terminal import Terminal

LINK = "h/eth0--leaf-01/1"

TOPOLOGY = """\
racks: [{name: r1, loop: cdu-1, branches: [r1]}]
loops: [{name: cdu-1}]
devices: [{name: leaf-01, role: switch, ports: {9: {alias: nine}}}, {name: h, role: host, rack: r1}]
links: [{a: leaf-01/1, b: h/eth0}]
"""


def incident(name: str, **changes: Any) -> dict[str, Any]:
    one = Incident(
        incident=name, kind=LINK_DOWN, severity=Severity.PAGE, opened_at=1000.0,
        culprit=Place("link", LINK), because="down", action="Look.",
    )  # fmt: skip
    return {**one.to_json(), **changes}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with a state that holds two incidents."""
    (tmp_path / "topology.yaml").write_text(TOPOLOGY)
    site = tmp_path / "site.yaml"
    site.write_text("topology: topology.yaml\nstate: state\nevents: events.jsonl\n")
    paths = StatePaths(tmp_path / "state")
    paths.folder.mkdir()
    journal = SqliteJournal.open(paths.journal)
    journal.append("incident", 1000.0, incident("i1", closed_at=2000.0))
    journal.append("incident", 1000.0, incident("i2"))
    journal.close()
    return site


def told(site: Path) -> list[Event]:
    return read_events(site.parent / "events.jsonl")


class TestVerdict:
    @pytest.mark.parametrize("word", ["true", "false", "ack"])
    def test_it_is_an_event_of_the_incident(
        self, terminal: Terminal, site: Path, word: str
    ) -> None:
        said = terminal("verdict", "i2", word, "--note", "seen it", "-c", site)
        assert (said.status, said.err) == (0, "")
        (event,) = told(site)
        assert event.kind == f"verdict_{word}"
        assert (dict(event.scope), event.note) == ({"incident": "i2"}, "seen it")

    def test_what_was_found_out_is_kept(self, terminal: Terminal, site: Path) -> None:
        words = ("--cause", "copper_cable", "--side", "h/eth0")
        assert terminal("verdict", "i2", "true", *words, "-c", site).status == 0
        assert told(site)[0].more == {"cause": "copper_cable", "side": "h/eth0"}
        said = terminal("verdict", "i2", "false", *words, "-c", site)
        assert (said.status, len(told(site))) == (2, 1)

    def test_what_was_found_out_is_told_with_the_incident(
        self, terminal: Terminal, site: Path
    ) -> None:
        journal = SqliteJournal.open(StatePaths(site.parent / "state").journal)
        for at, kind, more in (
            (3000.0, "verdict_true", {"cause": "copper_cable", "side": "h/eth0"}),
            (2900.0, "verdict_true", {"cause": "congestion"}),  # an older word, told later
            (3100.0, "verdict_ack", {}),  # decides nothing
        ):
            event = Event(at, kind, {"incident": "i2"}, more=more)
            journal.append("event", event.at, event.to_json())
        journal.close()
        said = terminal("explain", "i2", "-c", site)
        assert "found out  cause copper_cable, side h/eth0\n" in said.out
        assert "found out" not in terminal("explain", "i1", "-c", site).out
        (told,) = terminal("explain", "i2", "-c", site, "--json").objects
        assert told["found"] == {"cause": "copper_cable", "side": "h/eth0"}

    def test_nothing_is_said_of_what_is_not_there(self, terminal: Terminal, site: Path) -> None:
        said = terminal("verdict", "i9", "true", "-c", site)
        assert said.status == 2
        assert "the newest are: i1, i2" in said.err
        assert not (site.parent / "events.jsonl").exists()

    def test_a_site_without_an_events_file_says_what_to_do(
        self, terminal: Terminal, site: Path
    ) -> None:
        site.write_text("topology: topology.yaml\nstate: state\n")
        said = terminal("verdict", "i2", "ack", "-c", site)
        assert said.status == 2
        assert "add `events: events.jsonl`" in said.err


class TestEvent:
    def test_maintenance_for_a_while_is_a_start_and_its_end(
        self, terminal: Terminal, site: Path
    ) -> None:
        said = terminal("event", "maintenance", "--rack", "r1", "--for", "2h", "-c", site)
        assert said.status == 0, said.err
        start, end = told(site)
        assert (start.kind, end.kind) == ("maintenance_start", "maintenance_end")
        assert start.scope == end.scope == {"rack": "r1"}
        assert start.id == end.id != ""
        assert end.at - start.at == pytest.approx(7200.0)

    def test_it_can_be_ended_early_by_its_id(self, terminal: Terminal, site: Path) -> None:
        assert terminal("event", "maintenance", "--end", "--id", "chg-7", "-c", site).status == 0
        (end,) = told(site)
        assert (end.kind, end.id, dict(end.scope)) == ("maintenance_end", "chg-7", {})

    def test_a_repair_says_what_was_done(self, terminal: Terminal, site: Path) -> None:
        words = ("event", "repair", "--link", LINK, "-c", site)
        assert terminal(*words).status == 2
        assert terminal(*words, "--action", "clean", "--for", "10m").status == 0
        start, end = told(site)
        assert start.more == {"action": "clean", "until": end.at}
        assert end.more == {"action": "clean"}

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("maintenance",), "of what? give --rack"),
            (("maintenance", "--rack", "r9"), "--rack r9: not in the topology"),
            (("maintenance", "--rack", "r1", "--for", "2"), "is not a duration"),
            (("maintenance", "--rack", "r1", "--for", "١h"), "is not a duration"),
            (
                ("boot", "--port", "leaf-01/2"),
                "--port leaf-01/2: not in the topology; did you mean leaf-01/",
            ),
            (
                ("boot", "--device", "h", "--port", "eth1"),
                "--port eth1: not in the topology; did you mean h/eth0?",
            ),
            (("repair", "--action", "clean", "--link", "h/eth0--leaf-01/11"), f"mean {LINK}?"),
            (("repair", "--action", "clean", "--branch", "cdu-1/r2"), "mean cdu-1/r1"),
            (("drill", "--incident", "i3"), "--incident i3: no such incident; the newest are: i1"),
            (("boot", "--device", "zzz"), "--device zzz: not in the topology; check the name"),
            (("boot", "--device", "h", "--for", "2h"), "is a moment"),
            (("boot", "--device", "h", "--action", "clean"), "takes no --action"),
            (("drill", "--end", "--for", "1h"), "it is over now"),
        ],
    )
    def test_what_means_nothing_is_refused(
        self, terminal: Terminal, site: Path, words: tuple[str, ...], says: str
    ) -> None:
        said = terminal("event", *words, "-c", site)
        assert said.status == 2
        assert says in said.err
        assert not (site.parent / "events.jsonl").exists()

    @pytest.mark.parametrize(
        "scope",
        [
            ("--port", "leaf-01/1"),
            ("--device", "h", "--port", "eth0"),
            ("--device", "h", "--port", "h/eth0"),
            ("--port", "leaf-01/9"),  # told of its module, cabled or not
            ("--branch", "r1"),
            ("--branch", "cdu-1/r1"),
            ("--incident", "i2"),
        ],
        ids=" ".join,
    )
    def test_what_is_written_is_taken(
        self, terminal: Terminal, site: Path, scope: tuple[str, ...]
    ) -> None:
        said = terminal("event", "boot", *scope, "-c", site)
        assert (said.status, said.err) == (0, "")

    def test_what_was_read_is_taken_though_nobody_wrote_it(
        self, terminal: Terminal, site: Path
    ) -> None:
        store = EmbeddedStore.open(StatePaths(site.parent / "state").store)
        port = (UP, ("leaf-01", "77"))
        link = (LINK_INFO, ("found/1--leaf-01/77", *[""] * (len(LINK_INFO.labels) - 1)))
        flow = (FLOW, ("cdu-2", "r9", *[""] * (len(FLOW.labels) - 2)))
        series = store.table.intern_all([port, link, flow])
        store.append([Batch(store.table.clock("t", "t"), 5000.0, series, np.ones(3))])
        store.close()
        for scope in (("--port", "leaf-01/77"), ("--link", "found/1--leaf-01/77"),
                      ("--branch", "cdu-2/r9")):  # fmt: skip
            said = terminal("event", "boot", *scope, "-c", site)
            assert (said.status, said.err) == (0, "")
        said = terminal("event", "boot", "--port", "leaf-01/78", "-c", site)
        assert "did you mean leaf-01/77" in said.err

    def test_a_site_that_never_ran_has_no_incidents(self, terminal: Terminal, site: Path) -> None:
        StatePaths(site.parent / "state").journal.unlink()
        said = terminal("event", "boot", "--incident", "i1", "-c", site)
        assert said.status == 2
        assert "the newest are: none" in said.err

    def test_a_half_written_last_line_is_not_made_part_of_it(
        self, terminal: Terminal, site: Path
    ) -> None:
        file = site.parent / "events.jsonl"
        file.write_text('{"at": 1, "kind": "boot", "scope": {"device": "h"}}')  # no line end
        assert terminal("event", "boot", "--device", "h", "-c", site).status == 0
        assert len(told(site)) == 2


class TestDaemon:
    @pytest.fixture
    async def heard(self, tmp_path: Path) -> AsyncIterator[tuple[Server, list[dict[str, Any]]]]:
        """A daemon's HTTP side that takes events from whoever has the token."""
        took: list[dict[str, Any]] = []

        async def take(request: web.Request) -> web.Response:
            took.append(await request.json())
            return web.Response(status=202, text="taken\n")

        async def known(request: web.Request) -> web.Response:
            rows = {"incidents": [{"incident": "i7"}], "links": [{"link": LINK}]}
            return web.json_response({"data": rows[request.path.rpartition("/")[2]]})

        (tmp_path / "token").write_text("s3cret\n")
        access = Access(WebConfig.model_validate({"bearer_token_file": "token"}), tmp_path)
        routes = [
            Route("POST", "/api/v1/events", take, writes=True),
            Route("GET", "/api/v1/incidents", known),
            Route("GET", "/api/v1/links", known),
        ]
        app = application(Nothing(), lambda: 0.0, routes=routes, access=access)
        server = await serve(app, "127.0.0.1:0", access)
        yield server, took
        await server.close()

    async def test_it_takes_an_event_with_its_token_alone(
        self, heard: tuple[Server, list[dict[str, Any]]], tmp_path: Path
    ) -> None:
        server, took = heard
        event = Event(5.0, "verdict_ack", {"incident": "i1"})
        (tmp_path / "wrong").write_text("guess")
        for token, works in (("token", True), ("wrong", False)):
            asked = argparse.Namespace(config=None, url=server.address, token_file=tmp_path / token)
            if works:
                await in_thread(_telling.tell, asked, [event])
            else:
                with pytest.raises(SourceUnavailable, match="refused the event \\(401") as refused:
                    await in_thread(_telling.tell, asked, [event])
                assert "guess" not in str(refused.value)
        assert [parse(one) for one in took] == [event]

    async def test_names_of_links_and_incidents_are_the_daemons(
        self,
        heard: tuple[Server, list[dict[str, Any]]],
        tmp_path: Path,
        terminal: Terminal,
    ) -> None:
        server, took = heard
        where = ("--url", server.address, "--token-file", tmp_path / "token")
        for scope, says in (
            (("--link", f"{LINK}1"), f"did you mean {LINK}?"),
            (("--incident", "i8"), "no such incident; the newest are: i7"),
        ):
            said = await asyncio.to_thread(terminal, "event", "boot", *scope, *where)
            assert said.status == 2
            assert says in said.err
        assert took == []
        for scope in (("--link", LINK), ("--incident", "i7")):
            said = await asyncio.to_thread(terminal, "event", "boot", *scope, *where)
            assert (said.status, said.err) == (0, "")
        assert len(took) == 2

    def test_without_a_token_it_says_what_is_needed(self) -> None:
        asked = argparse.Namespace(config=None, url=None, token_file=None)
        with pytest.raises(UsageError, match="--token-file"):
            _telling.tell(asked, [Event(5.0, "boot", {"device": "h"})])

    def test_a_token_file_that_holds_none_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "t").write_text("two\nlines")
        with pytest.raises(UsageError, match="holds no token"):
            _incidents.request("http://127.0.0.1:1", tmp_path / "t")


class Nothing:
    async def stream(self, now: float, form: object, *, gzip: bool) -> AsyncIterator[bytes]:
        yield b""


async def in_thread(work: Any, *words: Any) -> None:
    await asyncio.to_thread(work, *words)


class TestTruths:
    def test_the_last_word_counts_and_ack_decides_nothing(self) -> None:
        incidents = [incident("i1"), incident("i2"), incident("i3"), incident("i4")]
        events = [
            Event(10.0, "verdict_true", {"incident": "i1"}),
            Event(20.0, "verdict_false", {"incident": "i1"}),
            Event(10.0, "verdict_false", {"incident": "i2"}),
            Event(30.0, "verdict_true", {"incident": "i2"}, note="dirt"),
            Event(10.0, "verdict_ack", {"incident": "i3"}),
        ]
        said = said_of(incidents, events, 0.0, 5000.0)
        assert said.false == ["i1"]
        assert [one["note"] for one in said.truths] == ["i2 dirt"]
        assert said.unjudged == ["i3", "i4"]

    def test_what_was_found_out_is_truth_and_what_was_guessed_is_not(self) -> None:
        guessed = incident("i1", cause="damaged_fiber")
        word = Event(10.0, "verdict_true", {"incident": "i1"})
        (plain,) = said_of([guessed], [word], 0.0, 5000.0).truths
        assert "cause" not in plain
        found = {"cause": "copper_cable", "culprit": "leaf-01"}
        word = Event(10.0, "verdict_true", {"incident": "i1"}, more=found)
        (plain,) = said_of([guessed], [word], 0.0, 5000.0).truths
        (truth,) = truths([json.dumps(plain)])
        assert (truth.culprit, truth.cause, truth.ended) == ("leaf-01", "copper_cable", 5000.0)

    def test_an_incident_that_turned_out_to_be_another_is_that_one(self) -> None:
        incidents = [
            incident("i1"),
            incident("i2", merged_into="i1"),
            incident("i3", merged_into="i2"),
            incident("i4", merged_into="gone"),  # the other is older than the journal
            incident("i5", merged_into="i6"),
            incident("i6", merged_into="i5"),
        ]
        assert said_of(incidents[:4], [], 0.0, 5000.0).unjudged == ["i1", "i4"]
        word = Event(10.0, "verdict_true", {"incident": "i3"}, more={"cause": "copper_cable"})
        said = said_of(incidents[:3], [word], 0.0, 5000.0)
        assert said.unjudged == []
        (truth,) = said.truths
        assert (truth["note"], truth["cause"]) == ("i1", "copper_cable")
        assert said_of(incidents[4:], [], 0.0, 5000.0).truths == []  # nor for ever, in a circle

    @given(st.lists(st.tuples(st.sampled_from(["true", "false", "ack"]), st.integers(0, 3))))
    def test_every_incident_is_called_one_thing(self, words: list[tuple[str, int]]) -> None:
        events = [
            Event(float(n), f"verdict_{word}", {"incident": f"i{one}"})
            for n, (word, one) in enumerate(words)
        ]
        said = said_of([incident(f"i{n}") for n in range(4)], events, 0.0, 5000.0)
        assert len(said.truths) + len(said.false) + len(said.unjudged) == 4


def test_a_sites_verdicts_are_a_corpus_that_evaluate_scores(
    terminal: Terminal, site: Path, tmp_path: Path
) -> None:
    state = StatePaths(site.parent / "state")
    store = EmbeddedStore.open(state.store)
    began = 1_767_225_600.0
    for name, port in (("leaf-01", "1"), ("h", "eth0")):
        series = store.table.intern_all([(UP, (name, port))])
        for minute in range(120):
            up = float(not 20 <= minute < 60)
            batch = Batch(store.table.clock("t", name), began + 60 * minute, series, np.array([up]))
            store.append([batch])
    store.close()
    journal = SqliteJournal.open(state.journal)
    fell = {"opened_at": began + 1200, "closed_at": began + 3600}
    journal.append("incident", began, incident("i1", **fell))
    word = Event(began + 4000, "verdict_true", {"incident": "i1"})
    journal.append("event", word.at, word.to_json())
    journal.close()
    said = terminal("corpus", tmp_path / "corpus", "-c", site)
    assert said.status == 0, said.err
    assert "1 truths" in said.out
    scored = terminal("evaluate", tmp_path / "corpus", "--json").objects[-1]
    assert scored["corpora"] == 1
    assert scored["recall"]["value"] == 1.0
