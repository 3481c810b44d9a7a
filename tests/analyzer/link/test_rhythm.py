"""A link that comes and goes is one story, and a link that was mended is over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.detectors.link_subhealthy import LinkSubhealthy, LinkSubhealthySettings
from analyzer.evidence.link.rhythm import (
    LAST,
    LONGEST,
    SILENCE,
    STEADY,
    TIMES,
    Rhythm,
    kept,
    of_pauses,
)
from analyzer.viewing import Viewing
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS, UP
from fabrichealth.kinds import LINK_SUBHEALTHY, Severity
from fabrichealth.model import Finding, Floats, Port
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.views import START, store_of

HALF_HOUR = 1800.0
WARNING = 1e-5
PERIOD = 300.0
LINE = 425e9
FABRIC = Topology(
    [Device(name="host-0", role="host"), Device(name="leaf-0", role="switch")],
    [Link(a="host-0/eth0", b="leaf-0/0", technology="roce", medium="optical", fec="rs544",
          speed_gbps=400, lanes=4)],
)  # fmt: skip


def bins(pattern: str) -> tuple[Floats, Floats, float]:
    """Return middles, error ratios and now; `x` is a half hour beyond the limit, `.` a good one."""
    at = np.asarray(START + (np.arange(len(pattern)) + 0.5) * HALF_HOUR, np.float64)
    ratio = np.array([1e-5 if one == "x" else 1e-9 for one in pattern])
    return at, ratio, START + len(pattern) * HALF_HOUR


@pytest.mark.parametrize(
    ("pattern", "times", "pause"),
    [
        pytest.param("........x", 1, 0, id="it errs for the first time"),
        pytest.param("...xxxxxx", 1, 0, id="it errs on and on"),
        pytest.param("..x..x..x", 3, 1.5, id="every hour and a half"),
        pytest.param(".x.......", 2, 3.75, id="it was quiet for long, and errs now"),
        pytest.param(".........", 1, 0, id="nothing was seen by the half hour"),
    ],
)
def test_pauses_are_told_from_the_past(pattern: str, times: int, pause: float) -> None:
    found = of_pauses(*bins(pattern)[:2], WARNING, bins(pattern)[2])
    assert found.times == times
    assert found.silence == pytest.approx(min(3 * pause * 3600, LONGEST), rel=0.01)


def test_a_quiet_moment_parts_what_lies_in_neighbouring_half_hours() -> None:
    at, ratio, now = bins(".....xxx")
    assert of_pauses(at, ratio, WARNING, now) == STEADY
    again = of_pauses(at, ratio, WARNING, now, since=now - 600)
    assert again.times == 2
    assert again.silence == pytest.approx(3 * 2100.0)


def test_a_fault_that_has_just_begun_has_no_pauses() -> None:
    at, ratio, now = bins(".......x")
    assert of_pauses(at, ratio, WARNING, now, since=now - 1500) == STEADY


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=60), st.floats(0, 1))
def test_any_past_gives_a_silence_within_bounds(ratio: list[float], warning: float) -> None:
    at = np.asarray(START + np.arange(len(ratio)) * HALF_HOUR, np.float64)
    found = of_pauses(at, np.array(ratio), warning, START + len(ratio) * HALF_HOUR)
    assert 0 <= found.silence <= LONGEST
    assert (found.times > 1) == (found.silence > 0)


def judged(ill: Floats, hours: float) -> list[list[Finding]]:
    """Return what each pass says of a link whose polls are ill where `ill` is True."""
    rate = np.where(ill, 5e-5, 1e-9) * LINE * PERIOD
    store = store_of(
        {(FEC_CORRECTED_BITS, ("host-0", "eth0")): np.cumsum(rate).tolist(),
         (UP, ("host-0", "eth0")): [1.0] * len(ill)}, PERIOD,
    )  # fmt: skip
    detector = LinkSubhealthy(LinkSubhealthySettings())
    viewing = Viewing(store, {"link_subhealthy": detector})
    found: list[list[Finding]] = []
    for number in range(int(hours * 3600 / PERIOD), len(ill)):
        viewing.advance(START + number * PERIOD + 1.0)
        view = viewing.view(detector, FABRIC, [], found[-1] if found else [])
        found.append(list(detector.judge(view)))
    return found


def test_a_loose_plug_is_said_to_be_ill_through_its_pauses_and_not_for_ever() -> None:
    polls = 12 * 12
    ill = np.zeros(polls, bool)
    ill[[40, 52, 66, 77, 90]] = True  # about once an hour, for five minutes
    said = judged(ill, hours=3.0)
    first = int(3.0 * 12)
    assert all(said[52 - first : 90 - first + 12])
    assert said[-1] == []
    assert "comes and goes" in said[80 - first][0].because
    assert "comes_and_goes@host-0/eth0" in said[80 - first][0].signs


def test_one_poll_is_no_proof_and_one_more_two_hours_later_is() -> None:
    ill = np.zeros(8 * 12, bool)
    ill[[50, 74]] = True
    said = judged(ill, hours=4.0)
    assert said[50 - 48] == []
    (found,) = said[74 - 48]
    assert "2 times within a day" in found.because
    assert found.severity is Severity.TICKET


def test_a_fault_that_was_mended_is_over_at_once() -> None:
    ill = np.zeros(9 * 12, bool)
    ill[48:84] = True  # three hours, then clean
    said = judged(ill, hours=3.5)
    assert said[83 - 42]
    assert said[84 - 42 + 8] == []


def test_a_rhythm_holds_while_only_an_older_count_is_told() -> None:
    before = Finding(
        kind=LINK_SUBHEALTHY, about=Port("host-0", "eth0"), score=1.0, since=0.0, at=1000.0,
        evidence=[], because="", detail={LAST: 1000.0, SILENCE: 7200.0, TIMES: 3.0},
    )  # fmt: skip
    assert kept(before, STEADY, 900.0, 5000.0) == (Rhythm(3, 7200.0), 1000.0)
    assert kept(before, STEADY, 900.0, 9000.0) == (STEADY, 1000.0)
    assert kept(before, Rhythm(4, 9000.0), 4900.0, 5000.0) == (Rhythm(4, 9000.0), 4900.0)
    assert kept(None, STEADY, 900.0, 5000.0) == (STEADY, 900.0)


def test_what_went_by_itself_is_waited_for_within_the_hour() -> None:
    ill = np.zeros(8 * 12, bool)
    ill[[50, 51]] = True
    said = judged(ill, hours=4.0)
    assert all(said[51 - 48 : 51 - 48 + 12])
    assert said[51 - 48 + 14] == []
    steady = np.zeros(8 * 12, bool)
    steady[50:60] = True
    assert judged(steady, hours=4.0)[60 - 48 + 8] == []
