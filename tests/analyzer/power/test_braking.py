"""Racks whose machines brake in the moment a feed is lost: its partner takes over less."""

import numpy as np
import pytest

from fabrichealth.catalogue.accelerators import CLOCK, POWER, THROTTLED, UTILIZATION
from fabrichealth.catalogue.power import RACK_POWER
from tests.analyzer.power.racks import Said, amperes, braking, flat, noisy, said, step

NAN = float("nan")


@pytest.mark.parametrize(
    ("meter", "watts", "left"),
    [
        *(pytest.param(0.0, watts, left) for watts in (True, False) for left in (0.75, 0.5, 0.4)),
        *(pytest.param(NAN, True, left) for left in (0.6, 0.5, 0.4)),
        pytest.param(NAN, False, 0.6),  # by its clocks alone
    ],
    ids=str,
)
def test_a_feed_is_lost_though_its_partner_carries_hardly_more(
    meter: float, watts: bool, left: float
) -> None:
    (finding,) = said(
        "power_feed_lost",
        amperes("r1-A", step(24.0, meter)),
        amperes("r1-B", step(24.0, 48.0 * left)),
        braking(left, watts=watts),
    )
    assert str(finding.about) == "r1-A"
    assert left > 0.7 or "2 accelerators of the rack brake" in finding.because


def test_it_is_told_for_as_long_as_it_lasts() -> None:
    parts = [amperes("r1-B", flat(24.0)), braking(0.5)]
    (first,) = said("power_feed_lost", amperes("r1-A", step(24.0, 0.0)), *parts)
    (again,) = said("power_feed_lost", amperes("r1-A", flat(0.0)), *parts, before=[first])
    assert (again.since, again.because) == (first.since, first.because)


def test_a_quarter_that_goes_over_is_enough_beside_a_meter_that_says_nothing_flows() -> None:
    less = amperes("r1-B", step(24.0, 31.0))
    assert said("power_feed_lost", amperes("r1-A", step(24.0, 0.0)), less)
    assert not said("power_feed_lost", amperes("r1-A", step(24.0, NAN)), less)


def ends() -> Said:
    """A job ends: its accelerators idle along at a low clock."""
    found = braking(0.2)
    for number in range(2):
        found[THROTTLED, (f"host-0-{number}", "power_brake")] = flat(0.0)
        found[UTILIZATION, (f"host-0-{number}",)] = step(1.0, 0.0)
    return found


def long_throttled() -> Said:
    found = braking(1.0)
    for number in range(2):
        found[THROTTLED, (f"host-0-{number}", "power_brake")] = flat(1.0)
    return found


@pytest.mark.parametrize("meter", [0.0, NAN], ids=["its meter lives", "dies"])
@pytest.mark.parametrize(
    ("machines", "partner"),
    [
        pytest.param(ends(), step(24.0, 8.0), id="a job ends"),
        pytest.param(long_throttled(), flat(24.0), id="throttled as always"),
        pytest.param(braking(0.5, at=20), flat(24.0), id="braked long before"),
        pytest.param(braking(0.5), step(24.0, 8.0), id="the partner falls with them"),
        pytest.param({}, step(24.0, 26.0), id="nobody says so"),
    ],
)
def test_a_meter_that_fails_while_nothing_brakes_is_no_loss(
    meter: float, machines: Said, partner: list[float]
) -> None:
    assert not said(
        "power_feed_lost", amperes("r1-A", step(24.0, meter)), amperes("r1-B", partner), machines
    )


def test_a_meter_that_falls_silent_while_a_cap_takes_a_little_is_no_loss() -> None:
    """The partner falls by as much as its machines do."""
    assert not said(
        "power_feed_lost",
        amperes("r1-A", step(24.0, NAN)),
        amperes("r1-B", noisy(1.0, 0.005, 60) * step(24.0, 20.0)),
        braking(0.8),
    )


@pytest.mark.parametrize("reason", ["power_cap", "power_brake", "power"])
def test_a_cap_is_told_by_whatever_reason_of_power_accelerators_give(reason: str) -> None:
    load = 130_000.0 * np.minimum(noisy(0.995, 0.002, 60), 1.0)
    machines: Said = {
        (THROTTLED, (f"host-0-{number}", reason)): step(0.0, 0.4, 60, 30) for number in range(2)
    }
    (finding,) = said("power_capped", {(RACK_POWER, ("r1",)): list(load)}, machines)
    assert "power throttles 2 of its 2 accelerators" in finding.because


def test_an_accelerator_braked_for_two_reasons_is_one() -> None:
    load = 130_000.0 * np.minimum(noisy(0.995, 0.002, 60), 1.0)
    machines: Said = {
        (THROTTLED, (f"host-0-{number}", reason)): step(0.0, 0.4, 60, 30)
        for number in range(2)
        for reason in ("power_cap", "power_brake")
    }
    (finding,) = said("power_capped", {(RACK_POWER, ("r1",)): list(load)}, machines)
    assert "power throttles 2 of its 2 accelerators" in finding.because


def test_readings_that_cannot_be_brake_nothing() -> None:
    wild = braking(0.5)
    for number in range(2):
        wild[CLOCK, (f"host-0-{number}",)] = step(0.0, 0.0)
        wild[POWER, (f"host-0-{number}",)] = step(0.0, 0.0)
    assert said(
        "power_feed_lost", amperes("r1-A", step(24.0, 0.0)), amperes("r1-B", flat(24.0)), wild
    )


@pytest.mark.parametrize(("more", "lost"), [(2.0, False), (1.0, True)])
def test_a_meter_that_falls_silent_in_the_poll_in_which_a_job_begins_is_no_loss(
    more: float, lost: bool
) -> None:
    """Its accelerators draw twice as much, and so does what the partner carries."""
    machines: Said = {(POWER, (f"host-0-{n}",)): step(500.0, 500.0 * more) for n in range(2)}
    found = said(
        "power_feed_lost", amperes("r1-A", step(24.0, NAN)), amperes("r1-B", step(24.0, 46.0)),
        machines,
    )  # fmt: skip
    assert bool(found) is lost
