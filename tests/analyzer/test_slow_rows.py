"""A target that is read seldom is judged though others are read often."""

import numpy as np
import pytest

from analyzer.detectors.link_subhealthy import LinkSubhealthy
from analyzer.viewing import Viewing
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS, SPEED, UP
from fabrichealth.kinds import LINK_SUBHEALTHY
from fabrichealth.model import Batch
from tests.analyzer.living import START, Life, Reading, clos
from tests.reference_store import ReferenceStore

LINE = 4e11


@pytest.mark.parametrize("ill", ["host-0", "leaf-0"])
def test_errors_before_fec_are_found_at_the_end_that_is_read_every_quarter_hour(ill: str) -> None:
    topology = clos(2, 1)
    ends = {"host-0": ("host-0", "eth0"), "leaf-0": ("leaf-0", "0")}

    def law(name: str, at: float) -> list[Reading]:
        labels = ends[name]
        errors = 3e-5 * LINE * max(at - 1800.0, 0.0) if name == ill else 0.0
        return [(UP, labels, 1.0), (SPEED, labels, LINE), (FEC_CORRECTED_BITS, labels, errors)]

    detector = LinkSubhealthy(LinkSubhealthy.settings_type())
    life = Life(
        ReferenceStore(), topology, law, {"host-0": 60.0, "leaf-0": 900.0}, every=300.0,
        detectors={"link_subhealthy": detector},
    ).until(7200.0)  # fmt: skip
    (incident,) = life.open
    assert incident.kind is LINK_SUBHEALTHY
    assert str(incident.culprit.id) == "host-0/eth0--leaf-0/0"


def windowed(until: float, silent: float = np.inf) -> Viewing:
    """Return what is seen of a port that is read every 10 s and of one every 15 min."""
    store = ReferenceStore()
    for device, period in (("fast", 10.0), ("slow", 900.0)):
        clock = store.table.clock("test", device)
        series = np.array([store.table.intern(UP, (device, "0"))], np.int32)
        for at in np.arange(0.0, min(until, silent) if device == "slow" else until, period):
            store.append([Batch(clock, START + at, series, np.array([1.0]))])
    viewing = Viewing(store, {})
    viewing.advance(START + until)
    return viewing


def test_the_rest_of_a_window_reaches_no_further_back_than_was_asked() -> None:
    window = windowed(7000.0).window(UP, 700.0)
    assert window.values.shape[1] <= 70
    fast, slow = (window.row(name, "0") for name in ("fast", "slow"))
    assert fast is not None
    assert slow is not None
    assert np.nanmin(window.times[fast]) > START + 6300.0
    assert np.isfinite(window.times[slow]).sum() >= 3
    assert window.last_at[slow] == START + 6300.0


def test_what_fell_silent_is_not_taken_for_slow() -> None:
    window = windowed(12000.0, silent=6000.0).window(UP, 700.0)
    assert window.row("slow", "0") is None
