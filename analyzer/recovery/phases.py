"""Phases of a recovery: detect, diagnose, drain, repair, verify, and all of it.

detect is from the first evidence until the incident is confirmed; diagnose until somebody acts;
drain from taking the link out until hands are on it; repair until that ends; verify until it is
back in service; all from the first evidence until the cause is gone and what was drained is back.
A phase of which one end is not known is no phase: nobody repaired what healed by itself. One that
goes on is told as going on. What is done once the cause is gone and the link is back, or after
the next incident of the same part began, is about that one: so nobody knows then when a link came
back whose return was not told. Incidents that overlap share what is done.
"""

from collections.abc import Collection, Iterator, Sequence
from math import inf
from typing import NamedTuple

from analyzer.incidents.scope import in_scope
from analyzer.recovery.cases import Case
from fabrichealth.events import Event
from fabrichealth.topology import Topology

PHASES = ("detect", "diagnose", "drain", "repair", "verify", "all")

TOUCHES = frozenset({"part_touched", "part_replaced"})
"""Hands on the part, in one moment."""

HANDS = TOUCHES | {"repair_start"}
SPEAK = HANDS | {"link_drained", "link_returned", "repair_end"}

LATE = 86_400.0
"""What is begun so long after the cause was seen last is about something else."""


class Phase(NamedTuple):
    """One phase of one recovery: how many seconds it took, or has taken so far."""

    name: str
    seconds: float
    over: bool


class _Said(NamedTuple):
    """When what was done, as far as events tell it (unix seconds)."""

    drained: float | None
    hands: float | None
    mended: float | None
    returned: float | None


def phases(
    case: Case, events: Sequence[Event], topology: Topology, now: float, next_one: float = inf
) -> list[Phase]:
    """Return the phases of a recovery by events in order of time, as known at `now`.

    `next_one` is when the next incident of the same part began (unix seconds), if there is one; it
    ends nothing if this one had not closed by then.
    """
    mine = _about(case, events, topology, now)
    apart = case.closed_at is not None and next_one > case.closed_at
    end = min(now, next_one if apart else inf, _anew(case, mine))
    return list(_phases(case, _said(case, mine, end), now, end < now))


def _phases(case: Case, said: _Said, now: float, past: bool) -> Iterator[Phase]:
    """Yield what is known of each phase; nothing goes on any more where it is `past`."""
    drained, hands, mended, returned = said
    closed = case.closed_at is not None
    yield Phase("detect", max(case.confirmed_at - case.opened_at, 0.0), over=True)
    acted = min((at for at in (drained, hands) if at is not None), default=None)
    if acted is not None or not closed:
        until = now if acted is None else acted
        if until >= case.confirmed_at:
            yield Phase("diagnose", until - case.confirmed_at, over=acted is not None)
    if drained is not None and (hands is not None or (returned is None and not past)):
        yield Phase("drain", (now if hands is None else hands) - drained, over=hands is not None)
    if hands is not None and (mended is not None or not closed):
        yield Phase("repair", (now if mended is None else mended) - hands, over=mended is not None)
    if drained is not None and mended is not None and (returned is not None or not past):
        until = now if returned is None else max(returned, mended)
        yield Phase("verify", until - mended, over=returned is not None)
    out = drained is not None and returned is None
    if case.closed_at is None or (out and not past):
        yield Phase("all", now - case.opened_at, over=False)
    else:  # where nobody knows when it came back it took so long at least
        known = [at for at in (said if out else (returned,)) if at is not None]
        yield Phase("all", max([case.closed_at, *known]) - case.opened_at, over=not out)


def _said(case: Case, mine: Sequence[Event], end: float) -> _Said:
    """Return when what was done; what was told after `end` is about something else."""
    last = end if case.closed_at is None else min(case.closed_at + LATE, end)
    drained = _first(mine, {"link_drained"}, case.opened_at, last)
    hands = _first(mine, HANDS, case.opened_at if drained is None else drained, last)
    if drained is None:
        return _Said(None, hands, _mended(case, mine, hands, last), None)
    back = _first(mine, {"link_returned"}, drained, end)
    gone = inf if back is None or case.closed_at is None else max(back, case.closed_at)
    if hands is not None and hands > gone:
        return _Said(drained, None, None, back)
    returned = _first(mine, {"link_returned"}, drained if hands is None else hands, end)
    until = end if returned is None else returned
    return _Said(drained, hands, _mended(case, mine, hands, until), returned)


def _anew(case: Case, mine: Sequence[Event]) -> float:
    """Return when the part was drained anew, so late that it must have been back before."""
    if case.closed_at is None:
        return inf
    found = _first(mine, {"link_drained"}, case.closed_at + LATE, inf)
    return inf if found is None else found


def _mended(case: Case, mine: Sequence[Event], hands: float | None, last: float) -> float | None:
    """Return when the repair was over: as told, else when the cause was seen last."""
    if hands is None:
        return None
    told = [one.at for one in mine if one.kind == "repair_end" and hands <= one.at <= last]
    if told:
        return max(told)
    begun = any(one.kind == "repair_start" and hands <= one.at <= last for one in mine)
    if begun or case.closed_at is None:
        return None
    touched = max(one.at for one in mine if one.kind in TOUCHES and hands <= one.at <= last)
    return max(touched, case.closed_at)


def _first(
    mine: Sequence[Event], kinds: Collection[str], since: float, until: float
) -> float | None:
    """Return when one of some kinds of events came first; None if none did."""
    found = (one.at for one in mine if one.kind in kinds and since <= one.at <= until)
    return min(found, default=None)


def _about(case: Case, events: Sequence[Event], topology: Topology, now: float) -> list[Event]:
    return [
        event
        for event in events
        if event.kind in SPEAK
        and case.opened_at <= event.at <= now
        and (
            event.scope.get("incident") == case.incident
            or in_scope(case.place, event.scope, topology)
        )
    ]
