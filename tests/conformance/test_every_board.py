"""What is asked of every board, and of the checker that asks it."""

from typing import Any

import promql_parser
import pytest

from dashboards.board import Board, Query, Question, Row, Step
from dashboards.check import faults, metrics_of, queries, substituted
from dashboards.generate import boards, files
from dashboards.grafana import dashboard
from fabrichealth.catalogue import METRICS
from fabrichealth.catalogue.ports import RX_BYTES, UP
from fabrichealth.metric import Kind

SCRAPE = 60.0

EXPORTED = set(METRICS) | {
    f"{metric}_{part}"
    for metric in METRICS.values()
    if metric.kind is Kind.HISTOGRAM
    for part in ("bucket", "sum", "count")
}

BOARDS = boards()


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
class TestEveryBoard:
    def test_shows_what_it_says(self, board: Board) -> None:
        assert faults(dashboard(board), SCRAPE, EXPORTED) == []

    def test_asks_in_promql(self, board: Board) -> None:
        asked = queries(dashboard(board))
        assert asked
        for query in asked:
            promql_parser.parse(substituted(query))  # also checks types

    def test_explains_every_panel(self, board: Board) -> None:
        for panel in dashboard(board)["panels"]:
            if panel["type"] not in {"row", "text"}:
                assert panel["description"].endswith("."), panel["title"]

    def test_takes_any_data_source(self, board: Board) -> None:
        for panel in dashboard(board)["panels"]:
            for target in panel.get("targets", ()):
                assert target["datasource"]["uid"] == "${datasource}"

    def test_has_a_uid_of_its_own(self, board: Board) -> None:
        assert [other.uid for other in BOARDS.values()].count(board.uid) == 1


def test_every_board_is_generated() -> None:
    folders = ("generated", "generated/influxql")
    assert set(files()) == {f"{folder}/{name}.json" for folder in folders for name in BOARDS}


def panel(number: int, x: int = 0, y: int = 0, **more: Any) -> dict[str, Any]:
    """Return a sound panel, or one with a fault."""
    place = {"x": x, "y": y, "w": 12, "h": 8}
    target = {"refId": "A", "expr": more.pop("expr", f"rate({RX_BYTES}[5m])")}
    return {"id": number, "title": f"P{number}", "gridPos": place, "targets": [target], **more}


def steps(*given: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a panel that holds threshold steps."""
    return {"fieldConfig": {"defaults": {"thresholds": {"mode": "absolute", "steps": list(given)}}}}


GREEN = {"color": "green", "value": None}

BAD: dict[str, tuple[list[dict[str, Any]], str]] = {
    "same id twice": ([panel(1), panel(1, x=12)], "id 1 is taken"),
    "no id": ([{**panel(1), "id": None}], "has no id"),
    "one over another": ([panel(1), panel(2, x=6, y=4)], "overlaps panel 1"),
    "one inside another": (
        [panel(1), panel(2) | {"gridPos": {"x": 2, "y": 2, "w": 2, "h": 2}}],
        "overlaps panel 1",
    ),
    "over the right edge": ([panel(1, x=18)], "x + w = 30 > 24"),
    "left of the left edge": ([panel(1, x=-1)], "edge"),
    "nowhere": ([{**panel(1), "gridPos": {}}], "has no gridPos"),
    "rate of less than two scrapes": ([panel(1, expr=f"rate({RX_BYTES}[30s])")], "window 30s"),
    "subquery of less than two scrapes": (
        [panel(1, expr=f"max_over_time({UP}[1m:10s])")],
        "window 1m",
    ),
    "compound window": ([panel(1, expr=f"rate({RX_BYTES}[1m30s])")], "window 1m30s"),
    "interval as a window": ([panel(1, expr=f"rate({RX_BYTES}[$__interval])")], "$__interval"),
    "steps out of order": (
        [
            panel(
                1,
                **steps(GREEN, {"color": "red", "value": 80}, {"color": "orange", "value": 60}),
            )
        ],
        "80 before 60",
    ),
    "step without a colour": ([panel(1, **steps(GREEN, {"value": 80}))], "no colour"),
    "base step with a value": ([panel(1, **steps({"color": "green", "value": 3}))], "first"),
    "second base step": ([panel(1, **steps(GREEN, GREEN))], "after the first has no value"),
    "metric of nobody": ([panel(1, expr="rate(fabric_port_xmit_total[5m])")], "fabric_port_xmit"),
    "inside a collapsed row": (
        [{"id": 1, "type": "row", "gridPos": panel(1)["gridPos"], "panels": [panel(1)]}],
        "id 1 is taken",
    ),
    "two queries of one letter": (
        [panel(1) | {"targets": [{"refId": "A", "expr": f"{UP}"}] * 2}],
        "same refId",
    ),
}


@pytest.mark.parametrize(("panels", "says"), BAD.values(), ids=BAD)
def test_a_fault_is_found_and_nothing_else(panels: list[dict[str, Any]], says: str) -> None:
    found = faults({"panels": panels}, SCRAPE, EXPORTED)
    assert len(found) == 1, found
    assert says in found[0]


def test_a_drop_down_filled_by_nobody_is_found() -> None:
    one = {"name": "device", "query": "label_values(fabric_no_such, device)"}
    (found,) = faults({"panels": [], "templating": {"list": [one]}}, SCRAPE, EXPORTED)
    assert "variable device: fabric_no_such" in found


def test_panels_side_by_side_and_under_each_other_are_well() -> None:
    side_by_side = [panel(1), panel(2, x=12), panel(3, y=8), panel(4, x=12, y=8)]
    assert faults({"panels": side_by_side}, SCRAPE, EXPORTED) == []


def test_a_board_of_ours_cannot_overlap_whatever_its_sizes() -> None:
    sizes = [(4, 5), (12, 8), (24, 9), (8, 3), (8, 8), (10, 4), (24, 1), (12, 12)]
    row = [
        Question(f"{w}x{h}", [Query(str(UP))], "About.", width=w, height=h,
                 kind="stat", steps=(Step("green"), Step("red", 1.0)))
        for w, h in sizes
    ]  # fmt: skip
    board = Board("u", "t", "a", rows=[Row("one", row), Row("two", row[::-1])])
    assert faults(dashboard(board), SCRAPE, EXPORTED) == []


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ('sum by (device) (rate(a_total{x="b_total{"}[5m])) / on (device) c', {"a_total", "c"}),
        ("count((up == 0) unless (admin == bool 0)) or vector(0)", {"up", "admin"}),
        ("a * on (x) group_left (y, z) max without (q) (b offset 5m)", {"a", "b"}),
        ("topk(10, increase(job:a:sum[1h])) > 1e3", {"job:a:sum"}),
        ("histogram_quantile(0.9, rate(d_bucket[5m] @ end()))", {"d_bucket"}),
    ],
)  # fmt: skip
def test_metrics_are_found_in_a_query(query: str, read: set[str]) -> None:
    assert metrics_of(query) == read


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("rate(a[$__rate_interval])", "rate(a[4m])"),
        ('a{device=~"$device",port=~"${port:regex}"}', 'a{device=~".*",port=~".*"}'),
        ('a{x="[[x]]"}', 'a{x=".*"}'),
        ('label_replace(a, "b", "$1", "c", "(.*)$")', 'label_replace(a, "b", "$1", "c", "(.*)$")'),
    ],
)
def test_variables_are_filled_as_grafana_would(written: str, filled: str) -> None:
    assert substituted(written) == filled


def test_a_value_may_be_chosen() -> None:
    assert substituted('a{x="$x"}', {"x": "leaf-01"}) == 'a{x="leaf-01"}'
