"""`check -c site.yaml [--probe]`: is the site right, and do its targets answer?"""

import argparse
import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from collectors.captures import content
from collectors.source import Source
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.cli._events import read_events, warn_of_strangers
from fabrichealth.cli._progress import progress
from fabrichealth.cli._site import Setup, load
from fabrichealth.cli._visiting import Visit, visits
from fabrichealth.config import Site
from fabrichealth.errors import SiteError
from fabrichealth.model import SeriesTable
from fabrichealth.target_rows import TargetRow
from fabrichealth.topology.route_circles import advice
from fabrichealth.web.access import read_access


class Check(Command):
    """Validates a site file and what it names."""

    help = "validate a site file; with --probe read every target once"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the site file."""
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")
        parser.add_argument("--probe", action="store_true", help="read every target once")

    def run(self, asked: argparse.Namespace) -> int:
        """Check, and say what was found."""
        setup = load(asked.config)
        site, topology = setup.site, setup.topology
        table = SeriesTable()
        sources = setup.sources(table, captures=True)
        if site.events and site.events.exists():
            warn_of_strangers(read_events(site.events), topology, site.events)
        lacks = list(_lacks(site))
        if lacks:
            for what in lacks[1:]:
                _terminal.say(what)
            raise SiteError(lacks[0])
        strangers = [row for row in site.targets if not _written(setup, row.device or row.name)]
        _terminal.say(
            f"{site.path}: well; {len(site.targets)} targets, {len(topology.devices)} devices, "
            f"{len(topology.links)} links"
        )
        for row in strangers if topology.devices else []:
            _terminal.say(f"  note: {row.source} {row.name} is no device of the topology")
        for what in advice(topology):
            _terminal.say(f"  advice: {what}")
        if not asked.probe:
            return WELL
        return asyncio.run(_probe(sources, site.targets, table))


def _lacks(site: Site) -> Iterator[str]:
    """Yield, a line each, what the site names and is not there for whoever runs this."""
    for index, row in enumerate(site.targets):
        why = _unreadable(row.secret_file)
        if why:
            what = f"secret_file {row.secret_file} {why}"
            yield str(site.error(index, what))
        if row.secret_env and row.secret_env not in os.environ:
            what = f"environment variable {row.secret_env} (secret_env) is not set"
            yield str(site.error(index, what))
    for key, path in site.store:
        why = _unreadable(path) if isinstance(path, Path) else ""
        if why:
            yield f"{site.path}: store: {key} {path} {why}"
    if site.web_config is not None:
        try:
            read_access(site.web_config)
        except SiteError as wrong:
            yield f"{site.path}: web_config: {wrong}"
    there = next(folder for folder in (site.state, *site.state.absolute().parents)
                 if os.path.lexists(folder))  # fmt: skip
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield (
            f"{site.path}: state: {site.state} cannot be made or written, because of {there}; "
            "give a folder that is ours"
        )


def _unreadable(secret: Path | None) -> str:
    """Return why a file gives no secret; empty where it does, or none is named."""
    if secret is None:
        return ""
    try:
        said = content(secret).decode()
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror}); check path and rights"
    except UnicodeDecodeError:
        return "is no text; write the secret in UTF-8"
    return "" if said.strip() else "is empty; write the secret into it"


def _written(setup: Setup, name: str) -> bool:
    topology = setup.topology
    return name in topology.devices or topology.named(name) is not None


async def _probe(sources: list[Source], rows: list[TargetRow], table: SeriesTable) -> int:
    """Visit every target once, some at a time; say what each brought."""
    with progress("targets", len(rows)) as far:
        results = [_told(visit) for visit in await visits(sources, rows, table, far)]
    for _, said in results:
        _terminal.say(said)
    well = sum(good for good, _ in results)
    _terminal.say(f"{well} of {len(results)} targets answered")
    if well == len(results):
        return WELL
    silent = next(said for good, said in results if not good)
    _terminal.warn(f"{len(results) - well} of {len(results)} targets gave nothing, first {silent}")
    return AGAINST


def _told(visit: Visit) -> tuple[bool, str]:
    """Return whether a target gave anything, and a line about it."""
    if not visit.polls:
        return False, f"{visit.source.target.source} {visit.failures[0]}"
    polls = [poll for _, poll in visit.polls]
    lost = dict.fromkeys([*(part for poll in polls for part in poll.missing), *visit.failures])
    missing = f", missing {', '.join(lost)}" if lost else ""
    read, refused, heard = (sum(counts) for counts in zip(
        *((poll.readings, len(poll.refused), len(poll.neighbors)) for poll in polls),
        strict=True))  # fmt: skip
    return read + heard > 0, f"{visit.name}: {read} readings, {refused} refused{missing}"
