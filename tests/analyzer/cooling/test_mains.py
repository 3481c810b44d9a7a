"""A loop whose main has no meter of its own is judged by what its branches say together."""

import numpy as np
import pytest

from fabrichealth.catalogue import cooling
from tests.analyzer.cooling.stories import LOOP, RACKS, Story, healthy, kinds, told
from tests.analyzer.cooling.test_each_fault import FAULTS

SEEN = ("clogs, drop held", "valve moves", "facility warms", "exchanger fouls", "contact goes",
        "rope wet", "leaks slowly")  # fmt: skip


def without_main(story: Story) -> Story:
    """Take away the main's meters of flow and warmth; each branch reads its own supply."""
    supply = story.values[cooling.COOLANT_TEMPERATURE, (LOOP, "", "supply")]
    for metric in (cooling.FLOW, cooling.COOLANT_TEMPERATURE):
        for point in ("supply", "return"):
            story.values.pop((metric, (LOOP, "", point)), None)
    for rack in RACKS:
        story.set(cooling.COOLANT_TEMPERATURE, (LOOP, rack, "supply"), supply)
    return story


def test_such_a_loop_is_quiet_while_it_is_well() -> None:
    assert kinds(told(without_main(healthy()))) == set()


@pytest.mark.parametrize("fault", SEEN)
def test_a_fault_is_told_all_the_same(fault: str) -> None:
    change, right = FAULTS[fault]
    story = healthy()
    change(story)
    assert kinds(told(without_main(story))) == {right}


def test_a_branch_that_falls_silent_makes_no_smaller_whole() -> None:
    story = without_main(healthy())
    flow = story.values[cooling.FLOW, (LOOP, "r2", "")]
    story.set(cooling.FLOW, (LOOP, "r2", ""), np.where(story.after > 0, np.nan, flow))
    assert "leak cdu-1" not in kinds(told(story))
    assert "exchanger_fouled cdu-1" not in kinds(told(story))
