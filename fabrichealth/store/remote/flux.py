"""Flux: the language of InfluxDB 2; answers are annotated CSV."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from itertools import groupby

from fabrichealth.errors import StoreError
from fabrichealth.store.remote.http import Posts
from fabrichealth.store.remote.influx import Answer, Question
from fabrichealth.store.remote.line_protocol import MEASUREMENT

FRAME = frozenset({
    "", "result", "table", "_start", "_stop", "_time", "_value", "_field", "_measurement", "error",
    "reference", "ms",
})  # fmt: skip
"""Columns that are no tags."""

FRAMED = frozenset({"result", "table"})
"""Columns that every answer has."""


def string(text: str) -> str:
    """Return a string as Flux quotes it; `${` would begin an expression."""
    return json.dumps(text, ensure_ascii=False).replace("${", "\\${")


def moment(milliseconds: int) -> str:
    """Return a time."""
    return f"time(v: {milliseconds * 1_000_000})"


def source(bucket: str, field: str, tags: Mapping[str, str], start: int, stop: int) -> str:
    """Return the pipe that gives a field's rows in [start, stop) (milliseconds)."""
    same = [f"r._measurement == {string(MEASUREMENT)}", f"r._field == {string(field)}"]
    same += [
        f"r[{string(key)}] == {string(text)}" if text else f"not exists r[{string(key)}]"
        for key, text in tags.items()
    ]
    return (
        f"from(bucket: {string(bucket)})"
        f" |> range(start: {moment(start)}, stop: {moment(stop)})"
        f" |> filter(fn: (r) => {' and '.join(same)})"
    )


IN_MILLISECONDS = "|> map(fn: (r) => ({r with ms: int(v: r._time) / 1000000}))"

BOUNDLESS = 4_102_444_800_000
"""The year 2100."""


class Flux:
    """Speaks to one bucket by `/api/v2/query` (InfluxDB 2 API reference)."""

    steps = False

    def __init__(self, http: Posts, org: str, bucket: str) -> None:
        self._http = http
        self._org = org
        self._bucket = bucket

    def readings(self, question: Question) -> Iterator[Answer]:
        """Yield the readings of each series."""
        stop = question.end + 1
        pipe = source(self._bucket, question.field, question.tags, question.start, stop)
        drop = '|> drop(columns: ["_start", "_stop"])'
        for _, rows in groupby(self._asked(f"{pipe} {drop} {IN_MILLISECONDS}"), _table):
            every = list(rows)
            tags = {key: text for key, text in every[0].items() if key not in FRAME and text}
            times = [float(row["ms"]) for row in every]
            yield Answer(tags, times, [float(row["_value"]) for row in every])

    def fields(self) -> list[str]:
        """Return the fields that there are."""
        query = (
            'import "influxdata/influxdb/schema" schema.measurementFieldKeys('
            f"bucket: {string(self._bucket)}, measurement: {string(MEASUREMENT)},"
            " start: time(v: 0))"
        )
        return [row["_value"] for row in self._asked(query)]

    def edges(self, field: str, tags: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the first and the last time (milliseconds) of a field."""
        pipe = source(self._bucket, field, tags, 0, BOUNDLESS)
        found = []
        for end in ("min", "max"):
            query = f'{pipe} {IN_MILLISECONDS} |> group() |> {end}(column: "ms")'
            found += [float(row["ms"]) for row in self._asked(query)]
        return (found[0], found[1]) if len(found) == 2 else None

    def close(self) -> None:
        """Nothing is held but the connections, which are the server's."""

    def _asked(self, query: str) -> Iterator[dict[str, str]]:
        dialect = {"header": True, "delimiter": ",", "annotations": []}
        body = self._http.json("/api/v2/query", {"org": self._org},
                               {"query": query, "type": "flux", "dialect": dialect})  # fmt: skip
        names: list[str] = []
        for row in csv.reader(io.StringIO(body.decode("utf-8", "replace"), newline="")):
            if not row:
                names = []  # an empty line: another set of columns follows
                continue
            names = names or row
            found = dict(zip(names, row, strict=False))
            if found.get("error", "error") != "error":
                raise StoreError(f"InfluxDB refuses a query: {found['error']}")
            if not found.keys() >= FRAMED or len(row) != len(names):
                raise StoreError("query answers no CSV of InfluxDB 2; check url and version")
            if row is not names:
                yield found


def _table(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(text for key, text in row.items() if key not in FRAME)
