"""Remote write 1.0: batches as Prometheus, VictoriaMetrics, Mimir and Thanos take them.

A `WriteRequest` is a chain of `TimeSeries`, each complete in itself (Prometheus remote write
specification 1.0; protobuf wire format). Polls of one target hold the same series each time, so
the bytes of a batch are kept as a template, in which only values and one time stamp change.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import cramjam
import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Metric
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.store.remote.names import INSTANCE, JOB

HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}

TEMPLATE_BYTES = 512 * 2**20
"""Templates held: about 150 bytes a series."""

SERIES, LABEL, SAMPLE = b"\x0a", b"\x0a", b"\x12\x10"
"""Tags: field 1 of the request, field 1 of a series, and field 2 with its length of 16 bytes."""

VALUE, STAMP = b"\x09", b"\x10"
"""Tags of a sample: a double, and milliseconds as a varint, here always of `STAMP_BYTES`."""

STAMP_BYTES = 6
"""Seven bits each: enough until the year 2109; a shorter number is padded, which is allowed."""

EMPTY = SAMPLE + VALUE + bytes(8) + STAMP + bytes(STAMP_BYTES)
"""A sample that waits for its value and time."""


def varint(number: int, least: int = 1) -> bytes:
    """Return a number as protobuf writes it, in at least so many bytes."""
    found = bytearray()
    while number > 0x7F or len(found) < least - 1:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def framed(tag: bytes, body: bytes) -> bytes:
    """Return a field of bytes."""
    return tag + varint(len(body)) + body


@dataclass(frozen=True)
class Template:
    """The bytes of a batch, and where in them each of its values lies ([n])."""

    raw: bytes
    value: NDArray[np.int64]


def filled(templates: Sequence[Template], batches: Sequence[Batch]) -> bytearray:
    """Return templates one after the other, with the values and times of their batches."""
    raw = bytearray().join([template.raw for template in templates])
    count = np.array([len(batch) for batch in batches])
    length = np.array([len(template.raw) for template in templates])
    value = np.concatenate([template.value for template in templates])
    value += np.repeat(np.cumsum(length) - length, count)
    # what is to be written may begin at any byte: views of every byte's own place
    values = np.ndarray((len(raw) - 7,), "<f8", raw, 0, (1,))
    values[value] = np.concatenate([batch.values for batch in batches])
    stamps = np.ndarray((len(raw) - STAMP_BYTES + 1,), f"V{STAMP_BYTES}", raw, 0, (1,))
    said = b"".join([varint(round(batch.at * 1e3), STAMP_BYTES) for batch in batches])
    stamps[value + (8 + len(STAMP))] = np.repeat(np.frombuffer(said, f"V{STAMP_BYTES}"), count)
    return raw


class RemoteWrite:
    """Encodes batches of one table."""

    headers = HEADERS
    path = ""
    """The address that is given is the whole one."""

    def __init__(self, table: SeriesTable, own: Mapping[str, str]) -> None:
        """`own` are labels that every series gets."""
        self._table = table
        self._own = own
        self._templates: OrderedDict[tuple[int, bytes], Template] = OrderedDict()
        self._held = 0
        self._plans: dict[tuple[Metric, int], list[bytes | tuple[bytes, int]]] = {}

    def body(self, batches: Sequence[Batch]) -> bytes:
        """Return one request; every value is finite."""
        return _packed(filled([self._template(batch) for batch in batches], batches))

    def _template(self, batch: Batch) -> Template:
        key = (batch.clock, batch.series.tobytes())
        found = self._templates.get(key)
        if found is not None:
            self._templates.move_to_end(key)
            return found
        parts = [self._series(series, batch.clock) for series in batch.series.tolist()]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        template = Template(b"".join(parts), ends - (8 + len(STAMP) + STAMP_BYTES))
        self._templates[key] = template
        self._held += len(template.raw)
        while self._held > TEMPLATE_BYTES and len(self._templates) > 1:
            _, old = self._templates.popitem(last=False)
            self._held -= len(old.raw)
        return template

    def _series(self, series: int, clock: int) -> bytes:
        """Return a series with room for one sample."""
        metric = self._table.metric(series)
        plan = self._plans.get((metric, clock))
        if plan is None:
            plan = self._plans[metric, clock] = self._plan(metric, clock)
        values = self._table.labels(series)
        body = b"".join(
            part if isinstance(part, bytes) else _label(part[0], values[part[1]]) for part in plan
        )
        return framed(SERIES, body + EMPTY)

    def _plan(self, metric: Metric, clock: int) -> list[bytes | tuple[bytes, int]]:
        """Return the labels of a metric by name: those that never differ, and places of others."""
        source, target = self._table.clocks()[clock]
        fixed = {"__name__": str(metric), JOB: source, INSTANCE: target, **self._own}
        places = {name: place for place, name in enumerate(metric.labels)}
        found: list[bytes | tuple[bytes, int]] = []
        for name in sorted(fixed.keys() | places.keys()):
            head = framed(b"\x0a", _utf8(name))
            if name in fixed:
                found.append(_label(head, fixed[name]))
            else:
                found.append((head, places[name]))
        return found

    @staticmethod
    def halves(body: bytes) -> tuple[tuple[bytes, int], ...]:
        """Return a request as two, each with its samples; nothing if it holds one series."""
        series = list(_chain(bytes(cramjam.snappy.decompress_raw(body))))
        if len(series) < 2:
            return ()
        middle = len(series) // 2
        return tuple(
            (_packed(b"".join(part)), len(part)) for part in (series[:middle], series[middle:])
        )


def _label(head: bytes, text: str) -> bytes:
    """Return a label whose name is framed already; none if its value is empty."""
    return framed(LABEL, head + framed(b"\x12", _utf8(text))) if text else b""


def _packed(raw: bytes | bytearray) -> bytes:
    return bytes(cramjam.snappy.compress_raw(raw))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _chain(raw: bytes) -> Iterator[bytes]:
    """Yield each series of a request as it stands."""
    at = 0
    while at < len(raw):
        start, at = at, at + 1
        length, shift = 0, 0
        while True:
            byte = raw[at]
            length |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        at += length
        yield raw[start:at]
