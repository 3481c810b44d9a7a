"""A board that Grafana loads without a word and that shows nothing, or something wrong.

All faults at once, as they come: each must be told of beside the others, and nothing else.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboards.check import faults
from dashboards.generate import files
from fabrichealth.catalogue import METRICS

RECORDED = Path(__file__).parents[2].parent / "shared" / "cases" / "c27.json"
"""The case as it was reported, where it lies beside the project."""

BASE, RED = {"color": "green", "value": None}, {"color": "red", "value": 9}


def panel(number: int, place: Sequence[int], expr: str, *steps: dict[str, Any]) -> dict[str, Any]:
    x, y, w, h = place
    return {
        "id": number, "type": "timeseries", "title": f"from {x}",
        "gridPos": {"x": x, "y": y, "w": w, "h": h},
        "targets": [{"refId": "A", "expr": expr}],
        "fieldConfig": {"defaults": {"thresholds": {"mode": "absolute", "steps": list(steps)}}},
    }  # fmt: skip


OURS: dict[str, Any] = {
    "scrape_interval_s": 30,
    "exported_metrics": {"port_sent_bytes_total": "counter", "port_up": "gauge"},
    "dashboard": {
        "panels": [
            panel(1, (0, 0, 12, 8), "rate(port_sent_bytes_total[45s])", BASE, RED),
            panel(1, (12, 0, 12, 8), "rate(port_sent_bytes_total[5m])", BASE, RED),
            panel(2, (8, 6, 10, 8), "port_up", BASE, RED, {"color": "orange", "value": 7}),
            panel(3, (20, 8, 6, 8), "rate(port_sent_data_total[5m])", BASE, {"value": 9}),
        ]
    },
}

TOLD = {
    "ours": [
        "panel 1 (from 12): id 1 is taken by 'from 0'",
        "panel 3 (from 20): goes over the right edge (x + w = 26 > 24)",
        "panel 2 (from 8): overlaps panel 1 (from 0)",
        "panel 2 (from 8): overlaps panel 1 (from 12)",
        "panel 1 (from 0): window 45s is shorter than two scrapes of 30 s",
        "panel 2 (from 8): threshold steps out of order (9 before 7)",
        "panel 3 (from 20): a threshold step has no colour",
        "panel 3 (from 20): port_sent_data_total is not an exported metric",
    ],
    "as recorded": [
        "panel 1 (P1-12): id 1 is taken by 'P1-0'",
        "panel 3 (P3-18): goes over the right edge (x + w = 30 > 24)",
        "panel 2 (P2-6): overlaps panel 1 (P1-0)",
        "panel 2 (P2-6): overlaps panel 1 (P1-12)",
        "panel 1 (P1-0): window 30s is shorter than two scrapes of 60 s",
        "panel 2 (P2-6): threshold steps out of order (80 before 60)",
        "panel 3 (P3-18): a threshold step has no colour",
        "panel 3 (P3-18): ib_port_xmit_data_total is not an exported metric",
    ],
}


@pytest.mark.parametrize("which", TOLD)
def test_each_of_many_faults_is_told_and_nothing_else(which: str) -> None:
    if which == "as recorded" and not RECORDED.exists():
        pytest.skip("no recorded case beside the project")
    case = OURS if which == "ours" else json.loads(RECORDED.read_text())
    told = faults(case["dashboard"], case["scrape_interval_s"], case["exported_metrics"])
    assert told == TOLD[which]


GENERATED = {name: text for name, text in files().items() if name.endswith(".json")}


@pytest.mark.parametrize("name", GENERATED)
def test_what_is_generated_has_none_of_them(name: str) -> None:
    assert faults(json.loads(GENERATED[name]), 60.0, set(METRICS)) == []


WORDS = ("id", "title", "gridPos", "x", "y", "w", "h", "targets", "refId", "expr", "panels",
         "fieldConfig", "defaults", "thresholds", "steps", "color", "value", "templating", "list",
         "name", "query")  # fmt: skip

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-30, 30) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(board=st.dictionaries(st.sampled_from(("panels", "templating")), ANYTHING))
def test_whatever_a_file_holds_is_told_of_and_never_an_exception(board: dict[str, Any]) -> None:
    assert all(line and "\n" not in line for line in faults(board, 60.0, ()))
