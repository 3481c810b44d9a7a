"""A board is drawn from its own JSON: places, titles, units, thresholds and its answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dashboards.board import OK_BAD, Board, Name, Query, Question, Row
from dashboards.generate import boards
from dashboards.grafana import dashboard
from fabrichealth.catalogue.accelerators import TEMPERATURE
from fabrichealth.catalogue.ports import UP
from tests.dashboards.drawing import Prometheus, Series, drawn, empty
from tests.dashboards.values import written


class Answers(Prometheus):
    """A server whose answers a test gives, by query."""

    def __init__(self, answers: Mapping[str, Sequence[Series]]) -> None:
        super().__init__("", 1000.0, 0.1, {})
        self._answers = answers

    def answer(self, target: Mapping[str, Any]) -> list[Series]:
        """Return what the test said."""
        return list(self._answers.get(target["expr"], ()))


def board(*panels: Question) -> Mapping[str, Any]:
    """Return a board of one row."""
    return dashboard(Board("u", "T", "A.", [Row("one", panels)]))


def test_a_stat_has_its_value_unit_and_threshold_colour() -> None:
    down = Question("Down", [Query(f"count({UP} == 0)")], "A.", kind="stat", steps=OK_BAD)
    said = Answers({f"count({UP} == 0)": [Series("", {}, [(1000.0, 3.0)])]})
    page = drawn(board(down), said)
    assert "Down" in page
    assert "background:#c4242b'>3<" in page


def test_names_of_values_stand_for_them() -> None:
    names = [Name(1, "well", "green"), Name(2, "ill", "red")]
    one = Question("State", [Query(str(UP))], "A.", kind="stat", names=names)
    assert "#c4242b'>ill<" in drawn(board(one), Answers({str(UP): [Series("", {}, [(1, 2.0)])]}))


def test_lines_have_an_axis_in_their_unit_and_a_name_each() -> None:
    heat = Question("Heat", [Query(str(TEMPERATURE), "{{device}}")], "A.")
    rows = [Series("h0 <b>", {}, [(700.0, 40.0), (1000.0, 60.0)])]
    page = drawn(board(heat), Answers({str(TEMPERATURE): rows}))
    assert "60 °C" in page
    assert "40 °C" in page
    assert "h0 &lt;b&gt;" in page
    assert page.count("<polyline") == 1


def test_a_panel_without_an_answer_is_drawn_and_named_as_empty() -> None:
    plain = board(Question("Heat", [Query(str(TEMPERATURE))], "A."))
    assert "No data" in drawn(plain, Answers({}))
    assert list(empty(plain, Answers({}))) == ["Heat"]


def test_panels_stand_where_their_json_says() -> None:
    plain = board(*[Question(f"P{n}", [Query(str(UP))], "A.", width=12) for n in range(3)])
    page = drawn(plain, Answers({}))
    assert page.count("left:0px") == 3  # the row, P0 and P2 below it
    assert page.count("left:672px") == 1


@pytest.mark.parametrize("name", boards())
def test_every_kind_of_panel_of_our_boards_can_be_drawn(name: str) -> None:
    plain = dashboard(boards()[name])
    labels = {"source": "a", "target": "b", "title": "a", "device": "d", "id": "a"}
    series = [Series("s", labels, [(900.0, 0.4), (1000.0, 0.8)])]
    nodes = [Series("s", {**labels, "title": one}, [(1000.0, 0.8)]) for one in "ab"]
    answers = {
        target["expr"]: nodes if "title" in target["expr"] and "max by (id" in target["expr"]
        else series
        for panel in plain["panels"]
        for target in panel.get("targets", ())
    }  # fmt: skip
    page = drawn(plain, Answers(answers))
    assert "No data" not in page


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(0.123, "percentunit", "12.3 %"), (4e11, "bps", "400 Gb/s"), (7200, "s", "2 h"),
     (3.2e-9, "sci", "3.20e-09"), (1536, "bytes", "1.5 KiB"), (2e6, "short", "2M"),
     (float("nan"), "s", "nan"), (0, "s", "0 s"), (-3.21, "dBm", "-3.21 dBm")],
)  # fmt: skip
def test_values_are_written_as_grafana_would(value: float, unit: str, text: str) -> None:
    assert written(value, unit) == text
