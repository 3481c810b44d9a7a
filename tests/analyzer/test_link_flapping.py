"""Links that fall again and again, and falls that are not theirs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.detectors.link_flapping import LinkFlapping, LinkFlappingSettings
from fabrichealth.catalogue.ports import ADMIN_UP, LINK_DOWNS, UP
from fabrichealth.model import Finding, Labels, Port
from tests.analyzer.views import START, History, small_pod, view_of

NEAR: Labels = ("host-0", "eth0")
FAR: Labels = ("leaf-0", "0")
POLLS = 400


def counter(
    *falls: float, at: float = 3.0, period: float = 10.0, polls: int = POLLS
) -> list[float]:
    """Return a counter that rose at these seconds after the start."""
    times = np.arange(polls) * period
    return [at + sum(fall <= time for fall in falls) for time in times]


def judge(history: History, period: float = 10.0, **more: object) -> list[Finding]:
    detector = LinkFlapping(LinkFlappingSettings())
    view = view_of(detector, history, period, small_pod(), **more)  # type: ignore[arg-type]
    return list(detector.judge(view))


@pytest.mark.parametrize(
    ("falls", "flaps"),
    [
        pytest.param([3900.0], False, id="once"),
        pytest.param([3700.0, 3900.0], False, id="twice in a quarter of an hour"),
        pytest.param([3600.0, 3800.0, 3900.0], True, id="three times in a quarter of an hour"),
        pytest.param([600.0, 1700.0, 2800.0], False, id="three times in an hour, well since"),
        pytest.param([300.0, 1200.0, 2400.0, 3500.0], True, id="four times in a day"),
    ],
)
def test_how_often_is_flapping(falls: list[float], flaps: bool) -> None:
    found = judge({(LINK_DOWNS, NEAR): counter(*falls)})
    assert bool(found) is flaps
    for finding in found:
        assert finding.since == pytest.approx(START + falls[0], abs=10)
        assert finding.at == pytest.approx(START + falls[-1], abs=10)


def test_it_is_told_which_score_is_beyond_its_limit() -> None:
    (soon,) = judge({(LINK_DOWNS, NEAR): counter(3600.0, 3800.0, 3900.0)})
    assert "against 2000" in soon.because
    (seldom,) = judge({(LINK_DOWNS, NEAR): counter(300.0, 1200.0, 2400.0, 3500.0)})
    assert "slow flap score" in seldom.because
    assert "against 3000" in seldom.because


def test_both_ends_and_both_witnesses_count_a_fall_once() -> None:
    falls = [3700.0, 3900.0]
    states = [
        0.0 if 0 <= n * 10 - 3700 < 20 or 0 <= n * 10 - 3900 < 20 else 1.0 for n in range(POLLS)
    ]
    history: History = {
        (LINK_DOWNS, NEAR): counter(*falls), (LINK_DOWNS, FAR): counter(*falls),
        (UP, NEAR): states, (UP, FAR): states,
    }  # fmt: skip
    assert judge(history) == []


def test_states_see_what_a_counter_that_was_reset_lost() -> None:
    states = [0.0 if n in {380, 385, 390} else 1.0 for n in range(POLLS)]
    (finding,) = judge({(UP, NEAR): states, (LINK_DOWNS, NEAR): [3.0] * 200 + [0.0] * 200})
    assert finding.about == Port(*NEAR)


def test_a_restart_of_a_whole_device_is_no_flap_of_its_links() -> None:
    falls = [3600.0, 3750.0, 3900.0]
    history: History = {(LINK_DOWNS, (f"host-{n}", "eth0")): counter(*falls) for n in range(4)}
    assert judge(history) == []
    assert len(judge({key: history[key] for key in list(history)[:2]})) == 2


@pytest.mark.parametrize("end", [NEAR, FAR])
def test_what_was_disabled_did_not_fall(end: tuple[str, str]) -> None:
    falls = [3600.0, 3750.0, 3900.0]
    off = [1.0] * 355 + [0.0] * 45
    assert judge({(LINK_DOWNS, NEAR): counter(*falls), (ADMIN_UP, end): off}) == []
    on = [0.0] * 300 + [1.0] * 100
    assert len(judge({(LINK_DOWNS, NEAR): counter(*falls), (ADMIN_UP, end): on})) == 1


def test_each_disabling_by_hand_is_no_fall() -> None:
    """Somebody disables and enables a port three times."""
    states = [0.0 if n in {360, 361, 375, 376, 390, 391} else 1.0 for n in range(POLLS)]
    assert judge({(UP, NEAR): states, (ADMIN_UP, NEAR): states}) == []


def test_a_counter_that_jumps_more_than_a_link_can_fall_was_replaced() -> None:
    assert judge({(LINK_DOWNS, NEAR): [3.0] * 200 + [9000.0] * 200}) == []


def test_a_flapping_link_is_quiet_again_only_below_the_reuse_limit() -> None:
    history: History = {(LINK_DOWNS, NEAR): counter(2600.0, 2700.0, 2800.0)}
    (known,) = judge({key: values[:290] for key, values in history.items()})
    assert judge(history) == []  # a score of 1200 is no news
    (still,) = judge(history, before=[known])  # but it keeps what is
    assert (still.since, still.at) == (known.since, known.at)


def test_within_how_long_it_fell_and_how_long_ago_are_told_apart() -> None:
    (found,) = judge({(LINK_DOWNS, NEAR): [3.0] * 100 + [8.0] * 300})
    assert "fell 5 times in 10 s, the last time 50 min ago" in found.because


def test_what_one_counter_saw_in_two_polls_running_were_two_falls() -> None:
    near, far = counter(3700.0, 3711.0, 3800.0), counter(3701.0, 3712.0, 3802.0)
    (found,) = judge({(LINK_DOWNS, NEAR): near, (LINK_DOWNS, FAR): far})
    assert "fell 3 times" in found.because


@settings(max_examples=12, deadline=None)
@given(
    period=st.sampled_from([1.0, 10.0, 30.0, 60.0]),
    falls=st.lists(st.floats(60.0, 1700.0), min_size=1, max_size=8, unique=True),
)
def test_the_period_does_not_decide(period: float, falls: list[float]) -> None:
    """What a fine counter calls flapping a coarse one does, but near the limit."""
    falls = sorted(falls)
    polls = int(1800 / period)
    fine = sum(1000 * 2 ** (-(1800 - fall) / 900) for fall in falls)
    (score,) = [
        one.score * 2000
        for one in judge({(LINK_DOWNS, NEAR): counter(*falls, period=period, polls=polls)}, period)
    ] or [0.0]
    if fine > 2300 or len(falls) >= 5:
        assert score > 0
    if fine < 1800 and len(falls) <= 3:
        assert score == 0
