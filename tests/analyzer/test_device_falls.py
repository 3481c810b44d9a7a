"""Devices whose links fall all together, again and again, too short for two polls to see."""

import numpy as np
import pytest

from analyzer.detectors.device_falls import DeviceFalls, DeviceFallsSettings
from analyzer.detectors.link_flapping import LinkFlapping, LinkFlappingSettings
from fabrichealth.catalogue.ports import LINK_DOWNS, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Place
from tests.analyzer.views import START, small_pod, view_of

POLLS, PERIOD = 400, 10.0
Counters = dict[tuple[Metric, Labels], list[float]]
HOURLY = (300.0, 1200.0, 2400.0, 3500.0)


def fallen(*falls: float, leaf: int = 0, hosts: tuple[int, ...] = (0, 1, 2, 3)) -> Counters:
    """Return what the ports of a leaf and of the hosts behind it count."""
    times = np.arange(POLLS) * PERIOD
    counted = [float(sum(fall <= time for fall in falls)) for time in times]
    history: Counters = {}
    for host in range(4):
        values = counted if host in hosts else [0.0] * POLLS
        history[LINK_DOWNS, (f"leaf-{leaf}", str(host))] = values
        history[LINK_DOWNS, (f"host-{host}", f"eth{leaf}")] = values
    return history


def judge(history: Counters, leaves: int = 2) -> list[Finding]:
    detector = DeviceFalls(DeviceFallsSettings())
    return list(detector.judge(view_of(detector, history, PERIOD, small_pod(leaves=leaves))))


@pytest.mark.parametrize(
    ("falls", "told"),
    [
        pytest.param((3900.0,), False, id="a restart"),
        pytest.param((3000.0, 3900.0), False, id="twice"),
        pytest.param((3600.0, 3800.0, 3900.0), True, id="three times in a quarter of an hour"),
        pytest.param(HOURLY, True, id="four times in a day"),
    ],
)
def test_how_often_a_switch_may_fall(falls: tuple[float, ...], told: bool) -> None:
    found = judge(fallen(*falls))
    assert [one.about for one in found] == [Place("device", "leaf-0")] * told
    for one in found:
        assert f"all 4 links of leaf-0 fell together {len(falls)} times" in one.because
        assert one.since == pytest.approx(START + falls[0], abs=2 * PERIOD)
        assert one.at == pytest.approx(START + falls[-1], abs=2 * PERIOD)


def test_its_links_do_not_flap_beside_it() -> None:
    detector = LinkFlapping(LinkFlappingSettings())
    view = view_of(detector, fallen(*HOURLY), PERIOD, small_pod())
    assert list(detector.judge(view)) == []


def test_half_of_its_links_are_not_the_switch() -> None:
    assert judge(fallen(*HOURLY, hosts=(0, 1))) == []


def test_the_switch_above_hosts_that_restart_together_did_not_fall() -> None:
    history: Counters = {}
    for leaf in range(3):
        history |= fallen(*HOURLY, leaf=leaf)
    assert judge(history, leaves=3) == []


def test_a_host_may_restart_as_often_as_its_owner_likes() -> None:
    history: Counters = {}
    for leaf in range(3):
        history |= fallen(*HOURLY, leaf=leaf, hosts=(2,))
    assert judge(history, leaves=3) == []


@pytest.mark.parametrize(
    ("silent", "told"),
    [
        pytest.param(range(0), True, id="it answers all the while"),
        pytest.param(range(118, 130), False, id="it was away"),
        pytest.param(range(390, POLLS), False, id="it is away"),
    ],
)
def test_a_host_that_answers_does_not_restart_and_is_cut_off(silent: range, told: bool) -> None:
    history: Counters = {}
    for leaf in range(3):
        history |= fallen(*HOURLY, leaf=leaf, hosts=(2,))
        port = ("host-2", f"eth{leaf}")
        history[UP, port] = [float("nan") if n in silent else 1.0 for n in range(POLLS)]
    found = judge(history, leaves=3)
    assert [one.about for one in found] == [Place("device", "host-2")] * told
    assert all(one.detail["answers"] for one in found)
