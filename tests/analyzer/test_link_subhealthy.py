"""Errors, retrains and replays: what is proof, and what is only a few errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.detectors.link_subhealthy import LinkSubhealthy, LinkSubhealthySettings
from analyzer.evidence.exposure import garwood, needed
from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    LINK_RECOVERIES,
    REPLAYS,
    RX_CRC_ERRORS,
    SPEED,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Port
from tests.analyzer.views import START, History, small_pod, view_of

NEAR: Labels = ("host-0", "eth0")
PERIOD = 30.0
POLLS = 240  # two hours


def burst(count: float, since: float = 6600.0, until: float = 7200.0) -> list[float]:
    """Return a counter that rises evenly by `count` between two moments (seconds)."""
    at = np.arange(POLLS) * PERIOD
    share = np.clip((at - since) / (until - since), 0, 1)
    return [5.0 + value for value in np.floor(count * share)]


def judge(history: History, **more: object) -> list[Finding]:
    detector = LinkSubhealthy(LinkSubhealthySettings())
    view = view_of(detector, history, PERIOD, small_pod(), **more)  # type: ignore[arg-type]
    return list(detector.judge(view))


@pytest.mark.parametrize(
    ("metric", "count", "severity"),
    [
        pytest.param(SYMBOL_ERRORS, 3, None, id="three symbol errors are evidence, not proof"),
        pytest.param(SYMBOL_ERRORS, 6, Severity.TICKET, id="six are beyond the warning"),
        pytest.param(SYMBOL_ERRORS, 40, Severity.PAGE, id="forty are beyond the limit"),
        pytest.param(RX_CRC_ERRORS, 20, None, id="twenty checksum errors at 400 Gb/s are few"),
        pytest.param(RX_CRC_ERRORS, 100, Severity.TICKET, id="a hundred are a ticket"),
        pytest.param(RX_CRC_ERRORS, 1000, Severity.PAGE, id="a thousand page"),
        pytest.param(LINK_RECOVERIES, 1, None, id="one retrain"),
        pytest.param(LINK_RECOVERIES, 4, Severity.TICKET, id="four retrains"),
        pytest.param(LINK_RECOVERIES, 30, Severity.PAGE, id="thirty retrains in ten minutes"),
        pytest.param(REPLAYS, 300, None, id="a replay every two seconds"),
        pytest.param(REPLAYS, 3000, Severity.TICKET, id="five replays a second"),
    ],
)
def test_what_is_proof(metric: Metric, count: float, severity: Severity | None) -> None:
    found = judge({(metric, NEAR): burst(count)})
    assert [one.rank for one in found] == ([] if severity is None else [severity])
    for finding in found:
        assert (finding.about, finding.side) == (Port(*NEAR), Port(*NEAR))
        assert finding.since >= START + 6600
        assert "95 % confidence" in finding.because


def test_the_long_window_sees_what_the_short_one_cannot() -> None:
    """A ratio of 7e-15: one error a quarter of an hour is proof after two hours only."""
    slow = burst(35, 0.0, 7200.0)
    (finding,) = judge({(SYMBOL_ERRORS, NEAR): slow})
    assert finding.severity is Severity.TICKET
    assert "in 120 min" in finding.because


def test_the_same_count_is_graver_on_a_slower_line() -> None:
    history: History = {(RX_CRC_ERRORS, NEAR): burst(20)}
    slow: History = {**history, (SPEED, NEAR): [25e9] * POLLS}
    assert judge(history) == []
    assert len(judge(slow)) == 1


def test_without_any_speed_ratios_are_not_judged_but_rates_are() -> None:
    alone: Labels = ("box", "port")
    assert judge({(SYMBOL_ERRORS, alone): burst(1000)}) == []
    assert len(judge({(LINK_RECOVERIES, alone): burst(30)})) == 1


@pytest.mark.parametrize("witness", ["state", "counter", "the far end's counter"])
def test_errors_of_the_training_belong_to_it(witness: str) -> None:
    """500 errors within half a minute after the link came up."""
    history: History = {(SYMBOL_ERRORS, NEAR): burst(500, 6570.0, 6600.0)}
    assert len(judge({**history})) == 1
    told: dict[str, History] = {
        "state": {(UP, NEAR): [1.0] * 210 + [0.0] * 9 + [1.0] * 21},
        "counter": {(LINK_DOWNS, NEAR): [2.0] * 219 + [3.0] * 21},
        "the far end's counter": {(LINK_DOWNS, ("leaf-0", "0")): [2.0] * 219 + [3.0] * 21},
    }
    assert judge({**history, **told[witness]}) == []


def test_errors_that_go_on_after_the_training_count() -> None:
    history: History = {
        (SYMBOL_ERRORS, NEAR): burst(500, 6570.0, 7200.0),
        (LINK_DOWNS, NEAR): [2.0] * 219 + [3.0] * 21,
    }
    assert len(judge({**history})) == 1


def test_a_reset_is_no_error_and_hides_none() -> None:
    assert judge({(SYMBOL_ERRORS, NEAR): [5000.0] * 120 + [0.0] * 120}) == []
    ill = [5000.0] * 225 + [3.0 * n for n in range(15)]
    assert len(judge({(SYMBOL_ERRORS, NEAR): ill})) == 1


@pytest.mark.parametrize("metric", [LINK_RECOVERIES, REPLAYS, SYMBOL_ERRORS, RX_CRC_ERRORS])
@pytest.mark.parametrize("stays", [False, True], ids=["for one poll", "and stays"])
def test_a_counter_that_no_link_can_reach_pages_nobody(metric: Metric, stays: bool) -> None:
    wild = [7.0] * 225 + [1e18] * (15 if stays else 1)
    assert judge({(metric, NEAR): wild + [7.0] * (240 - len(wild))}) == []


def test_what_came_in_a_gap_is_not_held_against_the_minutes_watched() -> None:
    gap = [0.0] * 100 + [float("nan")] * 100 + [60.0] * 40
    assert judge({(SYMBOL_ERRORS, NEAR): gap}) == []


def test_a_link_that_is_down_is_not_called_ill() -> None:
    down: History = {(UP, NEAR): [1.0] * 238 + [0.0] * 2}
    assert judge({(SYMBOL_ERRORS, NEAR): burst(40), **down}) == []


def test_a_young_history_is_judged_from_what_is_there() -> None:
    """Five minutes after the start there is no baseline, but there are thousands of errors."""
    (finding,) = judge({(SYMBOL_ERRORS, NEAR): [100.0 * n for n in range(10)]})
    assert finding.severity is Severity.PAGE


@settings(max_examples=30, deadline=None)
@given(st.floats(0.0, 1e5), st.floats(1e-3, 1e18), st.floats(1.0, 50.0))
def test_the_interval_holds_its_estimate_and_widens_with_bursts(
    count: float, exposure: float, fano: float
) -> None:
    narrow, wide = garwood(count, exposure), garwood(count, exposure, fano)
    assert narrow.lower[0] <= narrow.rate[0] <= narrow.upper[0]
    assert wide.lower[0] <= narrow.lower[0] * (1 + 1e-9)
    assert wide.upper[0] >= narrow.upper[0] * (1 - 1e-9)


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 0.0, 3.0), (1, 0.03, 5.57), (3, 0.62, 8.77), (10, 4.8, 18.4), (100, 81.4, 121.6)],
)
def test_the_interval_is_garwoods(count: float, low: float, high: float) -> None:
    interval = garwood(count, 1.0)
    assert interval.lower[0] == pytest.approx(low, abs=0.05)
    assert interval.upper[0] == pytest.approx(high, abs=0.05)


def test_without_exposure_nothing_is_said() -> None:
    assert np.isnan(garwood(3.0, 0.0).rate[0])


def test_time_to_show_a_ratio_without_errors() -> None:
    """Three over the limit and the rate: 12.5 minutes for 1e-14 at 400 Gb/s (detection.md A3)."""
    assert needed(1e-14, 400e9) == pytest.approx(750, rel=0.01)
