"""`place --accelerators N [--domain D]`: where a job fits.

The best place of each domain, the best domain first: fewest domains, fewest racks, least of what is
free left in pieces that nobody who waits can use, and nothing behind a sick link. Where it does not
fit the largest job that would is told, and which jobs to move where that would help. The status is
1 where it fits nowhere.
"""

import argparse
from typing import Any
from urllib.parse import urlencode

from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.cli._incidents import arguments, rows, told
from fabrichealth.cli._placing import MOST_ACCELERATORS, looked, placement_rows
from fabrichealth.cli._site import load
from fabrichealth.errors import UsageError
from fabrichealth.runtime.clock import Clock

COLUMNS = ("", "domain", "racks", "hosts", "lost before", "after", "largest after")

MOST_HOSTS = 3
"""Hosts that are named in the table; --json names all."""


class Place(Command):
    """Says where a job fits."""

    help = "where a job of so many accelerators fits, and what keeps it out elsewhere"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the job, and where to look."""
        arguments(parser)
        parser.add_argument("--accelerators", type=int, required=True, metavar="N", help="its size")
        parser.add_argument("--domain", default="", metavar="D", help="look in this domain only")
        parser.add_argument("--json", action="store_true", help="one JSON object a place")

    def run(self, asked: argparse.Namespace) -> int:
        """Print the places; 1 if there is none."""
        job, domain = asked.accelerators, asked.domain
        if not 0 < job <= MOST_ACCELERATORS:
            raise UsageError(
                f"--accelerators {job}: give a whole number from 1 to {MOST_ACCELERATORS:,}"
            )
        found = _rows(asked, job, domain)
        if not found:
            where = f"domain {domain}" if domain else "any domain"
            raise UsageError(f"--domain: no accelerators are known in {where}; see the topology")
        for row in found if asked.json else ():
            _terminal.tell(row)
        if not asked.json:
            _terminal.say(table(found, job))
        if any(row["fits"] for row in found):
            return WELL
        unknown = any(row["fits"] is None for row in found)
        where = "nowhere that is known" if unknown else "nowhere"
        _terminal.warn(f"place: a job of {job} fits {where}; see each domain's reason")
        return AGAINST


def _rows(asked: argparse.Namespace, job: int, domain: str) -> list[dict[str, Any]]:
    if asked.config is None:
        query = urlencode({"accelerators": job} | ({"domain": domain} if domain else {}))
        return rows(asked, f"/api/v1/placements?{query}")
    setup = load(asked.config)
    store = setup.store.reader()
    try:
        view = looked(store, setup.topology, told(asked.config), Clock().now())
        return placement_rows(view, job, domain)
    finally:
        store.close()


def table(found: list[dict[str, Any]], job: int) -> str:
    """Return places for a person."""
    places = [row for row in found if row["fits"]]
    lines = [COLUMNS]
    for number, row in enumerate(places, start=1):
        lines.append(
            (
                str(number),
                ", ".join(name or "(none)" for name in row["domains"]),
                _some(row["racks"]),
                _some([f"{one['host']} ({one['accelerators']})" for one in row["hosts"]]),
                _percent(row["lost_before"]),
                _percent(row["lost_after"]),
                str(row["largest_after"]),
            )
        )
    widths = [max(len(line[place]) for line in lines) for place in range(len(COLUMNS))]
    shown = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in (lines if places else [])
    ]
    shown += [f"   {row['domains'][0]}: {row['because']}" for row in places if row["because"]]
    for row in found:
        if not row["fits"]:
            word = "unknown" if row["fits"] is None else "does not fit"
            shown.append(f"{row['domains'][0] or '(no domain)'}: {word}; {row['because']}")
    many = len({name for row in places for name in row["domains"]})
    if len(places) == 1 and many > 1:
        shown.append(f"a job of {job} fits in no one domain; this place spans {many}")
    elif places:
        every = len({name for row in found for name in row["domains"]})
        shown.append(f"a job of {job} fits in {many} of {every} domains, best first; lost is the")
        shown.append("share of what is free that those who wait cannot have")
    return "\n".join(shown)


def _some(names: list[str]) -> str:
    """Return a few names, and how many more there are."""
    more = f" and {len(names) - MOST_HOSTS} more" if len(names) > MOST_HOSTS else ""
    return ", ".join(names[:MOST_HOSTS]) + more


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
