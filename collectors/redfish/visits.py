"""Visits: what is asked of a live service, and in which order, so that a slow one is spared.

The first visits walk through the service; later ones make only the requests of the plan, and begin
with those that the last visit did not come to. Now and then the walk is made again, in the time
that is left.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from collectors.maps.columns import Columns
from collectors.protocols.redfish import documents
from collectors.protocols.redfish.documents import ROOT, place
from collectors.redfish.plan import Plan, planned
from collectors.redfish.service import Service
from collectors.redfish.sheet import Taken
from collectors.redfish.walk import Walk
from collectors.transports.busy import Resting
from collectors.transports.http import NoSuchResource
from collectors.transports.redfish import Answer, NotLoggedIn, UnusableAnswer
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Reason

MOST_FAILURES = 2
"""Requests without an answer after which a visit ends: a controller that hangs is left alone."""

MOST_NAMED = 20

FIRST_WAIT = 30.0
"""Seconds: a walk that could not read all is made again after twice this, then twice as long."""

Ask = Callable[[str, str], Coroutine[Any, Any, Answer]]
"""Reads a request, given the ETag that is known."""


@dataclass(slots=True)
class _Known:
    """What a request last gave: its ETag, and what stood in it."""

    etag: str
    taken: dict[str, Taken]
    reports: list[dict[str, Any]]


@dataclass(slots=True)
class Visits:
    """The visits to one service."""

    ask: Ask
    service: Service
    rediscover: float
    """Seconds between two walks."""
    ports: bool = False
    """Whether network ports are read as well."""
    stream: str = ""
    """Path of the service's stream of events, once it is known."""
    _walk: Walk | None = None
    _plan: Plan | None = None
    _walk_at: float = 0.0
    """When the walk is made again, unix seconds."""
    _wait: float = FIRST_WAIT
    _turn: list[str] = field(default_factory=list)
    """The plan's requests as the next visit makes them."""
    _known: dict[str, _Known] = field(default_factory=dict)

    async def visit(self, at: float, columns: Columns, seconds: float) -> None:
        """Read what is to be read at `at` (unix seconds), for no longer than so many seconds.

        Raises:
            SourceUnavailable: nothing came at all.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        if self._plan is None:
            await self._first(at, columns, deadline)
            return
        await self._read(self._plan, at, columns, deadline)
        if self._walk is None and at < self._walk_at:
            return
        try:
            done = await self._explore(deadline)
        except SourceUnavailable as wrong:  # what was read before counts
            columns.missing.append("the walk through the service")
            self._refuse(columns, "walk", str(wrong))
            return
        if done is not None:
            self._settle(done, at, columns)

    async def _first(self, at: float, columns: Columns, deadline: float) -> None:
        """Walk through a service of which nothing is known, and take what comes, once all has."""
        fresh = self._walk is None
        done = await self._explore(deadline)
        if done is None:
            columns.missing.append("the walk through the service goes on at the next visit")
            return
        plan = self._settle(done, at, columns)
        if not fresh:  # what was read on the way is of visits before
            await self._read(plan, at, columns, deadline)
            return
        for path in plan.wanted:
            self.service.take(path, done.tree[path])
        for path in plan.reports:
            self.service.report(done.reports[path], at)

    async def _explore(self, deadline: float) -> Walk | None:
        """Go on with the walk; return it when it is done."""
        walk = self._walk
        if walk is None:
            walk = self._walk = Walk(ports=self.ports)
        if not await self._go_on(walk, deadline):
            return None
        self._walk = None
        if not walk.tree:
            why = next(iter(walk.wrong.values()), "no resource")
            raise SourceUnavailable(f"{self.service.name}: no Redfish service ({why})")
        return walk

    async def _go_on(self, walk: Walk, deadline: float) -> bool:
        """Walk until the time is up; return whether the walk is done."""
        failures = 0
        while (request := walk.wanted()) is not None:
            try:
                async with asyncio.timeout_at(deadline):
                    answer = await self.ask(request, "")
            except TimeoutError:
                return False
            except (NotLoggedIn, Resting):
                raise  # it says nothing of what was asked for
            except (NoSuchResource, UnusableAnswer) as wrong:
                walk.failed(request, str(wrong))
            except SourceUnavailable as wrong:
                failures += 1
                if place(request) == ROOT:
                    self._walk = None
                    raise
                walk.failed(request, str(wrong))
                if failures >= MOST_FAILURES and self._plan is None:
                    raise  # the next visit goes on behind what did not answer
                if failures >= MOST_FAILURES:
                    return False
            else:
                walk.got(request, answer.body)
        return True

    def _settle(self, walk: Walk, at: float, columns: Columns) -> Plan:
        """Take up what a walk found at `at` (unix seconds), and return what is read from now on."""
        self.service.learn(walk.tree)
        plan = self._plan = planned(walk, self.service)
        self.stream = walk.stream
        self._turn = list(plan.requests)
        self._known.clear()
        for path, why in walk.wrong.items():
            self._refuse(columns, path, why)
        # what could not be read may be there again soon, or never
        self._wait = min(2 * self._wait, self.rediscover) if walk.wrong else FIRST_WAIT
        self._walk_at = at + (self._wait if walk.wrong else self.rediscover)
        return plan

    async def _read(self, plan: Plan, at: float, columns: Columns, deadline: float) -> None:
        """Make the requests of a plan."""
        turn = self._turn
        read: list[str] = []
        silent: list[str] = []
        left: list[str] = []
        wrong: SourceUnavailable | None = None
        failures = 0
        for number, request in enumerate(turn):
            try:
                async with asyncio.timeout_at(deadline):
                    await self._one(plan, request, at, columns)
            except TimeoutError:
                left = turn[number:]
                break
            except (NotLoggedIn, Resting) as whole:
                wrong, left = whole, turn[number:]
                break
            except NoSuchResource as gone:
                silent.append(request)
                wrong, self._walk_at = gone, at  # it may have moved
            except SourceUnavailable as why:
                silent.append(request)
                wrong = why
                failures += not isinstance(why, UnusableAnswer)
                if failures >= MOST_FAILURES:
                    left = turn[number + 1 :]
                    break
            else:
                read.append(request)
        self._turn = [*left, *read, *silent]  # what hangs keeps no other from being read
        if wrong is not None and not read:
            raise wrong
        names = [request.partition("?")[0] for request in (*silent, *left)]
        columns.missing += names[:MOST_NAMED]
        if len(names) > MOST_NAMED:
            columns.missing.append(f"and {len(names) - MOST_NAMED} more")
        if wrong is not None:
            self._refuse(columns, names[0], str(wrong))

    def _refuse(self, columns: Columns, what: str, why: str) -> None:
        malformed = "JSON" in why or "page" in why
        reason = Reason.MALFORMED if malformed else Reason.FAILED
        columns.refuse(reason, what, {"device": self.service.device}, why)

    async def _one(self, plan: Plan, request: str, at: float, columns: Columns) -> None:
        """Make one request and take what comes.

        Raises:
            NoSuchResource: nothing of what it is made for is in the answer.
        """
        known = self._known.get(request)
        answer = await self.ask(request, known.etag if known is not None else "")
        if answer.unchanged and known is not None:
            for path, before in known.taken.items():
                self.service.again(path, before)
            for report in known.reports:
                self.service.report(report, at)
            return
        taken: dict[str, Taken] = {}
        reports: dict[str, dict[str, Any]] = {}
        for path, body in documents.resources(answer.body, place(request)):
            if path in plan.reports:
                self.service.report(body, at)
                reports[path] = body
            elif path in plan.wanted:
                taken[path] = self.service.take(path, body)
        self._known.pop(request, None)
        if not taken and not reports:
            raise NoSuchResource(f"{self.service.name}: {request}: holds nothing that it held")
        columns.missing += sorted(plan.requests[request] - taken.keys() - reports.keys())
        if answer.etag:
            self._known[request] = _Known(answer.etag, taken, list(reports.values()))
