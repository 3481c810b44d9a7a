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
from fabrichealth.catalogue.devices import HOST_ALLOCATED, JOBS_PENDING, SCHEDULABLE
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


def test_an_accelerator_of_which_several_jobs_have_shares_is_held_and_by_none_of_them(
    tmp_path: Path,
) -> None:
    cards = [
        Device(name=f"acc-{n}", role="accelerator", host="host-1", ids=(f"GPU-0000000{n}",))
        for n in range(2)
    ]
    seen = Seen(tmp_path, Topology([Device(name="host-1", role="host"), *cards]))
    sharing = []
    for name in ("a", "b"):
        own = pod(containers=[{"resources": {"limits": {"nvidia.com/gpu": "1"}}}])
        note = "GPU-00000001,NVIDIA,20480,50:;"
        own["metadata"] = {
            "name": name, "namespace": "n", "annotations": {"hami.io/vgpu-devices-allocated": note}
        }  # fmt: skip
        sharing.append(own)
    poll = seen.look(nodes(host_1=20), pods(*sharing))
    assert seen.said(poll, ALLOCATED) == {"acc-0": 0.0, "acc-1": 1.0}
    begun = [event for event in poll.events if event.kind == "job_start"]
    assert [event.more["accelerators"] for event in begun] == [[], []]


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
    assert seen.pending(seen.look(nodes(host_1=4), pods(own))) == {("pod-0", "0"): 0.0}


@pytest.mark.parametrize(
    "empty", ['{"kind": "List", "items": []}', '{"kind": "List", "items": null}']
)
def test_an_empty_list_of_kubectl_is_a_list_of_nothing(seen: Seen, empty: str) -> None:
    poll = seen.look(empty, nodes(host_1=4))
    assert seen.said(poll, SCHEDULABLE) == {"host-1": 1.0}
    assert poll.refused == []


GPUS = [("gpu.nvidia.com", "host-1", f"gpu-{n}") for n in range(2)]
CHANNEL = ("compute-domain.nvidia.com", "host-1", "channel-0")
SLICE = ("gpu.nvidia.com", "host-1", "gpu-1-mig-9-4-1")


def got(*devices: tuple[str, str, str], asked: int = 0, kind: str = "gpu.nvidia.com") -> str:
    """Return the claim `c1` by what it was given and how many of a class it asks for."""
    results = [dict(zip(("driver", "pool", "device"), one, strict=True)) for one in devices]
    request = {"name": "r", "exactly": {"deviceClassName": kind, "count": asked}}
    claim = {
        "metadata": {"name": "c1", "namespace": "ml"},
        "spec": {"devices": {"requests": [request] if asked else []}},
        "status": {"allocation": {"devices": {"results": results}}} if results else {},
    }
    return json.dumps({"kind": "ResourceClaimList", "items": [claim]})


def claiming(name: str = "a", node: str = "host-1", many: int = 0) -> dict[str, object]:
    own = asking(name, node, many)
    own["spec"] = {
        **own["spec"], "resourceClaims": [{"name": "c", "resourceClaimName": "c1"}]  # type: ignore[dict-item]  # written above
    }  # fmt: skip
    return own


@pytest.mark.parametrize(
    ("every", "claim", "held", "size"),
    [
        pytest.param([claiming(many=4)], got(CHANNEL), 4, 4, id="a channel is no accelerator"),
        pytest.param([claiming()], got(*GPUS, ("dra.net", "host-1", "eth3")), 2, 2, id="nor a NIC"),
        pytest.param([claiming(), claiming("b")], got(*GPUS), 2, 2, id="two pods share a claim"),
        pytest.param([claiming()], got(SLICE), 1, None, id="a slice is no job's accelerator"),
    ],
)
def test_only_accelerators_that_a_claim_was_given_count_and_once(
    seen: Seen, every: list[dict[str, object]], claim: str, held: int, size: int | None
) -> None:
    poll = seen.look(nodes(host_1=4), pods(*every), claim)
    assert seen.said(poll, HOST_ALLOCATED) == {"host-1": held}
    assert sum(seen.said(poll, ALLOCATED).values()) == held
    assert [one.more["size"] for one in poll.events] == ([] if size is None else [size])


def test_a_driver_that_nobody_knows_is_said_and_not_counted(seen: Seen) -> None:
    poll = seen.look(nodes(host_1=4), pods(claiming()), got(("fpga.example", "host-1", "f-0")))
    assert seen.said(poll, HOST_ALLOCATED) == {"host-1": 0.0}
    assert [one.what for one in poll.refused] == ["resourceclaims"]


def test_pods_that_wait_for_a_claim_want_what_it_asks_for(seen: Seen) -> None:
    every = claiming("a", ""), claiming("b", "")  # both of one claim
    poll = seen.look(nodes(host_1=4), pods(*every), got(asked=4))
    assert seen.pending(poll) == {("pod-0", "0"): 0.0, ("pod-0", "4"): 1.0}
    other = seen.look(nodes(host_1=4), pods(*every), got(asked=4, kind="dra.net"))
    assert seen.pending(other)["pod-0", "4"] == 0.0


def test_what_claims_hold_is_unknown_while_they_are_not_listed(seen: Seen) -> None:
    hall = nodes(host_1=4, host_2=4)
    first = seen.look(hall, pods(claiming()), got(*GPUS))
    lost = seen.look(hall, pods(claiming()), at=AT + 30)
    again = seen.look(hall, pods(claiming()), got(*GPUS), at=AT + 60)
    assert [one.kind for one in first.events] == ["job_start"]
    assert seen.said(lost, HOST_ALLOCATED) == {"host-2": 0.0}  # neither held nor free
    assert set(seen.said(lost, ALLOCATED)) == {f"host-2-{n}" for n in range(4)}
    assert lost.events == again.events == []
    assert "1 pods are not listed" in str(lost.refused[0].raw)


@pytest.mark.parametrize("how", [500, 403])
async def test_a_queue_that_is_not_read_is_neither_empty_nor_cancelled(
    kube: ApiServer, tmp_path: Path, how: int
) -> None:
    async with TestServer(kube.application()) as server:
        source = client(server, tmp_path)
        await source.read(AT)
        kube.failing = {"podgroups": how}
        lost = await source.read(AT + 30)
        kube.failing = {}
        again = await source.read(AT + 60)
        await source.close()
    assert lost.missing == ["podgroups"]
    assert readings(lost, source.table, JOBS_PENDING) == {}
    assert lost.events == again.events == []
    assert readings(again, source.table, JOBS_PENDING)["", "8"] == 1.0


async def test_a_token_that_may_list_nothing_of_volcano_loses_nothing_where_there_is_none(
    kube: ApiServer, tmp_path: Path
) -> None:
    kube.failing = {"podgroups": 403, "jobs": 403}
    kube.lacking |= {"batch.volcano.sh", "scheduling.volcano.sh"}
    async with TestServer(kube.application()) as server:
        source = client(server, tmp_path)
        poll = await source.read(AT)
        await source.close()
    assert poll.missing == []
    assert readings(poll, source.table, JOBS_PENDING)["", "8"] == 1.0


def grouped(name: str, owner: str) -> dict[str, object]:
    """Return a pod of eight that waits, in a group that Volcano made for it."""
    own = asking(name, "", 8, owner)
    group = {"scheduling.k8s.io/group-name": "podgroup-0f1e"}
    own["metadata"] = {**own["metadata"], "annotations": group}  # type: ignore[dict-item]  # written above
    return own


def test_a_group_that_volcano_made_for_pods_wants_nothing_besides_them(seen: Seen) -> None:
    group = {
        "metadata": {"name": "podgroup-0f1e", "namespace": "ml"},
        "spec": {"minResources": {"nvidia.com/gpu": "8"}},
        "status": {"phase": "Inqueue"},
    }
    listed = json.dumps({"kind": "PodGroupList", "items": [group]})
    replicas = [grouped(name, "ReplicaSet") for name in "abc"]
    assert seen.pending(seen.look(pods(*replicas), listed))["", "8"] == 3.0
    assert seen.pending(seen.look(pods(), listed))["", "8"] == 0.0  # they are gone, it stays


def test_groups_of_a_leader_worker_set_are_jobs_of_their_own(seen: Seen) -> None:
    prefix = "leaderworkerset.sigs.k8s.io"
    every = []
    for group, worker in ((0, 0), (0, 1), (1, 0), (1, 1)):
        own = asking(f"vllm-{group}-{worker}", "", 8, "StatefulSet")
        labels = {f"{prefix}/name": "vllm", f"{prefix}/group-index": str(group)}
        own["metadata"] = {**own["metadata"], "labels": labels}  # type: ignore[dict-item]  # written above
        every.append(own)
    assert seen.pending(seen.look(pods(*every)))["", "16"] == 2.0


@pytest.mark.parametrize(
    ("offered", "told"),
    [
        pytest.param(4, True, id="all that there are"),
        pytest.param(3, False, id="one fewer: which, nobody says"),
        pytest.param(16, False, id="each four times over: shares are counted"),
    ],
)
def test_what_a_host_has_and_its_scheduler_does_not_offer_as_such_is_unknown(
    seen: Seen, offered: int, told: bool
) -> None:
    every = [asking(f"p{n}", "host-1", 1, "ReplicaSet") for n in range(5 if offered > 4 else 2)]
    poll = seen.look(nodes(host_1=offered), pods(*every))
    assert (seen.said(poll, HOST_ALLOCATED) == {"host-1": 2.0}) == told
    assert seen.said(poll, ALLOCATED) == {}


def test_few_shares_of_a_node_that_says_it_shares_hold_nobody_knows_what(seen: Seen) -> None:
    hall = json.loads(nodes(host_1=16))
    hall["items"][0]["metadata"]["labels"] = {"nvidia.com/gpu.replicas": "4"}
    poll = seen.look(json.dumps(hall), pods(asking("a", "host-1", 2)))
    assert seen.said(poll, HOST_ALLOCATED) == {}


def slices(*offers: tuple[int, list[str]], tainted: str = "") -> str:
    """Return resource slices of one pool on host-1, each (generation, names of devices)."""
    items = [
        {
            "kind": "ResourceSlice",
            "metadata": {"name": f"host-1-gpu-{number}"},
            "spec": {
                "driver": "gpu.nvidia.com",
                "nodeName": "host-1",
                "pool": {"name": "host-1", "generation": generation},
                "devices": [
                    {"name": name, **({"taints": [{"key": "ill"}]} if name == tainted else {})}
                    for name in names
                ],
            },
        }
        for number, (generation, names) in enumerate(offers)
    ]
    return json.dumps({"kind": "ResourceSliceList", "items": items})


CARDS = [f"gpu-{n}" for n in range(4)]


@pytest.mark.parametrize(
    ("offered", "free"),
    [
        pytest.param(slices((1, CARDS)), 2, id="all of them"),
        pytest.param(slices((1, [*CARDS, "gpu-0-mig-9-4-1"])), 2, id="and slices of one"),
        pytest.param(slices((1, CARDS[:3]), (2, CARDS)), 2, id="an older generation too"),
        pytest.param(slices((1, CARDS), tainted="gpu-3"), None, id="one is tainted"),
        pytest.param(slices((1, CARDS[:2])), None, id="fewer than there are"),
        pytest.param(slices(), None, id="nothing is said"),
    ],
)
def test_a_node_without_a_device_plugin_offers_what_its_slices_say(
    seen: Seen, offered: str, free: int | None
) -> None:
    hall = json.loads(nodes(host_1=0))
    hall["items"][0]["status"]["capacity"] = {"cpu": "128"}
    allocated = seen.said(
        seen.look(json.dumps(hall), pods(claiming()), got(*GPUS), offered), ALLOCATED
    )
    assert allocated.get("host-1-2") == (None if free is None else 0.0)
    assert sum(value == 0.0 for value in allocated.values()) == (free or 0)
