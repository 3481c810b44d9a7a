"""Links slower or narrower than they should be, and how that is known."""

import pytest

from analyzer.detectors.link_degraded_speed import LinkDegradedSpeed, LinkDegradedSpeedSettings
from fabrichealth.catalogue.ports import LANES, SPEED, UP
from fabrichealth.model import Finding, Port
from fabrichealth.topology import Topology
from tests.analyzer.views import START, History, small_pod, view_of

NEAR, FAR = Port("host-0", "eth0"), Port("leaf-0", "0")
POLLS = 40


def judge(
    history: History, topology: Topology | None = None, period: float = 10.0, **more: object
) -> list[Finding]:
    detector = LinkDegradedSpeed(LinkDegradedSpeedSettings())
    view = view_of(detector, history, period, topology or Topology(), **more)  # type: ignore[arg-type]
    return list(detector.judge(view))


def speeds(*gbps: float, device: str = "host-9") -> History:
    """Return ports of one device that have these speeds all the time."""
    return {(SPEED, (device, f"eth{n}")): [speed * 1e9] * POLLS for n, speed in enumerate(gbps)}


def test_what_is_written_counts_first() -> None:
    history = {(SPEED, tuple(NEAR)): [200e9] * POLLS}
    (finding,) = judge(history, small_pod())
    assert "200 Gb/s instead of 400 Gb/s as written" in finding.because
    assert finding.score == pytest.approx(2.0)


def test_both_ends_and_speed_and_lanes_are_one_finding() -> None:
    history = {
        (metric, tuple(end)): [value] * POLLS
        for metric, value in ((SPEED, 200e9), (LANES, 2.0))
        for end in (NEAR, FAR)
    }
    assert len(judge(history, small_pod())) == 1


def test_width_alone_tells_where_no_speed_is_read() -> None:
    (finding,) = judge({(LANES, tuple(NEAR)): [2.0] * POLLS}, small_pod())
    assert "2 lanes instead of 4 lanes as written" in finding.because


def test_what_it_had_before_counts_where_nothing_is_written() -> None:
    (finding,) = judge({(SPEED, ("x", "y")): [400e9] * 20 + [100e9] * 20})
    assert "100 Gb/s instead of 400 Gb/s as it had before" in finding.because
    assert finding.since == pytest.approx(START + 200, abs=2)


def test_what_its_peers_have_counts_where_it_has_no_past() -> None:
    (finding,) = judge(speeds(400, 400, 400, 400, 400, 100))
    assert finding.about == Port("host-9", "eth5")
    assert "as its peers have" in finding.because


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(speeds(400, 400, 100), id="too few peers"),
        pytest.param(speeds(400, 400, 400, 100, 100), id="peers too mixed"),
        pytest.param(speeds(400, 400, 400, 400, 800), id="faster than its peers"),
        pytest.param(
            {**speeds(400, 400, 400, 400), **speeds(100, device="host-8")}, id="another device"
        ),
        pytest.param({(SPEED, ("x", "y")): [400e9] * 38 + [100e9] * 2}, id="shorter than the hold"),
        pytest.param(
            {(SPEED, ("x", "y")): [100e9] * 20 + [800e9] + [100e9] * 19}, id="an odd single poll"
        ),
        pytest.param({(SPEED, ("x", "y")): [100e9] * 20 + [400e9] * 20}, id="faster than before"),
        pytest.param({(SPEED, ("x", "y")): [400e9] * 20 + [396e9] * 20}, id="rounding"),
        pytest.param({(SPEED, ("x", "y")): [400e9] * 20 + [100e9] * 10 + [400e9] * 10}, id="back"),
        pytest.param({(LANES, ("x", f"y{n}")): [4.0] * POLLS for n in range(5)}, id="all alike"),
    ],
)
def test_stays_quiet_where_it_says_so(history: History) -> None:
    assert judge(history) == []


def test_a_link_that_is_down_has_no_speed_to_be_judged() -> None:
    history = {
        (SPEED, tuple(NEAR)): [400e9] * 20 + [100e9] * 20,
        (UP, tuple(NEAR)): [1.0] * 20 + [0.0] * 20,
    }
    assert judge(history, small_pod()) == []


def test_a_port_that_is_heard_no_more_is_not_judged() -> None:
    history = {
        (SPEED, tuple(NEAR)): [200e9] * 20 + [float("nan")] * 20,
        (SPEED, tuple(FAR)): [400e9] * POLLS,
    }
    assert judge(history, small_pod()) == []
