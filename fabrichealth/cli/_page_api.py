"""What the page asks beside the API of contract 7: layout, the picture of a moment, a story."""

import asyncio
import gzip
import math
import zlib
from typing import Any, NamedTuple

import orjson
from aiohttp import web

from fabrichealth import narrative
from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._incidents import events_of
from fabrichealth.cli._picture import Pictures, layout, open_then
from fabrichealth.cli._series_asked import RECENT
from fabrichealth.errors import StoreError
from fabrichealth.runtime.exporter_format import takes_gzip
from fabrichealth.topology import Topology
from fabrichealth.web.server import Route

KEPT = 2.0
"""Seconds for which the present picture is kept: many look at it at once."""


class PageApi:
    """Answers what the page draws; read only."""

    def __init__(self, collecting: Collecting) -> None:
        self._collecting = collecting
        self._laid: tuple[Topology, _Laid] | None = None
        self._pictures: Pictures | None = None
        self._present: tuple[float, dict[str, str]] = (-math.inf, {})
        self._drawing = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the handlers."""
        return [
            Route("GET", "/api/v1/layout", self._layout),
            Route("GET", "/api/v1/picture", self._picture),
            Route("GET", "/api/v1/story", self._story),
            Route("GET", "/api/v1/events", self._events),
        ]

    async def _layout(self, request: web.Request) -> web.Response:
        """Answer what there is and where, by columns."""
        _, laid = await self._present_layout()
        if takes_gzip(request.headers.get("Accept-Encoding", "")):
            return web.Response(body=laid.small, content_type="application/json",
                                headers={"Content-Encoding": "gzip"})  # fmt: skip
        return web.Response(body=laid.plain, content_type="application/json")

    async def _present_layout(self) -> tuple[Topology, "_Laid"]:
        topology = self._collecting.poller.inventory.topology
        if self._laid is None or self._laid[0] is not topology:
            self._laid = topology, await asyncio.to_thread(_packed, topology)
        return self._laid

    async def _picture(self, request: web.Request) -> web.Response:
        """Answer the states at `at=` (unix seconds), or now; `lacks` says why there are none.

        They are in the order of the layout that is named.
        """
        now = self._collecting.clock.now()
        at = _moment(request, "at", now)
        topology, laid = await self._present_layout()
        states: dict[str, str] = {}
        lacks = ""
        try:
            async with self._drawing:
                states = await asyncio.to_thread(self._states, topology, at, "at" in request.query)
        except StoreError as wrong:  # incidents are known without it
            lacks = str(wrong)
        incidents = open_then(self._collecting.incidents.values(), at)
        told = {"at": at, "layout": laid.version, "lacks": lacks, "incidents": incidents}
        return _one({**told, **states})

    def _states(self, topology: Topology, at: float, past: bool) -> dict[str, str]:
        """Return the states of a moment; those of now are kept for a while, incidents are not."""
        store = self._collecting.store
        if store is None:
            return {}
        if self._pictures is None or self._pictures.topology is not topology:
            self._pictures, self._present = Pictures(store, topology), (-math.inf, {})
        if past:
            return self._pictures.at(at, RECENT)
        if not 0 <= at - self._present[0] < KEPT:
            self._present = at, self._pictures.at(at, RECENT)
        return self._present[1]

    async def _story(self, request: web.Request) -> web.Response:
        """Answer what `explain` tells of `incident=`."""
        name = request.query.get("incident", "")
        incident = self._collecting.incidents.get(name)
        if incident is None:
            raise web.HTTPNotFound(text=f"there is no incident {name!r}\n")
        return _one({"text": narrative.story(incident, self._collecting.clock.now())})

    async def _events(self, request: web.Request) -> web.Response:
        """Answer the events of `start=` to `end=` (unix seconds), the newest last."""
        now = self._collecting.clock.now()
        start, end = _moment(request, "start", now - 86_400.0), _moment(request, "end", now)
        journal = self._collecting.journal
        told = [] if journal is None else events_of(journal)
        rows = [one.to_json() for one in told if start <= one.at <= end]
        return _body(orjson.dumps({"data": rows[-MOST_EVENTS:]}))


MOST_EVENTS = 500


class _Laid(NamedTuple):
    """The layout as JSON, plain and by gzip: it is asked for by every page that opens."""

    version: int
    """Of what it holds: a picture's states are in the order of one layout."""
    plain: bytes
    small: bytes


def _packed(topology: Topology) -> _Laid:
    made = layout(topology)
    version = zlib.crc32(orjson.dumps(made))
    body = orjson.dumps({"data": [{**made, "version": version}]})
    return _Laid(version, body, gzip.compress(body, 6))


def _moment(request: web.Request, name: str, otherwise: float) -> float:
    try:
        found = float(request.query.get(name, otherwise))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise web.HTTPBadRequest(text=f"{name}= is unix seconds\n")
    return found


def _one(plain: dict[str, Any]) -> web.Response:
    return _body(orjson.dumps({"data": [plain]}))


def _body(body: bytes) -> web.Response:
    response = web.Response(body=body, content_type="application/json")
    response.enable_compression()
    return response
