"""The emulated fabric as a fluid: nothing is lost on the way, ends agree, faults look it."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.congestion.buffers import Buffers, settled_share, stops
from emulator.congestion.faults import (
    BrokenNic,
    ChoppyStorm,
    DeafNic,
    HalfRate,
    Incast,
    Polarized,
    Reroute,
    ShortHeadroom,
    SlowReceiver,
    Thresholds,
)
from emulator.congestion.filling import fill
from emulator.ethernet import FRAME_BYTES, LOSSLESS, EthernetState
from emulator.fabric import Fabric
from emulator.faults import Fault, Unplugged
from emulator.plan import Plan

PLAN = Plan(
    racks=1,
    hosts_per_rack=9,
    accelerators=0,
    rails=0,
    access=("sonic", "nvue", "sonic"),
    spines=2,
    flows=True,
)
NIC = "host-001/eth0"
LEAF = "tor-01"
DOWN = "tor-01/Ethernet0"
"""Faces the NIC."""
LINE = 400e9 / 8
STEPS, STEP = 24, 5.0

FAULTS = [
    BrokenNic(0, 1, NIC),
    ChoppyStorm(0, 1, NIC, duty=0.6),
    SlowReceiver(0, 1, NIC, duty=0.3),
    Incast(0, 1, NIC),
    Incast(0, 1, NIC, busy=0.2, lasting=False),
    Polarized(0, 1, LEAF),
    Thresholds(0, 1, LEAF),
    Thresholds(0, 1, LEAF, marks=True, times=120.0),
    ShortHeadroom(0, 1, LEAF),
    HalfRate(0, 1, DOWN, share=0.1),
    DeafNic(0, 1, NIC),
    Reroute(0, 1, (("tor-01", "spine-01", "tor-02", "spine-02", "tor-03"),
                   ("tor-02", "spine-02", "tor-01", "spine-01", "tor-03"))),
    Unplugged(0, 1, f"{NIC}--{DOWN}"),
]  # fmt: skip
"""Faults that may come together, at a NIC, its leaf and the cable between."""


def lived(*faults: Fault, steps: int = STEPS, seed: int = 1) -> Fabric:
    """Return a fabric after two minutes with some faults."""
    fabric = Fabric(PLAN, seed, 0.0)
    for fault in faults:
        fault.begin(fabric)
    for number in range(1, steps + 1):
        fabric.advance(number * STEP)
    return fabric


def ends(fabric: Fabric) -> list[tuple[str, str]]:
    """Return each port with its peer."""
    cables = fabric.plan.ethernet_cables
    return [(one.a, one.b) for one in cables] + [(one.b, one.a) for one in cables]


def stopped(fabric: Fabric, port: str, over: float = STEPS * STEP) -> float:
    """Return for which share of the time a port was stopped by its peer."""
    return fabric.ethernet(port).rx_pause_seconds[LOSSLESS] / over


def after(fabric: Fabric, steps: int = STEPS) -> None:
    """Let more time pass."""
    began = fabric.now
    for number in range(1, steps + 1):
        fabric.advance(began + number * STEP)


@settings(max_examples=20, deadline=None)
@given(
    faults=st.lists(st.sampled_from(FAULTS), unique_by=id, max_size=4),
    seed=st.integers(0, 99),
)
def test_whatever_is_wrong_bytes_are_conserved_time_is_not_exceeded_and_both_ends_agree(
    faults: Sequence[Fault], seed: int
) -> None:
    fabric = lived(*faults, steps=6, seed=seed)
    time = 6 * STEP
    for near, far in ends(fabric):
        one, other = fabric.ethernet(near), fabric.ethernet(far)
        assert fabric.ports[near].tx_octets == pytest.approx(fabric.ports[far].rx_octets)
        assert one.rx_pause_seconds == other.tx_pause_seconds
        assert one.rx_pause_frames == other.tx_pause_frames
        assert 0 <= one.rx_pause_seconds[LOSSLESS] <= time * (1 + 1e-9)
        going = time - one.rx_pause_seconds[LOSSLESS]
        assert fabric.ports[near].tx_octets <= LINE * going * (1 + 1e-6) + 1.0
        assert one.held is None or one.held >= 0
    for switch in fabric.plan.makes:
        ports = list(fabric.ports_of(switch))
        lost = sum(_state(fabric, port.name).ingress_drops for port in ports) * FRAME_BYTES
        received = sum(port.rx_octets for port in ports)
        assert received == pytest.approx(sum(port.tx_octets for port in ports) + lost, rel=1e-6)


def _state(fabric: Fabric, port: str) -> EthernetState:
    return fabric.ethernet(port)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), queues=st.integers(1, 8), flows=st.integers(1, 8))
def test_rates_fill_what_there_is_and_no_more(data: st.DataObject, queues: int, flows: int) -> None:
    ways = data.draw(
        st.lists(
            st.lists(st.integers(0, queues - 1), unique=True, min_size=1, max_size=4),
            min_size=flows,
            max_size=flows,
        )
    )
    path = np.full((flows, 4), -1, np.intp)
    for row, way in enumerate(ways):
        path[row, : len(way)] = way
    gigabits = st.integers(0, 100)
    demand = 1e9 * np.array([data.draw(gigabits) for _ in range(flows)], float)
    capacity = 1e9 * np.array([data.draw(gigabits) for _ in range(queues)], float)
    held = np.array([data.draw(st.booleans()) for _ in range(queues)])
    filled = fill(path, demand, capacity, held)
    load = np.array([sum(filled.rate[f] for f, way in enumerate(ways) if q in way)
                     for q in range(queues)])  # fmt: skip
    assert (load <= capacity + 100.0).all()
    assert (filled.rate <= demand + 100.0).all()
    assert not (filled.narrow & held).any()
    for flow, way in enumerate(ways):
        if filled.rate[flow] < demand[flow] - 100.0:  # something on its way is full or stopped
            assert any(
                load[q] >= capacity[q] - 100.0 or filled.waiting[q] or filled.narrow[q] for q in way
            )


def test_a_quiet_fabric_stops_nobody_for_long() -> None:
    fabric = lived(steps=240)
    assert max(stopped(fabric, port, 240 * STEP) for port, _ in ends(fabric)) < 0.02
    assert min(fabric.ports[port].tx_octets for port, _ in ends(fabric)) > 0


def test_a_broken_nic_stops_its_leaf_without_a_break_and_all_that_feeds_it() -> None:
    fabric = lived(BrokenNic(0, 1, NIC))
    assert stopped(fabric, DOWN) == pytest.approx(1.0)
    assert fabric.ports[DOWN].tx_octets == 0
    still = {near: far for near, far in ends(fabric) if stopped(fabric, near) > 0.95}
    assert {"host-006/eth0", "host-009/eth0"} <= still.keys()  # those that send to it
    assert "host-003/eth0" in still  # and one that does not: it shares an uplink with them
    assert all(
        far == NIC or any(one.partition("/")[0] == far.partition("/")[0] for one in still)
        for far in still.values()
    )  # the tree grows from the NIC without a gap
    assert NIC not in still


def test_a_nic_that_is_well_again_lets_all_go_on() -> None:
    storm = BrokenNic(0, 1, NIC)
    fabric = lived(storm)
    storm.end(fabric)
    before = {port: stopped(fabric, port) for port, _ in ends(fabric)}
    after(fabric)
    assert all(stopped(fabric, port) - before[port] < 0.1 for port in before)


def test_a_choppy_nic_stops_its_leaf_for_its_duty() -> None:
    fabric = lived(ChoppyStorm(0, 1, NIC, duty=0.7))
    assert stopped(fabric, DOWN) == pytest.approx(0.7, abs=0.02)
    assert fabric.ports[DOWN].tx_octets > 0


def test_a_slow_receiver_stops_only_what_comes_and_spreads_to_nobody() -> None:
    fabric = lived(SlowReceiver(0, 1, NIC, duty=0.3))
    assert 0.1 < stopped(fabric, DOWN) < 0.3
    others = [port for port, _ in ends(fabric) if port != DOWN]
    assert max(stopped(fabric, port) for port in others) < 0.05


def test_marks_hold_a_lasting_incast_without_pauses() -> None:
    fabric = lived(Incast(0, 1, NIC))
    assert fabric.ports[DOWN].tx_octets > 0.85 * LINE * STEPS * STEP
    assert max(stopped(fabric, port) for port, _ in ends(fabric)) < 0.05
    nics = fabric.flowing().wires.nics
    marked = sum(fabric.ethernet(port).ecn_marked for port, _ in ends(fabric))
    arrived = sum(fabric.ethernet(nic).ecn_arrived for nic in nics)
    assert 0 < arrived <= marked * (1 + 1e-9)  # some are marked twice on their way
    assert fabric.ethernet(NIC).ecn_arrived >= fabric.ethernet(DOWN).ecn_marked * (1 - 1e-9)
    sent = sum(fabric.ethernet(nic).notices_sent for nic in nics)
    heeded = sum(fabric.ethernet(nic).notices_heeded for nic in nics)
    assert 0 < sent == pytest.approx(heeded)


@pytest.mark.parametrize(
    ("fault", "marked"),
    [
        pytest.param(Thresholds(0, 1, LEAF), False, id="off"),
        pytest.param(Thresholds(0, 1, LEAF, marks=True, times=120.0), False, id="too high"),
        pytest.param(DeafNic(0, 1, NIC), True, id="deaf"),
    ],
)
def test_marks_that_nobody_makes_or_heeds_leave_it_to_pauses(fault: Fault, marked: bool) -> None:
    fabric = lived(fault, Incast(0, 1, NIC))
    feeding = [near for near, far in ends(fabric) if far.startswith(f"{LEAF}/")]
    assert max(stopped(fabric, port) for port in feeding) > 0.2
    assert (fabric.ethernet(DOWN).ecn_marked > 0) == marked
    if marked:
        assert fabric.ethernet(NIC).ecn_arrived > 0
        assert fabric.ethernet(NIC).notices_sent == 0


def test_an_ingress_without_room_drops_where_it_stops_its_peer() -> None:
    fabric = lived(Thresholds(0, 1, LEAF), ShortHeadroom(0, 1, LEAF), Incast(0, 1, NIC))
    dropping = {port for port, _ in ends(fabric) if fabric.ethernet(port).ingress_drops > 0}
    assert dropping
    assert {port.partition("/")[0] for port in dropping} == {LEAF}
    assert all(fabric.ethernet(port).tx_pause_seconds[LOSSLESS] > 0 for port in dropping)


def test_a_leaf_whose_hash_is_not_its_own_uses_one_uplink() -> None:
    fabric = lived(Polarized(0, 1, LEAF, spine=1))
    sent = {far.partition("/")[0]: fabric.ports[near].tx_octets for near, far in ends(fabric)
            if near.startswith(f"{LEAF}/") and far.startswith("spine")}  # fmt: skip
    assert sent["spine-02"] > 10 * sent["spine-01"]


def test_a_port_that_sends_slowly_stops_those_before_it_though_nothing_stops_it() -> None:
    fabric = lived(Thresholds(0, 1, LEAF), HalfRate(0, 1, DOWN, share=0.1))
    assert stopped(fabric, DOWN) == 0
    feeding = [near for near, far in ends(fabric) if far.startswith(f"{LEAF}/")]
    assert max(stopped(fabric, port) for port in feeding) > 0.2


def test_four_switches_lock_each_other_after_a_detour_and_stay_so_until_it_is_cleared() -> None:
    detour = next(one for one in FAULTS if isinstance(one, Reroute))
    burst = Incast(0, 1, "host-003/eth0", senders=8, share=1.0, busy=0.3, lasting=False)
    fabric = lived(detour, burst)
    burst.end(fabric)
    circle = [("tor-01", "spine-01"), ("spine-01", "tor-02"), ("tor-02", "spine-02"),
              ("spine-02", "tor-01")]  # fmt: skip
    queues = [near for near, far in ends(fabric)
              if (near.partition("/")[0], far.partition("/")[0]) in circle]  # fmt: skip
    before = {port: stopped(fabric, port) for port in queues}
    carried = {port: fabric.ports[port].tx_octets for port in queues}
    after(fabric)
    assert len(queues) == 4
    for port in queues:  # no burst any more, and still nothing moves
        assert stopped(fabric, port) - before[port] == pytest.approx(1.0)
        assert fabric.ports[port].tx_octets == carried[port]
    detour.end(fabric)
    after(fabric)
    assert all(fabric.ports[port].tx_octets > carried[port] for port in queues)


def test_a_burst_on_sound_routes_locks_nobody() -> None:
    fabric = lived(Incast(0, 1, NIC, senders=8, share=1.0, busy=0.3, lasting=False))
    assert not fabric.flowing().locked


@given(full=st.floats(1, 64), exponent=st.integers(-7, 3), pool=st.integers(1 << 20, 1 << 28))
def test_full_queues_and_what_is_free_share_the_pool(full: float, exponent: int, pool: int) -> None:
    buffers = Buffers(pool=pool, exponent=exponent)
    held = buffers.fair(full)  # each holds alpha times what nobody holds
    assert held == pytest.approx(buffers.alpha * (pool - full * held), rel=1e-6)


@given(held=st.floats(0, 1e8), more=st.floats(0, 1e8))
def test_a_fuller_queue_never_marks_less(held: float, more: float) -> None:
    buffers = Buffers()
    assert 0 <= buffers.marked(held) <= buffers.marked(held + more) <= 1


def test_a_40_gigabit_queue_of_two_senders_marks_as_the_fluid_model_says() -> None:
    # packets a second: C 1.221e6, R_AI 1221 (40 Mb/s); B 2441 packets (10 MB), T and tau 55 us:
    # (1221 * 4 / (55e-6 * 1.490e12) * (1 / 2441 + 2 / 67.1)^2)^(1/3) = (5.96e-5 * 9.12e-4)^(1/3)
    assert settled_share(2, 40e9 / 8) == pytest.approx(3.79e-3, rel=0.01)
    assert settled_share(10, 40e9 / 8) > settled_share(2, 40e9 / 8)


def test_a_port_that_stops_for_ever_stops_once() -> None:
    assert stops(1.0, LINE) == 0.0
    assert stops(0.5, LINE) > stops(0.1, LINE) > 0.0
