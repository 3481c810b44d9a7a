"""Syslog over TCP: where one message ends (RFC 6587).

Octet counting (`LENGTH SP message`) or, as most senders still do, a line feed at the end of each.
A sender may mix them; a message too long to hold is cut, and the rest of it is dropped.
"""

import re

_LENGTH = re.compile(rb"([1-9]\d{0,7}) ")
_UNDECIDED = re.compile(rb"[1-9]\d{0,7}")


class Frames:
    """The messages of one connection; feed it bytes as they come."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = b""
        self._skip = 0
        self._skip_line = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that are whole now."""
        if self._skip:
            passed = min(self._skip, len(data))
            self._skip -= passed
            data = data[passed:]
        self._held += data
        found: list[bytes] = []
        while self._held:
            message = self._next()
            if message is None:
                break
            if message.strip():
                found.append(message)
        return found

    def _next(self) -> bytes | None:
        held = self._held
        counted = None if self._skip_line else _LENGTH.match(held)
        if counted:
            return self._counted(int(counted[1]), counted.end())
        if not self._skip_line and _UNDECIDED.fullmatch(held):
            return None  # the rest of a length may still come
        end = held.find(b"\n")
        if end >= 0:
            message = b"" if self._skip_line else held[: min(end, self._longest)]
            self._skip_line = False
            self._held = held[end + 1 :]
            return message
        if self._skip_line:
            self._held = b""
            return None
        if len(held) > self._longest:
            self._skip_line = True
            self._held = b""
            return held[: self._longest]
        return None

    def _counted(self, length: int, start: int) -> bytes | None:
        held = self._held
        kept = min(length, self._longest)
        if len(held) - start < kept:
            return None
        message = held[start : start + kept]
        rest = held[start + kept :]
        over = length - kept
        self._held = rest[over:]
        self._skip = max(over - len(rest), 0)
        return message
