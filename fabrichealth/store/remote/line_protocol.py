"""Line protocol: batches as InfluxDB 1, 2 and 3 and VictoriaMetrics take them.

Measurement `fabric`, tags the labels, one float field named as the metric without its prefix
(contract 8); VictoriaMetrics joins both to the exported name. The text before a value is made
once a series; values are written by orjson, which gives each number its shortest form.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import orjson

from fabrichealth.metric import PREFIX
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.store.remote.names import labels_of

MEASUREMENT = PREFIX.rstrip("_")

HEADERS = {"Content-Type": "text/plain; charset=utf-8"}

JOINER = "\u2060"
"""Word joiner: no glyph, no width. It keeps a backslash away from what ends a tag."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
"""A line break would begin another line, and no server has a way to write one in a tag."""

_AT_END = re.compile(rf"\\{JOINER}*\Z")
_SPECIAL = re.compile(r"([,= ])")
_SPECIAL_THERE = re.compile(r"([,= \\])")

Tag = Callable[[str], str]
"""How a server wants the value of a tag written."""


def held(text: str) -> str:
    """Return a name as an InfluxDB holds it; `named` is the way back.

    InfluxDB has no escape for a backslash and refuses a tag that ends in one, however many there
    are (measured on 1.6; 2 has the same parser, that of 3 says "ends with backslash"): a joiner
    follows it there. Control characters become `_`.
    """
    text = _CONTROLS.sub("_", text)
    return text + JOINER if _AT_END.search(text) else text


def named(text: str) -> str:
    """Return the name that an InfluxDB holds as this."""
    return text[:-1] if text.endswith(JOINER) and _AT_END.search(text) else text


def influx_tag(text: str) -> str:
    """Return a tag's value as InfluxDB takes it: a backslash escapes only `,`, `=` and space."""
    return _SPECIAL.sub(r"\\\1", held(text))


def victoria_tag(text: str) -> str:
    """Return a tag's value as VictoriaMetrics takes it: a backslash is escaped as well."""
    return _SPECIAL_THERE.sub(r"\\\1", _CONTROLS.sub("_", text))


class LineProtocol:
    """Encodes batches of one table."""

    headers = HEADERS

    def __init__(self, table: SeriesTable, own: Mapping[str, str], tag: Tag = influx_tag) -> None:
        """`own` are tags that every series gets."""
        self._table = table
        self._own = own
        self._tag = tag
        self._heads: dict[int, dict[int, bytes]] = {}
        """By clock and series: a line up to its value."""

    def body(self, batches: Sequence[Batch]) -> bytes:
        """Return lines; every value is finite."""
        return b"".join(self._lines(batch) for batch in batches)

    def _lines(self, batch: Batch) -> bytes:
        heads = self._heads.setdefault(batch.clock, {})
        series = batch.series.tolist()
        if not heads.keys() >= set(series):
            clock = self._table.clocks()[batch.clock]
            for number in series:
                if number not in heads:
                    heads[number] = self._head(number, clock)
        end = b" %d000000\n" % round(batch.at * 1e3)
        values = orjson.dumps(batch.values, option=orjson.OPT_SERIALIZE_NUMPY)
        parts = [end] * (3 * len(series))
        parts[0::3] = map(heads.__getitem__, series)
        parts[1::3] = values[1:-1].split(b",")
        return b"".join(parts)

    def _head(self, series: int, clock: tuple[str, str]) -> bytes:
        labels = labels_of(self._table, series, clock, self._own)
        tags = "".join(f",{name}={self._tag(text)}" for name, text in labels.items())
        field = self._table.metric(series).name
        return f"{MEASUREMENT}{tags} {field}=".encode("utf-8", "replace")

    @staticmethod
    def halves(body: bytes) -> tuple[tuple[bytes, int], ...]:
        """Return lines as two parts, each with its samples; nothing if there is one line."""
        lines = body.splitlines(keepends=True)
        if len(lines) < 2:
            return ()
        middle = len(lines) // 2
        return tuple((b"".join(part), len(part)) for part in (lines[:middle], lines[middle:]))
