"""How good the data behind an incident is: good, partial or poor."""

from analyzer.evidence.ends import port_states
from fabrichealth.model import Incident, Port, View

RECENT = 600.0
"""A port whose evidence is this young is heard, whatever it says of its state."""


def quality(incident: Incident, view: View) -> str:
    """Return good if all ports that could bear witness speak now, poor if none does.

    Incidents that are not about links or devices rest on their own evidence: good.
    """
    links = view.topology.links
    if incident.culprit.type == "link" and incident.culprit.id in links:
        ports = list(links[incident.culprit.id].ends)
    elif incident.culprit.type == "device":
        ports = [
            end
            for link in view.topology.links_of.get(incident.culprit.id, ())
            for end in link.ends
            if end.device != incident.culprit.id
        ]
    elif incident.culprit.type == "port":
        ports = [Port.parse(incident.culprit.id)]
    else:
        return "good"
    if not ports:
        return "good"
    states = port_states(view)
    said = {
        (line.labels.get("device"), line.labels.get("port"))
        for line in incident.evidence
        if line.at > view.now - RECENT
    }
    heard = [states.says_down(port) is not None or port in said for port in ports]
    if all(heard):
        return "good"
    return "partial" if any(heard) else "poor"
