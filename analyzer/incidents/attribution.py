"""Attribution: whose part of a link is ill, and why, by all that was ever seen of it together.

Kinds take over from each other while an incident grows: light falls first, errors follow, the
link drops. What each has shown stays, and speaks jointly for cause and side; the gravest kind
alone would forget the rest.
"""

from collections.abc import Sequence

from analyzer.evidence.causes.signs import joined
from analyzer.evidence.causes.weighing import diagnose_link
from analyzer.incidents.claims import Claim
from analyzer.incidents.context import context_signs
from fabrichealth.events import Event
from fabrichealth.model import Incident
from fabrichealth.topology import Topology


def attribute(
    incident: Incident, claim: Claim, topology: Topology, events: Sequence[Event], *, leads: bool
) -> None:
    """Set side, direction, lane, causes and forecast of an incident that a claim adds to.

    `leads`: the claim names the incident. One that does not still bears witness.
    """
    link = topology.links.get(incident.culprit.id)
    signs = [one.signs for one in claim.findings if one.signs]
    lead = claim.lead
    heard = (lead, *claim.findings)
    if leads:
        incident.forecast = next((one.forecast for one in heard if one.forecast), None)
    if link is None or not (signs or incident.signs):
        if leads:
            incident.side = str(lead.side) if lead.side else None
            incident.direction, incident.lane = lead.direction, lead.lane
            incident.causes = dict(lead.causes) if claim.kind.causes else {}
    else:
        incident.signs = joined([incident.signs, *signs])
        context = context_signs(link, incident.opened_at, events, topology)
        found = diagnose_link(joined([incident.signs, context]), link)
        incident.causes = dict(found.causes)
        incident.side = str(found.side) if found.side else None
        incident.direction = found.direction
        lane = next((one.lane for one in heard if one.lane is not None), None)
        incident.lane = lane if lane is not None else incident.lane
    incident.cause = max(incident.causes, key=lambda c: incident.causes[c], default=None)
