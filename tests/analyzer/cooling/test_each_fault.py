"""Each fault of a loop is told as itself, at its place, and as nothing else; life is no fault."""

import numpy as np
import pytest

from fabrichealth.catalogue import accelerators, cooling, power
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from tests.analyzer.cooling.stories import (
    HOUR,
    LOOP,
    ONSET,
    PERIOD,
    RACKS,
    SIDE,
    START,
    Change,
    Story,
    healthy,
    kinds,
    told,
)


def clogs_under_pressure(story: Story) -> None:
    """Half as hard again to flow through, at the same drop: less flow, warmer return."""
    less = (1.0 + 0.6 * story.grown(6)) ** (-1 / 1.75)
    story.times(cooling.FLOW, (LOOP, "r2", ""), less)
    rise = story.values[power.RACK_POWER, ("r2",)] * 0.92 / (66.9 * 90.0 * less)
    story.set(cooling.COOLANT_TEMPERATURE, (LOOP, "r2", "return"), 32.0 + rise)


def clogs_under_flow(story: Story) -> None:
    """The drop rises for all, the others get more."""
    clogs_under_pressure(story)
    more = 1.0 + 0.1 * story.grown(6)
    story.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "loop"), more**1.75)
    for rack in RACKS:
        story.times(cooling.FLOW, (LOOP, rack, ""), more)
        rise = story.values[cooling.COOLANT_TEMPERATURE, (LOOP, rack, "return")] - 32.0
        story.set(cooling.COOLANT_TEMPERATURE, (LOOP, rack, "return"), 32.0 + rise / more)
    story.times(cooling.PUMP_SPEED, (LOOP, "", "1"), more**0.9)


def filter_fills(story: Story) -> None:
    """Twice the drop over the filter; the pump turns faster for it."""
    more = 1.0 + story.grown(8)
    story.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "filter"), more)
    story.times(cooling.PUMP_SPEED, (LOOP, "", "1"), np.sqrt((100.0 + 20.0 * more) / 120.0))


def pump_wears(story: Story) -> None:
    """Under flow control the pump turns faster for the same head, and draws more."""
    faster = 1.0 + 0.1 * story.grown(6)
    story.times(cooling.PUMP_SPEED, (LOOP, "", "1"), faster)
    story.times(cooling.PUMP_POWER, (LOOP, "", "1"), faster**2)


def valve_moves(story: Story) -> None:
    """One branch gets two thirds of its flow at once."""
    less = 1.0 - 0.34 * story.grown(0)
    story.times(cooling.FLOW, (LOOP, "r1", ""), less)
    rise = story.values[power.RACK_POWER, ("r1",)] * 0.92 / (66.9 * 90.0 * less)
    story.set(cooling.COOLANT_TEMPERATURE, (LOOP, "r1", "return"), 32.0 + rise)


def plug_half_mated(story: Story) -> None:
    """The same, a quarter of an hour after somebody plugged the branch."""
    valve_moves(story)
    scope = {"loop": LOOP, "branch": f"{LOOP}/r1"}
    story.events.append(Event(START + ONSET - 900.0, "part_touched", scope))


def exchanger_fouls(story: Story) -> None:
    """The facility's water must be 5 K colder for the same supply."""
    for point in ("supply", "return"):
        labels = (SIDE, "", point)
        story.plus(cooling.COOLANT_TEMPERATURE, labels, -5.0 * story.grown(8))


def facility_warms(story: Story) -> None:
    """Warmer facility water, a valve wide open, and a supply that follows."""
    warmer = 8.0 * story.grown(1)
    for loop, branches in ((SIDE, ("",)), (LOOP, ("", *RACKS))):
        for branch in branches:
            for point in ("supply", "return"):
                if (cooling.COOLANT_TEMPERATURE, (loop, branch, point)) in story.values:
                    story.plus(cooling.COOLANT_TEMPERATURE, (loop, branch, point), warmer)
    for rack in RACKS:
        for chip in range(4):
            story.plus(accelerators.TEMPERATURE, (f"{rack}-a{chip}",), warmer)
    story.plus(cooling.VALVE_POSITION, (LOOP, "", "1"), 0.5 * story.grown(1))


def contact_goes(story: Story) -> None:
    rise = story.values[accelerators.TEMPERATURE, ("r3-a2",)] - 32.0
    story.set(accelerators.TEMPERATURE, ("r3-a2",), 32.0 + rise * (1.0 + 0.4 * story.grown(3)))


def air_gets_humid(story: Story) -> None:
    """Air of 36 °C and 78 % has a dew point of 31.5 °C."""
    story.plus(cooling.AIR_TEMPERATURE, (LOOP, ""), 11.0 * story.grown(1))
    story.plus(cooling.AIR_HUMIDITY, (LOOP, ""), 0.33 * story.grown(1))


def flow_meter_drifts(story: Story) -> None:
    story.times(cooling.FLOW, (LOOP, "r4", ""), 1.0 - 0.2 * story.grown(6))


def drop_meter_drifts(story: Story) -> None:
    story.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "loop"), 1.0 + 0.25 * story.grown(6))


def return_flow_meter_drifts(story: Story) -> None:
    story.times(cooling.FLOW, (LOOP, "", "return"), 1.0 - 0.08 * story.grown(6))


def supply_sensor_drifts(story: Story) -> None:
    story.plus(cooling.COOLANT_TEMPERATURE, (LOOP, "", "supply"), -2.0 * story.grown(6))


def rope_wet(story: Story) -> None:
    story.set(cooling.LEAK, (LOOP, "", "r2"), (story.after > 0) * 1.0)


def leaks_slowly(story: Story) -> None:
    story.plus(cooling.RESERVOIR_LEVEL, (LOOP, ""), -0.2 / 40.0 * story.after / HOUR)


def leaks_fast_without_a_level(story: Story) -> None:
    """No level meter; pressure decays and 20 L/min do not come back from a branch."""
    del story.values[cooling.RESERVOIR_LEVEL, (LOOP, "")]
    story.plus(cooling.FLOW, (LOOP, "", "return"), -20.0 * story.grown(0))
    story.times(cooling.PRESSURE, (LOOP, "", "return"), 1.0 - 0.3 * story.grown(0))


FAULTS: dict[str, tuple[Change, str]] = {
    "clogs, drop held": (clogs_under_pressure, "clogged cdu-1/r2"),
    "clogs, flow held": (clogs_under_flow, "clogged cdu-1/r2"),
    "filter fills": (filter_fills, "filter_clogged cdu-1"),
    "pump wears": (pump_wears, "pump_wear cdu-1"),
    "valve moves": (valve_moves, "flow_imbalance cdu-1/r1"),
    "plug half mated": (plug_half_mated, "clogged cdu-1/r1"),
    "exchanger fouls": (exchanger_fouls, "exchanger_fouled cdu-1"),
    "facility warms": (facility_warms, "supply_hot cdu-1"),
    "contact goes": (contact_goes, "thermal_contact r3-a2"),
    "air gets humid": (air_gets_humid, "condensation_risk cdu-1"),
    "flow meter drifts": (flow_meter_drifts, "sensor_drift cdu-1"),
    "drop meter drifts": (drop_meter_drifts, "sensor_drift cdu-1"),
    "return flow meter drifts": (return_flow_meter_drifts, "sensor_drift cdu-1"),
    "supply sensor drifts": (supply_sensor_drifts, "sensor_drift cdu-1"),
    "rope wet": (rope_wet, "leak cdu-1/r2"),
    "leaks slowly": (leaks_slowly, "leak cdu-1"),
    "leaks fast, no level": (leaks_fast_without_a_level, "leak cdu-1"),
}


@pytest.mark.parametrize(("change", "right"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_as_itself_and_as_nothing_else(change: Change, right: str) -> None:
    story = healthy()
    change(story)
    assert kinds(told(story)) == {right}


def setpoint_moves(story: Story) -> None:
    """4 K more is asked for, and the valve closes a little for it."""
    for branch in ("", *RACKS):
        for point in ("supply", "return"):
            if (cooling.COOLANT_TEMPERATURE, (LOOP, branch, point)) in story.values:
                labels = (LOOP, branch, point)
                story.plus(cooling.COOLANT_TEMPERATURE, labels, 4.0 * story.grown(0.2))
    for rack in RACKS:
        for chip in range(4):
            story.plus(accelerators.TEMPERATURE, (f"{rack}-a{chip}",), 4.0 * story.grown(0.2))
    story.times(cooling.FLOW, (SIDE, "", "supply"), 1.0 - 0.3 * story.grown(0.2))
    rise = story.values[cooling.COOLANT_TEMPERATURE, (SIDE, "", "return")] - 26.0
    story.set(
        cooling.COOLANT_TEMPERATURE,
        (SIDE, "", "return"),
        26.0 + rise / (1.0 - 0.3 * story.grown(0.2)),
    )
    story.plus(cooling.RESERVOIR_LEVEL, (LOOP, ""), 4e-4 * 300.0 / 40.0 * 4.0 * story.grown(0.2))


def rope_blips(story: Story) -> None:
    story.set(cooling.LEAK, (LOOP, "", "r2"), (story.at >= story.at[-1]) * 1.0)


def warm_day(story: Story) -> None:
    """Supply swings by 3 K, and the level with it: 0.36 L of 40."""
    swing = 1.5 * np.sin(2 * np.pi * (story.at - START) / 86_400.0)
    for branch in ("", *RACKS):
        for point in ("supply", "return"):
            if (cooling.COOLANT_TEMPERATURE, (LOOP, branch, point)) in story.values:
                story.plus(cooling.COOLANT_TEMPERATURE, (LOOP, branch, point), swing)
    for point in ("supply", "return"):
        story.plus(cooling.COOLANT_TEMPERATURE, (SIDE, "", point), swing)
    for rack in RACKS:
        for chip in range(4):
            story.plus(accelerators.TEMPERATURE, (f"{rack}-a{chip}",), swing)
    story.plus(cooling.RESERVOIR_LEVEL, (LOOP, ""), 4e-4 * 300.0 / 40.0 * swing)


def filter_serviced(story: Story) -> None:
    """A new filter, two litres spilt and not refilled, written down."""
    story.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "filter"), 1.0 - 0.4 * story.grown(0))
    story.times(cooling.PUMP_SPEED, (LOOP, "", "1"), 1.0 - 0.034 * story.grown(0))
    story.plus(cooling.RESERVOIR_LEVEL, (LOOP, ""), -0.05 * story.grown(0))
    for kind, offset in (("maintenance_start", -600.0), ("part_replaced", 0.0)):
        story.events.append(Event(START + ONSET + offset, kind, {"device": LOOP}, "chg-7"))
    story.events.append(Event(START + ONSET + 600.0, "maintenance_end", {}, "chg-7"))


def drained_at_once(story: Story) -> None:
    """The same two litres, and nobody wrote it down."""
    story.plus(cooling.RESERVOIR_LEVEL, (LOOP, ""), -0.05 * story.grown(0))


def idle_rack(story: Story) -> None:
    """A rack falls to a tenth of its load: a balance of so little is not judged."""
    labels = ("r2",)
    idle = 1.0 - 0.9 * story.grown(0)
    saved = story.values[power.RACK_POWER, labels] * (1.0 - idle)
    story.plus(cooling.COOLANT_TEMPERATURE, (LOOP, "", "return"), -saved * 0.92 / (66.9 * 450.0))
    story.plus(cooling.COOLANT_TEMPERATURE, (SIDE, "", "return"), -saved * 0.92 / (69.7 * 300.0))
    story.plus(cooling.RESERVOIR_LEVEL, (LOOP, ""), -saved * 0.92 / (66.9 * 450.0) * 0.0015)
    story.times(power.RACK_POWER, labels, idle)
    rise = story.values[cooling.COOLANT_TEMPERATURE, (LOOP, "r2", "return")] - 32.0
    story.set(cooling.COOLANT_TEMPERATURE, (LOOP, "r2", "return"), 32.0 + rise * idle)


LIFE: dict[str, Change] = {
    "nothing": lambda story: None,
    "setpoint moves": setpoint_moves,
    "rope blips": rope_blips,
    "warm day": warm_day,
    "filter serviced": filter_serviced,
    "drained at once": drained_at_once,
    "idle rack": idle_rack,
}


@pytest.mark.parametrize("change", LIFE.values(), ids=LIFE)
@pytest.mark.parametrize("hours", [30.0, 36.0])
def test_life_is_no_fault(change: Change, hours: float) -> None:
    story = healthy()
    change(story)
    until = round(hours * HOUR / PERIOD)
    story.at = story.at[:until]
    story.values = {key: values[:until] for key, values in story.values.items()}
    assert kinds(told(story)) == set()


@pytest.mark.parametrize(("level", "says"), [(True, "tells of no loss"), (False, "no level is")])
def test_flows_that_disagree_say_whether_a_level_would_tell_of_a_loss(
    level: bool, says: str
) -> None:
    story = healthy()
    return_flow_meter_drifts(story)
    if not level:
        del story.values[cooling.RESERVOIR_LEVEL, (LOOP, "")]
    (found,) = told(story, ["cooling_sensor_drift"])
    assert says in found.because


def lacks(*metrics: Metric) -> Change:
    def change(story: Story) -> None:
        for key in [key for key in story.values if key[0] in metrics]:
            del story.values[key]

    return change


def no_facility_meters(story: Story) -> None:
    for key in [key for key in story.values if key[1][0] == SIDE]:
        del story.values[key]


def two_branches(story: Story) -> None:
    for key in [key for key in story.values if set(RACKS[2:]) & set(key[1])]:
        del story.values[key]


def another_unit(story: Story) -> None:
    """Out for an hour; another level, pressure, filter and pump from then on, written down."""
    ratios = {cooling.RESERVOIR_LEVEL: 0.6, cooling.PRESSURE: 1.2, cooling.PUMP_SPEED: 0.85,
              cooling.PUMP_POWER: 0.8}  # fmt: skip
    out = (story.after == 0) & (story.at > START + ONSET - HOUR)
    for metric, labels in story.values:
        if labels[0] == LOOP:
            ratio = ratios.get(metric, 1.6 if "filter" in labels else 1.0)
            story.times(metric, labels, np.where(out, np.nan, 1.0 + (ratio - 1.0) * story.grown(0)))
    at = START + ONSET - HOUR / 2.0
    story.events.append(Event(at, "part_replaced", {"device": LOOP}, more={"action": "replace"}))


ODD: dict[str, Change] = {
    "no level": lacks(cooling.RESERVOIR_LEVEL),
    "no pressures": lacks(cooling.DIFFERENTIAL_PRESSURE, cooling.PRESSURE),
    "no power of racks": lacks(power.RACK_POWER),
    "no facility meters": no_facility_meters,
    "two branches": two_branches,
    "another unit": another_unit,
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_an_odd_site_that_is_well_is_told_of_nothing(change: Change) -> None:
    story = healthy()
    change(story)
    assert kinds(told(story)) == set()
