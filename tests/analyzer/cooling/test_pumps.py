"""Pumps that stop are told; those that rest, take turns or say nothing are not."""

import numpy as np
import pytest

from fabrichealth.catalogue import accelerators, cooling, power
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats
from tests.analyzer.cooling.stories import (
    HOUR,
    LOOP,
    ONSET,
    RACKS,
    SIDE,
    START,
    Change,
    Story,
    between,
    healthy,
    told,
    told_at,
)

OF = ["cooling_pump_stopped"]
PAST = -9.0
"""Hours before the trouble from which on these stories are read."""


def until(story: Story, hours: float) -> Story:
    """Return the story to so many hours after the trouble began."""
    return between(story, PAST, hours)


def soon_and_later(story: Story, *hours: float) -> list[list[Finding]]:
    """Return what is told so many hours after the trouble began."""
    moments = [START + ONSET + one * HOUR + 1.0 for one in hours]
    return told_at(until(story, hours[-1]), moments, OF)


def pump(story: Story, name: str, runs: Floats) -> None:
    """Let a pump turn at 70 % where `runs` ([k]) is 1 and stand still where it is 0."""
    story.set(cooling.PUMP_RUNNING, (LOOP, "", name), runs)
    story.set(cooling.PUMP_SPEED, (LOOP, "", name), 0.7 * runs)


def warmed(story: Story, share: Floats) -> None:
    """Let chips warm as they do where so much of the usual flow is left ([k])."""
    for metric, labels in story.values:
        if metric is accelerators.TEMPERATURE:
            story.plus(metric, labels, 40.0 * (1.0 - share))


def flow(story: Story, share: Floats) -> None:
    """Let so much of the usual flow through the loop and its branches ([k]), and chips warm."""
    warmed(story, share)
    metered(story, share)


def metered(story: Story, share: Floats) -> None:
    """Let meters say that so much of the usual flow is left ([k])."""
    for metric, labels in story.values:
        if metric is cooling.FLOW and labels[0] == LOOP:
            story.times(metric, labels, share)


def stopped(story: Story) -> Floats:
    """Return 1 until the trouble begins, 0 from then on ([k])."""
    return 1.0 - story.grown(0)


def one_of_two(story: Story) -> None:
    pump(story, "1", np.ones_like(story.at))
    pump(story, "2", stopped(story))


def one_of_two_without_flags(story: Story) -> None:
    one_of_two(story)
    for name in "12":
        del story.values[cooling.PUMP_RUNNING, (LOOP, "", name)]


def all_of_them(story: Story) -> None:
    pump(story, "1", stopped(story))
    pump(story, "2", stopped(story))
    flow(story, stopped(story))


def the_flow_of_pumps_that_nobody_reads(story: Story) -> None:
    for metric in (cooling.PUMP_RUNNING, cooling.PUMP_SPEED, cooling.PUMP_POWER):
        del story.values[metric, (LOOP, "", "1")]
    flow(story, stopped(story))
    story.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "loop"), stopped(story))


def a_coupling_breaks(story: Story) -> None:
    """The pump turns, and gives neither flow nor head."""
    flow(story, stopped(story))
    story.times(cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "loop"), stopped(story))


def drive_trips(story: Story, *names: str) -> None:
    """The flag is the command, and stays; speed and power fall to nothing."""
    for name in "12":
        pump(story, name, np.ones_like(story.at))
        runs = stopped(story) if name in names else np.ones_like(story.at)
        story.set(cooling.PUMP_SPEED, (LOOP, "", name), 0.7 * runs)
        story.set(cooling.PUMP_POWER, (LOOP, "", name), 1700.0 * runs)


def one_drive_trips(story: Story) -> None:
    drive_trips(story, "2")


def no_meter_of_pressure(story: Story) -> None:
    for key in [key for key in story.values if key[0] is cooling.DIFFERENTIAL_PRESSURE]:
        del story.values[key]


def all_drives_trip(story: Story) -> None:
    drive_trips(story, "1", "2")
    no_meter_of_pressure(story)
    flow(story, stopped(story))


def a_coupling_breaks_unseen_by_pressure(story: Story) -> None:
    """Seven meters say that nothing flows; the pump turns."""
    no_meter_of_pressure(story)
    flow(story, stopped(story))


def a_valve_shuts_the_loop(story: Story) -> None:
    """The pump turns and presses; nothing flows."""
    flow(story, stopped(story))


def all_stop_and_the_mains_meter_sticks(story: Story) -> None:
    steady = story.values[cooling.FLOW, (LOOP, "", "supply")]
    all_of_them(story)
    story.set(cooling.FLOW, (LOOP, "", "supply"), steady)


@pytest.mark.parametrize(
    ("change", "rank", "says"),
    [
        (one_drive_trips, Severity.TICKET, "pump 2 does not turn: 1 of the 2"),
        (all_drives_trip, Severity.PAGE, "none of its pumps turns (1 and 2 did)"),
        (a_coupling_breaks_unseen_by_pressure, Severity.PAGE, "nothing flows any more"),
        (a_valve_shuts_the_loop, Severity.PAGE, "nothing flows any more"),
        (all_stop_and_the_mains_meter_sticks, Severity.PAGE, "none of its pumps turns"),
        (one_of_two, Severity.TICKET, "pump 2 does not turn: 1 of the 2"),
        (one_of_two_without_flags, Severity.TICKET, "pump 2 does not turn"),
        (all_of_them, Severity.PAGE, "none of its pumps turns (1 and 2 did)"),
        (the_flow_of_pumps_that_nobody_reads, Severity.PAGE, "nothing flows any more"),
        (a_coupling_breaks, Severity.PAGE, "nothing flows any more"),
    ],
)
def test_a_stop_is_told(change: Change, rank: Severity, says: str) -> None:
    story = healthy()
    change(story)
    for (finding,) in soon_and_later(story, 0.25, 4.0):
        assert (str(finding.kind), str(finding.about)) == ("cooling.pump_wear", LOOP)
        assert finding.rank is rank
        assert says in finding.because
        stands = [one for one in finding.evidence if "does not turn" in one.says]
        assert all(one.value < 0.1 for one in stands)


def standby_off(story: Story) -> None:
    pump(story, "2", np.zeros_like(story.at))


def takes_turns(story: Story) -> None:
    """Each runs for six hours; now it is the other's turn."""
    mine = (np.floor((story.at - story.at[0]) / (6 * HOUR)) % 2).astype(np.float64)
    pump(story, "1", mine)
    pump(story, "2", 1.0 - mine)


def rests_at_low_load(story: Story) -> None:
    """The second pump runs with the racks' full load alone, which comes every other three hours."""
    low = (np.floor((story.at - story.at[0]) / (3 * HOUR)) % 2 > 0) | (story.after > 0)
    pump(story, "2", np.where(low, 0.0, 1.0))
    for rack in RACKS:
        story.set(power.RACK_POWER, (rack,), np.where(low, 25_000.0, 60_000.0))


def rests_at_a_load_never_so_low(story: Story) -> None:
    pump(story, "2", stopped(story))
    for rack in RACKS:
        story.times(power.RACK_POWER, (rack,), 1.0 - 0.7 * story.grown(0))


def rests_a_little_below_any_load_seen(story: Story) -> None:
    """Usually 80 to 100 %; drained to 75 %, at which the second pump rests."""
    pump(story, "2", stopped(story))
    high = np.floor((story.at - story.at[0]) / HOUR) % 2 > 0
    share = np.where(story.after > 0, 0.75, np.where(high, 1.0, 0.8))
    for rack in RACKS:
        story.set(power.RACK_POWER, (rack,), 60_000.0 * share)


def flushed_by_both(story: Story) -> None:
    """Before any rack is switched on both pumps flush the loop; then one carries on."""
    pump(story, "2", np.where(story.at < START + ONSET - HOUR, 1.0, 0.0))
    share = np.where(story.at < START + ONSET, 0.02, 1.0)
    for rack in RACKS:
        story.set(power.RACK_POWER, (rack,), 60_000.0 * share)


def two_hours_of_both(story: Story) -> None:
    """The racks came up two hours ago; the spare is switched off."""
    pump(story, "2", stopped(story))
    share = np.where(story.at < START + ONSET - 2 * HOUR, 0.02, 1.0)
    for rack in RACKS:
        story.set(power.RACK_POWER, (rack,), 60_000.0 * share)


def the_units_board_fails(story: Story) -> None:
    """Its flag, speed and main meter say 0; its return and the branches go on."""
    pump(story, "1", stopped(story))
    story.times(cooling.FLOW, (LOOP, "", "supply"), stopped(story))


def one_falls_silent(story: Story) -> None:
    pump(story, "2", np.where(story.after > 0, np.nan, 1.0))


def racks_off_first(story: Story) -> None:
    """The hall is shut down: its racks, and hours later its pumps."""
    for rack in RACKS:
        story.times(power.RACK_POWER, (rack,), 1.0 - 0.95 * story.grown(0))
    later = np.where(story.after > 3 * HOUR, 0.0, 1.0)
    pump(story, "1", later)
    flow(story, later)


def flag_contradicted_by_flow(story: Story) -> None:
    pump(story, "1", stopped(story))


def flow_meter_fails(story: Story) -> None:
    """It says 0, of a loop whose pumps are not read; its branches and its return go on."""
    for metric in (cooling.PUMP_RUNNING, cooling.PUMP_SPEED, cooling.PUMP_POWER):
        del story.values[metric, (LOOP, "", "1")]
    del story.values[cooling.DIFFERENTIAL_PRESSURE, (LOOP, "", "loop")]
    story.times(cooling.FLOW, (LOOP, "", "supply"), stopped(story))


def valve_closes_on_the_facilitys_side(story: Story) -> None:
    story.times(cooling.FLOW, (SIDE, "", "supply"), stopped(story))


def never_ran(story: Story) -> None:
    pump(story, "1", np.zeros_like(story.at))
    flow(story, np.zeros_like(story.at))


QUIET: dict[str, Change] = {
    "standby": standby_off,
    "turns": takes_turns,
    "low load": rests_at_low_load,
    "never so low": rests_at_a_load_never_so_low,
    "a little below any load": rests_a_little_below_any_load_seen,
    "flushed": flushed_by_both,
    "two hours of both": two_hours_of_both,
    "the unit's board fails": the_units_board_fails,
    "silent": one_falls_silent,
    "racks off first": racks_off_first,
    "water flows all the same": flag_contradicted_by_flow,
    "a meter of flow fails": flow_meter_fails,
    "the facility's valve closes": valve_closes_on_the_facilitys_side,
    "never ran": never_ran,
}


@pytest.mark.parametrize("change", QUIET.values(), ids=QUIET)
def test_a_pump_at_rest_is_not_ill(change: Change) -> None:
    story = healthy()
    change(story)
    assert soon_and_later(story, 0.5, 4.0) == [[], []]


def test_a_stop_is_told_for_as_long_as_it_lasts_and_no_longer() -> None:
    story = healthy()
    one_of_two(story)
    (first,) = told(until(story, 0.5), OF)
    for metric in (cooling.PUMP_RUNNING, cooling.PUMP_SPEED):
        story.set(metric, (LOOP, "", "2"), np.zeros_like(story.at))  # long forgotten that it ran
    (again,) = told(until(story, 4.0), OF, before=[first])
    assert again.since == first.since
    well = healthy()
    pump(well, "2", np.ones_like(well.at))
    assert told(until(well, 4.0), OF, before=[again]) == []


def test_racks_that_trip_for_want_of_flow_do_not_end_it() -> None:
    story = healthy()
    all_of_them(story)
    (first,) = told(until(story, 0.25), OF)
    for rack in RACKS:
        story.times(power.RACK_POWER, (rack,), np.where(story.after > 0.3 * HOUR, 0.05, 1.0))
    (again,) = told(until(story, 2.0), OF, before=[first])
    assert again.rank is Severity.PAGE


@pytest.mark.parametrize(
    "metric", [power.RACK_POWER, cooling.FLOW, cooling.DIFFERENTIAL_PRESSURE, cooling.PUMP_POWER]
)
def test_pumps_alone_are_witness_enough(metric: Metric) -> None:
    story = healthy()
    all_of_them(story)
    story.values = {key: values for key, values in story.values.items() if key[0] is not metric}
    story.set(cooling.FLOW, ("other", "", "supply"), np.full(len(story.at), 10.0))
    (finding,) = told(until(story, 1.0), OF)
    assert finding.rank is Severity.PAGE


@pytest.mark.parametrize(("left", "stands"), [(0.0, True), (0.3, False)])
def test_a_unit_that_says_nothing_hides_no_standstill_that_its_branches_see(
    left: float, stands: bool
) -> None:
    """Its power is gone, and its pumps with it: the racks' own meters still speak."""

    def without_power(story: Story) -> None:
        for metric, labels in list(story.values):
            if metric.labels[0] == "loop" and labels[0] == LOOP:
                if labels[1] in RACKS:
                    if metric is cooling.FLOW:
                        story.times(metric, labels, 1.0 - (1.0 - left) * story.grown(0))
                else:
                    rest = story.values[metric, labels]
                    story.set(metric, labels, np.where(story.after > 0, np.nan, rest))

    story = healthy()
    without_power(story)
    warmed(story, 1.0 - (1.0 - left) * story.grown(0))
    (found,) = soon_and_later(story, 0.5)
    assert [one.rank for one in found] == [Severity.PAGE] * stands
