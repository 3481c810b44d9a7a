"""Keys of a terminal, one by one, as they are pressed."""

import os
import re
import select
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

SPLIT = 0.05
"""Seconds in which the rest of a key's bytes comes, over a slow line too; else it was Escape."""

ESCAPE = "\x1b"

_NAMED = {
    "\x1b[A": "up", "\x1bOA": "up", "k": "up",
    "\x1b[B": "down", "\x1bOB": "down", "j": "down",
    "\x1b[5~": "page up", "\x1b[6~": "page down", " ": "page down",
    "\x1b[H": "home", "\x1bOH": "home", "\x1b[1~": "home", "g": "home",
    "\x1b[F": "end", "\x1bOF": "end", "\x1b[4~": "end", "G": "end",
    "\r": "enter", "\n": "enter",
    ESCAPE: "back", "\x7f": "back", "\x08": "back",
    "q": "quit", "Q": "quit", "\x03": "quit", "\x04": "quit",
}  # fmt: skip
"""Keys by what terminals send for them (xterm's control sequences, VT220)."""


def keys(said: str) -> tuple[list[str], str]:
    """Return the names of the keys in what a terminal sent, and what may be half a key.

    What is no key of ours has no name, and is left out.
    """
    found: list[str] = []
    rest = said
    while rest:
        size = _size(rest)
        if size > len(rest):
            break
        name = _NAMED.get(rest[:size])
        rest = rest[size:]
        if name is not None:
            found.append(name)
    return found, rest


def _size(said: str) -> int:
    """Return how long the first key is; longer than what there is where more has to come."""
    if not said.startswith(ESCAPE):
        return 1
    found = _SEQUENCE.match(said)
    if found is not None:
        return found.end()
    return len(said) + 1 if _BEGUN.fullmatch(said) else 1


_SEQUENCE = re.compile(r"\x1b(?:O.|\[[0-?]*[ -/]*[@-~])", re.DOTALL)
"""SS3 with a letter, or a control sequence (ECMA-48 5.4)."""

_BEGUN = re.compile(r"\x1b(?:O|\[[0-?]*[ -/]*)?")
"""What may become one."""


class Keyboard:
    """Hands out keys; `pressed` opens it."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._half = ""

    def wait(self, seconds: float) -> list[str]:
        """Return the keys that are pressed within so many seconds; `quit` if the terminal went."""
        if not self._ready(seconds):
            return []
        found: list[str] = []
        while True:
            try:
                said = os.read(self._handle, 1024)
            except OSError:
                said = b""
            if not said:
                return [*found, "quit"]
            some, self._half = keys(self._half + said.decode("utf-8", "replace"))
            found += some
            if not self._half:
                return found
            if not self._ready(SPLIT):
                lone, self._half = self._half == ESCAPE, ""
                return [*found, "back"] if lone else found

    def _ready(self, seconds: float) -> bool:
        return bool(select.select([self._handle], [], [], seconds)[0])


@contextmanager
def pressed(handle: int) -> Iterator[Keyboard]:
    """Have a terminal send each key at once and show none; as it was afterwards.

    Ctrl-Z is left out: a shell would be left with our screen.
    """
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle)
        now = termios.tcgetattr(handle)
        now[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(handle, termios.TCSANOW, now)
        yield Keyboard(handle)
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
