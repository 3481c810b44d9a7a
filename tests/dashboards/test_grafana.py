"""Boards lead to each other, and what happened is drawn across them."""

from typing import Any

import pytest

from dashboards.board import Board, Query, Question, Row
from dashboards.generate import boards
from dashboards.grafana import dashboard
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.catalogue.ports import UP
from fabrichealth.catalogue.verdicts import EVENT_ACTIVE, INCIDENT_INFO

BOARDS = boards()


def panels(board: Board) -> dict[str, dict[str, Any]]:
    """Return a board's panels by title."""
    return {one["title"]: one for one in dashboard(board, BOARDS.values())["panels"]}


def leads(panel: dict[str, Any]) -> dict[str, str]:
    """Return where a panel's series lead."""
    return {one["title"]: one["url"] for one in panel["fieldConfig"]["defaults"].get("links", ())}


@pytest.mark.parametrize(
    ("board", "title", "to", "chosen"),
    [
        ("fleet", "Open incidents", "On call", "var-incident=${__data.fields.incident:percent"),
        ("fleet", "Falls per hour", "Link", "var-device=${__field.labels.device:percentencode}"),
        ("congestion", "Without credits", "Link", "&var-port=${__field.labels.port:percentencode}"),
        ("cooling", "Hottest chips for what they draw", "", ""),
        ("watchers", "Readings refused", "", ""),
    ],
)
def test_series_lead_to_the_boards_of_what_they_name(
    board: str, title: str, to: str, chosen: str
) -> None:
    found = leads(panels(BOARDS[board])[title])
    assert bool(found) is bool(to)
    if to:
        assert chosen in found[to]


def test_no_series_leads_to_the_board_it_is_on() -> None:
    for board in BOARDS.values():
        for panel in dashboard(board, BOARDS.values())["panels"]:
            if "fieldConfig" in panel:
                assert not any(f"/d/{board.uid}?" in url for url in leads(panel).values())


def test_a_board_opens_on_variables_that_it_has() -> None:
    for board in BOARDS.values():
        assert set(board.opens_on) <= {one.name for one in board.variables}, board.uid


def test_incidents_and_events_are_drawn_across_every_board() -> None:
    for board in BOARDS.values():
        incidents, events = dashboard(board)["annotations"]["list"]
        assert str(INCIDENT_INFO) in incidents["target"]["expr"]
        assert str(EVENT_ACTIVE) in events["target"]["expr"]


def test_series_of_another_unit_have_the_right_axis() -> None:
    both = Question("Both", [Query(str(FLOW)), Query(str(UP))], "About.")
    board = Board("u", "t", "a", rows=[Row("one", [both])])
    _, panel = dashboard(board)["panels"]
    assert panel["fieldConfig"]["defaults"]["unit"] == "flowlpm"
    (override,) = panel["fieldConfig"]["overrides"]
    assert override["matcher"] == {"id": "byFrameRefID", "options": "B"}
    assert {"id": "custom.axisPlacement", "value": "right"} in override["properties"]
