"""Incidents for a terminal: from the journal of a site, or from a running daemon."""

import argparse
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from fabrichealth.cli._found_out import FoundOut
from fabrichealth.cli._site import load
from fabrichealth.errors import SourceUnavailable, UsageError
from fabrichealth.events import Event, parse
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.journal import SqliteJournal
from fabrichealth.store.protocol import Journal

PATIENCE = 10.0
LOCAL = "http://127.0.0.1:9480"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where incidents are looked for."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-c", "--config", type=Path, help="site file: its journal is read")
    where.add_argument("--url", help=f"a running daemon; default {LOCAL}")
    parser.add_argument("--token-file", type=Path, help="bearer token for the daemon of --url")


def incidents(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the newest object of every incident known, oldest first.

    Raises:
        SourceUnavailable: the daemon does not answer.
        StoreError: the site has no journal yet.
    """
    if asked.config is None:
        return rows(asked, "/api/v1/incidents")
    paths = StatePaths(load(asked.config).site.state)
    journal = SqliteJournal.open(paths.journal, read_only=True)
    try:
        found = FoundOut()
        found.follow(journal)
        return [found.joined(one) for one in newest(journal).values()]
    finally:
        journal.close()


def told(config: Path) -> list[Event]:
    """Return every event in the journal of a site, by time.

    Raises:
        StoreError: the site has no journal yet.
    """
    journal = SqliteJournal.open(StatePaths(load(config).site.state).journal, read_only=True)
    try:
        return events_of(journal)
    finally:
        journal.close()


def events_of(journal: Journal) -> list[Event]:
    """Return every event of a journal, by time."""
    found: list[Event] = []
    position = 0
    while entries := journal.since(position, "event"):
        position = entries[-1].position
        found += [parse(entry.body) for entry in entries]
    return sorted(found, key=lambda event: event.at)


def newest(journal: Journal) -> dict[str, dict[str, Any]]:
    """Return the newest object of every incident in a journal, by id, oldest first."""
    found: dict[str, dict[str, Any]] = {}
    position = 0
    while entries := journal.since(position, "incident"):
        position = entries[-1].position
        for entry in entries:
            found[entry.body["incident"]] = entry.body
    return found


def rows(asked: argparse.Namespace, path: str, patience: float = PATIENCE) -> list[dict[str, Any]]:
    """Return what a daemon answers to a path of its API, within so many seconds.

    Raises:
        SourceUnavailable: it does not answer, or not to us.
    """
    url = asked.url or LOCAL
    wanted = request(f"{url.rstrip('/')}{path}", asked.token_file)
    try:
        with urllib.request.urlopen(wanted, timeout=patience) as reply:  # noqa: S310 - http(s) only
            found: list[dict[str, Any]] = json.load(reply)["data"]
    except urllib.error.HTTPError as refused:
        with refused:
            why = refused.read(500).decode("utf-8", "replace").strip()
        raise SourceUnavailable(
            f"{url}: refused ({refused.code}: {why}); give --token-file if it wants a token"
        ) from None
    except (OSError, ValueError, KeyError) as wrong:
        raise SourceUnavailable(
            f"{url}: does not answer ({wrong}); is `fabrichealth run` up, or give -c site.yaml"
        ) from None
    return found


def request(address: str, token_file: Path | None) -> urllib.request.Request:
    """Return a request with the token of a file, if one is given.

    Raises:
        UsageError: the address is none of HTTP, or the file cannot be read.
    """
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"--url {address}: write http://HOST:PORT")
    asked = urllib.request.Request(address)  # noqa: S310 - http(s) only, as checked above
    if token_file is not None:
        try:
            token = token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as wrong:
            raise UsageError(f"--token-file {token_file}: cannot be read ({wrong})") from None
        if not token.isascii() or not token.isprintable() or not token:
            raise UsageError(f"--token-file {token_file}: holds no token; one line of ASCII")
        asked.add_header("Authorization", f"Bearer {token}")
    return asked
