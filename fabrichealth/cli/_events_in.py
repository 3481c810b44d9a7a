"""`POST /api/v1/events`: what people, scripts and collectors tell this daemon (contract 7)."""

import json
from collections import OrderedDict
from typing import Any

from aiohttp import web

from fabrichealth.cli._collecting import Collecting
from fabrichealth.events import EVENT_KINDS, Event, parse
from fabrichealth.runtime.forwarding import KEY

MOST_BYTES = 1 << 20

REMEMBERED = 4096
"""Batches whose keys are known, so that one which is told twice is taken once."""

NAMED = 3
"""So many refused events of a batch are named."""


class EventsIn:
    """Takes one event, or a list of them; of a list what is right is taken."""

    def __init__(self, collecting: Collecting) -> None:
        self._collecting = collecting
        self._keys: OrderedDict[str, None] = OrderedDict()

    async def take(self, request: web.Request) -> web.Response:
        """Answer one request."""
        body = await request.content.read(MOST_BYTES + 1)
        while len(body) <= MOST_BYTES and (more := await request.content.read(MOST_BYTES)):
            body += more
        if len(body) > MOST_BYTES:
            raise web.HTTPRequestEntityTooLarge(MOST_BYTES, len(body))
        try:
            plain = json.loads(body)
        except (ValueError, RecursionError) as wrong:
            raise web.HTTPBadRequest(text=f"not an event: {wrong}\n") from None
        if self._collecting.journal is None:
            raise web.HTTPNotFound(text="this daemon has no journal; tell one started by `run`\n")
        if isinstance(plain, list):
            return self._batch(plain, request.headers.get(KEY, ""))
        try:
            self._collecting.note(read(plain))
        except ValueError as wrong:
            raise web.HTTPBadRequest(text=f"{wrong}\n") from None
        return web.Response(status=202, text="taken\n")

    def _batch(self, rows: list[Any], key: str) -> web.Response:
        if key and key in self._keys:
            return web.Response(status=202, text="taken before\n")
        taken, refused = 0, []
        for row in rows:
            try:
                event = read(row)
            except ValueError as wrong:
                refused.append(str(wrong))
            else:
                self._collecting.note(event)
                taken += 1
        if key:
            self._keys[key] = None
            if len(self._keys) > REMEMBERED:
                self._keys.popitem(last=False)
        if refused and not taken:
            raise web.HTTPBadRequest(text=f"none taken: {'; '.join(refused[:NAMED])}\n")
        left = f", {len(refused)} refused: {'; '.join(refused[:NAMED])}" if refused else ""
        return web.Response(status=202, text=f"{taken} taken{left}\n")


def read(plain: Any) -> Event:
    """Return an event that an analyzer can use.

    Raises:
        ValueError: it is none; the message says why.
    """
    if not isinstance(plain, dict):
        raise ValueError("one event object is wanted, or a list of them")
    try:
        event = parse(plain)
    except (ValueError, RecursionError) as wrong:
        raise ValueError(f"not an event: {wrong}") from None
    if event.kind not in EVENT_KINDS:
        raise ValueError(f"unknown kind {event.kind!r} of event")
    if event.of_nothing:
        raise ValueError(f"{event.kind} needs a scope, such as a rack or device")
    return event
