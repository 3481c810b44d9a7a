"""Incidents for a terminal: from the journal of a site, or from a running daemon."""

import argparse
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from fabrichealth.cli._site import load
from fabrichealth.errors import SourceUnavailable, UsageError
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


def incidents(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the newest object of every incident known, oldest first.

    Raises:
        SourceUnavailable: the daemon does not answer.
        StoreError: the site has no journal yet.
    """
    if asked.config is None:
        return _asked(asked.url or LOCAL)
    paths = StatePaths(load(asked.config).site.state)
    journal = SqliteJournal.open(paths.journal, read_only=True)
    try:
        return list(newest(journal).values())
    finally:
        journal.close()


def newest(journal: Journal) -> dict[str, dict[str, Any]]:
    """Return the newest object of every incident in a journal, by id, oldest first."""
    found: dict[str, dict[str, Any]] = {}
    position = 0
    while entries := journal.since(position, "incident"):
        position = entries[-1].position
        for entry in entries:
            found[entry.body["incident"]] = entry.body
    return found


def _asked(url: str) -> list[dict[str, Any]]:
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url {url}: write http://HOST:PORT")
    try:
        address = f"{url.rstrip('/')}/api/v1/incidents"
        with urllib.request.urlopen(address, timeout=PATIENCE) as reply:  # noqa: S310 - http(s) only
            found: list[dict[str, Any]] = json.load(reply)["data"]
    except (OSError, ValueError, KeyError, urllib.error.URLError) as wrong:
        raise SourceUnavailable(
            f"{url}: does not answer ({wrong}); is `fabrichealth run` up, or give -c site.yaml"
        ) from None
    return found
