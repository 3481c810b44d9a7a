"""Server-sent events (WHATWG HTML, section 9.2), as an EventService pushes them.

A stream is lines; an event ends with an empty one. Lines that begin with a colon are heartbeats.
"""

from dataclasses import dataclass, field

MOST_BYTES = 4 * 2**20
"""One event larger than this is dropped."""


@dataclass(slots=True)
class EventStream:
    """Puts the lines of one stream together; fed with bytes as they come."""

    last_id: str = ""
    """Of the last event, to go on from there."""
    dropped: int = 0
    """Events that were too large."""
    _rest: bytearray = field(default_factory=bytearray)
    _data: list[str] = field(default_factory=list)
    _size: int = 0

    def feed(self, chunk: bytes) -> list[str]:
        """Return the data of each event that these bytes complete."""
        self._rest += chunk
        found: list[str] = []
        # a line ends with \n, \r\n or \r; one \r at the very end may be half of \r\n
        text = bytes(self._rest)
        end = len(text) - 1 if text.endswith(b"\r") else len(text)
        cut = max(text.rfind(b"\n", 0, end), text.rfind(b"\r", 0, end)) + 1
        for line in text[:cut].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]:
            self._line(line, found)
        self._rest = bytearray(text[cut:])
        if len(self._rest) > MOST_BYTES:
            self._rest.clear()
            self._drop()
        return found

    def _line(self, line: bytes, found: list[str]) -> None:
        if not line:
            if self._size > MOST_BYTES:
                self._drop()
            elif self._data:
                found.append("\n".join(self._data))
            self._data, self._size = [], 0
            return
        name, _, rest = line.decode("utf-8", "replace").partition(":")
        value = rest.removeprefix(" ")
        if name == "data":
            self._size += len(value)
            if self._size <= MOST_BYTES:
                self._data.append(value)
        elif name == "id" and "\0" not in value:
            self.last_id = value[:200]

    def _drop(self) -> None:
        self.dropped += 1
        self._data, self._size = [], 0
