"""A unit that answers zeros, whose temperatures live on and whose branches have no meters."""

import numpy as np
import pytest

from fabrichealth.catalogue import accelerators, cooling
from fabrichealth.model import Finding
from tests.analyzer.cooling.stories import CHIPS, LOOP, RACKS, Story, healthy, told
from tests.analyzer.cooling.test_bursts import UNIT, polled


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
