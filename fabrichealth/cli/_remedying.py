"""What may be drained by itself now, for remediators: the drain plan's yes, and hosts behind it."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aiohttp import web

from analyzer.incidents.capacity import Live, links_behind, live
from analyzer.incidents.draining import Jobs, judgement, running
from analyzer.incidents.explaining import jobs_running
from analyzer.ledger import UNREADABLE, to_incident
from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._draining import drain_plan
from fabrichealth.cli._incidents import events_of
from fabrichealth.events import Event
from fabrichealth.model import Incident, Place
from fabrichealth.remediation.order import Candidate, Node
from fabrichealth.remediation.remedies import Remedies
from fabrichealth.runtime.alertmanager import page_of
from fabrichealth.topology import Topology
from fabrichealth.web.server import Route

log = logging.getLogger("remedies")

EVERY = 15.0
"""Seconds between two looks at what may be drained."""

TOLD = frozenset({"page", "ticket"})


class Remedying:
    """Asks the remediators of a site for what is safe, until cancelled."""

    def __init__(self, collecting: Collecting, remedies: Remedies) -> None:
        self._collecting = collecting
        self._remedies = remedies

    async def run(self, every: float = EVERY) -> None:
        """Look, give orders and take them back, again and again."""
        await self._collecting.judging.wait()  # until then they are those of yesterday
        while True:
            try:
                await self._step()
            except Exception:
                log.exception("remedies: failed; tried again in %g s", every)
            await asyncio.sleep(every)

    async def _step(self) -> None:
        collecting = self._collecting
        known = list(collecting.incidents.values())
        open_now = [one for one in known if one["closed_at"] is None]
        events = [] if collecting.journal is None else events_of(collecting.journal)
        found = await asyncio.to_thread(
            candidates,
            open_now,
            collecting.poller.inventory.topology,
            events,
            collecting.setup.site.policy.capacity_floor,
            collecting.setup.site.external_url,
            [one["order"]["node"] for one in self._remedies.standing if not one["dry_run"]],
        )
        await self._remedies.step(found, not_over(open_now))

    def routes(self) -> list[Route]:
        """Return the handler of what stands."""
        return [Route("GET", "/api/v1/remedies", self._standing)]

    async def _standing(self, request: web.Request) -> web.Response:
        """Answer which orders stand, dry runs as well."""
        return web.json_response({"data": self._remedies.standing})


def candidates(
    incidents: Sequence[Mapping[str, Any]],
    topology: Topology,
    events: Sequence[Event],
    floor: float,
    external_url: str,
    out: Iterable[str] = (),
) -> list[Candidate]:
    """Return what a remediator may be asked for, the most worthwhile first.

    `out` are hosts that remediators hold drained. Each host is judged with those before it drained,
    as the steps of the plan are. Incidents that somebody is at, that were called false or are
    suppressed, are left to people.
    """
    asked = {
        one["incident"]: one
        for one in incidents
        if one["severity"] in TOLD
        and one["suppressed_by"] is None
        and not (one.get("operator") or {}).get("silent")
    }
    jobs = running(jobs_running(events).items(), topology)
    now = live(topology, _readable(incidents), events)
    for name in filter(None, out):
        _drain(Place("device", name), now, topology)
    found = []
    for row in drain_plan(incidents, topology, events, floor):
        incident = asked.get(row["incident"])
        if incident is None:
            continue
        culprit = Place(row["culprit"]["type"], row["culprit"]["id"])
        found.append(
            Candidate(
                row["incident"], row["kind"], row["severity"], culprit.type, culprit.id,
                incident["because"], row["action"], page_of(external_url, row["incident"]),
                row["safe"], row["because"], _nodes(culprit, now, topology, jobs, floor),
            )
        )  # fmt: skip
    return found


def _drain(host: Place, now: Live, topology: Topology) -> None:
    for link in links_behind(host, topology):
        now.lose(link)
        now.drained.add(link)


def not_over(open_now: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the incidents for which what was drained stays out: all but those called false.

    One that is excused since (a boot, maintenance) is not over: a host that came back by itself
    waits for the hold-down as well, and nobody's work on it is cut short by its return.
    """
    return {one["incident"] for one in open_now if not _called_false(one)}


def _called_false(incident: Mapping[str, Any]) -> bool:
    word = incident.get("operator") or {}
    return bool(word.get("silent")) and word.get("says") == "false"


def _readable(incidents: Iterable[Mapping[str, Any]]) -> list[Incident]:
    found = []
    for one in incidents:
        try:
            found.append(to_incident(one))
        except UNREADABLE:  # of a version that knew other kinds
            continue
    return found


def _nodes(
    culprit: Place, now: Live, topology: Topology, jobs: Jobs, floor: float
) -> tuple[Node, ...]:
    """Return the host that a device is or sits in; of a link or a port none: those drain alone."""
    row = topology.devices.get(culprit.id) if culprit.type == "device" else None
    if row is None or row.role not in {"host", "accelerator", "nic"}:
        return ()
    name = row.name if row.role == "host" else row.host
    host = Place("device", name)
    whole = judgement(host, now, topology, jobs, floor) if name else None
    free = judgement(host, now, topology, {}, floor) if name else None
    if whole is None or free is None:
        return ()
    if free.safe:
        _drain(host, now, topology)
    because = whole.because if whole.safe else free.because
    return (Node(name, whole.safe, because, free.safe),)
