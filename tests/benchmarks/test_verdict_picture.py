"""The picture of a verdict: what was kept, and no more, over one time axis."""

from typing import Any

import numpy as np

from benchmarks.verdict_picture import BLUE, COLOURS, RED, Story, picture
from fabrichealth.catalogue.ports import SYMBOL_ERRORS
from fabrichealth.kinds import LINK_SUBHEALTHY
from fabrichealth.model import Evidence, Place
from tests.page.standing import NOW, incident


def told(errors_per_poll: float) -> str:
    at = NOW + np.arange(-900.0, 901.0, 30.0)
    errors = np.maximum(at - NOW, 0.0) / 30.0 * errors_per_poll
    seen = Evidence(SYMBOL_ERRORS, {"device": "a", "port": "1"}, 1e-13, 1e-14, "", NOW, "many")
    one: dict[str, Any] = incident(
        "i1", LINK_SUBHEALTHY, Place("link", "a/1--b<&>/1"), opened=NOW, evidence=[seen]
    ).to_json()
    states = [(NOW - 900.0, "unknown"), (NOW + 120.0, "drain")]
    return picture(Story(one, at, errors, 400e9, states))


def test_intervals_turn_red_where_even_the_lower_bound_is_beyond_the_limit() -> None:
    assert told(0.0).count(f'stroke="{RED}"') == 0
    many = told(20.0)
    assert many.count(f'stroke="{RED}"') > 20
    assert f'stroke="{BLUE}"' in many


def test_states_and_names_are_drawn_as_they_were_told() -> None:
    drawn = told(1.0)
    assert COLOURS["drain"] in drawn
    assert "a/1--b&lt;&amp;&gt;/1" in drawn
    assert "b<&>" not in drawn
