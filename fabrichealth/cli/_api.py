"""The API of contract 7: incidents, links, series, a stream of incidents, and events coming in."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import orjson
from aiohttp import web

from fabrichealth import narrative
from fabrichealth.catalogue.ports import SPEED, UP
from fabrichealth.catalogue.verdicts import LINK_HEALTH, LINK_STATE, SECONDS_TO_VERDICT
from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._domain_asked import asked_of
from fabrichealth.cli._draining import drain_plan
from fabrichealth.cli._events_in import EventsIn
from fabrichealth.cli._found_out import FoundOut
from fabrichealth.cli._incidents import events_of
from fabrichealth.cli._placing import MOST_ACCELERATORS, looked, placement_rows
from fabrichealth.cli._series_asked import RECENT, series_asked
from fabrichealth.metric import Metric
from fabrichealth.model import Port
from fabrichealth.web.server import Route

STREAM_QUEUE = 1000


class Api:
    """Answers from what the collecting process holds."""

    def __init__(self, collecting: Collecting) -> None:
        self._collecting = collecting
        self._found = FoundOut()
        self._listeners: set[asyncio.Queue[dict[str, Any]]] = set()

    def routes(self) -> list[Route]:
        """Return the handlers."""
        return [
            Route("GET", "/api/v1/incidents", self._incidents),
            Route("GET", "/api/v1/links", self._links),
            Route("GET", "/api/v1/series", self._series),
            Route("GET", "/api/v1/drain-plan", self._drain_plan),
            Route("GET", "/api/v1/placements", self._placements),
            Route("GET", "/api/v1/close-watch", self._close_watch),
            Route("GET", "/api/v1/domain", self._domain),
            Route("GET", "/api/v1/stream", self._stream),
            Route("POST", "/api/v1/events", EventsIn(self._collecting).take, writes=True),
        ]

    def tell(self, incident: dict[str, Any]) -> None:
        """Hand an incident to everybody who listens; one who sleeps loses the oldest."""
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(incident)

    async def _incidents(self, request: web.Request) -> web.Response:
        if self._collecting.journal is not None:
            self._found.follow(self._collecting.journal)
        found = map(self._found.joined, self._collecting.incidents.values())
        return _rows(one for one in found if _matches(_flat(one), request.query))

    async def _links(self, request: web.Request) -> web.Response:
        rows = await asyncio.to_thread(self._link_rows)
        return _rows(row for row in rows if _matches(row, request.query))

    async def _drain_plan(self, request: web.Request) -> web.Response:
        """Answer what may be drained now, in order."""
        collecting = self._collecting
        events = [] if collecting.journal is None else events_of(collecting.journal)
        rows = await asyncio.to_thread(
            drain_plan,
            list(collecting.incidents.values()),
            collecting.poller.inventory.topology,
            events,
            collecting.setup.site.policy.capacity_floor,
        )
        return _rows(row for row in rows if _matches(_flat_step(row), request.query))

    async def _placements(self, request: web.Request) -> web.Response:
        """Answer where a job of `accelerators=N` fits, in `domain=D` or anywhere."""
        collecting = self._collecting
        number, domain = request.query.get("accelerators", ""), request.query.get("domain", "")
        if collecting.store is None or collecting.journal is None:
            raise web.HTTPNotFound(text="this daemon keeps no series; ask one started by `run`\n")
        short = number.isdecimal() and len(number) <= len(str(MOST_ACCELERATORS))
        if not short or not 0 < int(number) <= MOST_ACCELERATORS:
            raise web.HTTPBadRequest(
                text=f"accelerators= is a whole number from 1 to {MOST_ACCELERATORS:,}\n"
            )
        view = await asyncio.to_thread(
            looked,
            collecting.store,
            collecting.poller.inventory.topology,
            events_of(collecting.journal),
            collecting.clock.now(),
        )
        rows = await asyncio.to_thread(placement_rows, view, int(number), domain)
        return _rows(rows)

    async def _close_watch(self, request: web.Request) -> web.Response:
        """Answer which targets are read more often than their period, since when, and why."""
        closely = self._collecting.poller.closely
        rows = [
            {
                "source": one.source.target.source,
                "target": one.source.target.name,
                "since": one.since,
                "period_seconds": one.source.paced,
                "because": one.because,
            }
            for one in closely.close
        ]
        return _rows(row for row in rows if _matches(row, request.query))

    async def _domain(self, request: web.Request) -> web.Response:
        """Answer what became of `domain=NAME` in the last `seconds=` (a week)."""
        return _rows(await asked_of(self._collecting, request.query))

    def _link_rows(self) -> list[dict[str, Any]]:
        up, speed = self._newest(UP), self._newest(SPEED)
        states, health, wait = (
            self._of_links(metric) for metric in (LINK_STATE, LINK_HEALTH, SECONDS_TO_VERDICT)
        )
        rows = []
        for link in self._collecting.poller.inventory.topology.links.values():
            row: dict[str, Any] = {
                "link": link.id,
                "technology": link.technology,
                "medium": link.medium,
                "speed_gbps": link.speed_gbps,
            }
            for key, end in zip("ab", link.ends, strict=True):
                row[key] = str(end)
                state = up.get(end)
                row[f"{key}_up"] = None if state is None else bool(state)
                row[f"{key}_speed_bits_per_second"] = speed.get(end)
            verdict, ratio = states.get(link.id), health.get(link.id)
            row["state"] = verdict[0] if verdict else None
            row["health_ratio"] = ratio[1] if ratio else None
            left = wait.get(link.id)
            row["says"] = narrative.waiting(left[1]) if left and row["state"] == "unknown" else ""
            rows.append(row)
        return rows

    def _newest(self, metric: Metric) -> dict[Port, float]:
        store = self._collecting.store
        if store is None:
            return {}
        found = store.latest(metric, self._collecting.clock.now(), RECENT)
        return {
            Port(*store.table.labels(series)): value
            for series, value in zip(found.series.tolist(), found.values.tolist(), strict=True)
        }

    def _of_links(self, metric: Metric) -> dict[str, tuple[str, float]]:
        """Return (last label, value) of a verdict metric for each link as a whole, newest last."""
        store = self._collecting.store
        if store is None:
            return {}
        found = store.latest(metric, self._collecting.clock.now(), RECENT)
        side = metric.labels.index("side")
        rows: dict[str, tuple[str, float]] = {}
        for place in np.argsort(found.at, kind="stable").tolist():
            labels = store.table.labels(int(found.series[place]))
            if not labels[side]:
                rows[labels[0]] = labels[-1], float(found.values[place])
        return rows

    async def _series(self, request: web.Request) -> web.Response:
        """Answer `metric=NAME` and labels with newest values; `start` and `end` with all."""
        return _rows(await series_asked(self._collecting, request.query))

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """Send one incident object per server-sent event, as they change."""
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(STREAM_QUEUE)
        self._listeners.add(queue)
        try:
            while True:
                try:
                    async with asyncio.timeout(15.0):
                        incident = await queue.get()
                except TimeoutError:
                    await response.write(b": still here\n\n")
                    continue
                await response.write(b"data: " + orjson.dumps(incident) + b"\n\n")
        except (ConnectionResetError, asyncio.CancelledError):
            return response
        finally:
            self._listeners.discard(queue)


def _rows(rows: Iterable[Mapping[str, Any]]) -> web.Response:
    body = orjson.dumps({"data": list(rows)}, option=orjson.OPT_SERIALIZE_NUMPY)
    return web.Response(body=body, content_type="application/json")


def _flat(incident: Mapping[str, Any]) -> dict[str, Any]:
    """Return an incident's facts by the names that a filter uses."""
    return {**incident, "culprit": incident["culprit"]["id"], "open": incident["closed_at"] is None}


def _flat_step(step: Mapping[str, Any]) -> dict[str, Any]:
    return {**step, "culprit": step["culprit"]["id"]}


def _matches(row: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    return all(_text(row.get(name)) == wanted for name, wanted in query.items())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
