"""What a port says of its speed and lanes tells what it is held against where nobody wrote it."""

import pytest

from analyzer.detectors.link_subhealthy import LinkSubhealthy, LinkSubhealthySettings
from fabrichealth.catalogue.ports import LANES, PRE_FEC_BER, SPEED, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.views import view_of

PORT = ("host-0", "eth0")


def unwritten() -> Topology:
    """Return an InfiniBand cable of which nothing is written."""
    ends = [Device(name="host-0", role="host"), Device(name="leaf-0", role="switch")]
    return Topology(ends, [Link(a="host-0/eth0", b="leaf-0/0", technology="ib")])


def judged(ratio: float, speed: list[float], lanes: float) -> list[Finding]:
    detector = LinkSubhealthy(LinkSubhealthySettings())
    history: dict[tuple[Metric, Labels], list[float]] = {
        (UP, PORT): [1.0] * 40,
        (PRE_FEC_BER, PORT): [ratio] * 40,
    }
    if speed:
        history[SPEED, PORT] = speed
    if lanes:
        history[LANES, PORT] = [lanes] * 40
    return list(detector.judge(view_of(detector, history, 30.0, unwritten())))


@pytest.mark.parametrize(
    ("ratio", "speed", "lanes", "ill"),
    [
        pytest.param(2e-8, 4e11, 4.0, False, id="usual for NDR"),
        pytest.param(2e-7, 4e11, 4.0, True, id="not for NDR over copper"),
        pytest.param(2e-8, 4e11, 0.0, False, id="four lanes are taken for granted"),
        pytest.param(2e-8, 1.0625e11, 1.0, False, id="one lane of NDR, told as its line rate"),
        pytest.param(2e-8, 1e11, 4.0, True, id="too many for EDR"),
        pytest.param(2e-8, 0.0, 0.0, True, id="what nobody tells counts as the strictest"),
    ],
)
def test_errors_before_fec_at_the_told_speed(
    ratio: float, speed: float, lanes: float, ill: bool
) -> None:
    found = judged(ratio, [speed] * 40 if speed else [], lanes)
    assert bool(found) is ill
