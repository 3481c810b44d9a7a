"""Phases that carry unequal current."""

import re

import numpy as np
import pytest

from analyzer.judge import detectors
from fabrichealth.model import Finding
from tests.analyzer.power.racks import amperes, flat, noisy, rack, said, step, volts
from tests.analyzer.views import view_of


def test_a_phase_that_carries_much_more_than_the_mean_is_told() -> None:
    (finding,) = said(
        "power_phase_imbalance", amperes("r1-A", flat(20.0), "13"), amperes("r1-A", flat(40.0), "2")
    )
    assert "20, 40, 20 A: phase 2 is 50% off the mean" in finding.because
    assert [one.says[:4] for one in finding.evidence] == ["-25%", "+50%", "-25%"]


def test_a_phase_that_lost_its_load_is_told_as_well() -> None:
    (finding,) = said(
        "power_phase_imbalance", amperes("r1-A", flat(30.0), "12"), amperes("r1-A", flat(3.0), "3")
    )
    assert "phase 3" in finding.because


def test_small_differences_and_small_loads_are_none() -> None:
    for middle, other in ((30.0, 33.0), (2.0, 8.0)):
        assert said(
            "power_phase_imbalance",
            amperes("r1-A", flat(middle), "13"),
            amperes("r1-A", flat(other), "2"),
        ) == []  # fmt: skip


def test_a_minute_of_it_is_none() -> None:
    assert said(
        "power_phase_imbalance",
        amperes("r1-A", flat(20.0), "13"),
        amperes("r1-A", step(20.0, 40.0, at=58), "2"),
    ) == []  # fmt: skip


def test_a_feed_of_one_phase_has_no_imbalance() -> None:
    assert said("power_phase_imbalance", amperes("r1-A", flat(40.0), "1")) == []


def test_two_phases_of_three_are_a_site_s_own_choice() -> None:
    for idle in (0.0, 0.2, 0.6):  # as meters say it of a phase on which nothing hangs
        two, third = amperes("r1-A", flat(30.0), "12"), amperes("r1-A", flat(idle), "3")
        assert said("power_phase_imbalance", two, third) == []


def test_the_two_that_are_used_are_held_against_each_other() -> None:
    for third in (amperes("r1-A", flat(0.0), "3"), {}):
        (finding,) = said(
            "power_phase_imbalance",
            amperes("r1-A", flat(20.0), "1"),
            amperes("r1-A", flat(40.0), "2"),
            third,
        )
        assert "carry 20, 40 A: phase 1 is 33% off the mean" in finding.because


def fallen(hours: float, *, days: float = 0.0, before: float = 25.0) -> list[Finding]:
    """Return what is said when phase 3 has carried nothing for some hours, polled each 5 min."""
    polls = int((hours + 24.0 * days) * 12)
    past = 36
    history = {
        **amperes("r1-A", noisy(25.0, 0.03, past + polls), "12"),
        **amperes("r1-A", np.append(noisy(before, 0.03, past), np.zeros(polls)), "3"),
    }
    one = detectors()["power_phase_imbalance"]
    return list(one.judge(view_of(one, history, 300.0, rack())))


@pytest.mark.parametrize("hours", [0.5, 7.0, 30.0])
def test_a_phase_that_was_used_and_carries_nothing_is_told_as_that(hours: float) -> None:
    """However long ago, and by an analyzer that has just started."""
    (finding,) = fallen(hours)
    assert "phase 3 of r1-A carries nothing and carried up to 2" in finding.because
    assert re.search(r"; phase 1 2\d A and phase 2 2\d A meanwhile$", finding.because)
    assert [one.says[:15] for one in finding.evidence][2] == "carries nothing"
    assert finding.grounds == ("nothing on phase 3",)


def test_what_nobody_used_for_a_fortnight_is_unused_by_design() -> None:
    assert fallen(1.0, days=15.0) == []


def test_one_wild_reading_uses_no_phase() -> None:
    wild = flat(0.0)
    wild[20] = 40.0
    assert said(
        "power_phase_imbalance", amperes("r1-A", flat(30.0), "12"), amperes("r1-A", wild, "3")
    ) == []  # fmt: skip


def test_a_rack_that_is_switched_off_lost_no_phase() -> None:
    assert said(
        "power_phase_imbalance",
        amperes("r1-A", step(30.0, 0.0), "3"),
        amperes("r1-A", step(30.0, 0.3), "12"),
    ) == []  # fmt: skip


@pytest.mark.parametrize(("voltage", "why"), [(230.0, "it has voltage"), (3.0, "its fuse")])
def test_voltage_says_whether_the_phase_or_what_hung_on_it_is_off(voltage: float, why: str) -> None:
    (finding,) = said(
        "power_phase_imbalance",
        amperes("r1-A", flat(30.0), "12"),
        amperes("r1-A", step(30.0, 0.0), "3"),
        volts("r1-A", flat(voltage), "3"),
    )
    assert why in finding.because
