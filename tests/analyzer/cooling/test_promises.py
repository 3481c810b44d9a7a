"""What detectors of cooling promise beside the kind: moments, hysteresis, absence, severity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.evidence.cooling.baselines import BASE
from analyzer.evidence.cooling.fluids import FLUIDS, PG25, dew_point, fluid_of
from analyzer.evidence.cooling.steps import stepped
from fabrichealth.catalogue import cooling, power
from fabrichealth.kinds import Severity
from tests.analyzer.cooling.stories import HOUR, LOOP, ONSET, PERIOD, START, Story, healthy, told
from tests.analyzer.cooling.test_each_fault import (
    air_gets_humid,
    clogs_under_pressure,
    filter_fills,
    leaks_slowly,
    rope_wet,
)


def until(story: Story, hours: float) -> Story:
    """Return the story up to so many hours after the trouble began."""
    count = round((ONSET + hours * HOUR) / PERIOD) + 1
    story.at = story.at[:count]
    story.values = {key: values[:count] for key, values in story.values.items()}
    return story


@pytest.mark.parametrize("seed", range(4))
def test_a_fifth_of_a_litre_an_hour_is_found_within_six_hours(seed: int) -> None:
    story = healthy(seed)
    leaks_slowly(story)
    (leak,) = told(until(story, 6.0), ["cooling_leak"])
    assert leak.rank is Severity.PAGE
    assert "temperature allowed for" in leak.because
    assert START + ONSET - HOUR <= leak.since <= START + ONSET + 3 * HOUR


def test_a_warm_loop_without_temperatures_is_no_proof_of_a_slow_leak() -> None:
    story = healthy()
    leaks_slowly(story)
    for point in ("supply", "return"):
        del story.values[cooling.COOLANT_TEMPERATURE, (LOOP, "", point)]
    assert told(until(story, 6.0), ["cooling_leak"]) == []


def test_a_wet_rope_needs_ninety_seconds_and_a_falling_level_beside_it_does_not() -> None:
    story = healthy()
    rope_wet(story)
    assert told(until(story, 1.0 / 60), ["cooling_leak"]) == []
    both = healthy()
    rope_wet(both)
    story.values = both.values
    story.at = both.at
    story.plus(cooling.RESERVOIR_LEVEL, (LOOP, ""), -0.03 * (story.at >= story.at[-40]))
    assert told(until(story, 2.0), ["cooling_leak"])


def test_a_finding_says_since_when_and_keeps_what_was_usual() -> None:
    story = healthy()
    clogs_under_pressure(story)
    (clog,) = told(story, ["cooling_clogged"])
    assert START + ONSET <= clog.since <= START + ONSET + 3 * HOUR
    assert np.isfinite(clog.detail[BASE])
    assert clog.score == pytest.approx(np.log(1.6) / np.log(1.25), rel=0.1)
    assert "1.6" in clog.because


def test_what_was_found_stays_until_it_is_well_back() -> None:
    story = healthy()
    filter_fills(story)
    (first,) = told(until(story, 8.0), ["cooling_filter_clogged"])
    better = healthy()
    better.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "filter"), 1.0 + 0.42 * better.grown(0))
    assert told(better, ["cooling_filter_clogged"]) == []
    (again,) = told(better, ["cooling_filter_clogged"], before=[first])
    assert again.since <= first.since
    assert again.score == 1.0
    clean = healthy()
    assert told(clean, ["cooling_filter_clogged"], before=[first]) == []


def test_supply_below_the_dew_point_pages_and_above_it_does_not() -> None:
    story = healthy()
    air_gets_humid(story)
    (near,) = told(story, ["cooling_condensation_risk"])
    assert near.rank is Severity.TICKET
    story.plus(cooling.AIR_HUMIDITY, (LOOP, ""), 0.1 * story.grown(0))
    (below,) = told(story, ["cooling_condensation_risk"])
    assert below.rank is Severity.PAGE
    assert "below it" in below.because


@pytest.mark.parametrize(
    ("metric", "of"),
    [
        (cooling.FLOW, "cooling_clogged"),
        (cooling.DIFFERENTIAL_PRESSURE, "cooling_filter_clogged"),
        (cooling.AIR_HUMIDITY, "cooling_condensation_risk"),
        (power.RACK_POWER, "cooling_sensor_drift"),
    ],
)
def test_what_is_not_read_gives_no_verdict(metric: object, of: str) -> None:
    story = healthy()
    for change in (clogs_under_pressure, filter_fills, air_gets_humid):
        change(story)
    story.values = {key: values for key, values in story.values.items() if key[0] is not metric}
    if metric is cooling.FLOW:  # the table has to know the metric at all
        story.set(cooling.FLOW, ("other", "", "supply"), np.full(len(story.at), 10.0))
    assert told(story, [of]) == []


@pytest.mark.parametrize("control", ["flow", "differential_pressure", "speed"])
def test_the_control_is_told_with_the_verdict(control: str) -> None:
    story = healthy()
    filter_fills(story)
    (full,) = told(story, ["cooling_filter_clogged"], control)
    assert f"(loop under {control.replace('_', ' ')} control)" in full.because


@pytest.mark.parametrize(
    ("celsius", "flow", "kilowatts"),
    [(35.0, 1.5, 1.0), (35.0, 1.25, 0.8367), (30.0, 150.0, 99.8)],
)
def test_ten_kelvin_carry_what_the_guidance_says(
    celsius: float, flow: float, kilowatts: float
) -> None:
    """1.5 L/min for each kW at 10 K (OCP guidance); 0.0669 kW for each L/min and K."""
    watts = PG25.watts(np.array(flow), np.array(10.0), np.array(celsius))
    assert float(watts) / 1000.0 == pytest.approx(kilowatts, rel=0.01)


@given(air=st.floats(0.0, 45.0), share=st.floats(0.05, 1.0))
def test_air_is_saturated_at_its_dew_point(air: float, share: float) -> None:
    dew = float(dew_point(np.array(air), np.array(share)))
    assert dew <= air + 1e-9
    vapour = np.exp(17.62 * dew / (243.12 + dew)) / np.exp(17.62 * air / (243.12 + air))
    assert vapour == pytest.approx(share, rel=1e-6)


@given(name=st.text(max_size=12))
def test_every_fluid_has_a_law(name: str) -> None:
    fluid = fluid_of(name)
    assert fluid in FLUIDS.values()
    assert (np.diff(fluid.thickness(np.array([20.0, 30.0, 40.0]))) < 0).all()


@settings(max_examples=25)
@given(
    size=st.floats(0.1, 2.0), sign=st.sampled_from([-1.0, 1.0]), at=st.integers(3, 36),
    hours=st.sampled_from([0.0, 8.0, 12.0]),
)  # fmt: skip
def test_a_step_is_told_from_a_slope(size: float, sign: float, at: int, hours: float) -> None:
    columns = np.arange(60)
    slope = np.clip((columns - at) / (2 * hours), 0, 1) if hours else columns > at
    assert stepped(sign * size * slope.astype(np.float64)) is (hours == 0.0)


def test_a_branch_that_has_no_siblings_speaks_of_none() -> None:
    story = healthy()
    clogs_under_pressure(story)
    story.values = {
        key: values
        for key, values in story.values.items()
        if not key[0].name.startswith("coolant") or key[1][1] in {"", "r2"}
    }
    found = told(story, ["cooling_clogged", "cooling_flow_imbalance"])
    assert [str(one.about) for one in found] == ["cdu-1/r2"]
    assert "sibling" not in found[0].because
