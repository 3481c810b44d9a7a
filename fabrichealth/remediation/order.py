"""What a remediator is asked to do: take one thing out of service, because of one incident."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """A host that an incident's culprit is, or that holds it, and whether it may be drained."""

    name: str
    safe: bool
    because: str
    safe_for_new: bool
    """Whether it may be closed to new jobs, those that run on it left to end."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An open incident whose culprit could be drained, as the drain plan judges it now."""

    incident: str
    kind: str
    severity: str
    culprit_type: str
    culprit: str
    because: str
    """Why it is an incident."""
    action: str
    page: str
    """Address of the incident on our page."""
    safe: bool
    safe_because: str
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """One thing to be drained, and why that is safe."""

    incident: str
    kind: str
    severity: str
    culprit_type: str
    culprit: str
    because: str
    action: str
    page: str
    safe_because: str
    node: str = ""
    """The host, for those who drain hosts."""
    at: float = 0.0
    """When it was given first (unix seconds); the same at each attempt."""

    @property
    def key(self) -> str:
        """What is one order, however often it is given."""
        return f"{self.incident}/{self.node}" if self.node else self.incident

    def to_json(self) -> dict[str, Any]:
        """Return it as it is kept and sent."""
        return asdict(self)


def order_of(candidate: Candidate, safe_because: str, node: str = "") -> Order:
    """Return the order for a candidate's culprit, or for one of its hosts."""
    one = candidate
    return Order(
        one.incident, one.kind, one.severity, one.culprit_type, one.culprit, one.because,
        one.action, one.page, safe_because, node,
    )  # fmt: skip
