"""A reservoir that empties at once is a burst if its loop ran, and somebody's work if it stood."""

import numpy as np
import pytest

from analyzer.judge import Judge
from analyzer.ledger import Ledger
from benchmarks.corpus.last_hours import LastHours
from fabrichealth.catalogue import cooling
from fabrichealth.events import Event
from fabrichealth.kinds import Severity
from fabrichealth.model import Batch, Finding, Floats
from tests.analyzer.cooling.stories import (
    DETECTORS,
    HOUR,
    LOOP,
    ONSET,
    RACKS,
    START,
    Change,
    Story,
    between,
    healthy,
    told,
    topology,
)
from tests.analyzer.cooling.test_pumps import flow, pump

OF = ["cooling_leak"]
LEVEL = (cooling.RESERVOIR_LEVEL, (LOOP, ""))
PRESSURE = (cooling.PRESSURE, (LOOP, "", "return"))


def polled(story: Story, seconds: float, change: Change, minutes: float) -> Story:
    """Return so many minutes after the onset, polled each so many seconds since shortly before."""
    end = START + ONSET + minutes * 60.0
    early = story.at[story.at < START + ONSET - 1200.0]
    at = np.concatenate([early, np.arange(early[-1] + seconds, end + 1.0, seconds)])
    rows = np.clip(np.searchsorted(story.at, at, side="right") - 1, 0, None)
    made = Story(at=at, values={key: one[rows] for key, one in story.values.items()})
    change(made)
    return between(made, -4.0, minutes / 60.0)


def lost(story: Story, liters: float, minutes: float = 0.0) -> None:
    story.plus(*LEVEL, -liters / 40.0 * story.grown(minutes / 60.0))


def hose_comes_off(story: Story) -> None:
    """The reservoir empties within a minute, the pumps trip on it."""
    gone = story.grown(1.0 / 60.0)
    story.times(*LEVEL, 1.0 - gone)
    story.times(*PRESSURE, 1.0 - 0.97 * gone)
    runs = np.where(story.after > 60.0, 0.0, 1.0)
    pump(story, "1", runs)
    flow(story, runs)


def ten_litres_at_once(story: Story) -> None:
    lost(story, 10.0)


def ten_litres_in_four_minutes(story: Story) -> None:
    lost(story, 10.0, 4.0)


def three_litres_and_the_pressure(story: Story) -> None:
    lost(story, 3.0)
    story.times(*PRESSURE, 1.0 - 0.6 * story.grown(0))


@pytest.mark.parametrize("seconds", [10.0, 300.0])
@pytest.mark.parametrize(
    "change",
    [hose_comes_off, ten_litres_at_once, ten_litres_in_four_minutes, three_litres_and_the_pressure],
)
def test_a_burst_is_told_however_it_is_polled(change: Change, seconds: float) -> None:
    (leak,) = told(polled(healthy(), seconds, change, max(6.0, seconds / 25.0)), OF)
    assert (str(leak.about), leak.rank) == (LOOP, Severity.PAGE)
    assert "while the loop ran" in leak.because
    assert 0.0 <= START + ONSET + 300.0 - leak.since <= 600.0


def test_a_leak_says_what_it_rests_on_and_where() -> None:
    def wet(story: Story) -> None:
        for zone in ("r1", "r3"):
            story.set(cooling.LEAK, (LOOP, zone, zone), story.grown(0))
        ten_litres_at_once(story)

    (leak,) = told(polled(healthy(), 60.0, wet, 6.0), OF)
    (burst, *ropes) = leak.grounds
    assert burst.startswith("burst cdu-1 at 20")
    assert ropes == ["rope r1", "rope r3"]
    assert leak.because.startswith("cdu-1/r1 and cdu-1/r3 lose coolant")


def test_a_burst_is_told_at_the_second_poll() -> None:
    assert told(polled(healthy(), 10.0, hose_comes_off, 1.5), OF)


def two_litres(story: Story) -> None:
    lost(story, 2.0)


def meter_fails(story: Story) -> None:
    story.times(*LEVEL, 1.0 - story.grown(0))


def stopped_and_drained(story: Story) -> None:
    """Pumps off for five minutes, then the drain is opened; nobody wrote it down."""
    runs = np.where(story.at > START + ONSET - 300.0, 0.0, 1.0)
    pump(story, "1", runs)
    flow(story, runs)
    lost(story, 20.0)


def drained_by_plan(story: Story) -> None:
    lost(story, 20.0)
    story.events.append(Event(START + ONSET - 600.0, "maintenance_start", {"loop": LOOP}, "c"))


def drained_and_put_back(story: Story) -> None:
    """The work was over, and written down as such, five minutes later."""
    drained_by_plan(story)
    story.events.append(Event(START + ONSET + 300.0, "maintenance_end", {"loop": LOOP}, "c"))


@pytest.mark.parametrize("seconds", [10.0, 300.0])
@pytest.mark.parametrize(
    "change",
    [two_litres, meter_fails, stopped_and_drained, drained_by_plan, drained_and_put_back],
)
def test_what_is_drained_on_purpose_is_no_burst(change: Change, seconds: float) -> None:
    assert told(polled(healthy(), seconds, change, max(6.0, seconds / 25.0)), OF) == []


def test_a_burst_lasts_until_somebody_refills() -> None:
    before: list[Finding] = []
    for minutes in (2.0, 10.0, 30.0, 240.0):
        story = polled(healthy(), 60.0, hose_comes_off, minutes)
        before = told(story, OF, before=before)
        assert [one.kind.name for one in before] == ["cooling.leak"]
        assert "28." in before[0].because
    story = polled(healthy(), 60.0, hose_comes_off, 300.0)
    refilled = story.after > 4.5 * HOUR
    story.set(*LEVEL, np.where(refilled, 0.6, story.values[LEVEL]))
    story.set(*PRESSURE, np.where(refilled, 150.0, story.values[PRESSURE]))
    assert told(story, OF, before=before) == []


@pytest.mark.parametrize(
    ("an_hour", "found"), [(0.0, False), (0.005, False), (0.02, True)], ids=str
)
def test_a_reservoir_whose_size_nobody_wrote_is_judged_by_its_share(
    an_hour: float, found: bool
) -> None:
    story = healthy()
    story.plus(*LEVEL, -an_hour * story.after / HOUR)
    leaks = told(
        between(story, -9.0, 9.0), OF, of_loop={"reservoir_liters": None, "volume_liters": None}
    )
    assert bool(leaks) is found
    assert all("of the reservoir" in one.because for one in leaks)


def test_a_small_reservoir_of_a_loop_that_cools_by_night_loses_nothing() -> None:
    """10 K of 300 L are 1.2 L, an eighth of a reservoir of 10 L."""
    story = healthy()
    night: Floats = story.grown(6)
    for metric, labels in list(story.values):
        if metric is cooling.COOLANT_TEMPERATURE:
            story.plus(metric, labels, -10.0 * night)
    story.plus(*LEVEL, -0.12 * night)
    sizes = {"reservoir_liters": None, "volume_liters": None}
    assert told(between(story, -9.0, 9.0), OF, of_loop=sizes) == []


UNIT = (
    cooling.FLOW, cooling.COOLANT_TEMPERATURE, cooling.DIFFERENTIAL_PRESSURE, cooling.PRESSURE,
    cooling.PUMP_SPEED, cooling.PUMP_POWER, cooling.PUMP_RUNNING, cooling.VALVE_POSITION,
    cooling.RESERVOIR_LEVEL,
)  # fmt: skip


def zeros(story: Story, polls: int, seconds: float) -> None:
    """The unit's controller starts again: it answers 0 for some polls."""
    away = (story.after > 0) & (story.after <= polls * seconds)
    for metric, labels in list(story.values):
        if metric in UNIT and labels[0] == LOOP and labels[1] not in RACKS:
            story.times(metric, labels, np.where(away, 0.0, 1.0))


def without_temperatures(story: Story) -> None:
    for point in ("supply", "return"):
        del story.values[cooling.COOLANT_TEMPERATURE, (LOOP, "", point)]


@pytest.mark.parametrize("seconds", [20.0, 60.0])
@pytest.mark.parametrize("warm", [True, False], ids=["temperatures", "branches alone"])
def test_a_unit_that_starts_again_has_lost_nothing(seconds: float, warm: bool) -> None:
    """Nor do its pumps stand, or its filter clog: what it says meanwhile is no reading."""

    def restarts(story: Story) -> None:
        zeros(story, 3, seconds)
        if not warm:
            without_temperatures(story)

    for polls in (2, 3, 5):
        story = polled(healthy(), seconds, restarts, polls * seconds / 60.0)
        assert told(story) == []


@pytest.mark.parametrize("says", [33.0, np.nan], ids=["live on", "are not read"])
def test_a_unit_that_starts_again_though_its_temperatures_do_not_say_so(says: float) -> None:
    """They hang on another module; the branches' meters tell that water flows on."""

    def restarts(story: Story) -> None:
        zeros(story, 3, 20.0)
        away = (story.after > 0) & (story.after <= 60.0)
        for point in ("supply", "return"):
            key = (cooling.COOLANT_TEMPERATURE, (LOOP, "", point))
            story.set(*key, np.where(away, says, 32.0))

    for polls in (2, 3, 5):
        assert told(polled(healthy(), 20.0, restarts, polls / 3.0)) == []


def test_a_meter_that_says_0_a_little_longer_than_its_unit_has_not_measured_yet() -> None:
    def restarts(story: Story) -> None:
        zeros(story, 2, 10.0)
        later = (story.after > 0) & (story.after <= 60.0)
        story.set(*LEVEL, np.where(later, 0.0, story.values[LEVEL]))
        story.set(*PRESSURE, np.where(later, 0.0, story.values[PRESSURE]))

    for minutes in (0.5, 0.8, 1.0, 1.5):
        assert told(polled(healthy(), 10.0, restarts, minutes), OF) == []


def test_a_burst_whose_branches_stop_as_well_is_no_unit_that_starts_again() -> None:
    def burst(story: Story) -> None:
        for metric, labels in list(story.values):
            if metric in UNIT and metric is not cooling.COOLANT_TEMPERATURE and labels[0] == LOOP:
                left = 0.05 if labels[1] in RACKS else 0.0
                story.times(metric, labels, 1.0 - (1.0 - left) * story.grown(0))

    assert told(polled(healthy(), 60.0, burst, 3.0), OF)


@pytest.mark.parametrize("seconds", [10.0, 20.0, 60.0])
def test_a_few_litres_at_once_are_no_leak_that_goes_on(seconds: float) -> None:
    """Wherever in the window the step lies."""
    before: list[Finding] = []
    for minutes in (3.0, 5.0, 6.0):
        story = polled(healthy(), seconds, lambda story: lost(story, 3.0), minutes)
        before = told(story, OF, before=before)
        assert before == []


@pytest.mark.parametrize(("seconds", "high"), [(10.0, 20.0), (60.0, 120.0), (60.0, 600.0)])
def test_a_level_that_read_too_high_for_a_while_and_comes_back_is_no_burst(
    seconds: float, high: float
) -> None:
    def too_high(story: Story) -> None:
        away = (story.after > 0) & (story.after <= high)
        story.set(*LEVEL, np.where(away, 1.0, story.values[LEVEL]))

    for later in (1, 2, 4):
        story = polled(healthy(), seconds, too_high, (high + later * seconds) / 60.0)
        assert told(story, OF) == []


@pytest.mark.parametrize("left", [0.2, 0.7])
def test_a_reservoir_that_bursts_after_it_was_filled_is_told(left: float) -> None:
    """It falls below where it was, or its pressure falls with it."""

    def filled_and_burst(story: Story) -> None:
        story.set(*LEVEL, np.where(story.after > -400.0, 1.0, story.values[LEVEL]))
        story.set(*LEVEL, np.where(story.after > 0, left, story.values[LEVEL]))
        if left == 0.7:
            story.times(*PRESSURE, 1.0 - 0.9 * story.grown(0))

    assert told(polled(healthy(), 60.0, filled_and_burst, 3.0), OF)


@pytest.mark.parametrize("warm", [True, False], ids=["temperatures", "branches alone"])
def test_a_unit_that_answers_zeros_for_long_is_not_believed_and_told_as_such(warm: bool) -> None:
    """Its controller is half dead: nothing leaks, no pump stands, and nothing is known."""

    def half_dead(story: Story) -> None:
        zeros(story, 10_000, 60.0)
        if not warm:
            without_temperatures(story)

    before: list[Finding] = []
    for minutes in (5.0, 9.0, 11.0, 40.0, 300.0):
        before = told(polled(healthy(), 60.0, half_dead, minutes), before=before)
        assert [one.kind.name for one in before] == ["watch.data_implausible"] * (minutes > 10.0)
    (finding,) = before
    assert (str(finding.about), finding.rank) == (LOOP, Severity.WATCH)
    assert finding.since == pytest.approx(START + ONSET, abs=120.0)
    assert "readings of its unit are 0 together" in finding.because
    assert ("its water would be at 0 °C" if warm else "its branches flow on") in finding.because


@pytest.mark.parametrize("hours", [0.5, 4.0])
def test_a_unit_that_measures_again_is_held_against_what_it_was_before(hours: float) -> None:
    def mended(story: Story) -> None:
        zeros(story, round(hours * 60.0), 60.0)

    assert told(polled(healthy(), 60.0, mended, 60.0 * hours + 90.0)) == []


@pytest.mark.parametrize("warm", [True, False], ids=["temperatures", "branches alone"])
def test_a_loop_that_stands_is_no_unit_that_starts_again(warm: bool) -> None:
    """All that can be 0 is: its water stays warm, and nothing flows through its branches."""

    def burst(story: Story) -> None:
        for metric, labels in list(story.values):
            if metric in UNIT and metric is not cooling.COOLANT_TEMPERATURE and labels[0] == LOOP:
                story.times(metric, labels, 1.0 - story.grown(0))
        if not warm:
            without_temperatures(story)

    story = polled(healthy(), 60.0, burst, 3.0)
    kinds = {one.kind.name for one in told(story, [*OF, "cooling_pump_stopped"])}
    # zeros of one unit are one witness: without its temperatures it may be dead, and no hose is off
    assert kinds == {"cooling.pump_wear", *({"cooling.leak"} if warm else ())}


def test_what_follows_from_a_leak_is_no_ground_of_its_own() -> None:
    def leaks(story: Story) -> None:
        story.set(cooling.LEAK, (LOOP, "r1", "r1"), story.grown(0))
        lost(story, 4.0, 10.0)

    (leak,) = told(polled(healthy(), 60.0, leaks, 10.0), OF)
    assert leak.grounds == ("rope r1",)
    assert leak.witnesses == ("level cdu-1",)


def test_a_half_dead_unit_is_one_incident_of_its_loop_that_calls_nobody() -> None:
    """From the first zero on, judged every minute with everything behind the detectors."""

    def half_dead(story: Story) -> None:
        zeros(story, 10_000, 60.0)

    story, store = polled(healthy(), 60.0, half_dead, 30.0), LastHours(24 * HOUR)
    series = store.table.intern_all(story.values)
    columns = np.stack(list(story.values.values()))
    clock, ledger = store.table.clock("test", LOOP), Ledger()
    judge = Judge(store, topology(), DETECTORS, ledger)
    for number, at in enumerate(story.at.tolist()):
        store.append([Batch(clock, at, series, columns[:, number])])
        if at > START + ONSET:
            judge.judge(at + 1.0)
    (incident,) = ledger.incidents
    assert (str(incident.kind), str(incident.culprit)) == ("watch.data_implausible", LOOP)
    assert (incident.culprit.type, incident.severity) == ("loop", Severity.WATCH)
