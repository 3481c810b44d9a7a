"""What makes optics.overheating speak, of whom, and where it stays quiet."""

import numpy as np
import pytest

from analyzer.detectors.optics_overheating import OpticsOverheating, OpticsOverheatingSettings
from fabrichealth.catalogue.optics import TEMPERATURE, THRESHOLD
from fabrichealth.kinds import Cause
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Port
from tests.analyzer.views import small_pod, view_of

POLLS, ONSET = 60, 40
DETECTOR = OpticsOverheating(OpticsOverheatingSettings())
HOSTS = 8
History = dict[tuple[Metric, Labels], list[float]]


def then(value: float, later: float, onset: int = ONSET) -> list[float]:
    """Return one temperature, and another from a poll on, a reading a minute."""
    return [value if poll < onset else later for poll in range(POLLS)]


def leaf(other: dict[int, list[float]] | None = None, usual: float = 45.0) -> History:
    """Return the eight modules of a switch; `other` is what those in some ports say instead."""
    return {
        (TEMPERATURE, ("leaf-0", str(port))): (other or {}).get(port, then(usual, usual))
        for port in range(HOSTS)
    }


def limited(history: History, high: float) -> History:
    """Give every module this high warning."""
    for _, labels in list(history):
        history[THRESHOLD, (*labels, "temperature", "high", "warning")] = then(high, high)
    return history


def judge(history: History, before: tuple[Finding, ...] = ()) -> list[Finding]:
    view = view_of(DETECTOR, history, 60.0, small_pod(1, HOSTS), before=before)
    return list(DETECTOR.judge(view))


def test_beyond_its_own_limit_it_is_too_hot_and_its_own_end_is_ill() -> None:
    (found,) = judge(limited(leaf({3: then(45.0, 75.0)}), 70.0))
    assert (found.about, found.side, found.direction) == (Port("leaf-0", "3"),) * 2 + (None,)
    assert found.score == pytest.approx(2.5)  # 30 K above its siblings
    assert next(iter(found.causes)) == Cause.MODULE_OVERHEATING
    (line,) = found.evidence
    assert (line.value, line.unit) == (75.0, "celsius")


def test_without_a_limit_of_its_own_the_usual_one_counts() -> None:
    (found,) = judge(leaf({3: then(66.0, 73.0)}, 66.0))
    assert "above the usual limit of 70.0 degrees C" in found.because


def test_far_hotter_than_its_siblings_is_too_hot_below_any_limit() -> None:
    (found,) = judge(limited(leaf({3: then(45.0, 62.0)}), 70.0))
    assert "17 K above" in found.because


def test_who_sits_at_the_limit_is_told_once_and_not_at_each_crossing() -> None:
    (known,) = judge(leaf({3: then(66.0, 72.0)}, 66.0))
    within = leaf({3: then(66.0, 69.0)}, 66.0)
    assert judge(within) == []
    (still,) = judge(within, before=(known,))
    assert "69.0 degrees C is still near the usual limit of 70.0" in still.because
    assert (still.score, still.since) == (1.0, known.since)
    assert judge(leaf({3: then(66.0, 67.0)}, 66.0), before=(known,)) == []


def test_a_switch_without_air_is_one_finding_about_cooling() -> None:
    hot = {port: then(45.0, 72.0 + port) for port in range(5)}
    (found,) = judge(limited(leaf(hot), 70.0))
    assert found.about == Port("leaf-0", "4")
    assert next(iter(found.causes)) == Cause.COOLING
    assert len(found.victims) == 4
    assert "5 of 8 modules of leaf-0" in found.because


DAY = (45.0 + 9.0 * np.sin(2 * np.pi * np.arange(POLLS) / POLLS)).tolist()

QUIET = {
    "all follow the room": limited(leaf(dict.fromkeys(range(HOSTS), DAY)), 70.0),
    "a warm seat": limited(leaf({3: then(59.0, 59.0)}), 70.0),
    "warmth that is no danger": limited(leaf({3: then(30.0, 50.0)}, 30.0), 70.0),
    "hot for two minutes": limited(leaf({3: then(45.0, 80.0, POLLS - 3)}), 70.0),
    "a limit that nobody filled in": limited(leaf(), 0.0),
    "below zero": limited(leaf(usual=-5.0), 70.0),
}


@pytest.mark.parametrize("history", QUIET.values(), ids=QUIET)
def test_stays_quiet_where_it_says_so(history: History) -> None:
    assert judge(history) == []
