"""Tanks and rear doors: the same readings mean something else in another kind of loop."""

import numpy as np
import pytest

from fabrichealth.catalogue import accelerators, cooling
from tests.analyzer.cooling.stories import (
    CHIPS,
    LOOP,
    RACKS,
    SUPPLY,
    Story,
    healthy,
    kinds,
    told,
)

TANK = {"kind": "immersion", "fluid": "", "reservoir_liters": 800.0, "volume_liters": None}
LEVEL = (cooling.RESERVOIR_LEVEL, (LOOP, ""))
DIELECTRIC_PER_KELVIN = 8e-4


def tank(litres_an_hour: float = 0.0, lifted: float = 0.0) -> Story:
    """Return a tank whose bath follows its load, which leaks or from which servers were lifted."""
    story = healthy()
    middle = sum(
        story.values[cooling.COOLANT_TEMPERATURE, (LOOP, "", point)] / 2.0
        for point in ("supply", "return")
    )
    swollen = DIELECTRIC_PER_KELVIN * 800.0 * (middle - SUPPLY)
    lost = litres_an_hour * story.after / 3600.0 + lifted * story.grown(0)
    level = (600.0 + swollen - lost) / 800.0
    story.set(*LEVEL, level + np.random.default_rng(2).normal(0.0, 2e-4, len(story.at)))
    return story


def test_a_tank_whose_bath_warms_and_cools_by_itself_loses_nothing() -> None:
    assert told(tank(), ["cooling_leak"], of_loop=TANK) == []


def test_servers_that_are_lifted_out_of_a_tank_are_no_leak() -> None:
    assert told(tank(lifted=12.0), ["cooling_leak"], of_loop=TANK) == []


def test_a_tank_that_loses_a_litre_an_hour_is_found() -> None:
    (leak,) = told(tank(litres_an_hour=1.0), ["cooling_leak"], of_loop=TANK)
    assert "temperature allowed for" in leak.because


HOT = f"thermal_contact {RACKS[1]}-a{CHIPS - 1}"


def hot_chip() -> Story:
    story = healthy()
    name = (f"{RACKS[1]}-a{CHIPS - 1}",)
    story.plus(accelerators.TEMPERATURE, name, 18.0 * story.grown(0))
    return story


@pytest.mark.parametrize(
    ("kind", "said"),
    [("cold_plate", {HOT}), ("immersion", {HOT}), ("rear_door", set())],
)
def test_chips_behind_a_door_are_cooled_by_air_and_not_by_its_water(
    kind: str, said: set[str]
) -> None:
    found = told(hot_chip(), ["cooling_thermal_contact"], of_loop={"kind": kind})
    assert {one.replace("device ", "") for one in kinds(found)} == said


@pytest.mark.parametrize(("kind", "hot"), [("cold_plate", False), ("rear_door", True)])
def test_water_that_suits_plates_is_too_warm_for_a_door(kind: str, hot: bool) -> None:
    story = healthy()
    for key in story.values:
        if key[0] is cooling.COOLANT_TEMPERATURE:
            story.plus(*key, 4.0)
    assert bool(told(story, ["cooling_supply_hot"], of_loop={"kind": kind})) is hot


@pytest.mark.parametrize(
    ("kind", "words"), [("immersion", "(tank under"), ("rear_door", "(rear door under")]
)
def test_a_verdict_says_what_kind_of_loop_it_is(kind: str, words: str) -> None:
    story = healthy()
    story.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "filter"), 1.0 + 3.0 * story.grown(6))
    (clogged,) = told(
        story, ["cooling_filter_clogged"], "differential_pressure", of_loop={"kind": kind}
    )
    assert words in clogged.because
