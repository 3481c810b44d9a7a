"""Slurm as a scheduler: its lists whole, in part or not at all, its commands and its daemon."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from collectors.source import Target
from collectors.sources.scheduler import Scheduler, SchedulerSettings
from emulator.scheduling.slurm import SlurmController
from emulator.scheduling.workload import Workload
from emulator.tools.shelf import Shelf
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Reason, SeriesTable
from tests.collectors.schedulers import AT, Seen, by_slurm, hall, workload
from tests.fixtures import readings

WORD = "open-sesame"


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


HELD = {f"host-0-{n}" for n in range(4)} | {"host-1-0", "host-1-2"}


def test_without_indices_full_and_empty_hosts_are_known_and_others_are_counted(seen: Seen) -> None:
    load = workload()
    load.place("small", AT, host_1=(3,))
    control = SlurmController(load, counts=True)
    poll = seen.look(control.squeue(), control.nodes())
    allocated = seen.said(poll, ALLOCATED)
    assert {name for name in allocated if name.startswith("host-1-")} == set()
    assert {allocated[f"host-0-{n}"] for n in range(4)} == {1.0}
    assert {allocated[f"host-2-{n}"] for n in range(4)} == {0.0}
    assert seen.said(poll, HOST_ALLOCATED)["host-1"] == 3.0
    assert {one.reason for one in poll.refused} == {Reason.UNSUPPORTED}
    start = next(event for event in poll.events if event.more.get("size") == 6)
    assert start.more["hosts"] == ["host-0", "host-1"]


def test_a_host_with_one_job_needs_no_indices_of_the_job(seen: Seen) -> None:
    load = workload()
    jobs = json.loads(SlurmController(load).squeue())
    for job in jobs["jobs"]:
        job["gres_detail"] = []
    poll = seen.look(json.dumps(jobs), SlurmController(load).nodes())
    start = next(event for event in poll.events if event.kind == "job_start")
    assert set(start.more["accelerators"]) == HELD


def test_who_waits_in_one_domain_waits_there(seen: Seen) -> None:
    load = workload()
    nodes = json.loads(SlurmController(load).nodes())
    for node in nodes["nodes"]:
        node["partitions"] = ["batch"] if node["name"] in {"host-2", "host-3"} else ["other"]
    poll = seen.look(SlurmController(load).squeue(), json.dumps(nodes))
    assert seen.pending(poll)["pod-1", "8"] == 1.0
    pending = next(event for event in poll.events if event.kind == "job_pending")
    assert pending.scope["domain"] == "pod-1"


def test_who_waits_goes_on_waiting_there_while_the_hosts_are_not_listed(seen: Seen) -> None:
    load = workload()
    nodes = json.loads(SlurmController(load).nodes())
    for node in nodes["nodes"]:
        node["partitions"] = ["batch"] if node["name"] in {"host-2", "host-3"} else ["other"]
    jobs = SlurmController(load).squeue()
    seen.look(jobs, json.dumps(nodes))
    alone = seen.look(jobs, unreachable("nodes"), at=AT + 30)
    assert (alone.events, seen.pending(alone)) == ([], {})
    again = seen.look(jobs, json.dumps(nodes), at=AT + 60)
    assert (again.events, seen.pending(again)["pod-1", "8"]) == ([], 1.0)


def test_who_waits_for_hosts_that_could_not_be_read_still_waits(seen: Seen) -> None:
    load = workload()
    nodes = json.loads(SlurmController(load).nodes())
    for node in nodes["nodes"]:
        node["partitions"] = ["batch"] if node["name"] == "host-3" else ["other"]
        node["state"] = None if node["name"] == "host-3" else node["state"]
    poll = seen.look(SlurmController(load).squeue(), json.dumps(nodes))
    assert seen.pending(poll)["", "8"] == 1.0


@pytest.mark.parametrize("reason", ["Dependency", "JobHeldUser", "QOSMaxGRESPerUser", "BeginTime"])
def test_who_waits_for_something_else_than_room_is_not_counted(seen: Seen, reason: str) -> None:
    load = Workload({"host-0": 4}, now=AT)
    load.queue("held", 4, AT, reason)
    poll = seen.look(*by_slurm(load))
    assert seen.pending(poll) == {("pod-0", "0"): 0.0}
    assert poll.events == []


def test_a_list_of_jobs_alone_says_who_is_held_and_nobody_free(seen: Seen) -> None:
    poll = seen.look(SlurmController(workload()).squeue())
    allocated = seen.said(poll, ALLOCATED)
    assert set(allocated) == HELD
    assert set(allocated.values()) == {1.0}


def test_a_list_of_hosts_alone_ends_no_job(seen: Seen) -> None:
    load = workload()
    seen.look(*by_slurm(load))
    load.end("big")
    assert seen.look(SlurmController(load).nodes(), at=AT + 30).events == []


def unreachable(what: str) -> str:
    """Return what squeue and scontrol print, with exit status 0, while no controller answers."""
    error = {"description": "Failed while looking", "error": "Unable to contact slurm controller"}
    return json.dumps({"meta": {}, "errors": [error], what: []})


def test_a_controller_that_does_not_answer_ends_no_job(seen: Seen) -> None:
    load = workload()
    seen.look(*by_slurm(load))
    down = seen.look(unreachable("jobs"), unreachable("nodes"), at=AT + 30)
    assert (down.events, down.readings) == ([], 0)
    assert down.missing == ["jobs", "nodes"]
    assert {one.reason for one in down.refused} == {Reason.FAILED}
    assert seen.look(*by_slurm(load), at=AT + 60).events == []


def test_half_a_list_ends_no_job_and_tells_what_is_in_it(seen: Seen) -> None:
    load = workload()
    seen.look(*by_slurm(load))
    load.place("next", AT + 20, host_2=(1,))
    half = json.loads(SlurmController(load).squeue())
    half["jobs"] = half["jobs"][-1:]
    half["errors"] = ["Failed while looking"]
    poll = seen.look(json.dumps(half), at=AT + 30)
    assert [(one.kind, one.at) for one in poll.events] == [("job_start", AT + 20)]
    assert poll.missing == ["jobs"]


@pytest.mark.parametrize(
    ("spoiled", "ends"),
    [
        pytest.param({"nodes": "host-[0-"}, 0, id="whose it is can be read"),
        pytest.param({"job_id": None, "job_state": None}, 0, id="it may be anybody's"),
        pytest.param(None, 1, id="it is not there at all"),
    ],
)
def test_a_row_that_cannot_be_read_ends_no_job(
    seen: Seen, spoiled: dict[str, object] | None, ends: int
) -> None:
    load = workload()
    load.end("waits")
    seen.look(*by_slurm(load))
    jobs = json.loads(SlurmController(load).squeue())
    jobs["jobs"] = [] if spoiled is None else [jobs["jobs"][0] | spoiled]
    poll = seen.look(json.dumps(jobs), SlurmController(load).nodes(), at=AT + 30)
    assert [one.kind for one in poll.events] == ["job_end"] * ends


def test_parts_of_a_job_that_start_together_wait_as_one(seen: Seen) -> None:
    load = workload()
    load.end("waits")
    load.queue("first", 4, AT - 50)
    load.queue("second", 2, AT - 50)
    jobs = json.loads(SlurmController(load).squeue())
    waiting = [job for job in jobs["jobs"] if "PENDING" in job["job_state"]]
    for job in waiting:
        job["het_job_id"] = {"set": True, "infinite": False, "number": waiting[0]["job_id"]}
    poll = seen.look(json.dumps(jobs))
    assert seen.pending(poll) == {("", "0"): 0.0, ("", "6"): 1.0}


def test_who_waits_for_hosts_that_there_are_not_waits_for_no_room(seen: Seen) -> None:
    load = workload()
    jobs = json.loads(SlurmController(load).squeue())
    for job in jobs["jobs"]:
        job["partition"] = "of-old"
    poll = seen.look(json.dumps(jobs), SlurmController(load).nodes())
    assert seen.pending(poll) == {("", "0"): 0.0}


def test_more_held_than_there_are_costs_that_host_only(seen: Seen) -> None:
    load = workload()
    nodes = json.loads(SlurmController(load).nodes())
    nodes["nodes"][0]["gres_used"] = "gpu:h100:9"
    poll = seen.look(json.dumps(nodes))
    assert "host-0" not in seen.said(poll, HOST_ALLOCATED)
    assert seen.said(poll, HOST_ALLOCATED)["host-1"] == 2.0
    assert Reason.IMPLAUSIBLE in {one.reason for one in poll.refused}


def test_hosts_go_by_their_written_names(seen: Seen) -> None:
    load = Workload({"node0.example": 4}, now=AT)
    load.place("j", AT, **{"node0.example": (2,)})
    poll = seen.look(*by_slurm(load))
    assert seen.said(poll, ALLOCATED)["host-0-2"] == 1.0


def test_counts_of_the_controller_say_no_sizes(seen: Seen) -> None:
    poll = seen.look(json.dumps({"meta": {}, "statistics": {"jobs_pending": 40}}))
    assert poll.readings == 0
    assert [one.reason for one in poll.refused] == [Reason.UNSUPPORTED]


def test_a_job_that_is_completing_holds_nothing(seen: Seen) -> None:
    job = {
        "job_id": 7, "job_state": ["RUNNING", "COMPLETING"], "nodes": "host-0",
        "gres_detail": [], "tres_alloc_str": "gres/gpu=4",
    }  # fmt: skip
    poll = seen.look(json.dumps({"jobs": [job]}))
    assert poll.events == []
    assert poll.refused == []


async def test_slurmrestd_is_read_below_its_folder_with_its_token(tmp_path: Path) -> None:
    control = SlurmController(workload())
    asked: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append((request.path, request.headers.get("X-SLURM-USER-TOKEN", "")))
        text = control.squeue() if request.match_info["what"] == "jobs" else control.nodes()
        return web.Response(text=text, content_type="application/json")

    app = web.Application()
    app.router.add_get("/slurm/v0.0.40/{what}/", answer)
    async with TestServer(app) as server:
        (tmp_path / "token").write_text(f"{WORD}\n")
        target = Target(
            "slurm", "scheduler", str(server.make_url("/slurm/v0.0.40")), "",
            {"secret_file": str(tmp_path / "token")}, hall(),
        )  # fmt: skip
        source = Scheduler(SchedulerSettings(), target, SeriesTable())
        poll = await source.read(AT)
        await source.close()
    assert asked == [("/slurm/v0.0.40/jobs/", WORD), ("/slurm/v0.0.40/nodes/", WORD)]
    assert len(readings(poll, source.table, ALLOCATED)) == 16


def shelf(folder: Path, control: SlurmController, *, old: bool = False) -> Shelf:
    tools = Shelf(folder)
    tools.put(("squeue", "--json"), control.squeue())
    tools.put(("scontrol", "--version"), "slurm\n")
    if old:
        tools.put(("sinfo", "--json"), control.nodes())
    else:
        tools.put(("scontrol", "show", "nodes", "--json"), control.nodes())
    return tools


@pytest.mark.parametrize("old", [False, True], ids=["scontrol", "sinfo of an old version"])
@pytest.mark.parametrize("on_path", [False, True], ids=["in a folder", "on the path"])
async def test_slurm_is_read_by_its_own_commands(
    old: bool, on_path: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = shelf(tmp_path, SlurmController(workload(), new=not old), old=old)
    if on_path:
        monkeypatch.setenv("PATH", f"{tools.bin}{os.pathsep}{os.environ['PATH']}")
    target = Target("s", "scheduler", "" if on_path else str(tools.bin), topology=hall())
    source = Scheduler(SchedulerSettings(), target, SeriesTable())
    poll = await asyncio.wait_for(source.read(AT), 20)
    assert len(readings(poll, source.table, ALLOCATED)) == 16
    assert poll.missing == []


async def test_while_the_controller_is_down_its_commands_tell_nothing(tmp_path: Path) -> None:
    load = workload()
    tools = shelf(tmp_path, SlurmController(load))
    target = Target("s", "scheduler", str(tools.bin), topology=hall())
    source = Scheduler(SchedulerSettings(), target, SeriesTable())
    await asyncio.wait_for(source.read(AT), 20)
    tools.put(("squeue", "--json"), unreachable("jobs"))
    half = await asyncio.wait_for(source.read(AT + 30), 20)  # its nodes could still be had
    assert (half.missing, half.events) == (["jobs"], [])
    tools.put(("scontrol", "show", "nodes", "--json"), unreachable("nodes"))
    with pytest.raises(SourceUnavailable, match=r"\As: Failed while looking"):
        await asyncio.wait_for(source.read(AT + 60), 20)
    shelf(tmp_path, SlurmController(load))
    assert (await asyncio.wait_for(source.read(AT + 90), 20)).events == []


async def test_a_host_without_slurm_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    source = Scheduler(SchedulerSettings(), Target("s", "scheduler"), SeriesTable())
    with pytest.raises(SourceUnavailable, match=r"\As: squeue cannot be run"):
        await source.read(AT)
