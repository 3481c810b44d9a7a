"""Line protocol: batches as InfluxDB 1, 2 and 3 and VictoriaMetrics take them.

Measurement `fabric`, tags the labels, one float field named as the metric without its prefix
(contract 8); VictoriaMetrics joins both to the exported name. The text before a value is made
once a series; values are written by orjson, which gives each number its shortest form.
"""

import re
from collections.abc import Mapping, Sequence

import orjson

from fabrichealth.metric import PREFIX
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.store.remote.names import labels_of

MEASUREMENT = PREFIX.rstrip("_")

HEADERS = {"Content-Type": "text/plain; charset=utf-8"}

_SPECIAL = re.compile(r"([,= ])")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f]|\\+$")
"""The format has no way to write a line break, nor a backslash before what ends a tag."""


def written(text: str) -> str:
    """Return a name as it will be read again: what cannot be written becomes `_`."""
    return _UNWRITABLE.sub("_", text)


def tag(text: str) -> str:
    """Return a tag's value as it is written."""
    return _SPECIAL.sub(r"\\\1", written(text))


class LineProtocol:
    """Encodes batches of one table."""

    headers = HEADERS

    def __init__(self, table: SeriesTable, own: Mapping[str, str]) -> None:
        """`own` are tags that every series gets."""
        self._table = table
        self._own = own
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
        tags = "".join(f",{name}={tag(text)}" for name, text in labels.items())
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
