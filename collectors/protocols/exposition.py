"""Prometheus' text format 0.0.4 and OpenMetrics 1.0: pages of `name{labels} value [time]`.

A line that is not of the format costs itself alone. Time stamps are milliseconds in 0.0.4,
seconds in OpenMetrics.

A page that was seen before differs from the last one in its numbers only. `Reader` remembers
the last page's shape and then parses nothing but numbers: no label string and no object is
built per sample. Where lines came, went or moved, what stands before each value is looked up in
a dictionary, and only what is new is parsed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import nan

import numpy as np

from collectors.protocols.exposition_line import Series, reading_of, series_of
from collectors.protocols.exposition_shape import Changed, Shape
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Floats

_FORGET = 10_000
"""Lines remembered beyond twice those of the page; above, all that is no longer there goes."""


class Dialect(Enum):
    """The two forms of a page; the value is the seconds in one unit of a time stamp."""

    TEXT = 1e-3
    OPENMETRICS = 1.0


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is not of the format: its number from 1, its text, and what is wrong."""

    line: int
    text: bytes
    why: str


@dataclass(frozen=True, slots=True)
class Page:
    """The samples of a page in its order: `series[n]`, `values[n]`, `at[n]`.

    `series` is the same object as long as pages differ in numbers only, so that what was
    derived from it can be kept. `values` holds NaN and the infinities where the page says so,
    and NaN where the value is not a number (then the line is among `broken`). `at` is unix
    seconds, NaN where the line has no time stamp. `whole` is False for an OpenMetrics page
    without its `# EOF`: the end is missing.
    """

    series: Sequence[Series]
    values: Floats
    at: Floats
    broken: Sequence[Broken]
    whole: bool = True


class Reader:
    """Reads the pages of one target, one after the other."""

    def __init__(self) -> None:
        self._known: dict[bytes, Series] = {}
        self._series: tuple[Series, ...] = ()
        self._lasting: list[Broken] = []  # broken lines that belong to the shape
        self._shape: Shape | None = None

    def read(self, body: bytes, dialect: Dialect = Dialect.TEXT) -> Page:
        """Read one page; what is not of the format is in its `broken`, nothing is raised."""
        whole = dialect is Dialect.TEXT or body.rstrip(b" \r\n").endswith(b"# EOF")
        try:
            read = self._shape.numbers(body) if self._shape else None
        except Changed:
            read = None
        values, stamps, wrong = read or self._lines(body)
        broken = self._lasting
        if wrong:
            lines = body.split(b"\n")
            broken = [*broken, *(Broken(at + 1, lines[at], why) for at, why in wrong)]
            broken.sort(key=lambda line: line.line)
        return Page(self._series, values, stamps * dialect.value, broken, whole)

    def _lines(self, body: bytes) -> tuple[Floats, Floats, list[tuple[int, str]]]:
        """Read line by line, and remember the shape."""
        lines = body.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        if len(self._known) > 2 * len(lines) + _FORGET:
            self._known = {}
        heads: list[int] = []
        series: list[Series] = []
        values: list[float] = []
        stamps: list[float] = []
        wrong: list[tuple[int, str]] = []
        self._lasting = []
        for number, line in enumerate(lines):
            found, head = self._look_up(line)
            if found is None:
                heads.append(-1)
                if line.lstrip(b" \t\r")[:1] in {b"", b"#"}:
                    continue
                try:
                    found, head = series_of(line)
                except MalformedReply as bad:
                    self._lasting.append(Broken(number + 1, line, str(bad)))
                    continue
                if line[head - 1 : head] == b" ":
                    found = self._known.setdefault(line[: head - 1], found)
                heads.pop()
            heads.append(head)
            series.append(found)
            try:
                value, stamp = reading_of(line[head:])
            except MalformedReply as bad:
                wrong.append((number, str(bad)))
                value = stamp = nan
            values.append(value)
            stamps.append(stamp)
        self._series = tuple(series)
        self._shape = Shape(body, np.array(heads, np.int64))
        return np.array(values, np.float64), np.array(stamps, np.float64), wrong

    def _look_up(self, line: bytes) -> tuple[Series | None, int]:
        """Return the series of a line whose text before the value is known, and its length + 1."""
        head, _, _ = line.rpartition(b" ")
        found = self._known.get(head)
        if found is None:  # perhaps a time stamp follows the value
            head, _, _ = head.rpartition(b" ")
            found = self._known.get(head)
        return found, len(head) + 1
