"""`verdict INCIDENT true|false|ack`: the operator's word on an incident, as an event.

`ack`: I know, leave me alone; it stays visible and is told again only if it becomes graver.
`false`: a false alarm; nobody is told of it any more. `true`: a real fault. What was true and
what was false is remembered: `fabrichealth corpus` makes truth of it, and a kind that was often
called false must prove more before it pages.
"""

import argparse
from typing import Any

from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._incidents import incidents
from fabrichealth.cli._telling import tell, telling_arguments
from fabrichealth.errors import UsageError
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_CAUSES
from fabrichealth.runtime.clock import Clock

WORDS = {
    "true": "a real fault",
    "false": "a false alarm; nobody is told of it any more",
    "ack": "known; nobody is told of it again unless it becomes graver",
}


class VerdictCommand(Command):
    """Says of an incident whether it is real."""

    help = "say of an incident that it is real, a false alarm, or being dealt with"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare incident, word, and what was found out."""
        parser.add_argument("incident", help="its id, such as i7")
        parser.add_argument("word", choices=tuple(WORDS))
        parser.add_argument("--cause", choices=[str(cause) for cause in LINK_CAUSES],
                            help="what it was in the end, if that is known")  # fmt: skip
        parser.add_argument("--culprit", help="whose fault it was, if not the one accused")
        parser.add_argument("--side", help="device/port whose part was ill, if that is known")
        telling_arguments(parser)

    def run(self, asked: argparse.Namespace) -> int:
        """Tell it, of an incident that there is."""
        known = {one["incident"]: one for one in incidents(asked)}
        one = known.get(asked.incident)
        if one is None:
            newest = ", ".join(list(known)[-8:]) or "none"
            raise UsageError(f"no incident {asked.incident}; the newest are: {newest}")
        where = tell(asked, [event_of(asked, one, Clock().now())])
        _terminal.say(f"{asked.incident} ({one['kind']} of {one['culprit']['id']}): "
                      f"{WORDS[asked.word]}; told to {where}")  # fmt: skip
        return WELL


def event_of(asked: argparse.Namespace, incident: dict[str, Any], now: float) -> Event:
    """Return the event that says so.

    Raises:
        UsageError: more is said of a false alarm than that it is one.
    """
    more = {key: value for key in ("cause", "culprit", "side") if (value := getattr(asked, key))}
    if more and asked.word != "true":
        raise UsageError(f"--{next(iter(more))}: only what is true has one; say true")
    at = max(now, incident["opened_at"])
    return Event(at, f"verdict_{asked.word}", {"incident": asked.incident}, "", asked.note, more)
