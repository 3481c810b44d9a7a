"""Plan: which requests bring every reading once, out of what a walk found.

A sensor that stands in another resource's excerpt is not asked for, nor what a metric report tells;
a report that tells nothing of ours is not either.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors.redfish.service import Service
from collectors.redfish.walk import Walk


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests of every visit."""

    requests: Mapping[str, frozenset[str]]
    """What each request brings: places of resources and reports; what else comes is left."""
    wanted: frozenset[str]
    """Places of the resources that are read."""
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
    brought = {request: needed.intersection(places) for request, places in walk.requests.items()}
    requests = {request: frozenset(places) for request, places in brought.items() if places}
    return Plan(requests, frozenset(wanted), frozenset(reports))
