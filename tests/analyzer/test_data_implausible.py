"""Readings that contradict physics."""

import pytest

from analyzer.detectors.data_implausible import DataImplausible, DataImplausibleSettings
from fabrichealth.catalogue.ports import RX_BYTES, SPEED, TX_BYTES
from fabrichealth.catalogue.watchers import REJECTED
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Place, Port
from tests.analyzer.views import START, History, view_of

POLLS = 40
PORT: Labels = ("leaf-0", "1")


def carried(*gbps: float, metric: Metric = RX_BYTES, labels: Labels = PORT) -> History:
    """Return a byte counter; the last rates are these, before them 100 Gb/s; the line is 400."""
    rates = [100.0] * (POLLS - len(gbps)) + list(gbps)
    total, values = 1e12, list[float]()
    for rate in rates:
        total += rate * 1e9 / 8 * 10.0
        values.append(total)
    return {(metric, labels): values, (SPEED, labels): [400e9] * POLLS}


def judge(history: History) -> list[Finding]:
    detector = DataImplausible(DataImplausibleSettings())
    return list(detector.judge(view_of(detector, history, 10.0)))


@pytest.mark.parametrize("metric", [RX_BYTES, TX_BYTES])
def test_three_polls_beyond_the_line_rate_are_impossible(metric: Metric) -> None:
    (finding,) = judge(carried(900, 900, 900, 900, metric=metric))
    assert finding.about == Port(*PORT)
    assert finding.rank is Severity.WATCH
    assert finding.score == pytest.approx(900 / 408)
    assert "900 Gb/s on a line of 400 Gb/s" in finding.because
    assert finding.since == pytest.approx(START + 36 * 10, abs=1)


@pytest.mark.parametrize(
    "gbps",
    [
        pytest.param((900.0, 900.0), id="two polls"),
        pytest.param((900.0, 100.0, 900.0, 900.0), id="not in a row"),
        pytest.param((400.0,) * 20, id="a line that is full"),
        pytest.param((405.0,) * 20, id="jitter of the polls"),
        pytest.param((900.0, 900.0, 900.0, 100.0), id="over"),
    ],
)
def test_stays_quiet_for_what_is_possible(gbps: tuple[float, ...]) -> None:
    assert judge(carried(*gbps)) == []


def test_each_line_is_held_against_its_own_rate() -> None:
    slow: History = {(SPEED, ("host-0", "mgmt")): [1e9] * POLLS}
    assert judge({**carried(300, 300, 300), **slow}) == []
    busy = carried(2, 2, 2, 2, 2, labels=("host-0", "mgmt"))
    (finding,) = judge({**busy, **slow})
    assert finding.about == Port("host-0", "mgmt")


def test_a_port_whose_speed_nobody_knows_is_not_judged() -> None:
    history = carried(900, 900, 900)
    assert judge({(RX_BYTES, PORT): history[RX_BYTES, PORT]}) == []


def test_a_counter_that_restarts_is_not_fast() -> None:
    values = list(carried(900, 900, 900)[RX_BYTES, PORT])
    resets = [*values[:-3], 1e9, 2e9, 3e9]
    assert judge({(RX_BYTES, PORT): resets, (SPEED, PORT): [400e9] * POLLS}) == []


def test_rates_over_a_gap_are_those_of_the_gap() -> None:
    values = list(carried()[RX_BYTES, PORT])
    holes = [value if n % 5 == 0 else float("nan") for n, value in enumerate(values)]
    assert judge({(RX_BYTES, PORT): holes, (SPEED, PORT): [400e9] * POLLS}) == []


@pytest.mark.parametrize(
    ("reason", "polls", "told"),
    [
        ("implausible", 6, True),
        ("malformed", 6, True),
        ("duplicate", 6, True),
        ("implausible", 4, False),
        ("unsupported", 30, False),
        ("stale", 30, False),
    ],
)
def test_a_target_that_keeps_saying_the_impossible_is_news(
    reason: str, polls: int, told: bool
) -> None:
    refused = [3.0 + max(0, n - (POLLS - polls - 1)) for n in range(POLLS)]
    found = judge({(REJECTED, ("snmp", "leaf-0", reason)): refused})
    assert bool(found) is told
    if told:
        assert found[0].about == Place("device", "leaf-0")
        assert f"{polls} readings refused as {reason} in {polls} polls" in found[0].because


def test_refusals_of_an_hour_ago_are_over() -> None:
    old = [3.0 + min(n, 10) for n in range(POLLS * 2)]
    assert judge({(REJECTED, ("snmp", "leaf-0", "implausible")): old}) == []
