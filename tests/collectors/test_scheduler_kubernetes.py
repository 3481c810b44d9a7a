"""Kubernetes' own words: claims, annotations and gates, and its API page by page."""

import json
from pathlib import Path

import pytest
from aiohttp.test_utils import BaseTestServer, TestServer

from analyzer.evidence.domain.jobs import jobs
from collectors.source import Target
from collectors.sources.scheduler import Scheduler, SchedulerSettings
from emulator.scheduling.kubernetes import ApiServer
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED, SCHEDULABLE
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Reason, SeriesTable
from fabrichealth.topology import Device, Topology
from tests.collectors.schedulers import AT, Seen, hall, workload
from tests.fixtures import readings

WORD = "open-sesame"


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


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


def asking(name: str, node: str, many: int, owner: str = "Job") -> dict[str, object]:
    """Return a pod of owner `train` that runs on a node, or waits where that is empty."""
    return {
        "metadata": {
            "name": name, "namespace": "ml",
            "ownerReferences": [{"kind": owner, "name": "train", "controller": True}],
        },
        "spec": {
            "nodeName": node,
            "containers": [{"resources": {"limits": {"nvidia.com/gpu": str(many)}}}],
        },
        "status": {"phase": "Running" if node else "Pending"},
    }  # fmt: skip


def test_a_job_that_fills_a_host_has_all_that_it_has(seen: Seen) -> None:
    every = [asking("a", "host-1", 2), asking("b", "host-1", 2), asking("c", "host-2", 1)]
    (start,) = seen.look(nodes(host_1=4, host_2=4), pods(*every)).events
    assert start.more["accelerators"] == [f"host-1-{n}" for n in range(4)]
    assert start.more["size"] == 5
    assert start.more["hosts"] == ["host-1", "host-2"]  # which of the second is not told


def test_two_jobs_that_fill_a_host_together_have_nobody_knows_which(seen: Seen) -> None:
    every = asking("a", "host-1", 2), asking("b", "host-1", 2, "ReplicaSet")
    events = seen.look(nodes(host_1=4), pods(*every)).events
    assert [one.more["accelerators"] for one in events] == [[], []]


def test_replicas_do_not_wait_for_one_another(seen: Seen) -> None:
    every = [asking(name, "host-1", 2, "ReplicaSet") for name in "ab"]
    poll = seen.look(nodes(host_1=4), pods(*every, asking("c", "", 2, "ReplicaSet")))
    assert [(one.kind, one.scope["job"], one.more["size"]) for one in poll.events] == [
        ("job_start", "ml/a", 2), ("job_start", "ml/b", 2), ("job_pending", "ml/c", 2),
    ]  # fmt: skip


def test_a_pod_group_says_the_same_demand_in_two_ways(seen: Seen) -> None:
    group = {
        "metadata": {"name": "g", "namespace": "ml"},
        "spec": {"minResources": {"nvidia.com/gpu": "16", "requests.nvidia.com/gpu": "16"}},
        "status": {"phase": "Pending"},
    }
    poll = seen.look(json.dumps({"kind": "PodGroupList", "items": [group]}))
    assert seen.pending(poll) == {("", "0"): 0.0, ("", "16"): 1.0}


def test_what_a_node_does_not_offer_is_not_free(seen: Seen) -> None:
    two = json.loads(nodes(host_1=4, host_2=4))
    two["items"][0]["status"]["allocatable"] = {"nvidia.com/gpu": "3"}
    poll = seen.look(json.dumps(two), pods())
    assert seen.said(poll, ALLOCATED) == {f"host-2-{n}": 0.0 for n in range(4)}
    assert seen.said(poll, HOST_ALLOCATED) == {"host-2": 0.0}
    assert [(one.reason, one.what) for one in poll.refused] == [(Reason.UNSUPPORTED, "allocatable")]


def test_pods_that_a_running_job_gives_up_wait_no_more(seen: Seen) -> None:
    first, second = asking("a", "host-1", 4), asking("b", "", 4)
    events = [
        event
        for n, every in enumerate([(first,), (first, second), (first,), (first,)])
        for event in seen.look(nodes(host_1=4), pods(*every), at=AT + 30 * n).events
    ]
    assert [one.kind for one in events] == ["job_start", "job_pending", "job_pending"]
    told = jobs(events)
    assert told.waiting == ()
    assert [job.name for job in told.running(AT + 100)] == ["ml/train"]


def test_pods_for_which_there_is_no_node_wait_for_no_room(seen: Seen) -> None:
    own = asking("a", "", 4)
    own["spec"] = {**own["spec"], "nodeSelector": {"generation": "next"}}  # type: ignore[dict-item]  # written above
    assert seen.pending(seen.look(nodes(host_1=4), pods(own))) == {("", "0"): 0.0}


@pytest.mark.parametrize(
    "empty", ['{"kind": "List", "items": []}', '{"kind": "List", "items": null}']
)
def test_an_empty_list_of_kubectl_is_a_list_of_nothing(seen: Seen, empty: str) -> None:
    poll = seen.look(empty, nodes(host_1=4))
    assert seen.said(poll, SCHEDULABLE) == {"host-1": 1.0}
    assert poll.refused == []
