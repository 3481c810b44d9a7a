"""`explain INCIDENT`: one incident, told whole."""

import argparse

from fabrichealth import narrative
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._incidents import arguments, incidents
from fabrichealth.errors import UsageError


class Explain(Command):
    """Tells an incident in under 40 lines."""

    help = "tell one incident whole: culprit, evidence, victims, what to do"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare which incident, and where to look."""
        parser.add_argument("incident", help="its id, such as i7")
        arguments(parser)
        parser.add_argument("--json", action="store_true", help="the object itself")

    def run(self, asked: argparse.Namespace) -> int:
        """Tell it."""
        found = incidents(asked)
        for one in found:
            if one["incident"] == asked.incident:
                if asked.json:
                    _terminal.tell(one)
                else:
                    _terminal.say(narrative.story(one))
                return WELL
        known = ", ".join(one["incident"] for one in found[-8:]) or "none"
        raise UsageError(f"no incident {asked.incident}; the newest are: {known}")
