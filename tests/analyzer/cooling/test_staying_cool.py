"""Chips that work and stay cool: what a unit says meanwhile of its flows is no reading."""

import numpy as np
import pytest

from fabrichealth.catalogue import accelerators, cooling
from fabrichealth.model import Finding
from tests.analyzer.cooling.stories import (
    CHIPS,
    HOUR,
    LOOP,
    ONSET,
    RACKS,
    START,
    Story,
    healthy,
    told,
    told_at,
)
from tests.analyzer.cooling.test_bursts import UNIT, polled
from tests.analyzer.cooling.test_pumps import OF, metered, until


def zeros(story: Story) -> None:
    """All but the temperatures says 0, and no branch has a meter of flow."""
    for metric, labels in list(story.values):
        if metric is cooling.FLOW and labels[1] in RACKS:
            del story.values[metric, labels]
        elif metric in UNIT and metric is not cooling.COOLANT_TEMPERATURE and labels[0] == LOOP:
            story.times(metric, labels, np.where(story.after > 0, 0.0, 1.0))


def stands(story: Story) -> None:
    """Nothing flows indeed: chips run hot within a poll."""
    zeros(story)
    for rack in RACKS:
        for chip in range(CHIPS):
            warmer = np.minimum(story.after, 30.0)
            story.plus(accelerators.TEMPERATURE, (f"{rack}-a{chip}",), warmer)


@pytest.mark.parametrize("seconds", [20.0, 60.0])
def test_chips_that_work_and_stay_cool_tell_a_restart_from_a_burst(seconds: float) -> None:
    before: list[Finding] = []
    for polls in (2, 3, 5):
        before = told(polled(healthy(), seconds, zeros, polls * seconds / 60.0), before=before)
        assert before == []


@pytest.mark.parametrize("minutes", [12.0, 40.0])
def test_a_unit_that_stays_half_dead_is_told_as_such(minutes: float) -> None:
    """However often the analyzer starts again meanwhile: nothing is remembered here."""
    before = told(polled(healthy(), 60.0, zeros, 9.0))
    for known in (before, []):
        found = told(polled(healthy(), 60.0, zeros, minutes), before=known)
        assert {one.kind.name for one in found} <= {"watch.data_implausible"}


def test_a_loop_that_stands_is_told_by_chips_that_run_hot() -> None:
    kinds = {one.kind.name for one in told(polled(healthy(), 60.0, stands, 2.5))}
    assert {"cooling.leak", "cooling.pump_wear"} <= kinds


def test_chips_that_were_switched_off_say_nothing_of_the_flow() -> None:
    def off(story: Story) -> None:
        zeros(story)
        for rack in RACKS:
            for chip in range(CHIPS):
                left = np.where(story.after > 0, 0.05, 1.0)
                story.times(accelerators.POWER, (f"{rack}-a{chip}",), left)

    assert "cooling.leak" in {one.kind.name for one in told(polled(healthy(), 60.0, off, 2.5))}


@pytest.mark.parametrize("left", [0.0, 0.06], ids=["meters fail", "m3/h instead of L/min"])
@pytest.mark.parametrize(
    ("kind", "pages"), [("cold_plate", False), ("immersion", True)], ids=["plates", "tank"]
)
def test_meters_alone_stop_no_loop_whose_chips_work_and_stay_cool(
    left: float, kind: str, pages: bool
) -> None:
    """A firmware that counts in other units; in a tank chips would warm too slowly to tell."""
    story = healthy()
    metered(story, 1.0 - (1.0 - left) * story.grown(0))
    moments = [START + ONSET + hours * HOUR + 1.0 for hours in (0.25, 4.0)]
    found = told_at(until(story, 4.0), moments, OF, of_loop={"kind": kind})
    assert [bool(one) for one in found] == [pages, pages]


@pytest.mark.parametrize("left", [1 / 60, 0.06, 0.264], ids=["L/s", "m3/h", "US gpm"])
def test_a_flow_in_other_units_is_told_as_its_meter_and_clogs_no_filter(left: float) -> None:
    """By the heat that is still taken away; what really flows less warms more."""
    story = healthy()
    metered(story, 1.0 - (1.0 - left) * story.grown(0))
    assert {one.kind.name for one in told(until(story, 4.0))} == {"cooling.sensor_drift"}
