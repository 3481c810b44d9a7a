"""Interrupts on the wrong node: for how long, of which ports, and when it is nobody's fault."""

import numpy as np
import pytest

from fabrichealth.catalogue.devices import IRQ_FAR, IRQ_REMOTE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.model import Floats
from tests.analyzer.domain.pods import Said, said

LONG = 45
"""Polls a minute apart."""


def shares(**ports: float | Floats) -> Said:
    return {
        (IRQ_REMOTE, ("host-1", port)): np.broadcast_to(share, LONG).tolist()
        for port, share in ports.items()
    }


def test_ports_served_elsewhere_for_half_an_hour_are_told_by_host() -> None:
    (finding,) = said("host_irq_misplaced", shares(eth0=0.62, eth1=0.9, eth2=0.1), period=60.0)
    assert str(finding.about) == "host-1"
    assert "90% of the interrupts of eth1" in finding.because
    assert "2 of its 3 ports are misplaced" in finding.because
    assert [place.id for place in finding.victims] == ["host-1/eth1", "host-1/eth0"]


def far(share: float) -> Said:
    return {(IRQ_FAR, labels): values for (_, labels), values in shares(eth0=share).items()}


def test_nodes_of_one_socket_are_near_and_what_lies_behind_the_other_is_told() -> None:
    many = shares(eth0=0.9)
    assert said("host_irq_misplaced", many | far(0.1), period=60.0) == []
    (finding,) = said("host_irq_misplaced", many | far(0.8), period=60.0)
    assert "80% of the interrupts of eth0 are served behind another socket" in finding.because
    assert [line.metric for line in finding.evidence] == [IRQ_FAR]


@pytest.mark.parametrize(("speed", "found"), [(1e9, 0), (400e9, 1), (None, 1)])
def test_a_slow_port_needs_no_node_of_its_own(speed: float | None, found: int) -> None:
    course = shares(eth0=0.9)
    if speed is not None:
        course |= {(SPEED, ("host-1", "eth0")): [speed] * LONG}
    assert len(said("host_irq_misplaced", course, period=60.0)) == found


def step(at: int, back: int = LONG) -> Floats:
    polls = np.arange(LONG)
    return np.where((polls >= at) & (polls < back), 0.9, 0.0)


QUIET = {
    "a share that a balancer leaves": 0.4,
    "since a moment ago": step(30),
    "until a moment ago": step(0, LONG - 2),
    "again and again": np.where(np.arange(LONG) % 10 < 8, 0.9, 0.1),
}


@pytest.mark.parametrize("course", QUIET.values(), ids=QUIET)
def test_what_passes_is_no_misplacement(course: float | Floats) -> None:
    assert said("host_irq_misplaced", shares(eth0=course), period=60.0) == []


def test_a_host_that_fell_silent_is_not_accused() -> None:
    course = np.where(np.arange(LONG) < LONG - 10, 0.9, np.nan)
    others = shares(eth0=course) | {(IRQ_REMOTE, ("host-2", "eth0")): [0.0] * LONG}
    assert said("host_irq_misplaced", others, period=60.0) == []
