"""Commands at a terminal: what they say, and with which exit status."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collectors.sources.prom import Prom
from fabrichealth import __version__
from fabrichealth.catalogue.ports import UP
from fabrichealth.cli._site import load
from fabrichealth.kinds import LINK_DOWN, Severity
from fabrichealth.model import Incident, Place
from fabrichealth.plugins import names
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.journal import SqliteJournal
from tests.fabrichealth.terminal import Terminal

KEYS = {
    "incident", "kind", "severity", "opened_at", "confirmed_at", "closed_at", "domain", "history",
    "culprit", "victims", "path", "alternatives", "cause", "causes", "score", "evidence",
    "because", "forecast", "action", "safe_to_drain", "safe_because", "data_quality",
    "suppressed_by",
    # ours, beyond the contract's
    "suppressed_note", "owner", "dark",
    "merged_into", "held_back", "operator", "earlier", "repair", "proof",
}  # fmt: skip
"""Of an incident object, as the contract has them."""

COMMANDS = [name.replace("_", "-") for name in names("fabrichealth.cli")]

TOPOLOGY = """\
devices: [{name: leaf-01, role: switch}, {name: leaf-02, role: switch}, {name: h, role: host}]
links:
  - {a: leaf-01/1, b: h/eth0}
  - {a: leaf-02/1, b: h/eth1}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one target that does not answer, and one that is no device."""
    (tmp_path / "topology.yaml").write_text(TOPOLOGY)
    (tmp_path / "site.yaml").write_text(
        "topology: topology.yaml\nstate: state\nevents: events.jsonl\n"
        "sources: {prom: {timeout: 1s}}\n"
        'targets:\n  - {name: leaf-01, source: prom, address: "http://127.0.0.1:9/metrics"}\n'
        "  - {name: stranger, source: host, root: nowhere}\n"
    )
    return tmp_path / "site.yaml"


def test_without_a_command_it_says_how(terminal: Terminal) -> None:
    said = terminal()
    assert said.status == 2
    assert "COMMAND" in said.err


@pytest.mark.parametrize("words", [("polish",), ("run",), ("status", "--urll"), ("check", "-c")])
def test_wrong_usage_is_one_line(terminal: Terminal, words: tuple[str, ...]) -> None:
    said = terminal(*words)
    assert (said.status, said.out) == (2, "")
    assert "--help says how" in said.err


def test_it_tells_its_version_and_its_commands(terminal: Terminal) -> None:
    assert terminal("--version").out == f"{__version__}\n"
    told = terminal("--help").out
    assert set(COMMANDS) <= set(told.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(terminal: Terminal, name: str) -> None:
    assert terminal(name, "--help").status == 0


def test_a_command_imports_no_other(tmp_path: Path) -> None:
    """A host's daemon stays small: what `read prom` does not need is not loaded."""
    page = tmp_path / "page.prom"
    page.write_text(f'{UP}{{device="d",port="1"}} 1\n')
    code = (
        "import sys; from fabrichealth.__main__ import main; main(sys.argv[1:]); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, "read", "prom", str(page)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(told.stdout.splitlines()[-1].split())
    assert loaded & {"sklearn", "grafanalib", "influxdb_client", "emulator", "alerts"} == set()


def test_a_reader_that_goes_costs_no_trace(tmp_path: Path) -> None:
    page = tmp_path / "page.prom"
    page.write_text("".join(f'{UP}{{device="d",port="{n}"}} 1\n' for n in range(20_000)))
    words = [sys.executable, "-m", "fabrichealth", "read", "prom", str(page), "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["metric"] == str(UP)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 1


class TestCheck:
    def test_a_good_site_is_well(self, terminal: Terminal, site: Path) -> None:
        said = terminal("check", "-c", site)
        assert said.status == 0
        assert "well; 2 targets, 3 devices, 2 links" in said.out
        assert "host stranger is no device of the topology" in said.out

    def test_a_bad_site_is_a_verdict(self, terminal: Terminal, site: Path) -> None:
        site.write_text(site.read_text() + "stat: x\n")
        said = terminal("check", "-c", site)
        assert (said.status, said.out) == (1, "")
        assert f"{site}:8: stat: unknown key" in said.err

    def test_a_bad_topology_is_a_verdict(self, terminal: Terminal, site: Path) -> None:
        (site.parent / "topology.yaml").write_text(TOPOLOGY.replace("h/eth1", "g/eth1"))
        said = terminal("check", "-c", site)
        assert said.status == 1
        assert "topology.yaml:4: links.1: b: device g is not among the devices" in said.err

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ("secret_file: no.secret", "site.yaml:2: targets.0: secret_file"),
            ("secret_file: .", "site.yaml:2: targets.0: secret_file"),
            ("ca_file: topology.yaml", "site.yaml:2: targets.0: h: ca_file"),
            ("secret_env: NOT_SET_HERE", "site.yaml:2: targets.0: environment variable NOT_SET"),
            ("mapping: nothing", "site.yaml:2: targets.0: mapping nothing: no such file"),
            ("}]\nweb_config: no.yml\n#", "site.yaml: web_config: "),
            ("}]\nstate: site.yaml/state\n#", "site.yaml: state: "),
        ],
    )
    def test_what_the_site_names_must_be_there(
        self, terminal: Terminal, site: Path, more: str, says: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("NOT_SET_HERE", raising=False)
        where = "" if "state:" in more else f"state: {site.parent}/state\n"
        text = f'targets:\n  [{{name: h, source: prom, address: "http://h/", {more}}}]\n{where}'
        site.write_text(text)
        said = terminal("check", "-c", site)
        assert said.status == 1
        assert says in said.err

    def test_a_probe_says_what_each_target_answers(
        self, terminal: Terminal, site: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def broken(*_: object) -> None:
            raise ZeroDivisionError("no\nluck")

        said = terminal("check", "-c", site, "--probe")
        assert said.status == 1
        lines = said.out.splitlines()
        assert any(line.startswith("prom leaf-01: ") for line in lines)
        assert any(line.startswith("host stranger: ") for line in lines)
        assert lines[-1] == "0 of 2 targets answered"
        monkeypatch.setattr(Prom, "read", broken)
        said = terminal("check", "-c", site, "--probe")
        assert "prom leaf-01: fault of the source: ZeroDivisionError: no luck\n" in said.out

    def test_a_probe_of_what_answers_is_well(
        self, terminal: Terminal, site: Path, tmp_path: Path
    ) -> None:
        port = tmp_path / "tree/sys/class/infiniband/mlx5_0/ports/1"
        port.mkdir(parents=True)
        (port / "state").write_text("4: ACTIVE\n")
        (port / "phys_state").write_text("5: LinkUp\n")
        site.write_text("state: state\ntargets: [{name: h, source: host, root: tree}]\n")
        said = terminal("check", "-c", site, "--probe")
        assert said.status == 0, said.out
        assert said.out.splitlines()[-1] == "1 of 1 targets answered"


def incident(name: str, **changes: Any) -> dict[str, Any]:
    one = Incident(
        incident=name,
        kind=LINK_DOWN,
        severity=Severity.PAGE,
        opened_at=1000.0,
        culprit=Place("link", "h/eth0--leaf-01/1"),
        because="both ends down for 1.0 min",
        action="Look for light.",
    )
    return {**one.to_json(), **changes}


@pytest.fixture
def journal(site: Path) -> Path:
    """The site's journal with five incidents, one of them told twice."""
    paths = StatePaths(site.parent / "state")
    paths.folder.mkdir()
    journal = SqliteJournal.open(paths.journal)
    for one in (
        incident("i1", closed_at=2000.0),
        incident("i2", severity="watch", opened_at=900.0),
        incident("i3"),
        incident("i4", severity="ticket"),
        incident("i5", suppressed_by="maintenance:chg-7"),
        incident("i3", because="one end down for 2.0 min"),
    ):
        journal.append("incident", one["opened_at"], one)
    journal.close()
    return site


class TestStatusAndExplain:
    def test_the_gravest_comes_first_and_the_status_is_well(
        self, terminal: Terminal, journal: Path
    ) -> None:
        said = terminal("status", "-c", journal)
        assert said.status == 0
        lines = said.out.splitlines()
        assert [line.split()[1] for line in lines[:-1]] == ["i3", "i4", "i2", "i5"]
        assert "one end down" in lines[0]
        assert "[suppressed by maintenance:chg-7]" in lines[3]
        assert lines[-1] == "4 open, 1 suppressed"

    def test_closed_ones_are_shown_when_asked_for(self, terminal: Terminal, journal: Path) -> None:
        said = terminal("status", "-c", journal, "--all", "--json")
        assert [one["incident"] for one in said.objects] == ["i3", "i4", "i2", "i5", "i1"]
        assert all(set(one) == KEYS for one in said.objects)

    def test_nothing_open_is_said(self, terminal: Terminal, site: Path) -> None:
        paths = StatePaths(site.parent / "state")
        paths.folder.mkdir()
        SqliteJournal.open(paths.journal).close()
        assert terminal("status", "-c", site).out == "nothing open\n"

    def test_a_site_that_never_ran_is_a_verdict(self, terminal: Terminal, site: Path) -> None:
        assert terminal("status", "-c", site).status == 1

    def test_a_daemon_that_does_not_answer_is_a_verdict(self, terminal: Terminal) -> None:
        said = terminal("status", "--url", "http://127.0.0.1:9")
        assert said.status == 1
        assert "is `fabrichealth run` up" in said.err
        assert terminal("status", "--url", "leaf-01").status == 2

    def test_an_incident_is_told_whole(self, terminal: Terminal, journal: Path) -> None:
        said = terminal("explain", "i3", "-c", journal)
        assert said.status == 0
        assert "because    one end down for 2.0 min" in said.out
        assert "do         Look for light." in said.out
        assert len(said.out.splitlines()) < 40
        (plain,) = terminal("explain", "i3", "-c", journal, "--json").objects
        assert set(plain) == KEYS

    def test_an_unknown_incident_names_the_newest(self, terminal: Terminal, journal: Path) -> None:
        said = terminal("explain", "i9", "-c", journal)
        assert said.status == 2
        assert "the newest are: i1, i2, i3, i4, i5" in said.err


def test_the_doctor_finds_this_installation_well(terminal: Terminal) -> None:
    said = terminal("doctor")
    assert said.status == 0, said.out
    assert said.out.startswith(f"well: fabrichealth {__version__}")


def test_the_doctor_says_what_shadows_us(tmp_path: Path) -> None:
    (tmp_path / "alerts").mkdir()
    (tmp_path / "alerts" / "__init__.py").touch()
    told = subprocess.run(
        [sys.executable, "-m", "fabrichealth", "doctor"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 1
    assert "wrong: package alerts comes from" in told.stdout
    assert "Traceback" not in told.stderr


class TestGenerate:
    def test_what_is_written_is_what_is_checked(self, terminal: Terminal, tmp_path: Path) -> None:
        assert terminal("generate", "alerts", "--check", "--into", tmp_path).status == 1
        written = terminal("generate", "alerts", "--into", tmp_path)
        assert written.status == 0
        assert "alerts/generated/fabrichealth.rules.yaml: brought up to date" in written.out
        again = terminal("generate", "alerts", "--check", "--into", tmp_path)
        assert (again.status, again.out) == (0, "")

    @pytest.mark.parametrize("change", ["edited", "removed", "left over"])
    def test_a_difference_is_named_and_mended(
        self, terminal: Terminal, tmp_path: Path, change: str
    ) -> None:
        terminal("generate", "dashboards", "--into", tmp_path)
        file = tmp_path / "dashboards/generated/fleet.json"
        if change == "edited":
            file.write_text(file.read_text().replace("30s", "31s"))
        elif change == "removed":
            file.unlink()
        else:
            file = file.with_name("of_yesterday.json")
            file.touch()
        said = terminal("generate", "dashboards", "--check", "--into", tmp_path)
        assert said.status == 1
        assert said.out == f"dashboards/generated/{file.name}: differs from the code\n"
        terminal("generate", "dashboards", "--into", tmp_path)
        assert terminal("generate", "dashboards", "--check", "--into", tmp_path).status == 0

    def test_the_sample_is_a_site_file(self, terminal: Terminal, tmp_path: Path) -> None:
        terminal("generate", "config", "--into", tmp_path)
        said = terminal("check", "-c", tmp_path / "deploy/site.sample.yaml")
        assert (said.status, said.err) == (0, "")

    def test_what_the_sample_names_lies_beside_it_when_both_are_copied(
        self, terminal: Terminal, tmp_path: Path
    ) -> None:
        terminal("generate", "config", "--into", tmp_path)
        (tmp_path / "own").mkdir()
        for name, copy in (("site.sample.yaml", "site.yaml"), ("topology.yaml", "topology.yaml")):
            shutil.copy(tmp_path / "deploy" / name, tmp_path / "own" / copy)
        assert terminal("check", "-c", tmp_path / "own/site.yaml").status == 0
        found = load(tmp_path / "own/site.yaml")
        assert {row.name for row in found.site.targets} <= found.topology.devices.keys()
        assert found.topology.links


def history(folder: Path, *, down_until: int = 60) -> Path:
    """Write an hour of two links, polled each minute; one falls at minute 20."""
    lines = []
    for device, port in (("leaf-01", "1"), ("leaf-02", "1"), ("h", "eth0"), ("h", "eth1")):
        ill = (device, port) in {("leaf-01", "1"), ("h", "eth0")}
        values = [int(not (ill and 20 <= minute < down_until)) for minute in range(120)]
        stamps = [1_767_225_600_000 + 60_000 * minute for minute in range(120)]
        metric = {"__name__": str(UP), "device": device, "port": port}
        lines.append(json.dumps({"metric": metric, "values": values, "timestamps": stamps}))
    file = folder / "history.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return file


class TestReplay:
    def test_each_incident_is_an_object_of_the_contract(
        self, terminal: Terminal, site: Path
    ) -> None:
        topology = site.parent / "topology.yaml"
        said = terminal("replay", history(site.parent), "--topology", topology, "--json")
        assert said.status == 0
        (one,) = said.objects
        assert set(one) == KEYS
        assert (one["kind"], one["severity"]) == ("link.down", "page")
        assert one["culprit"]["id"] == "h/eth0--leaf-01/1"
        assert set(one["culprit"]) >= {"type", "id", "side", "direction", "lane"}
        assert 1_767_225_600 + 19 * 60 <= one["opened_at"] <= 1_767_225_600 + 20 * 60
        assert one["opened_at"] <= one["confirmed_at"] <= one["closed_at"]
        assert one["history"][0]["kind"] == "link.down"

    def test_what_is_still_open_is_printed_at_the_end(self, terminal: Terminal, site: Path) -> None:
        file = history(site.parent, down_until=120)
        said = terminal("replay", file, "--topology", site.parent / "topology.yaml", "--json")
        (one,) = said.objects
        assert one["closed_at"] is None

    def test_a_verdict_on_a_live_incident_is_not_one_on_the_replays(
        self, terminal: Terminal, site: Path, tmp_path: Path
    ) -> None:
        """Both number from i1 on; nobody has seen the replay's."""
        events = tmp_path / "events.jsonl"
        verdict = {"at": 1_767_230_000, "kind": "verdict_false", "scope": {"incident": "i1"}}
        events.write_text(json.dumps(verdict) + "\n")
        words = ("--topology", site.parent / "topology.yaml", "--events", events)
        said = terminal("replay", history(tmp_path), *words, "--json")
        (one,) = said.objects
        assert (one["incident"], one["operator"]) == ("i1", None)
        assert "events.jsonl: 1 verdicts and other events of incidents left out" in said.err

    def test_an_event_suppresses(self, terminal: Terminal, site: Path, tmp_path: Path) -> None:
        event = {"at": 1_767_225_600, "kind": "maintenance_start", "scope": {"device": "h"}}
        (tmp_path / "e.jsonl").write_text(json.dumps({**event, "id": "chg-7"}))  # no line end
        words = ("--topology", site.parent / "topology.yaml", "--events", tmp_path / "e.jsonl")
        (one,) = terminal("replay", history(tmp_path), *words, "--json").objects
        assert one["suppressed_by"] == "maintenance:chg-7"
        assert one["confirmed_at"] is None

    def test_a_scope_that_the_topology_does_not_have_is_named(
        self, terminal: Terminal, site: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        event = {"at": 1_767_225_600, "kind": "repair_end", "scope": {"device": "leaf-10"}}
        (tmp_path / "e.jsonl").write_text(json.dumps(event))
        words = ("--topology", site.parent / "topology.yaml", "--events", tmp_path / "e.jsonl")
        terminal("replay", history(tmp_path), *words)
        assert "device leaf-10, which is not in the topology" in caplog.text

    def test_a_history_without_a_reading_is_not_taken_for_a_healthy_one(
        self, terminal: Terminal, tmp_path: Path
    ) -> None:
        empty = tmp_path / "empty.jsonl"
        empty.write_text("")
        said = terminal("replay", empty)
        assert (said.status, said.out) == (1, "")
        assert "empty.jsonl: no reading in it; nothing can be judged" in said.err

    def test_the_site_brings_topology_and_policy(self, terminal: Terminal, site: Path) -> None:
        said = terminal("replay", history(site.parent), "--config", site)
        assert said.status == 0
        assert "culprit    link h/eth0--leaf-01/1" in said.out

    def test_what_is_not_there_is_named(self, terminal: Terminal, site: Path) -> None:
        said = terminal("replay", site.parent / "nowhere", "--config", site)
        assert said.status == 2
        assert "no such history" in said.err
        said = terminal("replay", history(site.parent), "--topology", site.parent / "no.yaml")
        assert said.status == 1
