"""The HTTP side of an emulated service (DSP0266), with the ways in which controllers are frail.

Logins, ETags, expanded and paged collections, pushed events; slowness, lost sessions, HTML pages.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from emulator.loopback import Loopback, basic
from emulator.redfish.equipment import Site
from emulator.redfish.resource import V1, Json, Tree
from emulator.redfish.tree import SSE, tree

SESSIONS = f"{V1}/SessionService/Sessions"
OPEN = frozenset({V1, "/redfish"})
"""Places that anybody may read."""


@dataclass
class RedfishService:
    """One service; what is in these fields may change while it serves."""

    site: Site
    password: tuple[str, str] | None = None
    """User and password; None for a service that asks nobody."""
    basic_allowed: bool = True
    most_sessions: int = 4
    expand: bool = True
    """Whether it offers expanded collections."""
    expand_fails: bool = False
    """Whether it offers them and answers 500 to them."""
    page: int = 0
    """Members on a page of a collection; 0 for all."""
    looping: set[str] = field(default_factory=set)
    """Collections whose next page is their first."""
    etags: bool = True
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds that some places take, by a part of their path."""
    lacking: set[str] = field(default_factory=set)
    """Places that answer 404."""
    slashes: bool = False
    """Whether places without a slash at their end are moved to those with one."""
    pages: dict[str, str] = field(default_factory=dict)
    """HTML that is answered instead of a resource, by place."""
    changes: Callable[[str, Json], None] | None = None
    """Changes a body, by its place, before it is answered."""
    now: Callable[[], float] = lambda: 1_800_000_000.0
    sequence: int = 1
    """Number of the metric report."""
    sessions: dict[str, str] = field(default_factory=dict)
    """Token by the session's id."""
    asked: list[str] = field(default_factory=list)
    """Method and path, with its query, of every request."""
    unchanged: int = 0
    """How many requests were answered with 304."""
    open: int = 0
    most_open: int = 0
    """How many requests but for streams were open at once, at most."""
    opened: int = 0
    """How many sessions were opened."""
    connections: set[Any] = field(default_factory=set)
    """The far ends that ever asked."""
    last_ids: list[str] = field(default_factory=list)
    """Ids behind which streams were begun."""
    _events: list[tuple[int, str]] = field(default_factory=list)
    _streams: list[asyncio.Queue[tuple[int, str] | None]] = field(default_factory=list)
    _server: Loopback = field(init=False)

    def __post_init__(self) -> None:
        self._server = Loopback("*", "/redfish{rest:.*}", self.answer)

    @property
    def address(self) -> str:
        """Where it answers, once started."""
        return self._server.address

    async def start(self, context: Any = None) -> None:
        """Answer from now on, on loopback."""
        await self._server.start(context)

    async def stop(self) -> None:
        """Answer nobody any more."""
        self.hang_up()
        await self._server.stop()

    def forget(self) -> None:
        """Lose every session, as a restart does."""
        self.sessions.clear()

    def hang_up(self) -> None:
        """Break off every stream of events."""
        for stream in self._streams:
            stream.put_nowait(None)
        self._streams.clear()

    def push(self, event: Json) -> None:
        """Tell everybody who listens."""
        told = (len(self._events) + 1, json.dumps(event))
        self._events.append(told)
        for stream in self._streams:
            stream.put_nowait(told)

    @property
    def listeners(self) -> int:
        """How many listen to events."""
        return len(self._streams)

    def tree(self) -> Tree:
        """Return every resource as it is now."""
        stamp = datetime.fromtimestamp(self.now(), UTC).isoformat().replace("+00:00", "Z")
        return tree(self.site, stamp, self.sequence, expand=self.expand)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        path = request.path.rstrip("/") or "/"
        self.asked.append(f"{request.method} {request.rel_url.path_qs}")
        if request.transport is not None:
            self.connections.add(request.transport.get_extra_info("peername"))
        if path == SESSIONS and request.method == "POST":
            return await self._log_in(request)
        if path not in OPEN and not self._known(request):
            raise web.HTTPUnauthorized
        if request.method == "DELETE":
            return self._log_out(path)
        if path == SSE:
            return await self._stream(request)
        if self.slashes and not request.path.endswith("/"):
            query = f"?{request.query_string}" if request.query_string else ""
            raise web.HTTPPermanentRedirect(f"{request.path}/{query}")
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            seconds = (seconds for part, seconds in self.slow.items() if part in path)
            await asyncio.sleep(max(seconds, default=0))
            return self._read(request, path)
        finally:
            self.open -= 1

    def _read(self, request: web.Request, path: str) -> web.Response:
        if path in self.pages:
            return web.Response(text=self.pages[path], content_type="text/html")
        bodies = self.tree()
        if path not in bodies or path in self.lacking:
            return web.json_response({"error": {"code": "Base.1.18.ResourceMissing"}}, status=404)
        body = bodies[path]
        if "$expand" in request.query:
            if self.expand_fails:
                raise web.HTTPInternalServerError
            if self.expand and "Members" in body:
                body = body | {"Members": [bodies[one["@odata.id"]] for one in body["Members"]]}
        body = self._paged(path, body, int(request.query.get("$skip", "0")))
        if self.changes is not None:
            body = json.loads(json.dumps(body))
            self.changes(path, body)
        text = json.dumps(body)
        etag = f'W/"{hashlib.sha256(text.encode()).hexdigest()[:12]}"'
        if self.etags and request.headers.get("If-None-Match") == etag:
            self.unchanged += 1
            return web.Response(status=304, headers={"ETag": etag})
        headers = {"OData-Version": "4.0"} | ({"ETag": etag} if self.etags else {})
        return web.Response(text=text, content_type="application/json", headers=headers)

    def _paged(self, path: str, body: Json, skip: int) -> Json:
        if path in self.looping:
            return body | {"Members@odata.nextLink": path}
        if not self.page or "Members" not in body:
            return body
        end = skip + self.page
        paged = body | {"Members": body["Members"][skip:end]}
        if end < len(body["Members"]):
            paged["Members@odata.nextLink"] = f"{path}?$skip={end}"
        return paged

    def _known(self, request: web.Request) -> bool:
        if self.password is None:
            return True
        if request.headers.get("X-Auth-Token", "") in self.sessions.values():
            return True
        given = request.headers.get("Authorization")
        return self.basic_allowed and given == basic(*self.password)

    async def _log_in(self, request: web.Request) -> web.Response:
        pair = await request.json()
        if self.password is None or (pair["UserName"], pair["Password"]) != self.password:
            raise web.HTTPUnauthorized
        if len(self.sessions) >= self.most_sessions:
            return web.json_response(
                {"error": {"code": "Base.1.18.SessionLimitExceeded"}}, status=503
            )
        self.opened += 1
        name, token = str(self.opened), f"token-{self.opened}"
        self.sessions[name] = token
        place = f"{SESSIONS}/{name}"
        return web.json_response(
            {"@odata.id": place, "@odata.type": "#Session.v1_7_0.Session", "Id": name,
             "Name": "Session", "UserName": pair["UserName"]},
            status=201, headers={"X-Auth-Token": token, "Location": place},
        )  # fmt: skip

    def _log_out(self, path: str) -> web.Response:
        name = path.rpartition("/")[2]
        return web.Response(status=204 if self.sessions.pop(name, None) else 404)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        queue: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()
        last = request.headers.get("Last-Event-ID", "")
        self.last_ids.append(last)
        for told in self._events if last else []:
            if told[0] > int(last):
                queue.put_nowait(told)
        self._streams.append(queue)
        await response.write(b": here\n\n")
        while (event := await queue.get()) is not None:
            number, text = event
            await response.write(f"id: {number}\ndata: {text}\n\n".encode())
        return response
