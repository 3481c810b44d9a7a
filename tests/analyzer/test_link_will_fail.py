"""Links whose margin shrinks get a date, told by whatever they say of themselves."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from analyzer.detectors.link_will_fail import LinkWillFail, LinkWillFailSettings
from analyzer.evidence.link.fec import KP4
from analyzer.evidence.optics.noise import ber_of, snr_of
from fabrichealth.catalogue.optics import RX_POWER, THRESHOLD
from fabrichealth.catalogue.ports import (
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    PRE_FEC_BER,
    UP,
)
from fabrichealth.kinds import LINK_WILL_FAIL
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Labels, Port
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.views import START, History, view_of

NEAR: Labels = ("host-0", "eth0")
PERIOD, DAYS, DAY = 3600.0, 9, 86_400.0
LINE, LIMIT = 425e9, 1e-4
FABRIC = Topology(
    [Device(name="host-0", role="host"), Device(name="leaf-0", role="switch")],
    [Link(a="host-0/eth0", b="leaf-0/0", technology="roce", medium="optical", fec="rs544",
          speed_gbps=400, lanes=4)],
)  # fmt: skip
POLLS = np.arange(0, DAYS * DAY, PERIOD)


def margin(per_day: float, left: float) -> Floats:
    """Return decibels between errors and their limit at each poll; `left` of them at the end."""
    noise = np.random.default_rng(5).normal(0, 0.03, len(POLLS))
    return np.asarray(left + per_day * (POLLS - POLLS[-1]) / DAY + noise)


def judge(history: History, before: Sequence[Finding] = ()) -> list[Finding]:
    detector = LinkWillFail(LinkWillFailSettings())
    alive: History = {**history, (UP, NEAR): [1.0] * len(POLLS)}
    return list(detector.judge(view_of(detector, alive, PERIOD, FABRIC, before=before)))


def counted(metric: Metric, per_day: float, left: float) -> History:
    """Return a counter of errors before FEC whose margin changes by so much a day."""
    ratio = ber_of(snr_of(LIMIT) + margin(per_day, left))
    if metric is PRE_FEC_BER:
        return {(metric, NEAR): ratio.tolist()}
    events = ratio * LINE * PERIOD
    if metric is FEC_CORRECTED_CODEWORDS:
        events = -np.expm1(-ratio * KP4.bits) * LINE / KP4.bits * PERIOD
    return {(metric, NEAR): np.cumsum(events).tolist()}


COUNTERS = [FEC_CORRECTED_BITS, FEC_CORRECTED_SYMBOLS, FEC_CORRECTED_CODEWORDS, PRE_FEC_BER]


@pytest.mark.parametrize("metric", COUNTERS, ids=str)
def test_a_margin_that_shrinks_gets_a_date_by_whatever_tells_of_errors(metric: Metric) -> None:
    (found,) = judge(counted(metric, -0.2, 1.2))
    assert (found.kind, found.about) == (LINK_WILL_FAIL, Port(*NEAR))
    assert found.forecast is not None
    end = START + POLLS[-1]
    assert (found.forecast.p50 - end) / DAY == pytest.approx(6, abs=1.5)
    assert found.forecast.p10 < found.forecast.p50 < found.forecast.p90
    assert found.signs[f"growing@{Port(*NEAR)}"]


@pytest.mark.parametrize(
    ("per_day", "left"),
    [
        pytest.param(0.0, 1.2, id="a margin that stands"),
        pytest.param(0.1, 1.2, id="one that grows"),
        pytest.param(-0.02, 3.0, id="one that lasts for months"),
    ],
)
def test_no_date_is_given_to(per_day: float, left: float) -> None:
    assert judge(counted(FEC_CORRECTED_BITS, per_day, left)) == []


def light(per_day: float, left: float) -> History:
    """Return the light of four lanes, the second of which loses so much a day."""
    history: History = {
        (RX_POWER, (*NEAR, lane)): (margin(0.0, 6.0) - 9.0).tolist() for lane in "1234"
    }
    alarm = (THRESHOLD, (*NEAR, "rx_power", "low", "alarm"))
    return {
        **history,
        (RX_POWER, (*NEAR, "2")): (margin(per_day, left) - 9.0).tolist(),
        alarm: [-9.0] * len(POLLS),
    }


def test_light_tells_where_errors_are_not_told() -> None:
    (found,) = judge(light(-0.3, 1.8))
    assert found.forecast is not None
    assert (found.forecast.p50 - START - POLLS[-1]) / DAY == pytest.approx(6, abs=1.5)
    assert "light received on lane 2" in found.because
    assert found.evidence[0].labels["lane"] == "2"
    assert judge(light(0.0, 1.8)) == []


def test_errors_that_are_told_go_before_light() -> None:
    assert judge({**light(-0.3, 1.8), **counted(FEC_CORRECTED_BITS, 0.0, 1.2)}) == []


@pytest.mark.parametrize(
    ("left", "hours", "told"),
    [(1.2, 2.0, True), (1.2, 7.0, False), (3.0, 2.0, False)],
    ids=["the slope is in doubt", "it was in doubt for long", "the margin is back: a new module"],
)
def test_what_was_told_is_not_taken_back_for_a_moment_of_doubt(
    left: float, hours: float, told: bool
) -> None:
    (earlier,) = judge(counted(FEC_CORRECTED_BITS, -0.2, 1.2))
    end = START + POLLS[-1]
    earlier = replace(earlier, detail={**earlier.detail, "proven": end - hours * 3600})
    now = judge(counted(FEC_CORRECTED_BITS, 0.0, left), before=[earlier])
    assert [one.about for one in now] == ([Port(*NEAR)] if told else [])
    assert all(one.at > end for one in now)
