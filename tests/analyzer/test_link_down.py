"""Links that are down, and what only looks so."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.detectors.link_down import LinkDown, LinkDownSettings
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Port
from tests.analyzer.views import START, History, small_pod, view_of

NEAR, FAR = Port("host-0", "eth0"), Port("leaf-0", "0")


def pod(**fallen: list[float]) -> dict[tuple[Metric, Labels], Sequence[float]]:
    """Return a healthy pod of 30 polls; `device_port=values` replaces a port's states."""
    history: dict[tuple[Metric, Labels], Sequence[float]] = {
        (UP, (end.device, end.port)): [1.0] * 30
        for link in small_pod().links.values()
        for end in link.ends
    }
    for name, values in fallen.items():
        device, _, port = name.replace("__", "-").rpartition("_")
        history[UP, (device, port)] = values
    return history


def judge(history: History, period: float = 10.0, **more: object) -> list[Finding]:
    detector = LinkDown(LinkDownSettings())
    view = view_of(detector, history, period, small_pod(), **more)  # type: ignore[arg-type]
    return list(detector.judge(view))


def down(polls: int) -> list[float]:
    return [1.0] * (30 - polls) + [0.0] * polls


def test_two_polls_down_at_both_ends_are_one_finding() -> None:
    (finding,) = judge(pod(host__0_eth0=down(3), leaf__0_0=down(3)))
    assert finding.about in {NEAR, FAR}
    assert len(finding.evidence) == 2
    assert START + 260 < finding.since < START + 280


def test_one_poll_down_is_no_news_yet() -> None:
    assert judge(pod(host__0_eth0=down(1), leaf__0_0=down(1))) == []


def test_a_port_that_was_never_up_is_not_missed() -> None:
    assert judge(pod(host__0_eth0=[0.0] * 30, leaf__0_0=[0.0] * 30)) == []


def test_what_somebody_disabled_at_the_far_end_is_no_fault() -> None:
    history = dict(pod(host__0_eth0=down(5), leaf__0_0=down(5)))
    history[ADMIN_UP, tuple(FAR)] = [1.0] * 25 + [0.0] * 5
    assert judge(history) == []


def test_a_port_that_was_just_enabled_has_two_polls_to_come_up() -> None:
    history = dict(pod(host__0_eth0=down(20), leaf__0_0=down(20)))
    history[ADMIN_UP, tuple(FAR)] = [1.0] * 9 + [0.0] * 19 + [1.0] * 2
    assert judge(history) == []


def test_a_link_is_down_since_its_ports_are_enabled() -> None:
    history = dict(pod(host__0_eth0=down(20), leaf__0_0=down(20)))
    history[ADMIN_UP, tuple(FAR)] = [1.0] * 9 + [0.0] * 15 + [1.0] * 6
    (finding,) = judge(history)
    assert START + 235 < finding.since < START + 250


def test_one_end_down_and_the_other_up_says_so() -> None:
    (finding,) = judge(pod(leaf__0_0=down(5)))
    assert "the far end says up" in finding.because


def test_while_a_whole_device_seems_to_fall_its_links_wait() -> None:
    nan = float("nan")
    gone = {f"leaf__0_{number}": [1.0] * 28 + [nan] * 2 for number in range(4)}
    fallen = {f"host__{host}_eth0": down(2) for host in range(4)}
    assert judge(pod(**fallen, **gone)) == []


def test_silence_after_a_fall_is_not_recovery() -> None:
    nan = float("nan")
    gone = [1.0] * 20 + [0.0] * 5 + [nan] * 5
    (known,) = judge({key: v[:25] for key, v in pod(host__0_eth0=gone, leaf__0_0=gone).items()})
    again = judge(pod(host__0_eth0=gone, leaf__0_0=gone), before=[known])
    assert [finding.about for finding in again] == [known.about]


def test_a_link_that_came_back_is_no_longer_down() -> None:
    back = [1.0] * 10 + [0.0] * 10 + [1.0] * 10
    assert judge(pod(host__0_eth0=back, leaf__0_0=back)) == []


@settings(max_examples=8, deadline=None)
@given(period=st.floats(1.0, 60.0))
def test_the_period_does_not_move_the_verdict(period: float) -> None:
    (finding,) = judge(pod(host__0_eth0=down(8), leaf__0_0=down(8)), period)
    assert abs(finding.since - (START + 22 * period)) <= period
