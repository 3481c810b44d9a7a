"""Slurm, Kubernetes and Volcano: who holds which accelerator, who waits, and what changed."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import kubernetes, slurm
from collectors.protocols.slurm_words import gres, hosts, number, tres
from collectors.source import Target
from collectors.sources.scheduler import Scheduler, SchedulerSettings
from emulator.scheduling.kubernetes import ApiServer
from emulator.scheduling.slurm import SlurmController
from emulator.scheduling.workload import Workload
from emulator.tools.shelf import Shelf
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED, JOBS_PENDING, SCHEDULABLE
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from fabrichealth.topology import Device, Domain, Topology
from tests.fixtures import readings

AT = 1_800_000_000.0
WORD = "open-sesame"


def hall() -> Topology:
    """Return four hosts of four accelerators, in two domains, one host with a system name."""
    devices = []
    for n in range(4):
        host, domain = f"host-{n}", f"pod-{n // 2}"
        devices.append(Device(name=host, role="host", domain=domain, ids=(f"node{n}.example",)))
        devices += [Device(name=f"{host}-{k}", role="accelerator", host=host) for k in range(4)]
    return Topology(devices, domains=[Domain(name="pod-0"), Domain(name="pod-1")])


def workload() -> Workload:
    """Return a job on a host and a half, one that waits for eight, and one that is held back."""
    load = Workload({f"host-{n}": 4 for n in range(4)}, drained={"host-3"}, now=AT)
    load.place("big", AT - 600, host_0=(0, 1, 2, 3), host_1=(0, 2))
    load.queue("waits", 8, AT - 300)
    return load


class Seen:
    """A source that is given captures, poll after poll."""

    def __init__(self, folder: Path, topology: Topology | None = None) -> None:
        self._folder = folder
        self._polls = 0
        self.table = SeriesTable()
        target = Target("slurm", "scheduler", topology=topology or hall())
        self.source = Scheduler(SchedulerSettings(), target, self.table)

    def look(self, *replies: str, at: float = AT) -> Poll:
        folder = self._folder / f"{self._polls:04}"
        folder.mkdir()
        self._polls += 1
        for place, reply in enumerate(replies):
            (folder / f"{place}.json").write_text(reply)
        return self.source.captured([folder], at)

    def said(self, poll: Poll, metric: Metric) -> dict[str, float]:
        return {labels[0]: value for labels, value in readings(poll, self.table, metric).items()}

    def pending(self, poll: Poll) -> dict[Labels, float]:
        return readings(poll, self.table, JOBS_PENDING)


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def told(events: Sequence[Event]) -> list[tuple[float, str, str]]:
    return [(event.at - AT, event.kind, event.scope["job"]) for event in events]


HELD = {f"host-0-{n}" for n in range(4)} | {"host-1-0", "host-1-2"}


def by_slurm(load: Workload, *, new: bool = True, groups: bool = False) -> tuple[str, str]:
    control = SlurmController(load, new=new)
    return control.squeue(), control.sinfo() if groups else control.nodes()


def by_kubernetes(load: Workload) -> tuple[str, ...]:
    return tuple(json.dumps(one) for one in ApiServer(load).lists().values())


Tell = Callable[[Workload], tuple[str, ...]]

TELLERS = [
    pytest.param(by_slurm, id="slurm"),
    pytest.param(lambda load: by_slurm(load, new=False), id="slurm before 23.02"),
    pytest.param(lambda load: by_slurm(load, groups=True), id="slurm, sinfo's groups"),
    pytest.param(by_kubernetes, id="kubernetes with volcano"),
]


@pytest.mark.parametrize("tell", TELLERS)
class TestEveryScheduler:
    def test_says_who_is_held_and_who_is_free(self, tell: Tell, seen: Seen) -> None:
        poll = seen.look(*tell(workload()))
        allocated = seen.said(poll, ALLOCATED)
        assert {name for name, value in allocated.items() if value == 1.0} == HELD
        assert len(allocated) == 16
        assert seen.said(poll, HOST_ALLOCATED) == {
            "host-0": 4.0, "host-1": 2.0, "host-2": 0.0, "host-3": 0.0,
        }  # fmt: skip
        assert poll.refused == []

    def test_says_where_work_may_be_placed(self, tell: Tell, seen: Seen) -> None:
        poll = seen.look(*tell(workload()))
        assert seen.said(poll, SCHEDULABLE) == {
            "host-0": 1.0, "host-1": 1.0, "host-2": 1.0, "host-3": 0.0,
        }  # fmt: skip

    def test_counts_who_waits_by_size_and_says_when_nobody_does_any_more(
        self, tell: Tell, seen: Seen
    ) -> None:
        load = workload()
        poll = seen.look(*tell(load))
        assert seen.pending(poll) == {("", "0"): 0.0, ("", "8"): 1.0}
        load.end("waits")
        assert seen.pending(seen.look(*tell(load), at=AT + 30))["", "8"] == 0.0

    def test_tells_what_changed_once(self, tell: Tell, seen: Seen) -> None:
        load = workload()
        first = seen.look(*tell(load))
        assert [(at, kind) for at, kind, _ in told(first.events)] == [
            (-600.0, "job_start"), (-300.0, "job_pending"),
        ]  # fmt: skip
        assert set(first.events[0].more["accelerators"]) == HELD
        assert seen.look(*tell(load), at=AT + 30).events == []
        load.end("big")
        load.end("waits")
        load.place("next", AT + 50, host_2=(1,))
        last = seen.look(*tell(load), at=AT + 60)
        assert sorted((at, kind) for at, kind, _ in told(last.events)) == [
            (50.0, "job_start"), (60.0, "job_cancelled"), (60.0, "job_end"),
        ]  # fmt: skip

    def test_a_restart_tells_nothing_twice(
        self, tell: Tell, seen: Seen, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        load = workload()
        seen.look(*tell(load))
        other = Seen(tmp_path_factory.mktemp("again"))
        other.source.remember(json.loads(json.dumps(seen.source.memory())))
        load.end("big")
        assert [kind for _, kind, _ in told(other.look(*tell(load), at=AT + 30).events)] == [
            "job_end"
        ]


def test_a_job_had_ended_when_the_next_began_on_its_accelerators(seen: Seen) -> None:
    load = workload()
    seen.look(*by_slurm(load))
    load.end("big")
    load.place("next", AT + 12, host_1=(2, 3))
    events = seen.look(*by_slurm(load), at=AT + 30).events
    assert [(one.at - AT, one.kind) for one in events] == [(12.0, "job_end"), (12.0, "job_start")]


def test_a_job_that_runs_for_weeks_is_told_anew(seen: Seen) -> None:
    load = workload()
    load.end("waits")
    seen.look(*by_slurm(load))
    (again,) = seen.look(*by_slurm(load), at=AT + 8 * 86_400).events
    assert (again.kind, again.at) == ("job_start", AT + 8 * 86_400)


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


@pytest.mark.parametrize("reason", ["Dependency", "JobHeldUser", "QOSMaxGRESPerUser", "BeginTime"])
def test_who_waits_for_something_else_than_room_is_not_counted(seen: Seen, reason: str) -> None:
    load = Workload({"host-0": 4}, now=AT)
    load.queue("held", 4, AT, reason)
    poll = seen.look(*by_slurm(load))
    assert seen.pending(poll) == {("", "0"): 0.0}
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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("a", ["a"]),
        ("r[1-2]n[01-02],login", ["r1n01", "r1n02", "r2n01", "r2n02", "login"]),
        ("n[08-11,7]", ["n08", "n09", "n10", "n11", "n7"]),
        ("n[0-6:3]x", ["n0x", "n3x", "n6x"]),
    ],
)
def test_lists_of_hosts(text: str, found: list[str]) -> None:
    assert hosts(text) == found


@pytest.mark.parametrize("text", ["n[1-", "n[1-99999999]", "n[a-b]", "n]1[", "n[1-9999]x[1-9999]"])
def test_a_list_of_hosts_that_cannot_be(text: str) -> None:
    with pytest.raises(MalformedReply):
        hosts(text)


KINDS = ("gpu", "npu")


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        pytest.param({"tres_req_str": "cpu=8,gres/gpu=16"}, 16, id="accounted for"),
        pytest.param({"tres_req_str": "cpu=8", "tres_per_job": "gres:gpu:3"}, 3, id="for the job"),
        pytest.param({"tres_per_node": "gres/gpu:h100:4"}, 8, id="for each of two nodes"),
        pytest.param({"tres_per_task": "gres/gpu=1"}, 6, id="for each of six tasks"),
        pytest.param({"tres_per_socket": "gres:gpu:2"}, 4, id="for a socket of each node"),
        pytest.param({"tres_req_str": "cpu=8"}, 0, id="none at all"),
        pytest.param({}, 0, id="not told"),
    ],
)
def test_what_a_job_asks_for_is_told_in_many_ways(
    seen: Seen, asked: dict[str, str], size: int
) -> None:
    two = {"set": True, "infinite": False, "number": 2}
    job = {"job_id": 7, "job_state": ["PENDING"], "node_count": two, "tasks": 6, **asked}
    poll = seen.look(json.dumps({"jobs": [job]}))
    assert seen.pending(poll)["", str(size)] == 1.0


def test_a_job_that_is_completing_holds_nothing(seen: Seen) -> None:
    job = {
        "job_id": 7, "job_state": ["RUNNING", "COMPLETING"], "nodes": "host-0",
        "gres_detail": [], "tres_alloc_str": "gres/gpu=4",
    }  # fmt: skip
    poll = seen.look(json.dumps({"jobs": [job]}))
    assert poll.events == []
    assert poll.refused == []


@pytest.mark.parametrize(
    ("text", "count", "indices"),
    [
        ("gpu:h100:8(S:0-1)", 8, None),
        ("gpu:4(IDX:0-1,4-5)", 4, (0, 1, 4, 5)),
        ("gpu:a100:2(IDX:0-1),gpu:v100:1(IDX:4),shard:0", 3, (0, 1, 4)),
        ("gpu:a100:0(IDX:N/A)", 0, ()),
        ("gres:gpu", 1, None),
        ("craynetwork:4", 0, ()),
        ("", 0, ()),
    ],
)
def test_generic_resources(text: str, count: int, indices: tuple[int, ...] | None) -> None:
    held = gres(text, KINDS)
    assert held is not None
    assert (held.count, held.indices) == (count, indices)


def test_resources_that_are_not_told_are_not_zero() -> None:
    assert gres("N/A", KINDS) is None
    assert tres("", KINDS) is None
    assert tres("cpu=1", KINDS) == 0
    assert tres("cpu=8,gres/gpu=64,gres/gpu:h100=64", KINDS) == 64
    assert number({"set": True, "infinite": True, "number": 5}) is None


@given(st.text(st.sampled_from("ghpu:()[]IDX0123,-/=n%"), max_size=40))
def test_any_words_of_slurm_are_read_or_malformed(text: str) -> None:
    for read in (hosts, lambda words: gres(words, KINDS), lambda words: tres(words, KINDS)):
        with suppress(MalformedReply):
            read(text)


@given(data=st.data())
def test_lists_spoiled_anywhere_lose_rows_at_most(data: st.DataObject) -> None:
    for whole in (*by_slurm(workload()), *by_kubernetes(workload())):
        words = json.loads(whole)
        rows = next(value for key, value in words.items() if key in {"jobs", "nodes", "items"})
        row = data.draw(st.sampled_from(rows))
        key = data.draw(st.sampled_from(sorted(row)))
        row[key] = data.draw(
            st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
        )
        text = json.dumps(words)
        found = kubernetes.listed(text) if "kind" in words else slurm.listing(text, KINDS)
        assert len(found.malformed) <= 1


@pytest.fixture
async def kube() -> ApiServer:
    return ApiServer(workload(), token=WORD)


def client(server: BaseTestServer, folder: Path, **options: object) -> Scheduler:
    (folder / "token").write_text(f"{WORD}\n")
    target = Target(
        "k8s", "scheduler", str(server.make_url("/")), "",
        {"secret_file": str(folder / "token")}, hall(),
    )  # fmt: skip
    return Scheduler(SchedulerSettings.model_validate(options), target, SeriesTable())


async def test_a_cluster_is_read_page_by_page(kube: ApiServer, tmp_path: Path) -> None:
    async with TestServer(kube.application()) as server:
        source = client(server, tmp_path, page_size=2)
        poll = await source.read(AT)
        await source.close()
    assert len(readings(poll, source.table, ALLOCATED)) == 16
    assert poll.missing == []
    assert sum("/pods?" in one for one in kube.asked) == 2


async def test_a_list_that_breaks_off_ends_no_job(kube: ApiServer, tmp_path: Path) -> None:
    async with TestServer(kube.application()) as server:
        source = client(server, tmp_path, page_size=2)
        await source.read(AT)
        kube.broken.add("pods")
        poll = await source.read(AT + 30)
        await source.close()
    assert poll.missing == ["pods"]
    assert poll.events == []
    assert readings(poll, source.table, ALLOCATED) == {}
    assert len(readings(poll, source.table, SCHEDULABLE)) == 4


async def test_a_cluster_without_volcano_is_asked_for_it_once_an_hour(
    kube: ApiServer, tmp_path: Path
) -> None:
    kube.lacking |= {"batch.volcano.sh", "scheduling.volcano.sh"}
    async with TestServer(kube.application()) as server:
        source = client(server, tmp_path)
        await source.read(AT)
        poll = await source.read(AT + 30)
        await source.close()
    assert poll.missing == []
    assert sum("volcano" in one for one in kube.asked) == 2


async def test_a_wrong_token_is_said_and_is_no_empty_cluster(tmp_path: Path) -> None:
    async with TestServer(ApiServer(workload(), token=WORD[::-1]).application()) as server:
        source = client(server, tmp_path)
        with pytest.raises(SourceUnavailable, match="403"):
            await source.read(AT)
        await source.close()


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


def claimed(*devices: tuple[str, str], **more: object) -> str:
    results = [{"driver": "gpu.example", "pool": pool, "device": one} for pool, one in devices]
    claim = {
        "metadata": {"name": "c1", "namespace": "train"},
        "status": {"allocation": {"devices": {"results": [{**one, **more} for one in results]}}},
    }
    return json.dumps({"kind": "ResourceClaimList", "items": [claim]})


def pod(**spec: object) -> dict[str, object]:
    return {
        "metadata": {"name": "p", "namespace": "train", "labels": {"job-name": "j"}},
        "spec": {"nodeName": "host-1", "containers": [], **spec},
        "status": {"phase": "Running"},
    }


def pods(*every: dict[str, object]) -> str:
    return json.dumps({"kind": "PodList", "items": list(every)})


def nodes(**capacity: int) -> str:
    items = [
        {
            "metadata": {"name": name.replace("_", "-")},
            "status": {
                "capacity": {"nvidia.com/gpu": str(many)},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        for name, many in capacity.items()
    ]
    return json.dumps({"kind": "NodeList", "items": items})


def test_what_a_claim_was_given_is_held_by_its_pod(seen: Seen) -> None:
    own = pod(resourceClaims=[{"name": "gpus", "resourceClaimName": "c1"}])
    claim = claimed(("host-1", "gpu-3"), ("host-1", "gpu-0"))
    poll = seen.look(nodes(host_1=4), pods(own), claim)
    (start,) = poll.events
    assert (start.scope["job"], start.more["accelerators"]) == ("train/j", ["host-1-0", "host-1-3"])
    allocated = seen.said(poll, ALLOCATED)
    assert {name for name, value in allocated.items() if value} == {"host-1-0", "host-1-3"}


def test_who_only_looks_at_a_device_does_not_hold_it(seen: Seen) -> None:
    own = pod(resourceClaims=[{"name": "gpus", "resourceClaimName": "c1"}])
    poll = seen.look(nodes(host_1=4), pods(own), claimed(("host-1", "gpu-0"), adminAccess=True))
    assert poll.events == []
    assert seen.said(poll, HOST_ALLOCATED) == {"host-1": 0.0}


def test_sharing_plugins_name_uuids(tmp_path: Path) -> None:
    topology = Topology(
        [
            Device(name="host-1", role="host"),
            *(
                Device(name=f"acc-{n}", role="accelerator", host="host-1", ids=(f"GPU-0000000{n}",))
                for n in range(2)
            ),
        ]
    )
    seen = Seen(tmp_path, topology)
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    own = pod(containers=[limits])
    own["metadata"] = {
        "name": "p", "namespace": "n",
        "annotations": {"hami.io/vgpu-devices-allocated": "GPU-00000001,NVIDIA,40960,100:;"},
    }  # fmt: skip
    poll = seen.look(nodes(host_1=2), pods(own))
    assert seen.said(poll, ALLOCATED) == {"acc-0": 0.0, "acc-1": 1.0}


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        pytest.param({"nodeName": "", "nodeSelector": {}}, 4, id="it has no node"),
        pytest.param({"nodeName": "", "schedulingGates": [{"name": "x"}]}, 0, id="it is held back"),
    ],
)
def test_pods_wait_for_room_unless_a_gate_holds_them(
    seen: Seen, spec: dict[str, object], size: int
) -> None:
    limits = {"resources": {"limits": {"nvidia.com/gpu": "4"}}}
    own = pod(containers=[limits], **spec)
    own["status"] = {"phase": "Pending"}
    poll = seen.look(pods(own))
    waits = {labels[1]: many for labels, many in seen.pending(poll).items() if many}
    assert waits == ({str(size): 1.0} if size else {})


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


async def test_a_host_without_slurm_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    source = Scheduler(SchedulerSettings(), Target("s", "scheduler"), SeriesTable())
    with pytest.raises(SourceUnavailable, match=r"\As: squeue cannot be run"):
        await source.read(AT)
