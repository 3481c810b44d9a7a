"""Supplies that failed, and supplies that rest."""

from collections.abc import Sequence

from fabrichealth.catalogue.power import SUPPLY_HEALTHY, SUPPLY_OUTPUT
from tests.analyzer.power.racks import Said, flat, said, step


def healthy(unit: str, values: Sequence[float]) -> Said:
    return {(SUPPLY_HEALTHY, ("r1", unit)): values}


def output(unit: str, values: Sequence[float]) -> Said:
    return {(SUPPLY_OUTPUT, ("r1", unit)): values}


def test_units_that_say_so_are_one_finding_of_their_rack() -> None:
    (finding,) = said(
        "power_supply_failed",
        *(healthy(unit, flat(1.0)) for unit in "1234"),
        *(healthy(unit, step(1.0, 0.0)) for unit in "56"),
    )
    assert (str(finding.about), finding.score) == ("r1", 2.0)
    assert "2 of 6 supplies of r1 failed: 5, 6" in finding.because


def test_a_unit_that_stopped_while_the_others_took_over_failed() -> None:
    (finding,) = said(
        "power_supply_failed",
        *(output(unit, step(1000.0, 1300.0)) for unit in "123"),
        output("4", step(1000.0, 0.0)),
    )
    assert "4; supply 4 delivers nothing, and its siblings took over" in finding.because


def test_a_unit_that_rests_says_that_it_is_well() -> None:
    assert said(
        "power_supply_failed",
        *(output(unit, step(1000.0, 1300.0)) for unit in "123"),
        output("4", step(1000.0, 0.0)),
        healthy("4", flat(1.0)),
    ) == []  # fmt: skip


def test_a_rack_that_is_switched_off_is_none() -> None:
    assert said(
        "power_supply_failed", *(output(unit, step(1000.0, 0.0)) for unit in "1234")
    ) == []  # fmt: skip


def test_one_poll_of_it_is_none() -> None:
    assert said("power_supply_failed", healthy("1", [*flat(1.0, 59), 0.0])) == []
