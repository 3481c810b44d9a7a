"""Water and power of an emulated hall behave as pipes, pumps, exchangers and breakers do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.fabric import Fabric
from emulator.plan import Plan
from emulator.plant.cdu import Cdu, unit
from emulator.plant.electric import VOLTS, Feed, RackPower
from emulator.plant.hydraulics import FITTINGS, SMOOTH, Hydraulics, Pipe, Pump
from emulator.plant.plant import plant

BRANCHES = {"r01": 60.0, "r02": 60.0}
HEAT = {"r01": 48_000.0, "r02": 48_000.0}
START = 1_800_000_000.0
CONTROLS = ("flow", "differential_pressure", "speed")


def settle(one: Cdu, minutes: float = 10.0) -> Cdu:
    for _ in range(round(minutes * 6)):
        one.advance(10.0, HEAT)
    return one


@settings(deadline=None)
@given(
    st.lists(st.floats(0.002, 0.5), min_size=1, max_size=6),
    st.sampled_from([SMOOTH, FITTINGS, 1.3]),
    st.floats(0.3, 1.0),
)
def test_what_pumps_lift_is_what_everything_in_line_takes(
    resistances: list[float], exponent: float, speed: float
) -> None:
    pipes = {f"b{n}": Pipe(one, exponent) for n, one in enumerate(resistances)}
    water = Hydraulics([Pump("1"), Pump("2")], pipes)
    water.speed(speed)
    water.settle()
    taken = (
        water.manifold + water.filter.pressure(water.flow) + water.exchanger.pressure(water.flow)
    )
    assert water.lifted(water.flow) == pytest.approx(taken, rel=1e-6)
    for name, pipe in pipes.items():
        assert pipe.pressure(water.flows[name]) == pytest.approx(water.manifold, rel=1e-6)


@pytest.mark.parametrize("control", CONTROLS)
def test_heat_in_is_heat_out(control: str) -> None:
    one = settle(unit("cdu", BRANCHES, control))
    carried = one.coolant.watts_per_kelvin(one.flow, one.supply) * (one.back - one.supply)
    assert carried == pytest.approx(sum(HEAT.values()), rel=0.01)
    assert one.supply == pytest.approx(30.0, abs=0.2)


def test_a_litre_and_a_half_a_kilowatt_is_ten_kelvin() -> None:
    one = unit("cdu", BRANCHES, "flow")
    for _ in range(120):
        one.advance(5.0, {"r01": 60_000.0, "r02": 60_000.0})
    assert one.back - one.supply == pytest.approx(9.96, rel=0.01)


@pytest.mark.parametrize(
    ("control", "own", "other", "speed"),
    [("flow", -1, 1, 1), ("differential_pressure", -1, 0, -1), ("speed", -1, 1, 0)],
)
def test_a_clogged_branch_shows_where_the_control_lets_it(
    control: str, own: int, other: int, speed: int
) -> None:
    one = unit("cdu", BRANCHES, control)
    before = dict(one.hydraulics.flows), one.hydraulics.pumps[0].speed
    one.hydraulics.branches["r01"].clogged = 2.0
    settle(one)
    flows = one.hydraulics.flows
    changes = (
        flows["r01"] - before[0]["r01"],
        flows["r02"] - before[0]["r02"],
        100 * (one.hydraulics.pumps[0].speed - before[1]),
    )
    assert tuple(int(np.sign(round(change, 0))) for change in changes) == (own, other, speed)


def test_pumps_follow_the_affinity_laws() -> None:
    one = unit("cdu", BRANCHES, "speed")
    flow, manifold = one.flow, one.hydraulics.manifold
    speed = one.hydraulics.pumps[0].speed
    for pipe in one.hydraulics.branches.values():
        pipe.exponent, pipe.resistance = 2.0, manifold / (flow / 2) ** 2
    one.hydraulics.settle()
    one.hydraulics.speed(speed * 0.8)
    one.hydraulics.settle()
    assert one.hydraulics.flow == pytest.approx(0.8 * flow, rel=1e-3)
    assert one.hydraulics.manifold == pytest.approx(0.64 * manifold, rel=1e-3)


def test_fouling_opens_the_valve_and_hot_facility_water_ends_what_it_can_do() -> None:
    one = settle(unit("cdu", BRANCHES))
    valve, one.fouled = one.facility.valve, 0.5
    settle(one)
    assert one.supply == pytest.approx(30.0, abs=0.2)
    assert one.facility.valve > 1.3 * valve
    one.fouled, one.facility.celsius = 0.0, 33.0
    settle(one)
    assert one.facility.valve == pytest.approx(1.0, abs=0.01)
    assert one.supply > 34.0


def test_a_leak_takes_level_and_pressure_and_warmth_only_level() -> None:
    one = settle(unit("cdu", BRANCHES))
    level, pressure = one.level, one.back_pressure
    one.leaks["r01"] = 0.5 / 60.0
    settle(one, 60.0)
    assert (level - one.level) * one.reservoir == pytest.approx(0.5, abs=0.05)
    assert one.back_pressure < pressure
    one.leaks.clear()
    one.supply_setpoint = 40.0
    level, pressure = one.level, one.back_pressure
    settle(one, 30.0)
    assert (one.level - level) * one.reservoir == pytest.approx(1.2, abs=0.1)
    assert one.back_pressure == pressure


@pytest.mark.parametrize(("load", "seconds"), [(0.99, None), (1.45, 388.0), (2.0, 173.0)])
def test_a_breaker_trips_by_its_heat(load: float, seconds: float | None) -> None:
    feed = Feed("f", breaker=60.0)
    watts = 3 * VOLTS * 60.0 * load * feed.power_factor
    passed = 0.0
    while feed.closed and passed < 3600.0:
        feed.carry(watts, 1.0)
        passed += 1.0
    assert feed.closed is (seconds is None)
    assert seconds is None or passed == pytest.approx(seconds, rel=0.02)


def test_what_one_feed_carried_the_other_carries_when_it_is_lost() -> None:
    rack = RackPower("r01", (Feed("A", 125.0), Feed("B", 125.0)))
    rack.advance(1.0, 60_000.0)
    before = sum(feed.watts for feed in rack.feeds)
    rack.feeds[0].volts = [0.0] * 3
    rack.advance(1.0, 60_000.0)
    assert rack.feeds[0].watts == 0.0
    assert rack.feeds[1].watts == pytest.approx(before, rel=1e-9)
    assert before == pytest.approx(60_000.0 / rack.efficiency, rel=1e-9)


def test_a_cap_slows_what_the_rack_holds() -> None:
    rack = RackPower("r01", (Feed("A", 125.0), Feed("B", 125.0)), limit=50_000.0)
    rack.advance(1.0, 60_000.0)
    assert rack.watts == pytest.approx(50_000.0, rel=1e-9)
    assert rack.slowed == pytest.approx(0.2, rel=1e-9)


def test_meters_of_energy_count_while_a_hall_is_set_up() -> None:
    made = Fabric(Plan(racks=1, hosts_per_rack=1, rails=1, plant=True), 1, START)
    watts = {name: feed.watts for name, feed in made.supplied().feeds.items()}
    made.begin(START + 90.0)
    made.advance(START + 100.0)
    for name, feed in made.supplied().feeds.items():
        assert feed.watt_hours == pytest.approx(watts[name] * 100.0 / 3600.0, rel=0.02)


def test_a_plant_stands_still_before_anybody_reads_it() -> None:
    made = plant(Plan(plant=True))
    assert all(feed.watts > 10_000 and feed.watt_hours == 0.0 for feed in made.feeds.values())
    assert all(abs(made.warmer(rack)) < 0.5 for rack in made.racks)


def test_a_hose_that_comes_off_runs_the_unit_dry_and_a_refill_starts_it_again() -> None:
    one = settle(unit("cdu", BRANCHES))
    one.leaks["r01"] = 30.0
    settle(one, 0.5)
    assert one.leaked == pytest.approx(15.0, rel=0.01)
    assert one.flow > 0
    settle(one, 1.0)
    assert one.level <= 0.1
    assert (one.flow, one.hydraulics.active) == (0.0, [])
    one.leaks.clear()
    one.refill()
    settle(one)
    assert one.flow == pytest.approx(180.0, rel=0.02)
