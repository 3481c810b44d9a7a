"""InfluxQL made of PromQL says the same, and a real InfluxDB takes every statement."""

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from dashboards.board import Query, Question
from dashboards.generate import boards
from dashboards.grafana import dashboard
from dashboards.influxql import Untranslatable
from dashboards.sources import Influx
from fabrichealth.catalogue.accelerators import TEMPERATURE
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import ADMIN_UP, PORT_INFO, RX_BYTES, SPEED, UP
from fabrichealth.catalogue.verdicts import LINK_HEALTH
from tests.servers import Servers

MINUTE = 60
COLUMNS = 30
START = 1_790_000_100
END = START + COLUMNS * MINUTE


class Influxd:
    """A database of its own on a real InfluxDB 1."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.ask("CREATE DATABASE boards")

    def ask(self, statement: str) -> list[dict[str, Any]]:
        """Return the series of a statement; an error of the server's fails the test."""
        query = urllib.parse.urlencode({"db": "boards", "q": statement, "epoch": "s"})
        request = urllib.request.Request(f"{self._address}/query?{query}", method="POST")
        with urllib.request.urlopen(request, timeout=20) as answer:
            (result,) = json.load(answer)["results"]
        assert "error" not in result, f"{statement}: {result['error']}"
        series: list[dict[str, Any]] = result.get("series", [])
        return series

    def write(self, lines: list[str]) -> None:
        """Write line protocol."""
        body = "\n".join(lines).encode()
        url = f"{self._address}/write?db=boards&precision=s"
        request = urllib.request.Request(url, body, method="POST")
        with urllib.request.urlopen(request, timeout=20):
            pass


def readings() -> Iterator[str]:
    """Yield two devices of two ports; 1 GB/s on b/2 from halfway on, b/1 down at the end."""
    for n in range(COLUMNS):
        at = START + n * MINUTE
        for device in "ab":
            for port in "12":
                tags = f"device={device},port={port}"
                sent = 1e9 * MINUTE * max(0, n - 14) if (device, port) == ("b", "2") else 6e7 * n
                up = int(not ((device, port) == ("b", "1") and n > 24))
                yield f"fabric,{tags} port_rx_bytes_total={sent},port_up={up} {at}"
                yield f"fabric,{tags} port_speed_bits_per_second=1e10,port_admin_up=1 {at}"
                yield f"fabric,{tags},lane=0 optics_rx_power_dbm={-3 - n / 10} {at}"
            yield f"fabric,device={device} accelerator_temperature_celsius={40 + n} {at}"


@pytest.fixture(scope="module")
def influxd(servers: Servers) -> Influxd:
    one = Influxd(servers.influxd())
    one.write(list(readings()))
    return one


def filled(statement: str, bucket: str = "5m") -> str:
    """Return a statement as Grafana would send it, every drop-down on All."""
    span = f"time >= {START}s AND time < {END}s"
    statement = statement.replace("$timeFilter", span).replace("$__interval", bucket)
    statement = statement.replace("${__to}", str((END - 1) * 1000))
    for board in boards().values():
        for one in board.variables:
            statement = statement.replace(f"${one.name}", ".*")
    return statement


def said(query: Query) -> str:
    """Return the statement that Grafana would send for a query."""
    asked = Influx().asks(Question("P", [query], "About.", unit="short"))
    return filled(str(Influx().target(asked.queries[0], "A")["query"]))


def newest(influxd: Influxd, query: Query) -> dict[tuple[str, ...], float]:
    """Return the values of the newest bucket, or of rows, by the values of the tags."""
    found: dict[tuple[str, ...], float] = {}
    for series in influxd.ask(said(query)):
        tags = tuple(series.get("tags", {}).values())
        for row in series["values"]:
            if row[1] is not None and (row[0] >= END - 5 * MINUTE or query.table or len(row) > 2):
                found[tags + tuple(str(one) for one in row[2:])] = row[1]
    return found


SAYS: dict[str, dict[tuple[str, ...], float]] = {
    str(UP): {("a", "1"): 1, ("a", "2"): 1, ("b", "1"): 0, ("b", "2"): 1},
    f'{UP}{{device="b"}}': {("b", "1"): 0, ("b", "2"): 1},
    f'{UP}{{device=~"b|c",port!="1"}}': {("b", "2"): 1},
    f"sum by (device) (rate({RX_BYTES}[5m]))": {("a",): 2e6, ("b",): 1.001e9},
    f"8 * max by (port) (rate({RX_BYTES}[5m]))": {("1",): 8e6, ("2",): 8e9},
    f"rate({RX_BYTES}[5m]) * 8 / on (device, port) {SPEED} > 0.1": {("b", "2"): 0.8},
    f"count({UP} == 0) or vector(0)": {(): 1},
    f"count(({UP} == 0) unless ({ADMIN_UP} == 0)) or vector(0)": {(): 1},
    f"quantile by (device) (0.5, {RX_POWER})": {("a",): -5.9, ("b",): -5.9},
    f"avg_over_time({TEMPERATURE}[5m])": {("a",): 67, ("b",): 67},
    f"{UP} * on (device, port) group_left (domain) {PORT_INFO} > 0": {
        ("a", "1"): 1, ("a", "2"): 1, ("b", "2"): 1,
    },
    f"topk(1, rate({RX_BYTES}[5m]))": {("b", "2"): 1e9},
    f"bottomk(2, min by (device, port) ({RX_POWER}))": {("a", "1"): -5.9, ("a", "2"): -5.9},
}  # fmt: skip


@pytest.mark.parametrize(("query", "answer"), SAYS.items(), ids=SAYS)
def test_it_says_what_promql_says(
    influxd: Influxd, query: str, answer: dict[tuple[str, ...], float]
) -> None:
    assert newest(influxd, Query(query)) == pytest.approx(answer)


def test_rows_are_of_now_and_not_of_what_once_was(influxd: Influxd) -> None:
    ill = Query(f"min by (device, port) ({UP}) == 0", table=True)
    assert newest(influxd, ill) == {("b", "1"): 0}
    well = Query(f"min by (device, port) ({UP}) == 1", table=True)
    assert set(newest(influxd, well)) == {("a", "1"), ("a", "2"), ("b", "2")}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"{RX_POWER} - {RX_POWER} offset 7d", "earlier time"),
        (f"{RX_POWER} / on (device) group_left () {TEMPERATURE}", "different labels"),
        (f"max by (domain) ({UP} * on (device, port) group_left (domain) {PORT_INFO})", "join"),
        (f"{FLOW} and on (loop) {FLOW}", "anything but a comparison"),
        (f"time() - {LINK_HEALTH}", "time"),
    ],
)
def test_what_influxql_does_not_have_is_refused(query: str, why: str) -> None:
    with pytest.raises(Untranslatable, match=why):
        said(Query(query))


def test_a_real_influxdb_takes_every_statement_of_every_board(influxd: Influxd) -> None:
    asked = 0
    for board in boards().values():
        plain = dashboard(board, source=Influx())
        statements = [
            target["query"] for panel in plain["panels"] for target in panel.get("targets", ())
        ]
        statements += [one["query"] for one in plain["templating"]["list"][1:]]
        statements += [one["target"]["query"] for one in plain["annotations"]["list"]]
        for statement in statements:
            assert "SELECT" in statement or "SHOW" in statement
            influxd.ask(filled(statement))
            asked += 1
    assert asked > 100


def test_what_is_left_out_is_said_at_the_foot_of_the_board() -> None:
    plain = dashboard(boards()["optics"], source=Influx())
    foot = plain["panels"][-1]
    assert foot["type"] == "text"
    titles = {panel["title"] for panel in plain["panels"]}
    assert "Light received against a week ago" not in titles
    assert "Light received against a week ago (a comparison" in foot["options"]["content"]


def test_hostile_names_stay_inside_their_quotes(influxd: Influxd) -> None:
    name = "x' OR 1=1 --"
    written = name.replace("\\", "\\\\").replace(" ", "\\ ").replace("=", "\\=")
    at = int(time.time()) if time.time() < END else END - MINUTE
    influxd.write([f"fabric,device={written},port=1 port_up=7 {at}"])
    quoted = name.replace("\\", "\\\\")
    assert newest(influxd, Query(f'{UP}{{device="{quoted}"}}')) == {(name, "1"): 7}
