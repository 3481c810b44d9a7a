"""Pumps that stop are told; those that rest, take turns or say nothing are not."""

import numpy as np
import pytest

from fabrichealth.catalogue import cooling, power
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Floats
from tests.analyzer.cooling.stories import (
    HOUR,
    LOOP,
    ONSET,
    RACKS,
    SIDE,
    START,
    Change,
    Story,
    healthy,
    told,
)
from tests.analyzer.cooling.test_promises import until as whole

OF = ["cooling_pump_stopped"]


def until(story: Story, hours: float) -> Story:
    """Return the story from half a day before the trouble on, to so many hours after it began."""
    made = whole(story, hours)
    late = made.at >= START + ONSET - 12 * HOUR
    values = {key: one[late] for key, one in made.values.items()}
    return Story(at=made.at[late], values=values, events=made.events)


def pump(story: Story, name: str, runs: Floats) -> None:
    """Let a pump turn at 70 % where `runs` ([k]) is 1 and stand still where it is 0."""
    story.set(cooling.PUMP_RUNNING, (LOOP, "", name), runs)
    story.set(cooling.PUMP_SPEED, (LOOP, "", name), 0.7 * runs)


def flow(story: Story, share: Floats) -> None:
    """Let so much of the usual flow through the loop and its branches ([k])."""
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


@pytest.mark.parametrize(
    ("change", "rank", "says"),
    [
        (one_of_two, Severity.TICKET, "pump 2 does not turn: 1 of the 2"),
        (one_of_two_without_flags, Severity.TICKET, "pump 2 does not turn"),
        (all_of_them, Severity.PAGE, "none of its pumps turns (1 and 2 did)"),
        (the_flow_of_pumps_that_nobody_reads, Severity.PAGE, "nothing flows any more"),
        (a_coupling_breaks, Severity.PAGE, "nothing flows any more"),
    ],
)
@pytest.mark.parametrize("hours", [0.25, 8.0])
def test_a_stop_is_told(change: Change, rank: Severity, says: str, hours: float) -> None:
    story = healthy()
    change(story)
    (finding,) = told(until(story, hours), OF)
    assert (str(finding.kind), str(finding.about)) == ("cooling.pump_wear", LOOP)
    assert finding.rank is rank
    assert says in finding.because


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
    "silent": one_falls_silent,
    "racks off first": racks_off_first,
    "water flows all the same": flag_contradicted_by_flow,
    "a meter of flow fails": flow_meter_fails,
    "the facility's valve closes": valve_closes_on_the_facilitys_side,
    "never ran": never_ran,
}


@pytest.mark.parametrize("change", QUIET.values(), ids=QUIET)
@pytest.mark.parametrize("hours", [0.5, 8.0])
def test_a_pump_at_rest_is_not_ill(change: Change, hours: float) -> None:
    story = healthy()
    change(story)
    assert told(until(story, hours), OF) == []


def test_a_stop_is_told_for_as_long_as_it_lasts_and_no_longer() -> None:
    story = healthy()
    one_of_two(story)
    (first,) = told(until(story, 0.5), OF)
    for metric in (cooling.PUMP_RUNNING, cooling.PUMP_SPEED):
        story.set(metric, (LOOP, "", "2"), np.zeros_like(story.at))  # long forgotten that it ran
    (again,) = told(until(story, 8.0), OF, before=[first])
    assert again.since == first.since
    well = healthy()
    pump(well, "2", np.ones_like(well.at))
    assert told(well, OF, before=[again]) == []


def test_racks_that_trip_for_want_of_flow_do_not_end_it() -> None:
    story = healthy()
    all_of_them(story)
    (first,) = told(until(story, 0.25), OF)
    for rack in RACKS:
        story.times(power.RACK_POWER, (rack,), np.where(story.after > 0.3 * HOUR, 0.05, 1.0))
    (again,) = told(until(story, 6.0), OF, before=[first])
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
