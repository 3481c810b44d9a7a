"""Phases that carry unequal current."""

from tests.analyzer.power.racks import amperes, flat, said, step


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
