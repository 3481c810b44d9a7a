"""What a person tells: events, into the site's events file or to a running daemon."""

import argparse
import json
import os
import urllib.error
import urllib.request
from pathlib import Path

from fabrichealth.cli._incidents import LOCAL, PATIENCE, arguments, request
from fabrichealth.cli._site import load
from fabrichealth.errors import SiteError, SourceUnavailable, UsageError
from fabrichealth.events import Event, parse


def telling_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare to whom it is told, and the note that goes with it."""
    arguments(parser)
    parser.add_argument("--note", default="", help="why, for whoever reads it later")


def tell(asked: argparse.Namespace, events: list[Event]) -> str:
    """Tell events; return to whom, for a person.

    Raises:
        UsageError: the site has no events file, a daemon is told without a token, or an event
            is one that nobody could read.
        SiteError: the events file cannot be written.
        SourceUnavailable: the daemon does not answer, or refuses.
    """
    for event in events:
        try:
            parse(event.to_json())
        except ValueError as wrong:
            raise UsageError(
                f"this event could not be read again ({wrong}); nothing told"
            ) from None
    if asked.config is None:
        url = asked.url or LOCAL
        for event in events:
            _post(url, asked.token_file, event)
        return url
    path = load(asked.config).site.events
    if path is None:
        raise UsageError(
            f"{asked.config}: names no events file; add `events: events.jsonl`, or tell a running "
            "daemon with --url and --token-file"
        )
    append(path, events)
    return str(path)


def append(path: Path, events: list[Event]) -> None:
    """Append events to a file of JSON lines, in one write, so that writers do not mix.

    Raises:
        SiteError: it cannot be written.
    """
    lines = "".join(json.dumps(event.to_json()) + "\n" for event in events).encode()
    try:
        with path.open("ab+") as file:
            if file.tell() and not _ends_a_line(file.fileno(), file.tell()):
                lines = b"\n" + lines
            file.write(lines)
    except OSError as wrong:
        raise SiteError(
            f"{path}: cannot be written ({wrong.strerror}); check events: and its rights"
        ) from None


def _ends_a_line(handle: int, size: int) -> bool:
    return os.pread(handle, 1, size - 1) == b"\n"


def _post(url: str, token_file: Path | None, event: Event) -> None:
    if token_file is None:
        raise UsageError(
            "telling a daemon needs its token: give --token-file (bearer_token_file of its "
            "web_config), or -c site.yaml to write into the site's events file"
        )
    asked = request(f"{url.rstrip('/')}/api/v1/events", token_file)
    asked.data = json.dumps(event.to_json()).encode()
    asked.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE):  # noqa: S310 - http(s) only
            return
    except urllib.error.HTTPError as refused:
        with refused:
            why = refused.read(500).decode("utf-8", "replace").strip()
        raise SourceUnavailable(f"{url}: refused the event ({refused.code}: {why})") from None
    except (OSError, ValueError) as wrong:
        raise SourceUnavailable(
            f"{url}: does not answer ({wrong}); is `fabrichealth run` up, or give -c site.yaml"
        ) from None
