"""A small InfluxDB 2 and 3 for tests: what cannot be had as a server is held to its grammar here.

Line protocol is taken apart by its own rules. Flux is read by a strict grammar of the pipes that we
send (Flux language specification); SQL is run by DuckDB, which knows nothing of us. What does not
follow the grammar is answered with 400, as a server would.
"""

import gzip
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import duckdb

TOKEN = "t0ken"  # noqa: S105 - of tests alone

Row = tuple[dict[str, str], str, int, float]
"""Tags, field, time in nanoseconds, value."""


class Refusal(Exception):
    """What the peer will not have."""


def parsed(line: str) -> Row:
    """Return one line of line protocol (InfluxDB documentation, "Line protocol")."""
    head, fields, stamp = re.split(r"(?<!\\) ", line)
    measurement, *tags = re.split(r"(?<!\\),", head)
    key, value = re.fullmatch(r"([a-z0-9_]+)=(-?[0-9.]+(?:e[-+]?[0-9]+)?)", fields).groups()  # type: ignore[union-attr]  # else a fault of ours
    if measurement != "fabric" or not stamp.isdecimal():
        raise Refusal(f"unable to parse {line!r}")
    named = [re.split(r"(?<!\\)=", one) for one in tags]
    if any(len(one) != 2 or not one[1] for one in named):
        raise Refusal(f"unable to parse tags of {line!r}")
    plain = {name: re.sub(r"\\([,= ])", r"\1", text) for name, text in named}
    return plain, key, int(stamp), float(value)


SITE = re.compile(r"""\["?site"?\] == "([^"]+)"|"site" = '([^']+)'""")

STRING = r'"(?:[^"\\]|\\.)*"'
TIME = r"time\(v: (\d+)\)"
PIPE = re.compile(
    rf"from\(bucket: ({STRING})\) \|> range\(start: {TIME}, stop: {TIME}\)"
    rf" \|> filter\(fn: \(r\) => (.+?)\)( \|> .*)"
)
TERM = re.compile(rf"(not exists )?r(?:\.(\w+)|\[({STRING})\])(?: == ({STRING}))?")
MAP = " |> map(fn: (r) => ({r with ms: int(v: r._time) / 1000000}))"
DROP = ' |> drop(columns: ["_start", "_stop"])'
EDGE = re.compile(r' \|> group\(\) \|> (min|max)\(column: "ms"\)')
KEYS = re.compile(
    rf'import "influxdata/influxdb/schema" schema\.measurementFieldKeys\(bucket: ({STRING}),'
    rf" measurement: ({STRING}), start: time\(v: 0\)\)"
)


class Peer:
    """Both servers; `address` is what clients are given."""

    def __init__(self) -> None:
        self.kept: dict[tuple[frozenset[tuple[str, str]], str, int], float] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip":
                    raw = gzip.decompress(raw)
                try:
                    body = outer.answer(self.path, raw, self.headers.get("Authorization", ""))
                    status = 200 if body is not None else 204
                except Refusal as wrong:
                    status, body = 400, json.dumps({"message": str(wrong)}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *words: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: bytes, authorization: str) -> bytes | None:
        """Answer one request; None has no body."""
        parts = urlsplit(path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        ways: dict[str, tuple[str, dict[str, str], Callable[[bytes], bytes | None]]] = {
            "/api/v2/write": ("Token", {"org": "o", "bucket": "b", "precision": "ns"}, self._take),
            "/api/v3/write_lp": ("Bearer", {"db": "d", "precision": "nanosecond"}, self._take),
            "/api/v2/query": ("Token", {"org": "o"}, self._flux),
            "/api/v3/query_sql": ("Bearer", {}, self._sql),
        }
        if parts.path not in ways:
            raise Refusal(f"no such path {parts.path}")
        scheme, wanted, way = ways[parts.path]
        if authorization != f"{scheme} {TOKEN}" or query != wanted:
            raise Refusal(f"{parts.path}: {authorization}, {query}")
        return way(body)

    def _take(self, body: bytes) -> None:
        rows = [parsed(line) for line in body.decode().split("\n") if line]
        for tags, field, at, value in rows:
            self.kept[frozenset(tags.items()), field, at] = value

    def _rows(self, query: str) -> list[Row]:
        """Return the rows that a query may be about: those of other tests only take time."""
        site = SITE.search(query)
        found = [
            (dict(tags), field, at, value)
            for (tags, field, at), value in self.kept.items()
            if site is None or ("site", site[1] or site[2]) in tags
        ]
        return sorted(found, key=lambda row: (sorted(row[0].items()), row[1], row[2]))

    # InfluxDB 2

    def _flux(self, body: bytes) -> bytes:
        asked = json.loads(body)
        if asked["type"] != "flux" or asked["dialect"]["annotations"]:
            raise Refusal("dialect")
        if keys := KEYS.fullmatch(asked["query"]):
            if [json.loads(one) for one in keys.groups()] != ["b", "fabric"]:
                raise Refusal("bucket or measurement")
            fields = sorted({field for _, field, _ in self.kept})
            return csv(["", "result", "table", "_value"], [["", "", "0", one] for one in fields])
        pipe = PIPE.fullmatch(asked["query"])
        if pipe is None or json.loads(pipe[1]) != "b":
            raise Refusal(f"error in query: {asked['query']}")
        rows = [
            row
            for row in self._rows(asked["query"])
            if int(pipe[2]) <= row[2] < int(pipe[3])
            and all(holds(row, term) for term in pipe[4].split(" and "))
        ]
        if pipe[5] == DROP + MAP:
            return tables(rows)
        edge = EDGE.fullmatch(pipe[5].removeprefix(MAP))
        if not pipe[5].startswith(MAP) or edge is None:
            raise Refusal(f"error in pipe: {pipe[5]}")
        times = [at // 1_000_000 for _, _, at, _ in rows]
        found = [{"min": min, "max": max}[edge[1]](times)] if times else []
        return csv(["", "result", "table", "ms"], [["", "", "0", str(one)] for one in found])

    # InfluxDB 3

    def _sql(self, body: bytes) -> bytes:
        asked = json.loads(body)
        if (asked["db"], asked["format"]) != ("d", "json"):
            raise Refusal("db or format")
        tags = sorted({name for named in {key[0] for key in self.kept} for name, _ in named})
        fields = sorted({field for _, field, _ in self.kept})
        columns = [*((one, "VARCHAR") for one in tags), *((one, "DOUBLE") for one in fields)]
        with duckdb.connect() as db:
            db.execute("CREATE MACRO to_timestamp_millis(x) AS make_timestamp(x * 1000)")
            if columns:
                made = ", ".join(f'"{name}" {kind}' for name, kind in columns)
                db.execute(f"CREATE TABLE fabric (time TIMESTAMP, {made})")
            if "information_schema" not in asked["q"]:
                insert(db, [name for name, _ in columns], self._rows(asked["q"]))
            try:
                answer = db.execute(asked["q"])
            except duckdb.Error as wrong:
                raise Refusal(str(wrong)) from None
            names = [one[0] for one in answer.description or ()]
            said = [dict(zip(names, map(plain, row), strict=True)) for row in answer.fetchall()]
        return json.dumps(said).encode()


TYPES = {"VARCHAR": "Dictionary(Int32, Utf8)", "DOUBLE": "Float64"}


def insert(db: duckdb.DuckDBPyConnection, columns: list[str], rows: list[Row]) -> None:
    """Put rows into the table, many at a time."""
    for start in range(0, len(rows), 1000):
        lines = []
        for tags, field, at, value in rows[start : start + 1000]:
            cells = {name: text.replace("'", "''") for name, text in tags.items()}
            texts = [f"'{cells[name]}'" if name in cells else "NULL" for name in columns]
            texts[columns.index(field)] = repr(value)
            lines.append(f"(make_timestamp({at // 1000}), {', '.join(texts)})")
        db.execute(f"INSERT INTO fabric VALUES {', '.join(lines)}")  # noqa: S608 - of the tests


def plain(value: Any) -> Any:
    """Return a value as InfluxDB 3 writes it in JSON."""
    return value.isoformat() if hasattr(value, "isoformat") else TYPES.get(value, value)


def holds(row: Row, term: str) -> bool:
    """Return whether a row is what one term of a filter wants."""
    found = TERM.fullmatch(term)
    if found is None:
        raise Refusal(f"error in filter: {term}")
    absent, attribute, index, text = found.groups()
    seen = {**row[0], "_measurement": "fabric", "_field": row[1]}
    name = attribute or json.loads(index)
    if bool(absent) == bool(text):
        raise Refusal(f"error in filter: {term}")
    return name not in seen if absent else seen.get(name) == json.loads(text.replace("\\$", "$"))


def tables(rows: list[Row]) -> bytes:
    """Return rows as tables of their series; those of other columns after an empty line."""
    found = b""
    series = {json.dumps([row[0], row[1]]): (row[0], row[1]) for row in rows}
    for number, (tags, field) in enumerate(series.values()):
        names = ["", "result", "table", "_time", "_value", "_field", "_measurement", *tags, "ms"]
        lines = [
            ["", "", str(number), str(at), repr(value), field, "fabric", *tags.values(),
             str(at // 1_000_000)]
            for named, one, at, value in rows
            if (named, one) == (tags, field)
        ]  # fmt: skip
        found += csv(names, lines)
    return found


def csv(names: list[str], rows: list[list[str]]) -> bytes:
    """Return a table as CSV, and the empty line that ends it; nothing if it has no rows."""
    if not rows:
        return b""
    lines = [
        ",".join('"' + text.replace('"', '""') + '"' for text in row) for row in [names, *rows]
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
