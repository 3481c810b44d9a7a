"""Breakers: what they may carry for how long, and when they trip."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.power.heat import borne_out, heat, seconds_to_trip
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT
from fabrichealth.kinds import Severity
from fabrichealth.model import SeriesTable, aligned
from fabrichealth.topology import Topology
from tests.analyzer.power.racks import Said, amperes, flat, rack, said, step

TAU = 600.0


@given(st.floats(0.1, 3.0), st.floats(0.1, 3.0), st.floats(1.0, 300.0), st.integers(2, 40))
def test_heat_follows_the_exponential_of_a_thermal_breaker(
    first: float, then: float, period: float, polls: int
) -> None:
    table = SeriesTable()
    series = np.array([table.intern(FEED_CURRENT, ("r", "f", "1"))], np.int32)
    values = [first, *[then] * polls]
    window = aligned(
        FEED_CURRENT, table,
        [(0, 1e9 + n * period, series, np.array([v])) for n, v in enumerate(values)],
        1e9 + polls * period, 1e9,
    )  # fmt: skip
    (theta,) = heat(window.values, window, TAU)
    gone = np.exp(-polls * period / TAU)
    assert theta == pytest.approx(then**2 + (first**2 - then**2) * gone, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("theta", "load", "expected"),
    [
        (0.0, 1.45, 0.6459 * TAU),
        (0.64, 0.8, np.inf),
        (1.02, 0.5, 0.0),
        (0.64, 2.0, TAU * np.log((4 - 0.64) / 3)),
        (0.64, 1.0, np.inf),
    ],
)
def test_a_breaker_trips_when_its_heat_reaches_one(
    theta: float, load: float, expected: float
) -> None:
    (found,) = seconds_to_trip(np.array([theta]), np.array([load]), TAU)
    assert found == pytest.approx(expected, rel=1e-3)


def test_more_than_80_percent_for_a_quarter_of_an_hour_is_an_overload() -> None:
    (finding,) = said("power_overload", amperes("r1-A", flat(52.0)))
    assert (str(finding.about), finding.rank) == ("r1-A", Severity.PAGE)
    assert "52 A of 63 A" in finding.because
    assert "83% over 15 min" in finding.because
    assert finding.forecast is None


def test_the_same_for_two_minutes_is_none() -> None:
    assert said("power_overload", amperes("r1-A", step(30.0, 52.0, at=56))) == []


def test_steps_of_a_training_job_are_none() -> None:
    swings = [58.0 if n % 4 == 0 else 40.0 for n in range(120)]
    assert said("power_overload", amperes("r1-A", swings), period=15.0) == []


def test_what_cannot_last_says_when_the_breaker_trips() -> None:
    (finding,) = said("power_overload", amperes("r1-A", step(30.0, 75.0, at=57)), period=30.0)
    assert "at this load it trips in about" in finding.because
    assert finding.forecast is not None
    assert finding.forecast.event == "trip"
    assert finding.forecast.p10 < finding.forecast.p50 < finding.forecast.p90


def test_it_says_that_the_partner_carries_nothing() -> None:
    (finding,) = said(
        "power_overload", amperes("r1-A", step(25.0, 0.0)), amperes("r1-B", step(25.0, 62.0))
    )
    assert str(finding.about) == "r1-B"
    assert finding.because.endswith("its partner carries nothing")
    assert any("which shares its load" in one.says for one in finding.evidence)


def test_the_worst_phase_is_named() -> None:
    (finding,) = said(
        "power_overload", amperes("r1-A", flat(20.0), "13"), amperes("r1-A", flat(60.0), "2")
    )
    assert finding.because.startswith("phase 2 of r1-A")


def test_the_breaker_that_the_device_names_counts_before_the_written_one() -> None:
    own: Said = {(FEED_BREAKER, ("r1", "r1-A")): flat(32.0)}
    (finding,) = said("power_overload", amperes("r1-A", flat(28.0)), own)
    assert "28 A of 32 A" in finding.because
    assert said("power_overload", amperes("r1-A", flat(28.0))) == []


def test_a_feed_whose_breaker_nobody_knows_is_not_judged() -> None:
    assert said("power_overload", amperes("r9-A", flat(500.0)), topology=Topology()) == []


def test_who_was_overloaded_is_so_until_it_is_clearly_not() -> None:
    (first,) = said("power_overload", amperes("r1-A", flat(51.0)))
    near = amperes("r1-A", [*flat(51.0, 20), *flat(50.0, 40)])
    assert said("power_overload", near) == []
    assert len(said("power_overload", near, before=[first])) == 1
    assert said("power_overload", amperes("r1-A", flat(45.0)), before=[first]) == []
    assert rack().feeds["r1-A"].breaker_amperes == 63.0


@pytest.mark.parametrize("wild", [150.0, 655.35, 6553.5])
@pytest.mark.parametrize("detector", ["power_overload", "power_phase_imbalance"])
def test_one_wild_reading_is_none_wherever_it_stands(detector: str, wild: float) -> None:
    for place in (0, 30, 58, 59):
        values = flat(30.0)
        values[place] = wild
        one, others = amperes("r1-A", values, "1"), amperes("r1-A", flat(30.0), "23")
        assert not said(detector, one, others, amperes("r1-B", flat(10.0)))


@given(st.lists(st.one_of(st.floats(0, 2), st.just(float("nan"))), min_size=1, max_size=12))
def test_no_load_counts_that_no_neighbour_bears_out(values: list[float]) -> None:
    load = np.array([values])
    found = borne_out(load)[0]
    known = np.flatnonzero(np.isfinite(load[0]))
    told = load[0, known]
    for place, column in enumerate(known.tolist()):
        beside = [*told[max(place - 1, 0) : place], *told[place + 1 : place + 2]]
        if beside:
            assert found[column] == min(told[place], max(beside))
        else:
            assert np.isnan(found[column])


def test_an_overload_says_how_far_it_has_come() -> None:
    (slight,) = said("power_overload", amperes("r1-A", flat(52.0)))
    (grave,) = said("power_overload", amperes("r1-A", step(52.0, 95.0)))
    assert slight.grounds == ("continuous",)
    assert grave.grounds == ("continuous", "short", "heat")
