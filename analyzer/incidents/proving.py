"""Proving: how long a link must carry bits without an error before it may be trusted again.

With no error in n bits the error ratio is below ln 20 / n with 95 % confidence, so a link that
claims a limit must carry ln 20 / limit bits: 3.0e14 for 1e-14, 12.5 min at 400 Gb/s (detection
reference, A3 and B5).
"""

import math

from analyzer.evidence.link.built import facts_of
from analyzer.evidence.link.limits import Quantity, limits_of
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DEGRADED_SPEED, LINK_DOWN, OPTICS_DEGRADING, OPTICS_OVERHEATING
from fabrichealth.model import Incident, Proof
from fabrichealth.topology import Link, Topology

CONFIDENT = math.log(20.0)
"""Bits times limit that show the limit with 95 % confidence, without an error."""

NEEDS_NONE = frozenset({LINK_DEGRADED_SPEED, OPTICS_DEGRADING, OPTICS_OVERHEATING})
"""Kinds in which no bit was lost: what must come back is speed, light or cold."""


def proof(incident: Incident, topology: Topology, returned: Event | None) -> Proof | None:
    """Return the error-free window of an incident's link; None where none can be told.

    `returned` is the last repair or return to service. The window counts from there, or from
    the last error if that is later.
    """
    link = topology.links.get(incident.culprit.id)
    if link is None or not link.speed_gbps:
        return None
    if incident.kind in NEEDS_NONE or not incident.kind.causes:
        return None
    limit = claimed(link, topology)
    if limit is None:
        return None
    bits = CONFIDENT / limit
    clean = max(incident.last_seen, returned.at) if returned is not None else None
    if clean is None and incident.kind is not LINK_DOWN:
        clean = incident.last_seen
    return Proof(limit, bits, bits / (link.speed_gbps * 1e9), clean)


def claimed(link: Link, topology: Topology) -> float | None:
    """Return the error limit of what a link loses for good; None if its technology has none."""
    devices = [topology.devices.get(end.device) for end in link.ends]
    silicon = next((one.silicon for one in devices if one and one.silicon), "")
    limits = limits_of(facts_of(link, silicon))
    band = limits.bands.get(Quantity.SYMBOL) if limits else None
    return band.error if band else None
