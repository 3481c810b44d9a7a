"""Exchangers whose far side is metered in part, and supplies too hot whatever is in doubt."""

import numpy as np
import pytest
from scipy.optimize import brentq

from fabrichealth.catalogue import accelerators, cooling, power
from tests.analyzer.cooling.stories import (
    FLOW,
    HOUR,
    LOOP,
    ONSET,
    PER_KELVIN,
    RACKS,
    SIDE,
    START,
    SUPPLY,
    Change,
    Story,
    between,
    healthy,
    kinds,
    told,
)

OF = ["cooling_exchanger_fouled", "cooling_supply_hot"]


def said(story: Story) -> set[str]:
    """Return what is told four hours after the trouble began, given the twelve before."""
    return kinds(told(between(story, -12.0, 4.0), OF))


FACILITY, FULL = SUPPLY - 6.0, 0.92 * 60_000.0 * len(RACKS)
WATER = 69.3
"""Watts of 1 L/min and 1 K of water."""
WIDEST = 600.0
"""L/min of the facility with the valve wide open."""

BACK = (cooling.COOLANT_TEMPERATURE, (SIDE, "", "return"))
GIVEN = (cooling.FLOW, (SIDE, "", "supply"))
VALVE = (cooling.VALVE_POSITION, (LOOP, "", "1"))


def mean(cold: float, warm: float) -> float:
    """Return the logarithmic mean of the differences at both ends, K."""
    return cold if abs(cold - warm) < 1e-6 else (cold - warm) / np.log(cold / warm)


def facility_flow(watts: float, supply: float, conductance: float) -> float:
    """Return the facility's flow (L/min) at which an exchanger gives off so much."""
    back = supply + watts / (PER_KELVIN * FLOW * len(RACKS))

    def missing(flow: float) -> float:
        warm = back - FACILITY - watts / (WATER * flow)
        return watts - conductance * mean(supply - FACILITY, max(warm, 1e-6))

    least = watts / (WATER * (back - FACILITY))
    return float(brentq(missing, least * 1.0001, 50_000.0))


def loop(
    load: float = 1.0, setpoint: float = 0.0, fouled: float = 0.0, least: float = 300.0
) -> Story:
    """Return a loop whose valve holds the supply; from the onset on as the arguments say.

    `load` is a share of the full one, `setpoint` kelvin more, `fouled` a share of its conductance.
    Before it the facility gives `least` L/min, and at 265 the two sides meet within 0.2 K.
    """
    story, chance = healthy(), np.random.default_rng(3)
    ill = story.after > 0
    count, levels = len(story.at), np.where(ill, load, 1.0)
    usual = FULL / mean(
        6.0, SUPPLY + FULL / (PER_KELVIN * FLOW * 5) - 26.0 - FULL / (WATER * least)
    )
    then = facility_flow(FULL * load, SUPPLY + setpoint, usual * (1.0 - fouled))
    given = np.where(ill, then, least)
    for rack in RACKS:
        story.set(power.RACK_POWER, (rack,), 60_000.0 * levels + chance.normal(0, 200, count))
        rise = 0.92 * 60_000.0 * levels / (PER_KELVIN * FLOW)
        story.set(cooling.COOLANT_TEMPERATURE, (LOOP, rack, "return"), SUPPLY + rise)
        for chip in range(4):
            device = (f"{rack}-a{chip}",)
            story.set(accelerators.POWER, device, 1000.0 * levels)
            story.set(accelerators.TEMPERATURE, device, SUPPLY + 30.0 * levels)
    rise = FULL * levels / (PER_KELVIN * FLOW * len(RACKS))
    story.set(cooling.COOLANT_TEMPERATURE, (LOOP, "", "return"), SUPPLY + rise)
    for metric, labels in list(story.values):
        warm = metric is cooling.COOLANT_TEMPERATURE and labels[0] == LOOP
        if warm or metric is accelerators.TEMPERATURE:
            story.plus(metric, labels, np.where(ill, setpoint, 0.0))
    middle = rise / 2.0 + setpoint * ill
    story.set(cooling.RESERVOIR_LEVEL, (LOOP, ""), (28.0 + 4e-4 * 300.0 * middle) / 40.0)
    story.set(*GIVEN, given)
    story.set(*BACK, FACILITY + FULL * levels / (WATER * given))
    story.set(*VALVE, np.clip(given / WIDEST, 0.0, 1.0))
    return story


UNREAD = {"all": (), "no flow": (GIVEN,), "no return": (BACK,), "neither": (GIVEN, BACK)}


def without(story: Story, which: str) -> Story:
    for one in UNREAD[which]:
        del story.values[one]
    return story


@pytest.mark.parametrize("which", UNREAD)
@pytest.mark.parametrize(
    ("load", "setpoint"), [(0.7, 0.0), (0.45, 0.0), (1.0, 5.0), (0.6, 4.0), (1.0, -1.5)]
)
def test_other_loads_and_setpoints_foul_no_exchanger(
    load: float, setpoint: float, which: str
) -> None:
    assert said(without(loop(load, setpoint), which)) == set()


@pytest.mark.parametrize("off", [-0.4, -0.2, 0.1, 0.4])
@pytest.mark.parametrize(("load", "setpoint"), [(1.0, 5.0), (1.2, 5.0), (1.1, 0.0), (0.8, 3.0)])
def test_where_both_sides_meet_meters_that_are_apart_foul_no_exchanger(
    load: float, setpoint: float, off: float
) -> None:
    """The facility's return seems warmer than the loop's, now and then or always."""
    story = loop(load, setpoint, least=265.0)
    noise = np.random.default_rng(4).normal(0.0, 0.05, len(story.at))
    story.plus(*BACK, noise - off)
    assert said(story) == set()


@pytest.mark.parametrize("off", [-0.4, 0.0, 0.4])
def test_scale_opens_an_end_that_met(off: float) -> None:
    story = loop(fouled=0.5, least=265.0)
    story.plus(*BACK, -off)
    assert said(story) == {"exchanger_fouled cdu-1"}


@pytest.mark.parametrize("which", ["all", "no flow", "no return"])
def test_scale_is_told_by_what_is_read_of_the_far_side(which: str) -> None:
    assert said(without(loop(fouled=0.35), which)) == {"exchanger_fouled cdu-1"}


@pytest.mark.parametrize("kelvin", [-5.0, 5.0])
def test_of_a_far_side_without_meters_weather_fouls_no_exchanger(kelvin: float) -> None:
    """The control holds the supply: its valve closes in cold weather and the approach widens."""
    story = without(loop(), "neither")
    hours = (story.at - START - ONSET) / HOUR
    far = kelvin * np.sin((hours - 4.0) * np.pi / 6.0)
    story.plus(cooling.COOLANT_TEMPERATURE, (SIDE, "", "supply"), far)
    back = SUPPLY + FULL / (PER_KELVIN * FLOW * len(RACKS))
    usual = FULL / mean(6.0, back - FACILITY - FULL / (WATER * 300.0))
    for place, more in enumerate(far.tolist()):
        given = facility_flow(FULL, SUPPLY - more, usual)
        story.values[VALVE][place] = min(given / WIDEST, 1.0)
    assert said(story) == set()


def test_of_a_far_side_without_meters_a_valve_that_is_as_open_tells() -> None:
    """The facility's water must be 5 K colder at the same valve."""
    story = without(loop(), "neither")
    story.plus(cooling.COOLANT_TEMPERATURE, (SIDE, "", "supply"), -5.0 * story.grown(2))
    assert said(story) == {"exchanger_fouled cdu-1"}
    del story.values[VALVE]
    assert said(story) == set()


def hotter(story: Story, kelvin: float) -> None:
    """Let supply, return and chips get so much warmer within half an hour."""
    for metric, labels in list(story.values):
        warm = metric is cooling.COOLANT_TEMPERATURE and labels[0] == LOOP
        if warm or metric is accelerators.TEMPERATURE:
            story.plus(metric, labels, kelvin * story.grown(0.5))


def facility_stops(story: Story) -> None:
    story.times(*GIVEN, 1.0 - story.grown(0.5))


def racks_meter_drifts(story: Story) -> None:
    for rack in RACKS:
        story.times(power.RACK_POWER, (rack,), 1.0 + 0.15 * story.grown(0.5))


def facility_half(story: Story) -> None:
    """Half of the water, and so a conductance that seems to be less."""
    story.times(*GIVEN, 1.0 - 0.8 * story.grown(0.5))


@pytest.mark.parametrize("doubt", [facility_stops, racks_meter_drifts, facility_half])
def test_a_supply_beyond_any_class_is_told_whatever_else_is_in_doubt(doubt: Change) -> None:
    story = healthy()
    hotter(story, 20.0)
    doubt(story)
    assert "supply_hot cdu-1" in said(story)
