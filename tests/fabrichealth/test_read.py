"""`read`: one source, now, from a device or from captures in order."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from collectors.sources.prom import Prom
from emulator.fabric import Fabric
from emulator.hosttree import HostTree, nics
from emulator.pages import dcgm
from emulator.plan import Plan
from fabrichealth.catalogue import METRICS
from fabrichealth.catalogue.accelerators import TEMPERATURE, UTILIZATION
from fabrichealth.catalogue.ports import RX_BYTES, UP
from fabrichealth.cli._site import SOURCES
from fabrichealth.model import Poll, Reason
from fabrichealth.plugins import names
from tests.fabrichealth.terminal import Said, Terminal

AT = 1_767_225_600

READING = {"metric", "labels", "value", "at"}
SUMMARY = {"source", "target", "readings", "refused", "partial", "missing"}


def page(folder: Path, name: str = "page.prom", text: str = "") -> Path:
    """Write a page of an exporter in our own names."""
    file = folder / name
    file.write_text(text or f'{UP}{{device="leaf-01",port="1"}} 1\n')
    os.utime(file, (AT, AT))
    return file


def readings(said: Said) -> list[dict[str, object]]:
    return [one for one in said.objects if "metric" in one and "refused" not in one]


def summaries(said: Said) -> list[dict[str, object]]:
    return [one for one in said.objects if "source" in one]


def refusals(said: Said) -> list[dict[str, object]]:
    return [one for one in said.objects if "refused" in one and "source" not in one]


def test_readings_are_objects_of_the_contract(terminal: Terminal, tmp_path: Path) -> None:
    said = terminal("read", "prom", page(tmp_path), "--json")
    assert said.status == 0
    (reading,) = readings(said)
    assert reading == {
        "metric": str(UP),
        "labels": {"device": "leaf-01", "port": "1"},
        "value": 1.0,
        "at": AT,
    }
    assert summaries(said) == [
        {"source": "prom", "target": "page", "readings": 1, "refused": 0,
         "partial": False, "missing": []}
    ]  # fmt: skip
    assert "source" in said.objects[-1]


def test_every_line_is_of_a_form_of_the_contract(terminal: Terminal, tmp_path: Path) -> None:
    text = dcgm.page(Fabric(Plan(), 1, AT), "host-001")
    said = terminal("read", "prom", page(tmp_path, "host-001.prom", text), "--json")
    assert said.status == 0
    found = readings(said)
    assert len(found) > 100
    for one in found:
        assert set(one) == READING
        assert isinstance(one["value"], int | float)
        assert isinstance(one["labels"], dict)
        metric = METRICS[str(one["metric"])]
        assert set(one["labels"]) <= set(metric.labels)
        assert all(isinstance(text, str) and text for text in one["labels"].values())
    for one in refusals(said):
        assert one["refused"] in set(Reason)
        assert ("metric" in one) != ("field" in one)
        assert {"labels", "raw"} <= set(one)
    (summary,) = summaries(said)
    assert set(summary) == SUMMARY
    assert summary["readings"] == len(found)
    assert summary["refused"] == len(refusals(said))


def test_values_are_what_would_be_stored(terminal: Terminal, tmp_path: Path) -> None:
    fabric = Fabric(Plan(), 1, AT)
    text = dcgm.page(fabric, "host-001")
    said = terminal("read", "prom", page(tmp_path, "host-001.prom", text), "--json")
    values = {(one["metric"], json.dumps(one["labels"])): one["value"] for one in readings(said)}
    labels = json.dumps({"device": "host-001-0"})
    assert values[str(UTILIZATION), labels] == pytest.approx(0.9)  # the page says 90
    assert values[str(TEMPERATURE), labels] == pytest.approx(52)


def test_a_tree_of_a_host_is_a_capture(terminal: Terminal, tmp_path: Path) -> None:
    tree = HostTree(tmp_path / "host-007", nics(1, ethernet=False), boot=AT - 1e6)
    tree.nics[0].carry(received=4096, sent=0)
    tree.update()
    said = terminal("read", "host", tmp_path / "host-007", "--json", "--set", f"at={AT}")
    assert said.status == 0
    (received,) = [one for one in readings(said) if one["metric"] == str(RX_BYTES)]
    assert received["value"] == 4096  # the tree says 1024 words
    assert received["labels"] == {"device": "host-007", "port": "mlx5_0/1"}
    assert received["at"] == AT


def test_captures_are_polls_in_order(terminal: Terminal, tmp_path: Path) -> None:
    files = [
        page(tmp_path, f"{n}.prom", f'{UP}{{device="d",port="1"}} {n % 2}\n') for n in range(3)
    ]
    said = terminal("read", "prom", *files, "--json", "--set", f"at={AT}", "--set", "interval=30")
    assert [(one["at"], one["value"]) for one in readings(said)] == [
        (AT, 0), (AT + 30, 1), (AT + 60, 0),
    ]  # fmt: skip
    assert len(summaries(said)) == 3


def test_a_numbered_folder_is_polls_in_order(terminal: Terminal, tmp_path: Path) -> None:
    for number in (2, 1, 10):
        (tmp_path / "run" / f"{number:04d}").mkdir(parents=True)
        text = f'{UP}{{device="d",port="{number}"}} 1\n'
        page(tmp_path / "run" / f"{number:04d}", text=text)
    said = terminal("read", "prom", tmp_path / "run", "--json", "--set", "interval=10s")
    ports = [one["labels"]["port"] for one in readings(said)]  # type: ignore[index]  # a mapping
    assert ports == ["1", "2", "10"]
    times = [float(str(one["at"])) for one in readings(said)]
    assert times == [times[0], times[0] + 10, times[0] + 20]


def test_a_folder_that_is_not_numbered_is_one_poll(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "poll"
    folder.mkdir()
    page(folder, "a.prom", f'{UP}{{device="d",port="1"}} 1\n')
    page(folder, "b.prom", f'{UP}{{device="d",port="2"}} 0\n')
    said = terminal("read", "prom", folder, "--json")
    assert len(readings(said)) == 2
    (summary,) = summaries(said)
    assert summary["target"] == "poll"
    assert {one["at"] for one in readings(said)} == {AT}  # the files' own time


def test_the_time_inside_a_reply_counts_before_the_files(
    terminal: Terminal, tmp_path: Path
) -> None:
    text = f'{UP}{{device="d",port="1"}} 1 {(AT - 500) * 1000}\n'
    said = terminal("read", "prom", page(tmp_path, text=text), "--json")
    assert [one["at"] for one in readings(said)] == [AT - 500]


def test_a_stale_reading_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    text = (
        f'{UP}{{device="d",port="1"}} 1 {(AT - 301) * 1000}\n'
        f'{UP}{{device="d",port="2"}} 1 {AT * 1000}\n'
    )
    file = page(tmp_path, text=text)
    said = terminal("read", "prom", file, "--json")
    (refused,) = refusals(said)
    assert (refused["refused"], refused["metric"]) == ("stale", str(UP))
    assert len(readings(said)) == 1
    assert len(readings(terminal("read", "prom", file, "--json", "--set", "stale_after=1h"))) == 2


def test_what_cannot_be_is_refused_with_its_raw_value(terminal: Terminal, tmp_path: Path) -> None:
    text = f'{UP}{{device="d",port="1"}} 7\n{UP}{{device="d",port="2"}} +Inf\nnonsense here too\n'
    said = terminal("read", "prom", page(tmp_path, text=text), "--json")
    assert said.status == 1
    assert "nothing was read, 3 readings were refused" in said.err
    found = {one["refused"]: one for one in refusals(said)}
    assert found["implausible"]["metric"] == str(UP)
    assert found["implausible"]["labels"] == {"device": "d", "port": "1"}
    assert found["implausible"]["raw"] == 7
    assert "field" in found["malformed"]
    assert summaries(said)[0]["readings"] == 0


def test_one_bad_capture_does_not_cost_the_others(terminal: Terminal, tmp_path: Path) -> None:
    bad = tmp_path / "bad.prom"
    bad.write_bytes(b"\0\1\2")
    said = terminal("read", "prom", bad, page(tmp_path), "--json")
    assert said.status == 0
    assert "bad" in said.err
    first, second = summaries(said)
    assert (first["readings"], first["partial"], first["missing"]) == (0, True, [str(bad)])
    assert second["readings"] == 1


def test_what_cannot_be_read_in_a_folder_is_missing(terminal: Terminal, tmp_path: Path) -> None:
    page(tmp_path)
    (tmp_path / "z.prom").symlink_to("/proc/self/mem")  # opens, and then fails
    said = terminal("read", "prom", tmp_path, "--json")
    assert said.status == 0
    assert len(readings(said)) == 1
    assert summaries(said)[0]["partial"] is True
    assert summaries(said)[0]["missing"] == [str(tmp_path / "z.prom")]
    (tmp_path / "page.prom").unlink()
    for source in ("prom", "hccn", "host"):
        said = terminal("read", source, tmp_path)
        assert (said.status, len(said.err.splitlines())) == (1, 1), source


def test_a_pipe_or_a_device_is_no_capture(terminal: Terminal, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for source in names(SOURCES):
        for path in (pipe, Path("/dev/zero")):
            said = terminal("read", source, path)
            assert (said.status, len(said.err.splitlines())) == (1, 1), (source, said.err)


def test_a_fault_of_a_source_in_one_capture_costs_that_capture(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = page(tmp_path, "good.prom"), page(tmp_path, "bad.prom")
    read = Prom.captured

    def faulty(self: Prom, files: list[Path], at: float) -> Poll:
        if bad in files:
            raise KeyError("x")
        return read(self, files, at)

    monkeypatch.setattr(Prom, "captured", faulty)
    said = terminal("read", "prom", bad, good, "--json")
    assert said.status == 0
    assert [one["readings"] for one in summaries(said)] == [0, 1]
    assert said.err == f"fabrichealth: {bad}: fault of the source: KeyError: 'x'\n"
    site = tmp_path / "site.yaml"
    rows = [
        f"  - {{name: {path.stem}, source: prom, address: {path.name}}}\n" for path in (bad, good)
    ]
    site.write_text("targets:\n" + "".join(rows))
    assert "1 of 2 targets answered" in terminal("check", "--probe", "-c", site).out
    assert "KeyError" in terminal("topology", "-c", site).err


def test_a_folder_that_is_no_capture_is_not_walked_to_its_end(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "poll"
    folder.mkdir()
    page(folder)
    (folder / "everything").symlink_to("/")
    assert terminal("read", "prom", folder).status == 0  # the link was not followed
    monkeypatch.setattr("collectors.captures.MOST_FILES", 5)
    for number in range(6):
        (folder / f"{number}").mkdir()
    for source in ("prom", "nvsmi"):
        said = terminal("read", source, folder)
        assert said.status == 1
        assert "more than 5 files and folders, no capture of one poll" in said.err


def test_a_person_reads_lines(terminal: Terminal, tmp_path: Path) -> None:
    said = terminal("read", "prom", page(tmp_path))
    assert said.status == 0
    assert "device=leaf-01 port=1 = 1" in said.out
    assert said.out.splitlines()[-1] == "prom page: 1 readings, 0 refused"


def test_a_person_sees_events_and_no_escape_sequence(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    log.write_text("[ 1.5] NVRM: Xid (PCI:0000:01:00): 79, \x1b]0;pwn\x07\n")
    said = terminal("read", "kernlog", log)
    assert "event device_log device=kern-0000:01:00.0" in said.out
    assert "code=xid:79" in said.out
    assert "\x1b" not in said.out


def test_a_device_is_named_by_set_or_by_the_topology(terminal: Terminal, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    HostTree(tree, nics(1, ethernet=False), boot=AT - 1e6).update()
    topology = tmp_path / "topology.yaml"
    topology.write_text(
        'devices: [{name: nic-9, role: nic, ids: ["b83f:d203:0000:0000"]}, {name: x, role: host}]\n'
    )
    given = ("read", "host", tree, "--json", "--set", "device=x")
    assert {one["labels"]["device"] for one in readings(terminal(*given))} == {"x"}  # type: ignore[index]  # a mapping


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("read",), "source"),
        (("read", "snmmp", "x"), "no source named snmmp"),
        (("read", "prom"), "give an address of the form http://HOST"),
        (("read", "prom", "leaf-01"), "no such capture, and no address"),
        (("read", "prom", "redis://a"), "no address of the form"),
        (("read", "host", "leaf-01"), "runs on this host"),
        (("read", "prom", "http://a", "http://b"), "one address at a time"),
        (("read", "prom", "{page}", "nowhere"), "nowhere: no such capture"),
        (("read", "prom", ""), "an empty argument"),
        (("read", "prom", "x" * 5000), "no such capture, and no address"),
        (("read", "prom", "{page}", "--set", "name=a--b"), "--set name: 'a--b': a name holds"),
        (("read", "prom", "{page}", "--set", "device=a/b"), "--set device: 'a/b': a name holds"),
        (("read", "prom", "{page}", "--set", "device"), "write key=value"),
        (("read", "prom", "{page}", "--set", "=x"), "write key=value"),
        (("read", "prom", "{page}", "--set", "devise=x"), "devise: unknown; there are"),
        (("read", "prom", "{page}", "--set", "period=5"), "period=5: '5' is not a duration"),
        (("read", "prom", "{page}", "--set", "timeout=0"), "longer than 0"),
        (("read", "prom", "{page}", "--set", "stale_after=x"), "stale_after=x: 'x' is not a dur"),
        (("read", "prom", "{page}", "--set", "interval=soon"), "interval: 'soon' is not a dur"),
        (("read", "prom", "{page}", "--set", "at=nan"), "at: nan is no number"),
        (("read", "prom", "{page}", "--set", f"at={AT * 1000}"), "is no number of seconds"),
        (("read", "prom", "{page}", "--jsn"), "unrecognized arguments: --jsn"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_status_2(
    terminal: Terminal, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    file = page(tmp_path)
    said = terminal(*(word.format(page=file) for word in words))
    assert (said.status, said.out) == (2, "")
    assert says in said.err, said.err


@pytest.mark.parametrize(
    ("setting", "says"),
    [("mapping=nothing", "mapping nothing: no such file"), ("topology=no.yaml", "cannot be read")],
)
def test_a_file_that_is_not_there_is_a_verdict(
    terminal: Terminal, tmp_path: Path, setting: str, says: str
) -> None:
    said = terminal("read", "prom", page(tmp_path), "--set", setting)
    assert said.status == 1
    assert says in said.err


@pytest.fixture
async def exporter() -> AsyncIterator[str]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=f'{UP}{{device="leaf-01",port="1"}} 1\n')

    app = web.Application()
    app.router.add_get("/metrics", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/metrics"
    await runner.cleanup()


async def test_a_device_is_read_once(terminal: Terminal, exporter: str) -> None:
    said = await asyncio.to_thread(terminal, "read", "prom", exporter, "--json")
    assert said.status == 0
    assert [one["value"] for one in readings(said)] == [1]
    assert summaries(said)[0]["target"] == "127.0.0.1"


def test_a_device_that_does_not_answer_is_a_verdict(terminal: Terminal) -> None:
    said = terminal("read", "prom", "http://127.0.0.1:9/metrics", "--set", "timeout=2s")
    assert (said.status, said.out) == (1, "")
    assert "127.0.0.1" in said.err


def test_this_machine_is_read(terminal: Terminal) -> None:
    said = terminal("read", "host", "--json", "--set", "virtual_interfaces=always")
    (summary,) = summaries(said)
    assert (said.status == 0) == (summary["readings"] != 0)
    assert len(readings(said)) == summary["readings"]
