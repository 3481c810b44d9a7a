"""SQL: the language of InfluxDB 3; answers are JSON rows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson

from fabrichealth.errors import StoreError
from fabrichealth.store.remote.http import Posts
from fabrichealth.store.remote.influx import Answer, Question
from fabrichealth.store.remote.line_protocol import MEASUREMENT

TAG = "Dictionary"
"""The type of a column that is a tag begins so; fields are Float64."""

FIELD = "Float64"


def name(text: str) -> str:
    """Return an identifier as SQL quotes it."""
    return '"' + text.replace('"', '""') + '"'


def string(text: str) -> str:
    """Return a string as SQL quotes it."""
    return "'" + text.replace("'", "''") + "'"


def moment(milliseconds: int) -> str:
    """Return a time."""
    return f"to_timestamp_millis({milliseconds})"


class Sql:
    """Speaks to one database by `/api/v3/query_sql` (InfluxDB 3 Core API reference)."""

    steps = False

    def __init__(self, http: Posts, database: str) -> None:
        self._http = http
        self._database = database
        self._types: dict[str, str] = {}

    def readings(self, question: Question) -> Iterator[Answer]:
        """Yield the readings of each series."""
        if question.field not in self._columns() and question.field not in self._columns(anew=True):
            return
        tags = [key for key, kind in self._types.items() if kind.startswith(TAG)]
        wanted = ", ".join(map(name, ["time", question.field, *tags]))
        span = [f"time >= {moment(question.start)}", f"time <= {moment(question.end)}"]
        conditions = " AND ".join([*span, *self._where(question.field, question.tags)])
        source = f"FROM {name(MEASUREMENT)} WHERE {conditions} ORDER BY time"
        query = f"SELECT {wanted} {source}"
        rows: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
        for row in self._asked(query):
            key = tuple(row.get(tag) or "" for tag in tags)
            rows[key].append((_milliseconds(row["time"]), row[question.field]))
        for key, read in rows.items():
            named = {tag: text for tag, text in zip(tags, key, strict=True) if text}
            yield Answer(named, [at for at, _ in read], [value for _, value in read])

    def fields(self) -> list[str]:
        """Return the fields that there are."""
        return [key for key, kind in self._columns(anew=True).items() if kind == FIELD]

    def edges(self, field: str, tags: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the first and the last time (milliseconds) of a field."""
        if field not in self._columns() and field not in self._columns(anew=True):
            return None
        conditions = " AND ".join(self._where(field, tags))
        query = (
            f"SELECT min(time) AS first, max(time) AS last FROM {name(MEASUREMENT)}"  # noqa: S608 - every part is quoted
            f" WHERE {conditions}"
        )
        for row in self._asked(query):
            if row.get("first") is not None:
                return _milliseconds(row["first"]), _milliseconds(row["last"])
        return None

    def close(self) -> None:
        """Nothing is held but the connections, which are the server's."""

    def _where(self, field: str, tags: Mapping[str, str]) -> list[str]:
        """Return conditions; a tag that no series has is no column."""
        found = [f"{name(field)} IS NOT NULL"]
        for key, text in tags.items():
            if text:
                found.append(f"{name(key)} = {string(text)}" if key in self._types else "false")
            elif key in self._types:
                found.append(f"coalesce({name(key)}, '') = ''")
        return found

    def _columns(self, *, anew: bool = False) -> dict[str, str]:
        if anew or not self._types:
            query = (
                "SELECT column_name, data_type FROM information_schema.columns"  # noqa: S608 - every part is quoted
                f" WHERE table_name = {string(MEASUREMENT)}"
            )
            self._types = {row["column_name"]: row["data_type"] for row in self._asked(query)}
        return self._types

    def _asked(self, query: str) -> list[dict[str, Any]]:
        asked = {"db": self._database, "q": query, "format": "json"}
        body = self._http.json("/api/v3/query_sql", {}, asked)
        try:
            rows = orjson.loads(body)
        except ValueError:
            rows = None
        if not isinstance(rows, list):
            shown = body[:80].decode("utf-8", "replace")
            raise StoreError(
                f"query answers {shown!r}, which InfluxDB 3 would not; check url and version"
            )
        return rows


def _milliseconds(text: str) -> float:
    """Return milliseconds of a time such as `2026-01-01T00:00:00.250`."""
    return float(np.datetime64(text.removesuffix("Z"), "ms").astype(np.int64))
