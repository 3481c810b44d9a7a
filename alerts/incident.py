"""The verdict series of an incident, for the rules that stand on them."""

from collections.abc import Mapping

from fabrichealth.catalogue.verdicts import (
    INCIDENT_ACTIVE,
    INCIDENT_INFO,
    INCIDENT_OWNER,
    INCIDENT_SILENCED,
)
from fabrichealth.kinds import Severity


def joined(severity: Severity) -> str:
    """Return the expression for open incidents of a severity, with kind, cause and owner.

    Those that an operator silenced are left out. `max by` makes it robust against the same
    exporter scraped twice; `topk` against two that are not at one about the cause or the owner of
    an incident, which would fail the rule, and with it the pages of all the others.
    """
    active = f"max by (incident, domain, culprit) ({INCIDENT_ACTIVE}) == {int(severity)}"
    facts = f"topk by (incident) (1, max by (incident, kind, cause) ({INCIDENT_INFO}))"
    told = f"({active}) unless on (incident) {INCIDENT_SILENCED}"
    open_now = f"({told}) * on (incident) group_left (kind, cause) {facts}"
    owner = f"topk by (incident) (1, max by (incident, rack, room, team) ({INCIDENT_OWNER}))"
    # rules may be newer than the daemon that tells the incident: without an owner it is told too
    owned = f"({open_now}) * on (incident) group_left (rack, room, team) {owner}"
    return f"({owned}) or (({open_now}) unless on (incident) {INCIDENT_OWNER})"


def opened(kind: str, cause: str) -> dict[str, str]:
    """Return the labels of an example incident."""
    return {
        "incident": "i7",
        "domain": "pod-a",
        "culprit": "host-001/eth0--leaf-01/Ethernet0",
        "kind": kind,
        "cause": cause,
        "rack": "r01",
        "room": "hall-2",
        "team": "fabric-east",
    }


def active(labels: Mapping[str, str]) -> str:
    """Return the example's series that says it is open."""
    return _series(str(INCIDENT_ACTIVE), {k: labels[k] for k in ("incident", "domain", "culprit")})


def info(labels: Mapping[str, str], severity: str, suppressed_by: str = "") -> str:
    """Return the example's info series."""
    facts = {k: labels[k] for k in ("incident", "kind", "cause", "culprit")}
    return _series(
        str(INCIDENT_INFO), {**facts, "severity": severity, "suppressed_by": suppressed_by}
    )


def owner(labels: Mapping[str, str]) -> str:
    """Return the example's series that says whose it is."""
    return _series(
        str(INCIDENT_OWNER), {k: labels[k] for k in ("incident", "rack", "room", "team")}
    )


def silenced(labels: Mapping[str, str], said: str) -> str:
    """Return the example's series that says that an operator wants no more of it."""
    return _series(str(INCIDENT_SILENCED), {"incident": labels["incident"], "said": said})


def _series(name: str, labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items() if value)
    return f"{name}{{{inside}}}"
