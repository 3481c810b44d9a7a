"""`event KIND`: what a person did or is about to do, as events.

`event maintenance --rack r01 --for 2h` announces work: nothing that breaks in its scope
meanwhile is news. `event repair --link L --action clean` records what was done, from which the
repair ladder learns what helps.
"""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial

from fabrichealth.cli import _scope_names as scope_names
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._incidents import incidents, rows
from fabrichealth.cli._site import load
from fabrichealth.cli._telling import tell, telling_arguments
from fabrichealth.errors import UsageError
from fabrichealth.events import OF_THE_WHOLE_SITE, SCOPE_KEYS, Event
from fabrichealth.narrative import span
from fabrichealth.runtime.clock import Clock
from fabrichealth.settings import seconds_of

SPANS = frozenset({"maintenance", "repair", "drill"})
"""Kinds with a start and an end; `--for` tells both at once, `--end` the end alone."""

MOMENTS = frozenset(
    {"boot", "firmware_upgrade", "config_change", "part_touched", "part_replaced",
     "link_drained", "link_returned"}
)  # fmt: skip

WITH_ACTION = frozenset({"repair", "part_touched", "part_replaced"})

ACTIONS = ("reseat", "clean", "replug", "insert", "replace")
"""Usual words; any other is taken as well."""


class EventCommand(Command):
    """Tells an event of a kind that people tell."""

    help = "tell of maintenance, a repair, a drain or a change, as events"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare kind, scope, time and note."""
        parser.add_argument("kind", choices=sorted(SPANS | MOMENTS))
        for key in SCOPE_KEYS:
            parser.add_argument(f"--{key}", metavar="NAME", help=f"in scope: this {key}")
        parser.add_argument("--for", dest="lasts", metavar="2h", help="how long it lasts")
        parser.add_argument("--end", action="store_true", help="it is over now")
        parser.add_argument("--in", dest="after", metavar="30m", help="it begins so much later")
        parser.add_argument("--id", default="", help="of the change or ticket; made up if not said")
        parser.add_argument("--action", metavar="WORD", help=f"what is done: {', '.join(ACTIONS)}")
        telling_arguments(parser)

    def run(self, asked: argparse.Namespace) -> int:
        """Tell it."""
        events = events_of(asked, Clock().now())
        _check(asked, events[0].scope)
        where = tell(asked, events)
        names = ", ".join(f"{key} {name}" for key, name in events[0].scope.items())
        lasts = f" for {span(events[1].at - events[0].at)}" if len(events) > 1 else ""
        _terminal.say(f"{events[0].kind} {events[0].id} of {names or 'the site'}{lasts}; "
                      f"told to {where}")  # fmt: skip
        return WELL


LONGEST = 366 * 86_400.0
LONGEST_SAID = "366d"
"""Nothing is announced for longer, or further ahead."""


def events_of(asked: argparse.Namespace, now: float) -> list[Event]:
    """Return what is asked as events: one, or a start and its end.

    Raises:
        UsageError: no scope, a time that does not fit the kind, or an action it does not take.
    """
    scope = {key: name for key in SCOPE_KEYS if (name := getattr(asked, key))}
    kind: str = asked.kind
    of_nothing = not scope and f"{kind}_start" not in OF_THE_WHOLE_SITE
    if of_nothing and not (asked.end and asked.id):
        raise UsageError(f"event {kind}: of what? give --rack, --device, --link or another scope")
    if kind in MOMENTS and (asked.lasts or asked.end):
        raise UsageError(f"event {kind}: is a moment and lasts no time; leave out --for and --end")
    if asked.end and (asked.lasts or asked.after):
        raise UsageError("--end: it is over now; leave out --for and --in")
    if asked.action and kind not in WITH_ACTION:
        raise UsageError(f"event {kind}: takes no --action; a repair does")
    if kind == "repair" and not asked.action:
        raise UsageError(f"event repair: say what is done with --action {'|'.join(ACTIONS)}")
    at = now + _seconds("--in", asked.after)
    more = {"action": asked.action} if asked.action else {}
    if kind in MOMENTS:
        return [Event(at, kind, scope, asked.id, asked.note, more)]
    if asked.end:
        return [Event(at, f"{kind}_end", scope, asked.id, asked.note, more)]
    name = asked.id or f"{kind}-{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%S}"
    if not asked.lasts:
        return [Event(at, f"{kind}_start", scope, name, asked.note, more)]
    over = at + _seconds("--for", asked.lasts)
    # an end counts from its `at` on; until then the start itself says how long it lasts
    start = Event(at, f"{kind}_start", scope, name, asked.note, {**more, "until": over})
    return [start, Event(over, f"{kind}_end", scope, name, asked.note, more)]


def _seconds(option: str, text: str | None) -> float:
    if text is None:
        return 0.0
    try:
        found = seconds_of(text)
    except ValueError as wrong:
        raise UsageError(f"{option} {wrong}") from None
    if not 0 < found <= LONGEST:
        raise UsageError(f"{option} {text}: must be more than nothing and at most {LONGEST_SAID}")
    return found


def _check(asked: argparse.Namespace, scope: Mapping[str, str]) -> None:
    """Refuse a name in the scope that nobody knows; of a daemon, what its API tells.

    Raises:
        UsageError: which name, and those that look like it.
        SourceUnavailable: the daemon does not answer.
    """
    scope_names.check_incident(scope, lambda: [one["incident"] for one in incidents(asked)])
    if asked.config is not None:
        setup = load(asked.config)
        if setup.topology.devices:
            read = partial(scope_names.ever_read, setup.store)
            scope_names.check(scope, scope_names.written(setup.topology), read)
    elif "link" in scope:
        links = {"link": {one["link"] for one in rows(asked, "/api/v1/links")}}
        scope_names.check(scope, links, dict)
