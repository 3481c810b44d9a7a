"""Lasting: events of long ago that still hold, among all that are forgotten.

A port that was renamed keeps its name, and a job that began months ago has its accelerators until
it ends. Everything else has had its effect.
"""

from collections.abc import Iterable

from fabrichealth.events import Event

RENAMED = "port_renamed"
BEGINS = frozenset({"job_start", "job_pending"})
ENDS = frozenset({"job_end", "job_cancelled"})


def lasting(events: Iterable[Event]) -> list[Event]:
    """Return those of events in order of time that still hold after the last of them."""
    found: dict[int, Event] = {}
    jobs: dict[str, list[int]] = {}
    for number, event in enumerate(events):
        if event.kind == RENAMED:
            found[number] = event
            continue
        job = event.scope.get("job") or event.id
        if event.kind in BEGINS:
            found[number] = event
            jobs.setdefault(job, []).append(number)
        elif event.kind in ENDS:
            for began in jobs.pop(job, ()):
                del found[began]
    return list(found.values())
