"""`watch`: the live view of a terminal; into a pipe it tells once what is now.

Follows a daemon by its API, or a site by what its daemon writes, and lives through a restart of
either.
"""

import argparse
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from types import FrameType
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._console import console, draws
from fabrichealth.cli._following import Following, Now
from fabrichealth.cli._gravity import gravest_first
from fabrichealth.cli._incidents import arguments
from fabrichealth.cli._keys import pressed
from fabrichealth.cli._watch_screen import Chosen, once, screen
from fabrichealth.cli._watched import Seen, Watched, watched

TICK = 0.25
"""Seconds until a new size of the screen, or news, are drawn."""


class Watch(Command):
    """Shows what is open, how the domains do and what is silent, as it changes."""

    help = "follow incidents, domains and what is silent, live at a terminal"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare where to look."""
        arguments(parser)

    def run(self, asked: argparse.Namespace) -> int:
        """Follow until `q`; where there is no terminal, tell once."""
        looked_at = watched(asked)
        if draws() and sys.stdin.isatty():
            _live(looked_at)
            return WELL
        with closing(looked_at):
            for line in once(looked_at.name, _sorted(looked_at.look())):
                sys.stdout.write(f"{line.plain}\n")
        return WELL


def _live(looked_at: Watched) -> None:
    following = Following(looked_at)
    chosen = Chosen()
    try:
        with (
            suppress(KeyboardInterrupt),
            _ended_politely(),
            pressed(sys.stdin.fileno()) as keyboard,
            Live(console=console(), screen=True, auto_refresh=False, redirect_stdout=False,
                 redirect_stderr=False) as live,
        ):  # fmt: skip
            drawn: list[Text] = []
            while True:
                now = _ordered(following.now)
                _follow(chosen, now.seen.incidents)
                following.want(chosen.incident)
                size = shutil.get_terminal_size()
                lines = screen(looked_at.name, now, chosen, size, time.monotonic())
                if lines != drawn:
                    live.update(Group(*lines), refresh=True)
                    drawn = lines
                for key in keyboard.wait(TICK):
                    if not _took(key, chosen, now.seen.incidents, size.lines):
                        return
    finally:
        following.stop()


def _ordered(now: Now) -> Now:
    return now._replace(seen=_sorted(now.seen))


def _sorted(seen: Seen) -> Seen:
    return Seen(seen.at, tuple(sorted(seen.incidents, key=gravest_first)), seen.domains, seen.lacks)


def _follow(chosen: Chosen, incidents: tuple[Mapping[str, Any], ...]) -> None:
    """Keep what is chosen as it is now; choose the gravest where nothing is."""
    if chosen.told:
        return
    name = "" if chosen.incident is None else chosen.incident["incident"]
    same = next((one for one in incidents if one["incident"] == name), None)
    chosen.incident = same or (incidents[0] if incidents else None)


def _took(key: str, chosen: Chosen, incidents: tuple[Mapping[str, Any], ...], height: int) -> bool:
    """Do what a key says; return False to end."""
    if key == "quit":
        return False
    step = {"up": -1, "down": 1, "page up": -(height - 4), "page down": height - 4,
            "home": -1_000_000, "end": 1_000_000}.get(key, 0)  # fmt: skip
    if key == "back":
        chosen.told, chosen.top = False, 0
    elif key == "enter":
        chosen.told, chosen.top = chosen.incident is not None, 0
    elif chosen.told:
        chosen.top += step
    elif step and incidents:
        names = [one["incident"] for one in incidents]
        here = "" if chosen.incident is None else chosen.incident["incident"]
        place = names.index(here) if here in names else 0
        chosen.incident = incidents[min(max(place + step, 0), len(incidents) - 1)]
    return True


@contextmanager
def _ended_politely() -> Iterator[None]:
    """Have SIGTERM end us as Ctrl-C does: the terminal gets its own screen back.

    Ctrl-C as well where whoever started us ignores it, as shells do in the background.
    """

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
