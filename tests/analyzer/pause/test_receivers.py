"""Slow receivers, incast, marks beside pauses and parallel links, on readings written by hand."""

import numpy as np
import pytest

from fabrichealth.catalogue.congestion import (
    BUFFER_ALPHA,
    BUFFER_POOL,
    CNP_RX_PACKETS,
    CNP_TX_PACKETS,
    ECN_MARKED_PACKETS,
    ECN_RX_PACKETS,
    ECN_THRESHOLD,
    PFC_RX_DROPPED_PACKETS,
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
    QUEUE_OCCUPANCY,
)
from fabrichealth.catalogue.ports import SPEED, TX_BYTES
from fabrichealth.metric import Metric
from fabrichealth.model import Labels
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.pause.judging import Readings, rising, said

LONG = 16
"""Polls of 10 s: longer than any burst."""


def of_nic(name: str, received: float, sent: float) -> Readings:
    """Return what a NIC counts whose driver knows frames only; rates are per second."""
    return {
        (SPEED, (name, "eth0")): [400e9] * LONG,
        (PFC_RX_FRAMES, (name, "eth0", "3")): [1.32e8 + received * 10 * n for n in range(LONG)],
        (PFC_TX_FRAMES, (name, "eth0", "3")): [5e3 + sent * 10 * n for n in range(LONG)],
    }


def test_lifetime_totals_say_nothing_of_now() -> None:
    assert said("pfc_slow_receiver", of_nic("nic-a", 0.0, 0.0), period=10.0) == []


def test_a_nic_that_is_stopped_is_a_victim() -> None:
    assert said("pfc_slow_receiver", of_nic("nic-b", 40_000.0, 0.0), period=10.0) == []


def test_a_nic_that_stops_its_switch_receives_slowly_as_far_as_frames_can_tell() -> None:
    (finding,) = said("pfc_slow_receiver", of_nic("nic-c", 0.0, 25_000.0), period=10.0)
    assert str(finding.about) == "nic-c/eth0"
    assert "at most" in finding.because


def leaf(uplinks: int = 4, hosts: int = 4) -> Topology:
    """Return one leaf with hosts below and spines above."""
    devices = [Device(name="leaf", role="switch")]
    links = []
    for n in range(hosts):
        devices.append(Device(name=f"host-{n}", role="host"))
        links.append(Link(a=f"host-{n}/eth0", b=f"leaf/h{n}", technology="roce", speed_gbps=400))
    for n in range(uplinks):
        devices.append(Device(name=f"spine-{n}", role="switch"))
        links.append(Link(a=f"leaf/up{n}", b=f"spine-{n}/0", technology="roce", speed_gbps=400))
    return Topology(devices, links)


def full(marks: float, polls: int = LONG) -> Readings:
    """Return a leaf whose port to host-0 is full, so that it stops the other three hosts."""
    readings: dict[tuple[Metric, Labels], list[float]] = {
        (TX_BYTES, ("leaf", "h0")): rising(400e9 / 8 * 0.98, polls, 10.0),
        (QUEUE_OCCUPANCY, ("leaf", "h0", "3")): [4e6] * polls,
        (ECN_MARKED_PACKETS, ("leaf", "h0", "3")): rising(marks, polls, 10.0),
    }
    for n in range(1, 4):
        readings[PFC_TX_PAUSE, ("leaf", f"h{n}", "3")] = rising(0.2, polls, 10.0)
        readings[PFC_RX_PAUSE, (f"host-{n}", "eth0", "3")] = rising(0.2, polls, 10.0)
    return readings


def test_many_senders_to_one_port_are_an_incast_with_the_senders_as_victims() -> None:
    (finding,) = said("pfc_incast", full(marks=1e5), period=10.0, topology=leaf())
    assert str(finding.about) == "leaf/h0"
    assert {place.id for place in finding.victims} == {f"host-{n}/eth0" for n in range(1, 4)}


def test_an_incast_of_half_a_minute_is_a_burst() -> None:
    assert said("pfc_incast", full(1e5, polls=4), period=10.0, topology=leaf()) == []


def test_a_full_queue_that_marks_nothing_while_it_pauses_has_ecn_off() -> None:
    (finding,) = said("pfc_ecn_misconfigured", full(0.0), period=10.0, topology=leaf())
    assert str(finding.about) == "leaf/h0"
    assert "marked 0 packets" in finding.because


def test_a_full_queue_that_marks_is_as_it_should_be() -> None:
    assert said("pfc_ecn_misconfigured", full(1e6), period=10.0, topology=leaf()) == []


def test_a_nic_that_notifies_nobody_of_marks_is_told() -> None:
    nic = ("host-0", "mlx5_0")
    readings = {
        (ECN_RX_PACKETS, nic): rising(500.0, LONG, 10.0),
        (CNP_TX_PACKETS, nic): [7.0] * LONG,
        (ECN_MARKED_PACKETS, ("leaf", "h0", "3")): [0.0] * LONG,
    }
    (finding,) = said("pfc_ecn_misconfigured", readings, period=10.0)
    assert "no notification" in finding.because


@pytest.mark.parametrize(("load", "told"), [(0.99, 1), (0.6, 0)], ids=["goes on", "slows down"])
def test_a_sender_that_goes_on_whatever_it_is_told_is_told_of(load: float, told: int) -> None:
    nic = ("host-0", "mlx5_0")
    readings = {
        (CNP_RX_PACKETS, nic): rising(8000.0, LONG, 10.0),
        (TX_BYTES, nic): rising(load * 400e9 / 8, LONG, 10.0),
        (SPEED, nic): [400e9] * LONG,
        (PFC_RX_PAUSE, (*nic, "3")): rising(0.1, LONG, 10.0),
    }
    found = said("pfc_ecn_misconfigured", readings, period=10.0)
    assert len(found) == told
    assert all("enable the reaction point" in one.because for one in found)


def uplinks(gbps: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Readings:
    """Return what uplinks count that carry `gbps[poll, link]` between polls of 30 s."""
    sent = np.concatenate([np.zeros((1, gbps.shape[1])), np.cumsum(gbps * 30e9 / 8, axis=0)])
    readings: dict[tuple[Metric, Labels], list[float]] = {}
    for n in range(gbps.shape[1]):
        readings[TX_BYTES, ("leaf", f"up{n}")] = sent[:, n].tolist()
        readings[SPEED, ("leaf", f"up{n}")] = [400e9] * len(sent)
    return readings


@pytest.mark.parametrize(
    ("gbps", "found"),
    [
        ([380.0, 124.0, 117.0, 120.0], 1),
        ([0.02, 0.0, 0.01, 0.0], 0),
        ([200.0, 198.0, 203.0, 201.0], 0),
    ],
    ids=["one carries half of it", "idle, whatever the ratios", "even"],
)
def test_parallel_links_are_compared_above_a_floor(gbps: list[float], found: int) -> None:
    chance = np.random.default_rng(1)
    load = np.array(gbps) * chance.uniform(0.98, 1.02, (12, 4))
    findings = said("fabric_hot_link", uplinks(load), period=30.0, topology=leaf())
    assert len(findings) == found
    for finding in findings:
        assert str(finding.about) == "leaf/up0"
        assert "2.0" in finding.because


def test_a_leaf_without_hosts_in_the_topology_has_uplinks_all_the_same() -> None:
    load = np.full((12, 4), 120.0)
    load[:, 0] = 380.0
    (finding,) = said("fabric_hot_link", uplinks(load), period=30.0, topology=leaf(hosts=0))
    assert str(finding.about) == "leaf/up0"


def test_one_burst_over_one_link_is_nothing() -> None:
    load = np.full((12, 4), 100.0)
    load[5, 0] = 390.0
    assert said("fabric_hot_link", uplinks(load), period=30.0, topology=leaf()) == []


def polarized(load: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> int:
    many = leaf(uplinks=load.shape[1])
    return len(said("fabric_ecmp_polarized", uplinks(load), period=30.0, topology=many))


def test_uplinks_that_stay_empty_beside_even_ones_are_polarized() -> None:
    chance = np.random.default_rng(1)
    load = 100.0 * chance.uniform(0.97, 1.03, (40, 8))
    load[:, ::2] = 0.001
    assert polarized(load) == 1


def test_few_large_flows_leave_links_empty_and_the_others_uneven() -> None:
    load = np.tile([200.0, 0.0, 100.0, 0.0, 300.0, 100.0, 0.0, 0.0], (40, 1))
    assert polarized(load) == 0


def test_a_hash_that_spreads_is_none() -> None:
    assert polarized(np.full((40, 8), 80.0)) == 0


def test_a_pool_of_nothing_proves_nothing() -> None:
    labels = ("leaf", "h0", "3")
    readings: Readings = {
        (BUFFER_POOL, ("leaf",)): [0.0] * LONG,
        (BUFFER_ALPHA, labels): [0.0625] * LONG,
        (ECN_THRESHOLD, (*labels, "max")): [4e5] * LONG,
        (ECN_THRESHOLD, (*labels, "min")): [1e5] * LONG,
        (ECN_MARKED_PACKETS, labels): [0.0] * LONG,
    }
    assert said("pfc_ecn_misconfigured", readings, period=10.0) == []


def test_drops_of_two_priorities_in_one_poll_are_one_poll() -> None:
    dropped = [0.0] * (LONG - 3) + [500.0] * 3
    readings: Readings = {
        (PFC_RX_DROPPED_PACKETS, ("leaf", "h0", priority)): dropped for priority in ("3", "4")
    }
    assert said("pfc_headroom_short", readings, period=10.0) == []


@pytest.mark.parametrize("period", [20.0, 30.0, 60.0])
def test_a_burst_of_seconds_is_none_of_a_slow_receiver_however_seldom_it_is_polled(
    period: float,
) -> None:
    topology = Topology(
        [Device(name="leaf", role="switch"), Device(name="host-0", role="host")],
        [Link(a="host-0/eth0", b="leaf/h0", speed_gbps=400)],
    )
    burst = [0.0] * (LONG - 2) + [1.5, 1.5]
    readings: Readings = {(PFC_RX_PAUSE, ("leaf", "h0", "3")): burst}
    assert said("pfc_slow_receiver", readings, period=period, topology=topology) == []
