"""Redfish over HTTP (DSP0266): one session, one request at a time, and a pause between requests.

Controllers have few places for sessions and little to compute with. A session is opened once and
used until the service no longer knows it, then opened anew once; it is closed at the end. Where no
place is free, requests carry name and password themselves (basic authentication), and a session is
tried again only after a while. A name or password that is refused is not sent again before then, or
before the secret changes: controllers lock accounts that fail a few times. One that was good before
is tried again a little sooner, since a controller that starts again may know nobody yet. A
controller that asks to be left alone (503 and Retry-After) twice in a row is. What has not changed
since (ETag) is not sent again.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from collectors.protocols.redfish import documents
from collectors.source import LOGIN, Target
from collectors.transports.busy import STATUSES, Rest, Resting
from collectors.transports.http import HttpClient, Reply
from collectors.transports.secrets import secret
from fabrichealth.errors import MalformedReply, SourceUnavailable

SESSIONS = f"{documents.ROOT}/SessionService/Sessions"
UNCHANGED = 304
UNKNOWN = 401
FORBIDDEN = 403
STARTS = 30.0
"""Seconds before a password that was good is tried again; twice as long each time it is refused."""
NO_SESSIONS = frozenset({404, 405, 501})
FAILURES = frozenset(range(400, 600))
MOVED = frozenset({301, 302, 307, 308})


class UnusableAnswer(SourceUnavailable):
    """The service answers, and not what Redfish is: a page for people, or half a body."""


class NotLoggedIn(SourceUnavailable):
    """The service does not know who asks, so that it tells nothing of anything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a place answered; nothing new where it is the same as before."""

    body: Any
    etag: str
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Pacing:
    """How a controller is spared; all in seconds."""

    answer: float
    """Patience with one request."""
    spacing: float
    """Pause between two requests."""
    login: float
    """How long no session, or no password, is tried after one was refused."""


class RedfishClient:
    """The connection to one service.

    Raises:
        SiteError: address or options cannot be used; the message says which.
    """

    def __init__(self, target: Target, pacing: Pacing, max_bytes: int) -> None:
        plain = {key: word for key, word in target.options.items() if key not in LOGIN}
        self._target = target
        self._pacing = pacing
        self._http = HttpClient(replace(target, options=plain), pacing.answer, max_bytes)
        path = urlsplit(target.address).path.rstrip("/")
        self._prefix = path.partition(documents.ROOT)[0]
        self._slashes = False
        self._token = ""
        self._session = ""
        self._last_session: tuple[str, str] = "", ""
        self._word: str | None = None
        self._good: str | None = None
        self._again = STARTS
        self._no_session_until = 0.0
        self._no_password_until = 0.0
        self._rest = Rest()
        self._refused = ""
        self._one_login = asyncio.Lock()
        self._free_at = 0.0
        self.notes: list[str] = []
        """What a person should know of the logins of the last visit."""

    @property
    def where(self) -> str:
        """The address, for messages."""
        return self._http.where

    async def get(self, path: str, etag: str = "") -> Answer:
        """Read a place, `/redfish/v1/..`; `etag` is that of the answer which is known.

        Raises:
            NoSuchResource: the service has nothing there.
            UnusableAnswer: it is not JSON.
            NotLoggedIn: it does not know the user, nor has a session for it.
            Resting: it asked to be left alone for a while.
            SourceUnavailable: no answer in time.
        """
        asked = {"Accept": "application/json", "OData-Version": "4.0"}
        if etag:
            asked["If-None-Match"] = etag
        reply = await self._ask("GET", path, asked, {UNCHANGED, UNKNOWN, *MOVED})
        if reply.status == UNKNOWN and self._token:
            # the service has forgotten us, as after a restart
            self._last_session = self._token, self._session
            self._token = self._session = ""
            reply = await self._ask("GET", path, asked, {UNCHANGED, UNKNOWN, *MOVED})
        if reply.status in MOVED:
            self._check_moved(path, reply)
            self._slashes = not self._slashes
            reply = await self._ask("GET", path, asked, {UNCHANGED, UNKNOWN})
        if reply.status == UNKNOWN:
            loop = asyncio.get_running_loop()
            self._no_password_until = max(
                self._no_session_until, loop.time() + self._pacing.login
            )  # fmt: skip
            raise self._not_logged_in()
        if reply.status == UNCHANGED and not etag:
            raise UnusableAnswer(f"{self._target.name}: {path}: answered 304, unasked")
        if reply.status == UNCHANGED:
            return Answer(None, etag, unchanged=True)
        try:
            body = documents.document(reply.body, reply.content_type)
        except MalformedReply as wrong:
            raise UnusableAnswer(f"{self._target.name}: {path}: {wrong}") from None
        return Answer(body, reply.headers.get("ETag", ""))

    async def headers(self) -> Mapping[str, str]:
        """Return what says who asks: of a session, which is opened if need be.

        Raises:
            SourceUnavailable: the service does not know the user, or the secret cannot be read.
        """
        word = secret(self._target)
        user = self._target.options.get("user")
        if word is None:
            return {}
        if not user:
            return {"Authorization": f"Bearer {word}"}
        loop = asyncio.get_running_loop()
        async with self._one_login:  # the stream of events asks as well
            if word != self._word:
                self._word = word
                self._no_session_until = self._no_password_until = 0.0
            if not self._token and loop.time() >= self._no_session_until:
                await self._log_in(user, word)
        if self._token:
            return {"X-Auth-Token": self._token}
        if loop.time() < self._no_password_until:
            raise self._not_logged_in()
        pair = base64.b64encode(f"{user}:{word}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}

    def stream(self, path: str) -> "RedfishStream":
        """Return a stream of events at a path, not yet begun."""
        return RedfishStream(self, self._http, self._prefix + path)

    async def close(self) -> None:
        """Close the session and the connection."""
        # one that was turned away may still hold its slot
        token, session = (self._token, self._session) if self._token else self._last_session
        self._token, self._last_session = "", ("", "")
        if token and session:
            with suppress(SourceUnavailable):  # then it ends by itself
                await self._http.ask(
                    "DELETE", session, headers={"X-Auth-Token": token}, also=FAILURES
                )
        await self._http.close()

    def _check_moved(self, path: str, reply: Reply) -> None:
        """Go on where only the slash at the end of a place is written otherwise.

        Raises:
            SourceUnavailable: it is moved elsewhere, where credentials do not follow.
        """
        plain = path.partition("?")[0].rstrip("/")
        if documents.place(reply.headers.get("Location")) != self._prefix + plain:
            raise SourceUnavailable(
                f"{self._target.name}: {path}: answered {reply.status}, moved; give the new address"
            )

    def _written(self, path: str) -> str:
        """Return a place below the host as the service writes places."""
        plain, mark, query = path.partition("?")
        end = "/" if self._slashes or plain.endswith("/") else ""
        return f"{self._prefix}{plain.rstrip('/')}{end}{mark}{query}"

    def _not_logged_in(self) -> NotLoggedIn:
        why = f" ({self._refused})" if self._refused else ""
        return NotLoggedIn(
            f"{self._target.name}: {self.where}: answered 401{why}; check user and secret_file"
        )

    async def _ask(self, method: str, path: str, asked: Mapping[str, str], also: set[int]) -> Reply:
        loop = asyncio.get_running_loop()
        if left := self._rest.left(loop.time()):
            raise Resting(
                f"{self._target.name}: {self.where}: asked to be left alone, {left:.0f} s more"
            )
        sent = {**asked, **await self.headers()}
        await self._pause()
        try:
            reply = await self._http.ask(
                method, self._written(path), headers=sent, also={*also, *STATUSES}
            )
        finally:
            self._free_at = loop.time() + self._pacing.spacing
        wait = self._rest.answered(reply.status, reply.headers, loop.time())
        if wait is None:
            return reply
        raise SourceUnavailable(
            f"{self._target.name}: {path}: answered {reply.status}, busy"
            + (f"; asks for {wait:.0f} s" if wait else "")
        )

    async def _pause(self) -> None:
        left = self._free_at - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)

    async def _log_in(self, user: str, word: str) -> None:
        """Open a session; where none is to be had, say so once and wait before the next try."""
        await self._pause()
        pair = {"UserName": user, "Password": word}
        loop = asyncio.get_running_loop()
        self._no_session_until = loop.time() + self._pacing.login  # if this is cut off as well
        path = self._prefix + SESSIONS
        reply = await self._http.ask("POST", path, json=pair, also=FAILURES)
        self._free_at = loop.time() + self._pacing.spacing
        if reply.status in {UNKNOWN, FORBIDDEN}:
            self._refused = "the login is refused"
            if word == self._good:
                wait, self._again = min(self._again, self._pacing.login), 2 * self._again
                self._no_session_until = loop.time() + wait
            if reply.status == UNKNOWN:  # 403 may mean that this user may open none
                self._no_password_until = self._no_session_until
            return
        token = reply.headers.get("X-Auth-Token", "")
        if reply.status < min(FAILURES) and token:
            self._token, self._session, self._last_session = token, _session(reply), ("", "")
            self._refused, self._no_session_until = "", 0.0
            self._good, self._again = word, STARTS
            return
        if reply.status in NO_SESSIONS:
            self._refused = "it has no sessions"
            return
        self._refused = f"no session: answered {reply.status}, no free login slot?"
        self.notes.append(f"{self._refused} Basic authentication is used instead")


class RedfishStream:
    """One stream of server-sent events."""

    def __init__(self, client: RedfishClient, http: HttpClient, path: str) -> None:
        self._client, self._http, self._path = client, http, path

    async def chunks(self, last_id: str, quiet: float) -> AsyncIterator[bytes]:
        """Yield bytes as they come, behind the event of this id, until `quiet` seconds of none."""
        sent = {"Accept": "text/event-stream", **await self._client.headers()}
        if last_id:
            sent["Last-Event-ID"] = last_id
        async for chunk in self._http.chunks(self._path, sent, quiet):
            yield chunk


def _session(reply: Reply) -> str:
    """Return the path of a session that was opened."""
    said = documents.place(reply.headers.get("Location", ""))
    if said:
        return said
    try:
        body = documents.document(reply.body)
    except MalformedReply:
        return ""
    return documents.link({"": body}, "") if isinstance(body, dict) else ""
