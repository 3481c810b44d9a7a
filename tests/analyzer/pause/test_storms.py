"""Storms from counters as switches keep them, without a topology and with one."""

import pytest

from fabrichealth.catalogue.congestion import (
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
    QUEUE_OCCUPANCY,
)
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.pause.judging import Readings, rising, said


def test_frames_that_only_let_go_are_no_storm() -> None:
    port = ("leaf-0", "Ethernet4")
    readings = {
        (SPEED, port): [400e9] * 12,
        (PFC_RX_FRAMES, (*port, "3")): rising(1e6),
        (PFC_RX_PAUSE, (*port, "3")): rising(0.0),
        (QUEUE_OCCUPANCY, (*port, "3")): [0.0] * 12,
    }
    assert said("pfc_storm", readings) == []


def test_a_queue_paused_all_the_time_is_one_whoever_faces_it() -> None:
    port = ("leaf-0", "Ethernet20")
    readings = {
        (SPEED, port): [400e9] * 12,
        (PFC_RX_FRAMES, (*port, "3")): rising(23_000.0),
        (PFC_RX_PAUSE, (*port, "3")): rising(0.99),
        (QUEUE_OCCUPANCY, (*port, "3")): [4.2e6] * 12,
    }
    (finding,) = said("pfc_storm", readings)
    assert str(finding.about) == "leaf-0/Ethernet20"
    assert "what faces leaf-0/Ethernet20" in finding.because


def test_a_storm_with_breaks_in_it_counts_by_its_share() -> None:
    on, share = 0.0, []
    for poll in range(12):
        on += 0.7 if poll % 2 else 0.5
        share.append(on)
    (finding,) = said("pfc_storm", {(PFC_RX_PAUSE, ("leaf-0", "Ethernet0", "3")): share})
    assert finding.score >= 1.0


def test_a_burst_is_none() -> None:
    burst = [0.0] * 9 + [0.9, 1.0, 1.0]
    assert said("pfc_storm", {(PFC_RX_PAUSE, ("leaf-0", "Ethernet0", "3")): burst}) == []


def test_frames_alone_bound_a_share_and_prove_no_storm() -> None:
    frames = {
        (SPEED, ("nic-c", "eth0")): [400e9] * 12,
        (PFC_TX_FRAMES, ("nic-c", "eth0", "3")): rising(25_000.0),
        (PFC_RX_FRAMES, ("nic-c", "eth0", "3")): rising(25_000.0),
    }
    assert said("pfc_storm", frames) == []


def test_more_pause_than_time_is_no_reading() -> None:
    stands = [5000.0] * 10
    for odd in ([0.0, 5000.0], [5e6, 5e6], [5080.0, 5160.0]):
        key = (PFC_RX_PAUSE, ("leaf-0", "Ethernet0", "3"))
        assert said("pfc_storm", {key: [*stands, *odd]}, period=10.0) == []


def test_one_poll_is_no_storm_however_long_it_is() -> None:
    key = (PFC_RX_PAUSE, ("leaf-0", "Ethernet0", "3"))
    assert said("pfc_storm", {key: [0.0] * 11 + [10.0]}, period=10.0) == []


@pytest.mark.parametrize(("stops", "differ"), [(0.93, False), (0.4, True)])
def test_ends_that_count_differently_are_told_with_the_storm(stops: float, differ: bool) -> None:
    near, far = ("leaf-0", "h0"), ("host-0", "eth0")
    topology = Topology(
        [Device(name="leaf-0", role="switch"), Device(name="host-0", role="host")],
        [Link(a="host-0/eth0", b="leaf-0/h0", speed_gbps=400)],
    )
    readings: Readings = {
        (PFC_RX_PAUSE, (*near, "3")): rising(0.95),
        (PFC_TX_PAUSE, (*far, "3")): rising(stops),
    }
    (finding,) = said("pfc_storm", readings, topology=topology)
    assert str(finding.about) == "host-0/eth0"
    assert any("the two ends differ" in line.says for line in finding.evidence) is differ


def test_of_ports_whose_cables_nobody_knows_one_is_told_and_not_every_victim() -> None:
    readings: Readings = {
        (PFC_RX_PAUSE, (leaf, port, "3")): rising(share)
        for leaf, port, share in (
            ("leaf-0", "h0", 0.98), ("spine-0", "l0", 0.9), ("spine-1", "l0", 0.9),
            ("leaf-1", "s0", 0.8), ("leaf-1", "s1", 0.8),
        )
    }  # fmt: skip
    (finding,) = said("pfc_storm", readings)
    assert str(finding.about) == "leaf-0/h0"


def test_a_port_that_stops_others_because_it_is_stopped_is_no_origin() -> None:
    readings: Readings = {
        (PFC_TX_PAUSE, ("leaf-0", "s0", "3")): rising(0.9),
        (PFC_RX_PAUSE, ("leaf-0", "h0", "3")): rising(0.97),
    }
    (finding,) = said("pfc_storm", readings)
    assert str(finding.about) == "leaf-0/h0"


def test_a_counter_that_stands_still_is_not_believed_against_the_other_end() -> None:
    topology = Topology(
        [Device(name="leaf-0", role="switch"), Device(name="host-0", role="host")],
        [Link(a="host-0/eth0", b="leaf-0/h0", speed_gbps=400)],
    )
    readings: Readings = {
        (PFC_RX_PAUSE, ("leaf-0", "h0", "3")): rising(0.0),
        (PFC_TX_PAUSE, ("host-0", "eth0", "3")): rising(0.97),
    }
    (finding,) = said("pfc_storm", readings, topology=topology)
    assert str(finding.about) == "host-0/eth0"


@pytest.mark.parametrize("polls", [2, 3], ids="counters move at every {}th poll".format)
def test_a_switch_that_refreshes_its_counters_seldom_hides_no_storm(polls: int) -> None:
    steady = rising(0.97, 24)
    readings: Readings = {
        (PFC_RX_PAUSE, ("leaf-0", "h0", "3")): [steady[n - n % polls] for n in range(24)],
    }
    (finding,) = said("pfc_storm", readings)
    assert str(finding.about) == "leaf-0/h0"
    assert finding.score == pytest.approx(0.97 / 0.5, rel=0.05)
