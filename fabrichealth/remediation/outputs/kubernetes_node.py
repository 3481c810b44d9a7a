"""A condition on a Kubernetes node: `PATCH /api/v1/nodes/NAME/status`.

The condition is true while the node has a fabric problem, as node-problem-detector's are; what
drains nodes (a remediation operator, a descheduler) acts on it. A strategic merge patch merges
conditions by their type, so that those of others stay. The service account needs `patch` on
`nodes/status` and nothing else.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from pydantic import Field

from fabrichealth.config import Receiver
from fabrichealth.remediation.order import Candidate, Order, order_of
from fabrichealth.remediation.remediator import LeftAlone, Remediator, RemedySettings
from fabrichealth.runtime.peer import Peer, PeerError
from fabrichealth.target_rows import Address, File

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MERGE = {"Content-Type": "application/strategic-merge-patch+json"}

GONE = 404

LONGEST = 1024
"""Letters of a message."""


class KubernetesSettings(RemedySettings, Receiver):
    """Where the API server is, and as whom we ask it; by default as a pod's own account."""

    url: Address = "https://kubernetes.default.svc"
    secret_file: File | None = ACCOUNT / "token"
    ca_file: File | None = ACCOUNT / "ca.crt"
    condition: str = Field(default="FabricProblem", pattern="^[A-Za-z][A-Za-z0-9]*$")
    """Type of the condition."""


class KubernetesNode(Remediator[KubernetesSettings]):
    """Sets a condition on the nodes of a cluster."""

    settings_type = KubernetesSettings

    def __init__(self, settings: KubernetesSettings) -> None:
        super().__init__(settings)
        self._peer = Peer.of(settings)

    @property
    def name(self) -> str:
        """Who it is."""
        return f"kubernetes_node {self._peer.shown}"

    def orders(self, candidate: Candidate) -> Iterable[Order]:
        """Yield the hosts of the culprit that may be drained now, jobs and all."""
        for node in candidate.nodes:
            if node.safe:
                yield order_of(candidate, node.because, node.name)

    def says(self, order: Order) -> str:
        """Return the request."""
        return self._says(order, "True", order.kind)

    def says_undo(self, order: Order) -> str:
        """Return the request."""
        return self._says(order, "False", "closed")

    def _says(self, order: Order, status: str, why: str) -> str:
        where = f"{self._peer.shown}{_path(order.node)}"
        return f"PATCH {where} condition {self.settings.condition}={status} ({why})"

    async def apply(self, order: Order) -> None:
        """Say that the node has a problem."""
        reason = "".join(word.capitalize() for word in order.kind.replace("_", ".").split("."))
        message = f"{order.incident} {order.kind}: {order.because} {order.page}"
        try:
            await self._patch(order.node, "True", reason, message)
        except PeerError as wrong:
            if wrong.status == GONE:
                raise LeftAlone(f"{order.node} is no node of this cluster ({wrong})") from None
            raise

    async def undo(self, order: Order) -> None:
        """Say that it has none any more; a node that was removed meanwhile has none."""
        try:
            await self._patch(order.node, "False", "IncidentClosed", f"{order.incident} closed")
        except PeerError as wrong:
            if wrong.status != GONE:
                raise

    async def _patch(self, node: str, status: str, reason: str, message: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = {
            "type": self.settings.condition, "status": status, "reason": reason,
            "message": message[:LONGEST], "lastHeartbeatTime": now, "lastTransitionTime": now,
        }  # fmt: skip
        body = {"status": {"conditions": [condition]}}
        await self._peer.ask("PATCH", _path(node), body, MERGE)


def _path(node: str) -> str:
    return f"/api/v1/nodes/{quote(node, safe='')}/status"
