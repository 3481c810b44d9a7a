"""What travels: series, batches, polls, windows, findings, incidents."""

from fabrichealth.model.changes import Changes
from fabrichealth.model.finding import Evidence, Finding, Forecast
from fabrichealth.model.incident import Alternative, Change, Incident
from fabrichealth.model.owner import Owner
from fabrichealth.model.past import Past
from fabrichealth.model.place import Place, Port, link_id, place_of
from fabrichealth.model.poll import Batch, Neighbor, Poll, Reason, Refused
from fabrichealth.model.remedy import Earlier, Proof, Rung, Word
from fabrichealth.model.series import Floats, Ids, Labels, SeriesTable
from fabrichealth.model.view import View
from fabrichealth.model.window import Window, aligned

__all__ = [
    "Alternative",
    "Batch",
    "Change",
    "Changes",
    "Earlier",
    "Evidence",
    "Finding",
    "Floats",
    "Forecast",
    "Ids",
    "Incident",
    "Labels",
    "Neighbor",
    "Owner",
    "Past",
    "Place",
    "Poll",
    "Port",
    "Proof",
    "Reason",
    "Refused",
    "Rung",
    "SeriesTable",
    "View",
    "Window",
    "Word",
    "aligned",
    "link_id",
    "place_of",
]
