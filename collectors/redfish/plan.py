"""Plan: which requests bring every reading once, out of what a walk found.

A sensor that stands in another resource's excerpt is not asked for, nor what a metric report tells;
a report that tells nothing of ours is not either.
"""

from dataclasses import dataclass

from collectors.redfish.service import Service
from collectors.redfish.walk import Walk


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests of every visit."""

    requests: tuple[str, ...]
    wanted: frozenset[str]
    """Places that are read by them; what else comes along is left."""
    reports: frozenset[str]
    """Places of the reports that are read."""


def planned(walk: Walk, service: Service) -> Plan:
    """Return what is to be read of what a walk found; the service has learnt the tree."""
    sheet = service.sheet
    layouts = {place: sheet.read(place, body).layout for place, body in walk.tree.items()}
    telling = {place: one for place, one in layouts.items() if one.cells or one.refused}
    told = {source for one in telling.values() for source in one.sources}
    wanted = {place for place in telling if place not in told}
    reports = {}
    for place, report in walk.reports.items():
        covered = service.reported.covered(report, sheet) & wanted
        if covered:
            reports[place] = covered
    for covered in reports.values():
        wanted -= covered
    needed = wanted | reports.keys()
    requests = tuple(
        request for request, places in walk.requests.items() if not needed.isdisjoint(places)
    )
    return Plan(requests, frozenset(wanted), frozenset(reports))
