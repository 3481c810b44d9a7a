"""A command at a real terminal: a pty of a given size, its screen as an emulator shows it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import pyte

PATIENCE = 30.0
"""Seconds until something has to be on the screen; only a failing test waits so long."""


class AtTerminal:
    """Runs `fabrichealth WORDS` on a pty; stderr is the terminal too, stdout unless `piped`."""

    def __init__(
        self, *words: object, size: tuple[int, int] = (80, 24), piped: bool = False, **env: str
    ) -> None:
        self.sent = b""
        """Everything that was sent to the terminal."""
        self._handle, inside = pty.openpty()
        known = {key: text for key, text in os.environ.items() if key not in _LEFT_OUT}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fabrichealth", *map(str, words)],
            stdin=inside,
            stdout=subprocess.PIPE if piped else inside,
            stderr=inside,
            env={**known, "TERM": "xterm-256color", **env},
            start_new_session=True,
            preexec_fn=_controlled,  # noqa: PLW1509 - else Ctrl-C is no signal there
        )
        os.close(inside)
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self.resize(size)

    @property
    def lines(self) -> list[str]:
        """What is on the screen."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """What is on the screen, as one text."""
        return "\n".join(self.lines)

    def resize(self, size: tuple[int, int]) -> None:
        """Make the terminal so many columns and rows."""
        self._screen.resize(lines=size[1], columns=size[0])
        packed = struct.pack("HHHH", size[1], size[0], 0, 0)
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, packed)

    def press(self, sent: bytes) -> None:
        """Send what a key sends."""
        os.write(self._handle, sent)

    def until(self, there: Callable[[str], bool] | str) -> str:
        """Wait until a text is on the screen, or it is as asked; return the screen.

        Raises:
            AssertionError: it never was; tells what is there instead.
        """
        wanted = (lambda text: there in text) if isinstance(there, str) else there
        end = time.monotonic() + PATIENCE
        while not wanted(self.text):
            left = end - time.monotonic()
            assert left > 0, f"{there} is not there:\n{self.text}"
            assert self._take(left) or wanted(self.text), f"ended without {there}:\n{self.text}"
        return self.text

    def end(self) -> int:
        """Take what is still sent until the command ends; return its exit status."""
        while self._take(PATIENCE):
            pass
        return self._process.wait(PATIENCE)

    def piped(self) -> str:
        """Return what standard output got, after the end."""
        self.end()
        assert self._process.stdout is not None
        return self._process.stdout.read().decode()

    def _take(self, seconds: float) -> bool:
        """Feed the screen with what comes; False at the end."""
        if not select.select([self._handle], [], [], seconds)[0]:
            return False
        try:
            sent = os.read(self._handle, 65_536)
        except OSError:
            sent = b""
        self.sent += sent
        self._stream.feed(sent)
        return bool(sent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, what: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        os.close(self._handle)


def _controlled() -> None:
    """Make standard input the terminal that controls us."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


_LEFT_OUT = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
