"""`corpus FOLDER -c site.yaml`: a site's own history with its operators' verdicts, for `evaluate`.

What was called true becomes truth, what was called false becomes a trap: an incident there is
false again. Of what nobody judged nothing is known; it is named, and counts as false until
somebody says otherwise.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from fabrichealth import history
from fabrichealth.catalogue import METRICS
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._corpus import EVENTS, TOPOLOGY, TRUTH
from fabrichealth.cli._events import without_incidents
from fabrichealth.cli._incidents import events_of, newest
from fabrichealth.cli._site import Setup, load
from fabrichealth.cli._truths import Said, said_of
from fabrichealth.errors import SiteError, UsageError
from fabrichealth.events import Event
from fabrichealth.runtime.clock import Clock
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.settings import seconds_of
from fabrichealth.store.journal import SqliteJournal
from fabrichealth.store.protocol import Store
from fabrichealth.topology.writing import text_of

HISTORY, META = "history.jsonl.gz", "meta.json"


class CorpusCommand(Command):
    """Writes a labelled corpus from a site's state."""

    help = "write a site's history and its operators' verdicts as a corpus for evaluate"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare site, folder and span."""
        parser.add_argument("folder", type=Path, help="where to; made if it is not there")
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")
        parser.add_argument("--last", metavar="7d", help="only so much of the past; default: all")

    def run(self, asked: argparse.Namespace) -> int:
        """Write it; say what is in it and what nobody judged."""
        setup = load(asked.config)
        paths = StatePaths(setup.site.state)
        store = setup.store.reader()
        journal = SqliteJournal.open(paths.journal, read_only=True)
        try:
            start, end = _span(store, asked.last)
            told = events_of(journal)
            said = said_of(newest(journal).values(), told, start, end)
            things = [one for one in without_incidents(told) if start <= one.at <= end]
            _write(asked.folder, setup, things, said)
            many = history.write(store, asked.folder / HISTORY, start, end, list(METRICS.values()))
            meta = {"links": len(setup.topology.links), "from": start, "until": end}
            _text(asked.folder / META, json.dumps(meta) + "\n")
        finally:
            journal.close()
            store.close()
        _terminal.say(
            f"{asked.folder}: {many} readings, {len(said.truths)} truths, "
            f"{len(said.false)} false alarms"
        )
        if said.unjudged:
            _terminal.warn(
                f"nobody judged {', '.join(said.unjudged[:12])}"
                f"{' and others' if len(said.unjudged) > 12 else ''}; they count as false until "
                "`fabrichealth verdict INCIDENT true` says otherwise"
            )
        return WELL


def _span(store: Store, last: str | None) -> tuple[float, float]:
    held = store.span()
    if held is None:
        raise SiteError("the site's store holds no reading yet; nothing can be replayed")
    if last is None:
        return held[0] - 1.0, held[1]
    try:
        return max(held[0] - 1.0, min(held[1], Clock().now()) - seconds_of(last)), held[1]
    except ValueError as wrong:
        raise UsageError(f"--last {wrong}") from None


def _write(folder: Path, setup: Setup, events: list[Event], said: Said) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise SiteError(f"{folder}: cannot be made ({wrong.strerror}); give another") from None
    truths: list[dict[str, Any]] = said.truths or [{"quiet": True}]
    _text(folder / TOPOLOGY, text_of(setup.topology))
    _text(folder / TRUTH, _lines(truths))
    _text(folder / EVENTS, _lines([event.to_json() for event in events]))


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _text(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be written ({wrong.strerror}); make room") from None
