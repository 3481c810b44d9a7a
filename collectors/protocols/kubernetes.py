"""Kubernetes' lists: nodes, pods, claims and slices, and Volcano's jobs and pod groups, in part.

A list is `{"kind": "PodList", "items": [..], "metadata": {"continue": ..}}`; `kubectl get -o json`
prints a `List` whose items name their kind. (Kubernetes API v1, resource.k8s.io/v1; Volcano
batch.volcano.sh/v1alpha1, scheduling.volcano.sh/v1beta1.)
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.protocols.json_tree import document
from collectors.protocols.kubernetes_claims import Claim, Offer, claim, offer
from collectors.protocols.kubernetes_devices import accelerators, devices, quantity
from collectors.protocols.kubernetes_objects import inner, moment, objects, text, words
from fabrichealth.errors import MalformedReply


@dataclass(frozen=True, slots=True)
class KubeNode:
    """A node: whether pods are placed there, its accelerators, and its labels.

    `withheld` of them its device plugin does not offer: they are ill, or kept back. Of a `shared`
    node each accelerator is offered several times over, and all counts are of shares.
    """

    name: str
    schedulable: bool
    total: int | None
    labels: Mapping[str, str]
    withheld: int = 0
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that asks for accelerators or claims; `node` is empty while it has no place.

    `devices` are the accelerators that annotations name, by index or UUID.
    """

    namespace: str
    name: str
    job: str
    node: str
    phase: str
    size: int
    devices: tuple[str, ...]
    claims: tuple[str, ...]
    created: float | None
    started: float | None
    selector: Mapping[str, str]
    gated: bool


@dataclass(frozen=True, slots=True)
class Gang:
    """A pod group or job of Volcano: accelerators that it needs at once, and its phase."""

    namespace: str
    name: str
    job: str
    phase: str
    size: int
    created: float | None


@dataclass(slots=True)
class Listed:
    """What one reply lists; None for a kind that it is no list of."""

    nodes: list[KubeNode] | None = None
    pods: list[Pod] | None = None
    claims: list[Claim] | None = None
    gangs: list[Gang] | None = None
    offers: list[Offer] | None = None
    more: str = ""
    """Token of the next page; empty at the end."""
    malformed: list[tuple[str, str]] = field(default_factory=list)


def listed(body: bytes | str, resources: Collection[str] = ()) -> Listed:
    """Read one reply; `resources` are names of accelerators beyond those that are known.

    Raises:
        MalformedReply: no JSON, or no list of a kind that is read.
    """
    plain = document(body)
    kind = plain.get("kind") if isinstance(plain, dict) else None
    items = plain.get("items") if isinstance(plain, dict) else None
    if not isinstance(kind, str):
        raise MalformedReply("JSON, but no object of Kubernetes")
    if not isinstance(items, list):
        items = [] if items is None and kind.endswith("List") else [plain]
    found = Listed()
    own = kind.removesuffix("List")
    token = inner(plain, "metadata").get("continue")
    found.more = token if isinstance(token, str) else ""
    _begin(found, own)
    for item in items:
        row = item if isinstance(item, dict) else {}
        named = row.get("kind") or own
        _begin(found, named)
        try:
            _take(row, named, found, resources)
        except MalformedReply as wrong:
            found.malformed.append((str(named).lower(), f"{wrong}: {str(item)[:120]}"))
    lists = found.nodes, found.pods, found.claims, found.gangs, found.offers
    nothing = all(one is None for one in lists)
    if nothing and not (kind == "List" and not items):
        raise MalformedReply(f"a {kind[:40]}, which tells nothing of accelerators")
    return found


def _begin(found: Listed, kind: str) -> None:
    if kind == "Node":
        found.nodes = found.nodes or []
    elif kind == "Pod":
        found.pods = found.pods or []
    elif kind == "ResourceClaim":
        found.claims = found.claims or []
    elif kind == "ResourceSlice":
        found.offers = found.offers or []
    elif kind in {"PodGroup", "Job"}:
        found.gangs = found.gangs or []


def _take(row: Mapping[str, Any], kind: str, found: Listed, resources: Collection[str]) -> None:
    meta = inner(row, "metadata")
    name, space = text(meta, "name"), text(meta, "namespace")
    if not name:
        raise MalformedReply("an object without a name")
    if kind == "Node" and found.nodes is not None:
        found.nodes.append(_node(row, name, resources))
    elif kind == "Pod" and found.pods is not None:
        found.pods.append(_pod(row, space, name, resources))
    elif kind == "ResourceClaim" and found.claims is not None:
        found.claims.append(claim(row, space, name, resources))
    elif kind == "ResourceSlice" and found.offers is not None:
        found.offers.append(offer(row, name, resources))
    elif kind in {"PodGroup", "Job"} and found.gangs is not None:
        found.gangs += _gang(row, kind, space, name, resources)


REPLICAS = "nvidia.com/gpu.replicas"
"""Label that says how often a node offers each accelerator (gpu-feature-discovery)."""


def _node(row: Mapping[str, Any], name: str, resources: Collection[str]) -> KubeNode:
    spec, status = inner(row, "spec"), inner(row, "status")
    ready = any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in objects(status.get("conditions"))
    )
    cordoned = spec.get("unschedulable") is True
    has, offers = status.get("capacity"), status.get("allocatable")
    told = [accelerators(one, resources) for one in (has, offers) if isinstance(one, dict)]
    total = max(told, default=None)
    withheld = max(told[0] - told[-1], 0) if told else 0
    labels = words(row, "labels")
    shared = quantity(labels.get(REPLICAS)) > 1
    return KubeNode(name, ready and not cordoned, total, labels, withheld, shared)


def _pod(row: Mapping[str, Any], space: str, name: str, resources: Collection[str]) -> Pod:
    spec, status, meta = inner(row, "spec"), inner(row, "status"), inner(row, "metadata")
    main = sum(_asked(one, resources) for one in objects(spec.get("containers")))
    first = [_asked(one, resources) for one in objects(spec.get("initContainers"))]
    claims = {text(one, "resourceClaimName") for one in objects(spec.get("resourceClaims"))} | {
        text(one, "resourceClaimName") for one in objects(status.get("resourceClaimStatuses"))
    }
    notes = words(row, "annotations")
    return Pod(
        space,
        name,
        _job_of(space, name, meta),
        text(spec, "nodeName"),
        text(status, "phase"),
        max([main, *first]),
        devices(notes),
        tuple(sorted(claims - {""})),
        moment(meta.get("creationTimestamp")),
        moment(status.get("startTime")),
        words(spec, "nodeSelector", inside=""),
        bool(spec.get("schedulingGates")),
    )


JOB_LABELS = (
    "volcano.sh/job-name", "training.kubeflow.org/job-name", "jobset.sigs.k8s.io/jobset-name",
    "ray.io/cluster", "batch.kubernetes.io/job-name", "job-name",
)  # fmt: skip
"""Labels that name the job of a pod, the outermost first."""

LEADER_WORKER_SET = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"
"""Labels of a set and of one group of it: groups are replicas, and each is a job."""

MADE_BY_VOLCANO = "podgroup-"
"""Begins the names of the pod groups that Volcano makes for pods which are there already."""

INDEPENDENT = frozenset({"ReplicaSet", "ReplicationController", "DaemonSet", "Node", "Pod"})
"""Owners whose pods do not wait for one another: each is a job of its own."""


def _job_of(space: str, name: str, meta: Mapping[str, Any]) -> str:
    labels, notes = words({"metadata": meta}, "labels"), words({"metadata": meta}, "annotations")
    for label in JOB_LABELS:
        if found := labels.get(label):
            return f"{space}/{found}"
    replicas, group = (labels.get(one) for one in LEADER_WORKER_SET)
    if replicas and group:
        return f"{space}/{replicas}-{group}"
    group = notes.get("scheduling.k8s.io/group-name", "")
    if group and not group.startswith(MADE_BY_VOLCANO):
        return f"{space}/{group}"
    for owner in objects(meta.get("ownerReferences")):
        if owner.get("controller") is True and owner.get("kind") not in INDEPENDENT:
            return f"{space}/{text(owner, 'name') or name}"
    return f"{space}/{name}"


def _gang(
    row: Mapping[str, Any], kind: str, space: str, name: str, resources: Collection[str]
) -> list[Gang]:
    """Return what a pod group or a job of Volcano asks for; a plain Job says it by its pods.

    So do pods for which Volcano made a group by itself, which stays behind when they are gone.
    """
    spec, status, meta = inner(row, "spec"), inner(row, "status"), inner(row, "metadata")
    created = moment(meta.get("creationTimestamp"))
    if kind == "PodGroup":
        if name.startswith(MADE_BY_VOLCANO):
            return []
        size = accelerators(inner(spec, "minResources"), resources)
        owners = [one for one in objects(meta.get("ownerReferences")) if one.get("controller")]
        own = (text(one, "name") for one in owners if one.get("kind") not in INDEPENDENT)
        job = next(own, "") or name
        return [Gang(space, name, f"{space}/{job}", text(status, "phase"), size, created)]
    if not isinstance(tasks := spec.get("tasks"), list):
        return []
    size = 0
    for task in objects(tasks):
        template = inner(inner(task, "template"), "spec")
        each = sum(_asked(one, resources) for one in objects(template.get("containers")))
        size += each * quantity(task.get("replicas", 1))
    phase = text(inner(status, "state"), "phase")
    return [Gang(space, name, f"{space}/{name}", phase, size, created)]


def _asked(container: Mapping[str, Any], resources: Collection[str]) -> int:
    """Return the accelerators of one container; limits and requests of them are equal."""
    asked = inner(container, "resources")
    return accelerators(asked.get("limits"), resources) or accelerators(
        asked.get("requests"), resources
    )
