"""Slowing: what is ill of a machine that holds back its job, so that the job's wait has a name.

A straggler is found by comparison, so it is the last to be accused: a link of it that stumbles, a
port that stops its switch, the rack's cap, a failed supply, a feed that is lost or overloaded,
interrupts on the wrong node, a full uplink of a switch whose rail is slow, or bad contact to the
cold plate say why it lags, and it is their victim. (What cools explains it too, see `chain`; an odd
firmware lists its victims itself.)
"""

from analyzer.incidents.chain import UPSTREAM, Ill, follows, racks_of
from fabrichealth.kinds import (
    COOLING_THERMAL_CONTACT,
    DOMAIN_STRAGGLER,
    FABRIC_HOT_LINK,
    HOST_IRQ_MISPLACED,
    LINK_DEGRADED_SPEED,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    PFC_SLOW_RECEIVER,
    PFC_STORM,
    POWER_CAPPED,
    POWER_FEED_LOST,
    POWER_OVERLOAD,
    POWER_SUPPLY_FAILED,
)
from fabrichealth.model import Place
from fabrichealth.topology import Topology

SLOW_LINK = frozenset({LINK_DOWN, LINK_FLAPPING, LINK_DEGRADED_SPEED, LINK_SUBHEALTHY})
SLOW_PORT = frozenset({PFC_SLOW_RECEIVER, PFC_STORM})
SLOW_RACK = frozenset({POWER_CAPPED, POWER_SUPPLY_FAILED, POWER_FEED_LOST, POWER_OVERLOAD})
SLOW_DEVICE = frozenset({HOST_IRQ_MISPLACED, COOLING_THERMAL_CONTACT})

SLOW_RAIL = frozenset({FABRIC_HOT_LINK})
"""Kinds that slow whoever hangs on a switch; a host that fills its own link is at work."""

SLOWING = SLOW_LINK | SLOW_PORT | SLOW_RACK | SLOW_DEVICE | SLOW_RAIL
"""Kinds that explain a straggler at the same machine."""

SLACK = 900.0
"""Seconds by which a straggler may seem to come first: it shows at once, its cause is proven later
(a cap by its flatness, a link by its bits)."""


def accounts_for(cause: Ill, ill: Ill, topology: Topology) -> bool:
    """Return whether what is ill somewhere follows from a cause upstream, or slows its machine."""
    if ill.kind is DOMAIN_STRAGGLER and slows(cause, ill, topology):
        return True
    return cause.kind in UPSTREAM and follows(cause, ill, topology)


def slows(cause: Ill, straggler: Ill, topology: Topology) -> bool:
    """Return whether what is ill somewhere explains who holds back a job."""
    if cause.kind not in SLOWING or straggler.since < cause.since - SLACK:
        return False
    if cause.kind in SLOW_RACK:
        return topology.rack_of(straggler.culprit.id) in racks_of(cause.culprit, topology)
    row = topology.devices.get(straggler.culprit.id)
    if cause.kind in SLOW_RAIL and (row is None or row.role != "switch"):
        return False
    machine = machine_of(straggler.culprit, topology)
    return not machine.isdisjoint(topology.devices_of(cause.culprit))


def machine_of(place: Place, topology: Topology) -> set[str]:
    """Return a device, the host that holds it and the NICs there; of a host what it holds too.

    One accelerator of a host is not slowed by another's links.
    """
    row = topology.devices.get(place.id)
    host = row.host if row is not None and row.host else place.id
    nics = {
        name
        for name in topology.hosted.get(host, ())
        if topology.devices[name].role == "nic"
    }  # fmt: skip
    return {place.id, host, *nics, *(topology.hosted.get(host, ()) if host == place.id else ())}
