"""Servers lifted out of an immersion tank take their heat along; a burst takes level alone."""

import numpy as np
import pytest

from fabrichealth.catalogue import cooling, power
from fabrichealth.kinds import Severity
from fabrichealth.model import Finding
from tests.analyzer.cooling.stories import (
    CHIPS,
    HOUR,
    LOOP,
    ONSET,
    RACKS,
    START,
    Story,
    between,
    told_at,
)
from tests.analyzer.cooling.test_loop_kinds import LEVEL, TANK, tank

BEGINS = START + ONSET + HOUR
"""Jobs of these stories change at the onset; this is in the middle of one."""


def service(litres: float, heat: float, each: float, seconds: float, minutes: float) -> Story:
    """Return a tank that loses so many litres in five steps, `each` seconds apart.

    `heat` is the share of the racks' power that is switched off five minutes before.
    """
    whole = tank()
    early = whole.at[whole.at < BEGINS - 900.0]
    at = np.concatenate([early, np.arange(early[-1] + seconds, BEGINS + 60.0 * minutes, seconds)])
    rows = np.searchsorted(whole.at, at, side="right") - 1
    story = Story(at=at, values={key: one[rows] for key, one in whole.values.items()})
    steps = np.clip(np.floor((at - BEGINS) / each) + 1.0, 0.0, 5.0)
    story.plus(*LEVEL, -litres * steps / 5.0 / 800.0)
    for rack in RACKS:
        story.times(power.RACK_POWER, (rack,), np.where(at > BEGINS - 300.0, 1.0 - heat, 1.0))
    return between(story, -9.0, 9.0)


def silent(story: Story, chips: int, from_: float = -300.0) -> Story:
    """Return the story in which so many accelerators, four of a rack, say nothing any more."""
    names = [f"{rack}-a{n}" for rack in RACKS for n in range(CHIPS)]
    for key in story.values:
        if key[1][0] in names[:chips]:
            story.values[key] = np.where(story.at > BEGINS + from_, np.nan, story.values[key])
    return story


def found(story: Story, *minutes: float) -> list[Finding]:
    moments = [BEGINS + 60.0 * one + 1.0 for one in minutes]
    passes = told_at(story, moments, ["cooling_leak"], of_loop=TANK)
    return [one for said in passes for one in said]


@pytest.mark.parametrize(
    ("litres", "heat", "each", "seconds"),
    [
        pytest.param(75.0, 0.125, 1.0, 60.0, id="five at once"),
        pytest.param(75.0, 0.125, 120.0, 10.0, id="one after the other"),
        pytest.param(75.0, 0.125, 900.0, 60.0, id="one each quarter of an hour"),
        pytest.param(220.0, 0.3, 1.0, 60.0, id="a dozen, more than a quarter of the level"),
        pytest.param(24.0, 0.0, 1.0, 60.0, id="two that were off"),
    ],
)
def test_servers_that_are_lifted_page_nobody(
    litres: float, heat: float, each: float, seconds: float
) -> None:
    story = service(litres, heat, each, seconds, 5 * each / 60.0 + 12.0)
    assert found(story, 3.0, 6.0, 10.0, 5 * each / 60.0 + 6.0, 5 * each / 60.0 + 11.0) == []


@pytest.mark.parametrize(
    ("each", "seconds"),
    [
        pytest.param(1.0, 60.0, id="five at once"),
        pytest.param(120.0, 10.0, id="one after the other"),
        pytest.param(900.0, 60.0, id="one each quarter of an hour"),
    ],
)
def test_servers_whose_work_others_took_over_are_known_by_their_silence(
    each: float, seconds: float
) -> None:
    """The heat of the tank is what it was; three of twenty accelerators are switched off."""
    story = silent(service(75.0, 0.0, each, seconds, 5 * each / 60.0 + 12.0), 3)
    assert found(story, 3.0, 6.0, 10.0, 5 * each / 60.0 + 6.0, 5 * each / 60.0 + 11.0) == []


@pytest.mark.parametrize(
    ("chips", "from_"),
    [
        pytest.param(1, -300.0, id="fewer are silent than the level says"),
        pytest.param(20, -300.0, id="nobody reads the machines"),
        pytest.param(4, 90.0, id="they fail when they lie dry"),
        pytest.param(4, -9.0 * 3600.0, id="they were off for hours"),
    ],
)
def test_a_burst_pages_whatever_else_is_silent(chips: int, from_: float) -> None:
    leaks = found(silent(service(75.0, 0.0, 1.0, 10.0, 12.0), chips, from_), 2.0)
    assert [(str(one.about), one.rank) for one in leaks] == [(LOOP, Severity.PAGE)]


@pytest.mark.parametrize("seconds", [10.0, 300.0])
def test_a_burst_that_takes_as_much_while_the_heat_stays_pages(seconds: float) -> None:
    leaks = found(service(75.0, 0.0, 1.0, seconds, 12.0), max(2.0, seconds / 30.0))
    assert [(str(one.about), one.rank) for one in leaks] == [(LOOP, Severity.PAGE)]
    assert "lost within" in leaks[0].because


def test_what_goes_little_by_little_is_a_leak_though_a_job_ends() -> None:
    """It was told long before it took as much as a server does."""
    story = tank(litres_an_hour=3.0)
    for rack in RACKS:
        ends = story.after > 4.0 * HOUR
        story.times(power.RACK_POWER, (rack,), np.where(ends, 0.3, 1.0))
    before: list[Finding] = []
    for hours in (3.0, 6.0):
        (before,) = told_at(
            story, [START + ONSET + hours * HOUR], ["cooling_leak"], before=before, of_loop=TANK
        )
        assert [one.kind.name for one in before] == ["cooling.leak"]


def test_a_tank_of_which_no_power_is_read_calls_nobody_for_a_step() -> None:
    story = service(75.0, 0.0, 1.0, 60.0, 12.0)
    story.values = {
        key: one
        for key, one in story.values.items()
        if key[0] not in {power.RACK_POWER, cooling.FLOW}
    }
    story.set(cooling.FLOW, ("other", "", "supply"), np.full(len(story.at), 10.0))
    assert found(story, 3.0) == []
