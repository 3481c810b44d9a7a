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
from collectors.transports.http import NoSuchResource
from collectors.transports.redfish import Answer, NotLoggedIn, UnusableAnswer
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Reason

MOST_FAILURES = 2
"""Requests without an answer after which a visit ends: a controller that hangs is left alone."""

MOST_NAMED = 20

AGAIN = 600.0
"""Seconds after which a walk that could not read everything is made again; twice as long then."""

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
    _walked: float = 0.0
    _again: float = AGAIN
    _turn: list[str] = field(default_factory=list)
    """The plan's requests as the next visit makes them."""
    _known: dict[str, _Known] = field(default_factory=dict)

    async def visit(self, at: float, columns: Columns, seconds: float) -> None:
        """Read what is to be read at `at` (unix seconds), for no longer than so many seconds.

        Raises:
            SourceUnavailable: nothing came at all.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        if self._plan is not None:
            await self._read(self._plan, at, columns, deadline)
            if self._walk is None and at < self._walked + self.rediscover:
                return
        fresh = self._walk is None
        first = self._plan is None
        done = await self._explore(columns, deadline)
        if done is None:
            if first:
                columns.missing.append("the walk through the service goes on at the next visit")
            return
        self._walked = at
        if done.wrong:  # what could not be read may be there again soon, or never
            self._walked -= max(self.rediscover - self._again, 0.0)
            self._again *= 2
        else:
            self._again = AGAIN
        self._settle(done)
        if first and fresh:  # what was read on the way was read just now
            for path, body in done.tree.items():
                if self._plan is not None and path in self._plan.wanted:
                    self.service.take(path, body)
            for path, report in done.reports.items():
                if self._plan is not None and path in self._plan.reports:
                    self.service.report(report, at)
        elif first and self._plan is not None:
            await self._read(self._plan, at, columns, deadline)

    async def _explore(self, columns: Columns, deadline: float) -> Walk | None:
        """Go on with the walk; return it when it is done."""
        walk = self._walk
        if walk is None:
            walk = self._walk = Walk(ports=self.ports)
        if not await self._go_on(walk, deadline):
            return None
        self._walk = None
        if not walk.tree:
            why = next(iter(walk.wrong.values()), "no resource")
            raise SourceUnavailable(f"{self.service.device}: no Redfish service ({why})")
        for path, why in walk.wrong.items():
            labels = {"device": self.service.device}
            columns.refuse(_reason(why), path, labels, why)
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
            except NotLoggedIn:
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

    def _settle(self, walk: Walk) -> None:
        """Take up what a walk found."""
        self.service.learn(walk.tree)
        self._plan = planned(walk, self.service)
        self.stream = walk.stream
        self._turn = list(self._plan.requests)
        self._known.clear()

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
                    await self._one(plan, request, at)
            except TimeoutError:
                left = turn[number:]
                break
            except NotLoggedIn as unknown:
                wrong, left = unknown, turn[number:]
                break
            except NoSuchResource as gone:
                silent.append(request)
                wrong, self._walked = gone, float("-inf")  # it may have moved
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
            columns.refuse(Reason.FAILED, names[0], {"device": self.service.device}, str(wrong))

    async def _one(self, plan: Plan, request: str, at: float) -> None:
        """Make one request and take what comes."""
        known = self._known.get(request)
        answer = await self.ask(request, known.etag if known is not None else "")
        if answer.unchanged and known is not None:
            for path, before in known.taken.items():
                self.service.again(path, before)
            for report in known.reports:
                self.service.report(report, at)
            return
        taken: dict[str, Taken] = {}
        reports = []
        for path, body in documents.resources(answer.body, place(request)):
            if path in plan.reports:
                self.service.report(body, at)
                reports.append(body)
            elif path in plan.wanted:
                taken[path] = self.service.take(path, body)
        self._known.pop(request, None)
        if answer.etag:
            self._known[request] = _Known(answer.etag, taken, reports)


def _reason(why: str) -> Reason:
    return Reason.MALFORMED if "JSON" in why or "page" in why else Reason.FAILED
