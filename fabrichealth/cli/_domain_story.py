"""A domain told as text: what holds it back, in order of share, and what cannot be known of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabrichealth import narrative
from fabrichealth.catalogue.accelerators import (
    ACCELERATOR_INFO,
    ALLOCATED,
    CLOCK,
    TENSOR_ACTIVE,
    THROTTLED,
    UTILIZATION,
)
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE
from fabrichealth.catalogue.devices import IRQ_REMOTE
from fabrichealth.catalogue.ports import TRANSMIT_WAIT, TX_BYTES
from fabrichealth.catalogue.verdicts import DOMAIN_ACCELERATORS, DOMAIN_LOST
from fabrichealth.cli._newest import Newest
from fabrichealth.metric import Metric

MOST_INCIDENTS = 8

NEEDS: tuple[tuple[tuple[Metric, ...], str], ...] = (
    ((UTILIZATION,), "how busy anything is"),
    ((TENSOR_ACTIVE,), "whether what is busy works or spins"),
    ((ALLOCATED,), "whether what idles is held, free or reserved"),
    ((THROTTLED,), "what power caps and heat take"),
    ((CLOCK,), "whether one runs slower than its peers"),
    ((TX_BYTES,), "whether a rail is slow, or few paths carry most"),
    ((PFC_RX_PAUSE, TRANSMIT_WAIT), "whether the fabric makes them wait"),
    ((IRQ_REMOTE,), "whether ports are served on the wrong NUMA node"),
    ((ACCELERATOR_INFO,), "whether drivers differ"),
)
"""What each question needs: any of these, read from anybody."""

NEVER = "how much of the gaps is input, host code or checkpoints: no reading tells"


@dataclass(frozen=True)
class DomainNow:
    """What is known of a domain now."""

    name: str
    at: float
    accelerators: int
    lost: Sequence[tuple[str, float]]
    """What takes time and its share, the largest first."""
    incidents: Sequence[Mapping[str, Any]]
    """Open ones of this domain, the gravest first."""
    unknown: Sequence[str]
    """Questions that nothing which is read can answer."""

    @property
    def worked(self) -> float:
        """Share of the time of the whole inventory in which nothing is known to be lost."""
        return max(1.0 - sum(share for _, share in self.lost), 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as one object."""
        return {
            "domain": self.name,
            "at": self.at,
            "accelerators": self.accelerators,
            "worked": self.worked,
            "lost": [{"by": by, "share": share} for by, share in self.lost],
            "incidents": [one["incident"] for one in self.incidents],
            "unknown": list(self.unknown),
        }


def domain_now(
    name: str, newest: Newest, incidents: Sequence[Mapping[str, Any]]
) -> DomainNow | None:
    """Return what is known of a domain; None where nothing is told of such a one."""
    bands = newest.of(DOMAIN_ACCELERATORS, domain=name)
    if not bands:
        return None
    at = max(one.at for one in bands)
    lost = [
        (one.labels["by"], one.value)
        for one in newest.of(DOMAIN_LOST, domain=name)
        if one.at >= at and one.value > 0
    ]
    ranks = {"page": 0, "ticket": 1, "watch": 2, "info": 3}
    open_now = [
        one
        for one in incidents
        if one["domain"] == name and one["closed_at"] is None and one["suppressed_by"] is None
    ]
    return DomainNow(
        name,
        at,
        round(sum(one.value for one in bands if one.at >= at)),
        sorted(lost, key=lambda pair: (-pair[1], pair[0])),
        sorted(open_now, key=lambda one: (ranks[one["severity"]], one["opened_at"])),
        [says for needs, says in NEEDS if not any(newest.of(one, limit=1) for one in needs)],
    )


def story(now: DomainNow) -> str:
    """Return it for a person, in under 40 lines."""
    lines = [
        f"{now.name}  {now.accelerators} accelerators, {now.worked:.0%} of their time is worked",
        f"as of      {narrative.moment(now.at)}",
    ]
    lines += _listed("held back", [f"{share:6.1%}  {by}" for by, share in now.lost], "by nothing")
    shown = [_headed(one) for one in now.incidents[:MOST_INCIDENTS]]
    if len(now.incidents) > MOST_INCIDENTS:
        shown.append(f"and {len(now.incidents) - MOST_INCIDENTS} more; see status")
    lines += _listed("open", shown, "nothing")
    lines += _listed("not known", [*now.unknown, NEVER], "")
    return "\n".join(lines)


def _headed(one: Mapping[str, Any]) -> str:
    where = f"{one['kind']} {one['culprit']['id']}"
    return f"{one['severity']} {one['incident']} {where}: {one['because']}"


def _listed(head: str, rows: Sequence[str], empty: str) -> list[str]:
    first, *others = rows or [empty]
    return [f"{head:10} {first}", *(f"{'':10} {row}" for row in others)]
