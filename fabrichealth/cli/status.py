"""`status`: what is open; with `--domain` what became of a domain, for a person at a terminal."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from fabrichealth import narrative
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._console import console, draws, show
from fabrichealth.cli._domain_tables import drawn, tables
from fabrichealth.cli._domains import rows_of_domain, span_of
from fabrichealth.cli._gravity import gravest_first
from fabrichealth.cli._incident_tables import incident_table
from fabrichealth.cli._incidents import arguments, incidents
from fabrichealth.cli._newest import Newest, newest
from fabrichealth.errors import FabricHealthError


class Status(Command):
    """Lists open incidents, gravest first."""

    help = "list open incidents, gravest first"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare where to look."""
        arguments(parser)
        parser.add_argument("--all", action="store_true", help="closed ones too")
        parser.add_argument("--json", action="store_true", help="JSON objects, one a line")
        parser.add_argument(
            "--domain",
            help="instead, what became of a domain: hours, links, recoveries, benchmarks",
        )
        parser.add_argument(
            "--for", dest="span", default="7d", help="how far back with --domain; default 7d"
        )

    def run(self, asked: argparse.Namespace) -> int:
        """List; the status is 0 whatever is open."""
        if asked.domain is not None:
            return _of_domain(asked)
        found = [one for one in incidents(asked) if asked.all or one["closed_at"] is None]
        found.sort(key=gravest_first)
        if asked.json:
            for one in found:
                _terminal.tell(one)
            return WELL
        if found and draws():
            _table(asked, found)
        else:
            for one in found:
                _terminal.say(narrative.headline(one))
        _terminal.say(summary([one for one in found if one["closed_at"] is None]))
        return WELL


def _table(asked: argparse.Namespace, found: Sequence[Mapping[str, Any]]) -> None:
    """Draw incidents as a table; readings beside them where they can be had."""
    width = console().width
    with ExitStack() as held:
        kept: Newest | None = None
        with suppress(FabricHealthError):  # no series are kept: a table without readings
            kept = held.enter_context(newest(asked))
        show(incident_table(found, width, kept))


def _of_domain(asked: argparse.Namespace) -> int:
    """Tell what became of a domain."""
    found = rows_of_domain(asked, asked.domain, span_of(asked.span))
    for row in found if asked.json else ():
        _terminal.tell(row)
    if not asked.json:
        if not any(row["section"] == "hours" for row in found):
            _terminal.say(f"{asked.domain}: nothing was read yet, so nothing is known of its hours")
        if found and draws():
            show(drawn(asked.domain, found))
        elif found:
            _terminal.say(tables(asked.domain, found))
    return WELL


def summary(open_now: Sequence[Mapping[str, Any]]) -> str:
    """Return how many incidents are open, and how many of them nobody is told of, and why."""
    if not open_now:
        return "nothing open"
    quiet = {
        "suppressed": sum(one["suppressed_by"] is not None for one in open_now),
        "silenced": sum(bool((one.get("operator") or {}).get("silent")) for one in open_now),
        "held back as tickets": sum(bool(one.get("held_back")) for one in open_now),
    }
    return ", ".join(
        [f"{len(open_now)} open", *(f"{many} {word}" for word, many in quiet.items() if many)]
    )
