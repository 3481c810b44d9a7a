"""Kubernetes' lists: nodes, pods, resource claims, and Volcano's jobs and pod groups, in part.

A list is `{"kind": "PodList", "items": [..], "metadata": {"continue": ..}}`; `kubectl get -o json`
prints a `List` whose items name their kind. (Kubernetes API v1, resource.k8s.io/v1; Volcano
batch.volcano.sh/v1alpha1, scheduling.volcano.sh/v1beta1.)
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from collectors.protocols.json_tree import document
from collectors.protocols.kubernetes_devices import accelerators, devices, quantity
from fabrichealth.errors import MalformedReply


@dataclass(frozen=True, slots=True)
class KubeNode:
    """A node: whether pods are placed there, its accelerators, and its labels.

    `withheld` of them its device plugin does not offer: they are ill, or kept back.
    """

    name: str
    schedulable: bool
    total: int | None
    labels: Mapping[str, str]
    withheld: int = 0


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
class Claim:
    """A resource claim: what it got, as (node, device) where the pool is a node's name."""

    namespace: str
    name: str
    devices: tuple[tuple[str, str], ...]


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
    token = _object(plain, "metadata").get("continue")
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
    nothing = all(one is None for one in (found.nodes, found.pods, found.claims, found.gangs))
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
    elif kind in {"PodGroup", "Job"}:
        found.gangs = found.gangs or []


def _take(row: Mapping[str, Any], kind: str, found: Listed, resources: Collection[str]) -> None:
    meta = _object(row, "metadata")
    name, space = _text(meta, "name"), _text(meta, "namespace")
    if not name:
        raise MalformedReply("an object without a name")
    if kind == "Node" and found.nodes is not None:
        found.nodes.append(_node(row, name, resources))
    elif kind == "Pod" and found.pods is not None:
        found.pods.append(_pod(row, space, name, resources))
    elif kind == "ResourceClaim" and found.claims is not None:
        found.claims.append(Claim(space, name, tuple(_allocated(row))))
    elif kind in {"PodGroup", "Job"} and found.gangs is not None:
        found.gangs += _gang(row, kind, space, name, resources)


def _node(row: Mapping[str, Any], name: str, resources: Collection[str]) -> KubeNode:
    spec, status = _object(row, "spec"), _object(row, "status")
    ready = any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in _objects(status.get("conditions"))
    )
    cordoned = spec.get("unschedulable") is True
    has, offers = status.get("capacity"), status.get("allocatable")
    told = [accelerators(one, resources) for one in (has, offers) if isinstance(one, dict)]
    total = max(told, default=None)
    withheld = max(told[0] - told[-1], 0) if told else 0
    return KubeNode(name, ready and not cordoned, total, _words(row, "labels"), withheld)


def _pod(row: Mapping[str, Any], space: str, name: str, resources: Collection[str]) -> Pod:
    spec, status, meta = _object(row, "spec"), _object(row, "status"), _object(row, "metadata")
    main = sum(_asked(one, resources) for one in _objects(spec.get("containers")))
    first = [_asked(one, resources) for one in _objects(spec.get("initContainers"))]
    claims = {_text(one, "resourceClaimName") for one in _objects(spec.get("resourceClaims"))} | {
        _text(one, "resourceClaimName") for one in _objects(status.get("resourceClaimStatuses"))
    }
    notes = _words(row, "annotations")
    return Pod(
        space,
        name,
        _job_of(space, name, meta),
        _text(spec, "nodeName"),
        _text(status, "phase"),
        max([main, *first]),
        devices(notes),
        tuple(sorted(claims - {""})),
        moment(meta.get("creationTimestamp")),
        moment(status.get("startTime")),
        _words(spec, "nodeSelector", inside=""),
        bool(spec.get("schedulingGates")),
    )


JOB_LABELS = (
    "volcano.sh/job-name", "training.kubeflow.org/job-name", "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.sigs.k8s.io/name", "ray.io/cluster", "batch.kubernetes.io/job-name",
    "job-name",
)  # fmt: skip
"""Labels that name the job of a pod, the outermost first."""

INDEPENDENT = frozenset({"ReplicaSet", "ReplicationController", "DaemonSet", "Node"})
"""Owners whose pods do not wait for one another: each is a job of its own."""


def _job_of(space: str, name: str, meta: Mapping[str, Any]) -> str:
    labels, notes = _words({"metadata": meta}, "labels"), _words({"metadata": meta}, "annotations")
    for label in JOB_LABELS:
        if found := labels.get(label):
            return f"{space}/{found}"
    if group := notes.get("scheduling.k8s.io/group-name"):
        return f"{space}/{group}"
    for owner in _objects(meta.get("ownerReferences")):
        if owner.get("controller") is True and owner.get("kind") not in INDEPENDENT:
            return f"{space}/{_text(owner, 'name') or name}"
    return f"{space}/{name}"


def _gang(
    row: Mapping[str, Any], kind: str, space: str, name: str, resources: Collection[str]
) -> list[Gang]:
    """Return what a pod group or a job of Volcano asks for; a plain Job says it by its pods."""
    spec, status, meta = _object(row, "spec"), _object(row, "status"), _object(row, "metadata")
    created = moment(meta.get("creationTimestamp"))
    if kind == "PodGroup":
        size = accelerators(_object(spec, "minResources"), resources)
        owners = [one for one in _objects(meta.get("ownerReferences")) if one.get("controller")]
        job = next((_text(one, "name") for one in owners), "") or name
        return [Gang(space, name, f"{space}/{job}", _text(status, "phase"), size, created)]
    if not isinstance(tasks := spec.get("tasks"), list):
        return []
    size = 0
    for task in _objects(tasks):
        template = _object(_object(task, "template"), "spec")
        each = sum(_asked(one, resources) for one in _objects(template.get("containers")))
        size += each * quantity(task.get("replicas", 1))
    phase = _text(_object(status, "state"), "phase")
    return [Gang(space, name, f"{space}/{name}", phase, size, created)]


def _allocated(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    allocation = _object(_object(row, "status"), "allocation")
    for one in _objects(_object(allocation, "devices").get("results")):
        if one.get("adminAccess") is not True:  # who looks at a device does not hold it
            yield _text(one, "pool"), _text(one, "device")


def _asked(container: Mapping[str, Any], resources: Collection[str]) -> int:
    """Return the accelerators of one container; limits and requests of them are equal."""
    asked = _object(container, "resources")
    return accelerators(asked.get("limits"), resources) or accelerators(
        asked.get("requests"), resources
    )


def moment(plain: Any) -> float | None:
    """Return the unix seconds of a time stamp of the API."""
    try:
        return datetime.fromisoformat(plain).timestamp() if isinstance(plain, str) else None
    except (ValueError, OverflowError):
        return None


def _object(plain: Any, key: str) -> Mapping[str, Any]:
    found = plain.get(key) if isinstance(plain, dict) else None
    return found if isinstance(found, dict) else {}


def _objects(plain: Any) -> list[Mapping[str, Any]]:
    return [one for one in plain if isinstance(one, dict)] if isinstance(plain, list) else []


def _words(plain: Mapping[str, Any], key: str, inside: str = "metadata") -> dict[str, str]:
    found = _object(_object(plain, inside) if inside else plain, key)
    return {str(name): word for name, word in found.items() if isinstance(word, str)}


def _text(plain: Mapping[str, Any], key: str) -> str:
    found = plain.get(key)
    return found if isinstance(found, str) else ""
