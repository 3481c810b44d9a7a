"""`topology -c site.yaml [--diff]`: what faces what, as found and as written.

Every target is read once: LLDP tables, InfiniBand listings, UFM, NetBox, NVLink. What came is
merged with what is written and printed as a topology file; or, with `--diff`, every difference.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collectors.survey import surveyed
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.cli._site import Setup, load
from fabrichealth.cli._visiting import Visit, visits
from fabrichealth.model import Port, SeriesTable
from fabrichealth.runtime.clock import Clock
from fabrichealth.topology import (
    Difference,
    Discovery,
    Found,
    FoundLink,
    PortSaid,
    Topology,
    completed,
    differences,
    own_names,
    updated,
)
from fabrichealth.topology.writing import lists, plain, text_of


class TopologyCommand(Command):
    """Shows what was discovered, merged with what is written, or how the two differ."""

    help = "print the discovered topology merged with the written one; --diff: how they differ"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the site file and the two forms of what is printed."""
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")
        parser.add_argument("--diff", action="store_true", help="print differences, one a line")
        parser.add_argument("--json", action="store_true", help="JSON objects, one a line")

    def run(self, asked: argparse.Namespace) -> int:
        """Read, print; 1 if nothing was read or, with `--diff`, if anything differs."""
        setup = load(asked.config)
        table = SeriesTable()
        sources = setup.sources(table, captures=True)
        visited = asyncio.run(visits(sources, setup.site.targets, table))
        found, facts = _discovered(setup.topology, visited, table)
        every = differences(setup.topology, found, facts)
        unread = [
            f"{visit.source.target.source} {failure}"
            for visit in visited
            for failure in visit.failures
        ]
        read = any(visit.polls for visit in visited)
        if asked.diff:
            _tell_differences(setup, found, every, unread, as_json=asked.json)
        else:
            _tell_topology(setup.topology, found, facts, every, as_json=asked.json)
        if not read:
            first = f" (first: {unread[0]})" if unread else "; it lists none"
            _terminal.warn(f"{asked.config}: no target was read{first}")
            return AGAINST
        if asked.diff and every:
            _terminal.warn(f"{asked.config}: {_counted(every)}; mend the cabling or the file")
            return AGAINST
        for failure in [] if asked.diff else unread:
            _terminal.warn(failure)
        return WELL


def _counted(every: list[Difference]) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(o.kind for o in every).items())
    return f"{len(every)} differences ({kinds})" if every else "no differences"


def _discovered(
    written: Topology, visited: list[Visit], table: SeriesTable
) -> tuple[Found, dict[Port, PortSaid]]:
    """Return the links that polls speak of, and what they say of ports; newer polls win."""
    discovery = Discovery(written)
    facts: dict[Port, PortSaid] = {}
    now = Clock().now()
    for visit in visited:
        own: dict[Port, PortSaid] = {}
        for at, poll in visit.polls:
            discovery.hear(poll.neighbors, min(at, now), whole=not poll.missing)
            for port, said in surveyed(poll.batches, table).items():
                own[port] = said.or_else(own[port]) if port in own else said
        for port, said in own.items():
            facts[port] = facts[port].or_else(said) if port in facts else said
    return discovery.found(now, own_names(facts)), facts


def _tell_differences(
    setup: Setup, found: Found, every: list[Difference], unread: list[str], *, as_json: bool
) -> None:
    links = setup.topology.links
    known = sum(link.id in links for link in found.links)
    if as_json:
        for one in every:
            _terminal.tell({
                "difference": one.kind, "about": one.about, "written": one.written,
                "found": one.found, "says": one.says,
            })  # fmt: skip
        _terminal.tell({
            "differences": len(every), "found": len(found.links), "written": len(links),
            "as_written": known, "unread": unread,
        })  # fmt: skip
        return
    for line in (*map(str, every), *(f"unread: {one}" for one in unread)):
        _terminal.say(line)
    _terminal.say(
        f"{len(found.links)} links found, {known} of the {len(links)} written ones among them; "
        f"{_counted(every)}"
    )


def _tell_topology(
    written: Topology,
    found: Found,
    facts: dict[Port, PortSaid],
    every: list[Difference],
    *,
    as_json: bool,
) -> None:
    shown = updated(completed(written, found, facts), facts)
    links = {link.id: link for link in found.links}
    if as_json:
        for kind, name, row in lists(shown):
            said: dict[str, Any] = {kind: plain(row)}
            if kind == "link":
                said |= {"id": name, "found": _found(links.get(name))}
            _terminal.tell(said)
        return
    strangers = shown.devices.keys() - written.devices.keys()
    remarks = dict.fromkeys(strangers, "not written")
    remarks |= dict(_remarks(links, written))
    for one in every:
        if one.kind != "extra":
            _terminal.say(f"# {one}")
    _terminal.say(text_of(shown, remarks).rstrip("\n"))


def _remarks(links: dict[str, FoundLink], written: Topology) -> Iterator[tuple[str, str]]:
    for name, link in links.items():
        ends = "both ends" if len(link.told_by) == 2 else "one end"
        old = f", last heard of at {link.at:.0f}" if link.stale else ""
        new = "" if name in written.links else "not written; "
        yield name, f"{new}found by {', '.join(sorted(link.via))}, {ends}{old}"


def _found(link: FoundLink | None) -> dict[str, Any] | None:
    if link is None:
        return None
    return {
        "via": sorted(link.via),
        "told_by": sorted(map(str, link.told_by)),
        "stale": link.stale,
        "at": link.at,
    }
