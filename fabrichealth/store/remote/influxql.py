"""InfluxQL: the language of InfluxDB 1 (and of later ones with a mapped database)."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from fabrichealth.errors import StoreError
from fabrichealth.store.remote.http import Asks
from fabrichealth.store.remote.influx import Answer, Question
from fabrichealth.store.remote.line_protocol import MEASUREMENT


def name(text: str) -> str:
    """Return an identifier as InfluxQL quotes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def string(text: str) -> str:
    """Return a string as InfluxQL quotes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def where(tags: Mapping[str, str]) -> list[str]:
    """Return conditions; an empty tag is an absent one."""
    return [f"{name(key)} = {string(text)}" for key, text in tags.items()]


def select(question: Question) -> str:
    """Return the statement for a question.

    A step of InfluxDB holds its beginning and not its end; set off by a millisecond it is ours.
    """
    what, group = name(question.field), "*"
    if question.step:
        what = f"{'mean' if question.mean else 'last'}({what})"
        group = f"time({question.step}ms, 1ms), *"
    span = [f"time >= {question.start}ms", f"time <= {question.end}ms"]
    conditions = " AND ".join([*span, *where(question.tags)])
    fill = " fill(none)" if question.step else ""
    where_from = f"FROM {name(MEASUREMENT)} WHERE {conditions}"
    return f"SELECT {what} {where_from} GROUP BY {group}{fill}"


class InfluxQL:
    """Speaks to one database by `/query` (InfluxDB 1.8 API reference)."""

    steps = True

    def __init__(self, http: Asks, database: str) -> None:
        self._http = http
        self._database = database

    def readings(self, question: Question) -> Iterator[Answer]:
        """Yield the readings of each series."""
        late = question.step - 1 if question.step else 0
        for series in self._asked(select(question)):
            rows = [row for row in series["values"] if row[1] is not None]
            times = [row[0] + late for row in rows]
            yield Answer(series.get("tags", {}), times, [row[1] for row in rows])

    def fields(self) -> list[str]:
        """Return the fields that there are."""
        rows = self._asked(f"SHOW FIELD KEYS FROM {name(MEASUREMENT)}")
        return [str(row[0]) for series in rows for row in series["values"]]

    def edges(self, field: str, tags: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the first and the last time (milliseconds) of a field."""
        conditions = f" WHERE {' AND '.join(where(tags))}" if tags else ""
        found = [
            float(series["values"][0][0])
            for end in ("first", "last")
            for series in self._asked(
                f"SELECT {end}({name(field)}) FROM {name(MEASUREMENT)}{conditions}"  # noqa: S608 - every part is quoted
            )
        ]
        return (found[0], found[1]) if len(found) == 2 else None

    def close(self) -> None:
        """Nothing is held but the connections, which are the server's."""

    def _asked(self, statement: str) -> list[dict[str, Any]]:
        form = {"db": self._database, "epoch": "ms", "q": statement}
        body = self._http.whole("/query", form)
        try:
            (answer,) = orjson.loads(body)["results"]
            if "error" in answer:
                raise StoreError(f"InfluxDB refuses a query: {answer['error']}")
            return list(answer.get("series", ()))
        except (ValueError, KeyError, TypeError):
            shown = body[:80].decode("utf-8", "replace")
            raise StoreError(
                f"query answers {shown!r}, which InfluxDB 1 would not; check url and version"
            ) from None
