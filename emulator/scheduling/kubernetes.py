"""A Kubernetes API on loopback: nodes, pods, and Volcano's jobs, written from its documents.

Each job has a pod on each of its hosts, owned by a job of Volcano. `ids` lets Ascend's device
plugin write which accelerators a pod was given. Lists come in pages with a token.
"""

from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from emulator.scheduling.workload import Job, Workload

Json = dict[str, Any]

RESOURCE = "huawei.com/Ascend910"


class ApiServer:
    """Serves a workload to who has the token."""

    def __init__(self, workload: Workload, *, token: str = "", ids: bool = True) -> None:
        self._load = workload
        self._token = token
        self._ids = ids
        self.asked: list[str] = []
        self.broken: set[str] = set()
        """Lists that answer 500 from their second page on."""
        self.failing: dict[str, int] = {}
        """Lists that answer with a status of failure."""
        self.lacking: set[str] = set()
        """Groups that this cluster has not."""

    def application(self) -> web.Application:
        """Return the API as an aiohttp application."""
        app = web.Application()
        app.router.add_get("/api/v1/{what}", self._answer)
        app.router.add_get("/apis/{group}/{version}/{what}", self._answer)
        app.router.add_get("/apis/{group}/{version}", self._discover)
        return app

    def lists(self) -> dict[str, Json]:
        """Return each list as a whole, by its name."""
        kinds = {"nodes": "Node", "pods": "Pod", "jobs": "Job", "podgroups": "PodGroup"}
        rows = {
            "nodes": [self._node(host) for host in self._load.hosts],
            "pods": [pod for job in self._load.jobs for pod in self._pods(job)],
            "jobs": [self._job(job) for job in self._load.jobs],
            "podgroups": [self._group(job) for job in self._load.jobs],
        }
        return {
            what: {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {}, "items": rows[what]}
            for what, kind in kinds.items()
        }

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path_qs)
        if self._token and request.headers.get("Authorization") != f"Bearer {self._token}":
            return web.json_response({"kind": "Status", "code": 403}, status=403)
        what = request.match_info["what"]
        if failure := self.failing.get(what):  # 403 comes before 404, as of the real server
            return web.json_response({"kind": "Status", "code": failure}, status=failure)
        whole = self.lists().get(what)
        if whole is None or request.match_info.get("group") in self.lacking:
            return web.json_response({"kind": "Status", "code": 404}, status=404)
        start = int(request.query.get("continue", "0"))
        if start and what in self.broken:
            return web.json_response({"kind": "Status", "code": 500}, status=500)
        size = int(request.query.get("limit", "500"))
        items = whole["items"][start : start + size]
        more = {"continue": f"{start + size}"} if start + size < len(whole["items"]) else {}
        return web.json_response({**whole, "metadata": more, "items": items})

    async def _discover(self, request: web.Request) -> web.Response:
        """Say whether the cluster has an API, which all may ask."""
        if request.match_info["group"] in {"resource.k8s.io", *self.lacking}:
            return web.json_response({"kind": "Status", "code": 404}, status=404)
        return web.json_response({"kind": "APIResourceList", "resources": []})

    def _node(self, host: str) -> Json:
        spec: Json = {"unschedulable": True} if host in self._load.drained else {}
        total = str(self._load.hosts[host])
        return {
            "metadata": {"name": host, "labels": {"kubernetes.io/hostname": host}},
            "spec": spec,
            "status": {
                "capacity": {"cpu": "128", "memory": "2Ti", RESOURCE: total},
                "allocatable": {"cpu": "127500m", RESOURCE: total},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }

    def _pods(self, job: Job) -> list[Json]:
        placed = job.placed or {"": tuple(range(job.size))}
        pods = []
        for number, (host, taken) in enumerate(placed.items()):
            notes = {"scheduling.k8s.io/group-name": f"{job.name}-group"}
            if self._ids and host:
                notes["huawei.com/AscendReal"] = ",".join(f"Ascend910-{one}" for one in taken)
            asked = {"cpu": "8", RESOURCE: str(len(taken))}
            pods.append(
                {
                    "metadata": {
                        "name": f"{job.name}-worker-{number}",
                        "namespace": "train",
                        "labels": {"volcano.sh/job-name": job.name},
                        "annotations": notes,
                        "creationTimestamp": _stamp(job.since),
                    },
                    "spec": {
                        "containers": [{"resources": {"limits": asked, "requests": asked}}],
                        **({"nodeName": host} if host else {}),
                    },
                    "status": {
                        "phase": "Running" if host else "Pending",
                        **({"startTime": _stamp(job.since)} if host else {}),
                    },
                }
            )
        return pods

    def _job(self, job: Job) -> Json:
        asked = {"resources": {"limits": {RESOURCE: str(job.size)}}}
        return {
            "metadata": _named(job, job.name),
            "spec": {"tasks": [{"replicas": 1, "template": {"spec": {"containers": [asked]}}}]},
            "status": {"state": {"phase": "Running" if job.placed else "Pending"}},
        }

    def _group(self, job: Job) -> Json:
        owner = [{"kind": "Job", "name": job.name, "controller": True}]
        return {
            "metadata": {**_named(job, f"{job.name}-group"), "ownerReferences": owner},
            "spec": {"minMember": 1, "minResources": {RESOURCE: str(job.size)}},
            "status": {"phase": "Running" if job.placed else "Inqueue"},
        }


def _named(job: Job, name: str) -> Json:
    return {"name": name, "namespace": "train", "creationTimestamp": _stamp(job.since)}


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
