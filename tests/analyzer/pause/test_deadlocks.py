"""Deadlocks told pass by pass: soon, once, under one name, and nobody in the circle beside them."""

from collections.abc import Callable

import numpy as np
import pytest

from analyzer.evidence.pause.standing import standing
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.model import Port
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.pause.polled import RING, START, Polled, Said, clos, routed

BEGINS, PROVEN = 10, 13


def circle(port: Port, second: float) -> float:
    """Return how a circle stops its queues, and then all that feed it."""
    if port in RING:
        return float(second > BEGINS)
    return 0.99 if port.device in {"l0a", "l1a"} and second > BEGINS + 1 else 0.0


def moves(port: Port, second: float) -> float:
    """Return a load that ends where the circle is."""
    return 0.0 if circle(port, second) else 0.3


def only_deadlock(fabric: Polled) -> bool:
    return {kind for _, kind in fabric.incidents} == {"pfc.deadlock"}


def slow_host(port: Port, second: float) -> float:
    return 0.15 if port == Port("l0", "b") else circle(port, second)


def full_port(port: Port, second: float) -> float:
    return 0.95 if port == Port("l0", "b") else moves(port, second)


@pytest.mark.parametrize(
    ("stopped", "load"),
    [(circle, moves), (slow_host, moves), (circle, full_port), (circle, lambda port, second: 0.3)],
    ids=["alone", "a host beside it pauses a little", "a port beside it is full",
         "other priorities of its ports move"],
)  # fmt: skip
def test_a_circle_is_told_by_its_second_poll_whatever_moves_beside_it(
    stopped: Callable[[Port, float], float], load: Callable[[Port, float], float]
) -> None:
    fabric = Polled(stopped, load).until(20)
    assert only_deadlock(fabric)
    assert fabric.told[0][0] <= PROVEN


def misses_polls(device: str, second: int, said: Said) -> Said:
    return {} if device == "l1" and second % 3 == 0 else said


def refreshes_seldom() -> Callable[[str, int, Said], Said]:
    last: dict[str, Said] = {}

    def reply(device: str, second: int, said: Said) -> Said:
        if device not in last or device not in {"l1", "s0"} or second % 3 == 0:
            last[device] = said
        return last[device]

    return reply


def freezes(at: int) -> Callable[[str, int, Said], Said]:
    last: Said = {}

    def reply(device: str, second: int, said: Said) -> Said:
        if device != "l1":
            return said
        if second <= at:
            last.update(said)
        kept = {key: last[key] for key in said if key[0] in {PFC_RX_PAUSE, PFC_TX_PAUSE}}
        return {**said, **kept}

    return reply


@pytest.mark.parametrize(
    "reply", [misses_polls, refreshes_seldom(), freezes(18)],
    ids=["polls fail", "counters are refreshed seldom", "a watchdog stops the counters"],
)  # fmt: skip
def test_no_switch_of_a_circle_is_accused_while_its_counters_are_late(
    reply: Callable[[str, int, Said], Said],
) -> None:
    fabric = Polled(circle, moves, reply).until(32)
    assert only_deadlock(fabric)
    assert len(fabric.incidents) == 1


def falls_silent(device: str, second: int, said: Said) -> Said:
    return {} if device == "l1" and second >= 18 else said


def stop_answering(device: str, second: int, said: Said) -> Said:
    """Let nobody answer for a while, and one leaf stop a little before the others."""
    return {} if 18 + (device != "l1") <= second < 24 else said


@pytest.mark.parametrize("reply", [falls_silent, stop_answering])
def test_a_circle_that_was_told_accuses_nobody_while_a_switch_of_it_is_not_read(
    reply: Callable[[str, int, Said], Said],
) -> None:
    fabric = Polled(circle, moves, reply).until(32)
    assert only_deadlock(fabric)
    (incident,) = fabric.incidents_open
    assert incident.last_seen > START + 31  # what is read of it is still stopped


def test_a_circle_that_lets_go_while_a_switch_of_it_is_not_read_is_over() -> None:
    fabric = Polled(
        lambda port, second: circle(port, second) if second <= 22 else 0.0, moves, falls_silent
    ).until(26)
    assert only_deadlock(fabric)
    assert fabric.incidents_open[0].last_seen < START + 24


def test_a_host_that_storms_at_a_switch_of_a_circle_is_told_beside_it() -> None:
    """The circle is stopped on one priority, and the host stops another."""

    def both(device: str, second: int, said: Said) -> Said:
        stopped = max(0.0, second - 14.0)
        more = {
            (PFC_RX_PAUSE, ("l1", "b", "4")): 1e6 + stopped,
            (PFC_TX_PAUSE, ("l1b", "eth0", "4")): 1e6 + stopped,
        }
        return {**said, **{key: value for key, value in more.items() if key[1][0] == device}}

    fabric = Polled(circle, moves, both).until(22)
    assert sorted(fabric.open) == [("pfc.deadlock", "l0/s0"), ("pfc.storm", "l1b/eth0")]


def test_no_switch_is_accused_when_a_circle_was_cleared() -> None:
    def cleared(port: Port, second: float) -> float:
        return circle(port, second) if second <= 20 or port == Port("l0", "s0") else 0.0

    fabric = Polled(lambda port, second: 0.0 if second > 21 else cleared(port, second), moves)
    assert only_deadlock(fabric.until(32))


@pytest.mark.parametrize("later", [0, 4])
def test_two_priorities_stopped_in_one_circle_are_one_incident_that_names_both(later: int) -> None:
    def both(device: str, second: int, said: Said) -> Said:
        """Let priority 4 stand like the other, from so many seconds after it."""
        more = {
            (metric, (*labels[:2], "4")): max(value - later, 1e6)
            for (metric, labels), value in said.items()
            if metric in {PFC_RX_PAUSE, PFC_TX_PAUSE}
        }
        return {**said, **more}

    fabric = Polled(circle, moves, both).until(24)
    assert only_deadlock(fabric)
    (incident,) = fabric.incidents_open
    assert {name for name, _ in fabric.incidents} == {incident.incident}
    assert "clear those of priorities 3 and 4 at " in incident.because
    told = {(line.labels["port"], line.labels["priority"]) for line in incident.evidence}
    assert {priority for _, priority in told} == {"3", "4"}
    assert len(told) == 2 * len(RING)


def three_leaves() -> Topology:
    """Return the fabric with a third leaf."""
    bare = clos()
    devices = [
        Device(name="l2", role="switch"),
        *(Device(name=f"l2{one}", role="host") for one in "ab"),
    ]
    cables = [Link(a=f"l2/{spine}", b=f"{spine}/l2") for spine in ("s0", "s1")]
    cables += [Link(a=f"l2/{host}", b=f"l2{host}/eth0") for host in "ab"]
    return Topology([*bare.devices.values(), *devices], [*bare.links.values(), *cables])


SECOND = (Port("l0", "s0"), Port("s0", "l2"), Port("l2", "s1"), Port("s1", "l0"))
"""A circle that shares two queues with the first."""


@pytest.mark.parametrize("first", [None, Port("s0", "l1")], ids=["by feeding", "by time"])
def test_two_circles_that_share_queues_are_opened_by_what_is_named(first: Port | None) -> None:
    """A queue that both pass; or one of each, where time tells that only one passes the first."""

    def both(port: Port, second: float) -> float:
        return float(port in {*RING, *SECOND} and second > (BEGINS if port == first else 14))

    fabric = Polled(both, topology=three_leaves()).until(19)
    (incident,) = fabric.incidents_open
    assert incident.kind.name == "pfc.deadlock"
    named = [one.partition(":")[0] for one in incident.because.split("clear that of ")[1:]]
    cleared = {Port.parse(one) for one in named}
    assert all(cleared & set(ring) for ring in (RING, SECOND))
    assert len(cleared) == (1 if first is None else 2)


def test_a_deadlock_that_stands_for_minutes_keeps_its_culprit() -> None:
    def staggered(port: Port, second: float) -> float:
        if port == RING[1]:
            return float(second > BEGINS)
        return circle(port, second - 15)

    fabric = Polled(staggered, moves, period=5).until(45)
    first = fabric.open
    assert fabric.until(150).open == first
    assert [kind for kind, _ in first] == ["pfc.deadlock"]


def test_a_host_that_storms_is_told_and_no_circle() -> None:
    storm = {
        Port("l0", "b"),
        Port("s0", "l0"),
        Port("s1", "l0"),
        Port("l1", "s0"),
        Port("l1", "s1"),
    }
    fabric = Polled(lambda port, second: float(port in storm and second > BEGINS)).until(22)
    assert {kind for _, kind in fabric.incidents} == {"pfc.storm"}
    assert {culprit for *_, culprit in fabric.told} == {"l0b/eth0"}


def behind_both(port: Port, second: float) -> float:
    """Return how a broken NIC behind each leaf stops all that leads to either."""
    ill = {
        Port("l0", "b"),
        Port("l1", "b"),
        *(Port(one, leaf) for one in ("s0", "s1") for leaf in ("l0", "l1")),
    }
    ill |= {Port(leaf, one) for one in ("s0", "s1") for leaf in ("l0", "l1")}
    return float(port in ill and second > 20)


def seldom(device: str, second: int, said: Said) -> Said:
    """Read leaves each fifth second, and no host."""
    late = device.startswith("l") and len(device) == 2 and second % 5
    return {} if late or device[-1] in "ab" else said


def leaves_are_silent(device: str, second: int, said: Said) -> Said:
    return said if device.startswith("s") else {}


def test_leaves_that_were_not_asked_since_close_no_circle() -> None:
    fabric = Polled(behind_both, reply=seldom).until(36)
    assert {kind for _, kind in fabric.incidents} == {"pfc.storm"}
    assert {culprit for *_, culprit in fabric.told} == {"l0b/eth0", "l1b/eth0"}


def test_silent_leaves_close_no_circle_and_what_is_behind_them_is_told() -> None:
    fabric = Polled(behind_both, reply=leaves_are_silent).until(32)
    assert {kind for _, kind in fabric.incidents} == {"pfc.storm"}
    assert {culprit.partition("/")[0] for *_, culprit in fabric.told} == {"l0", "l1"}


@pytest.mark.parametrize(
    ("dark", "every", "phase"),
    [("", 5, 4), ("", 10, 2), ("s0", 2, 1), ("s0", 3, 0), ("s0", 5, 4), ("s0", 10, 9)],
)
def test_a_circle_through_a_leaf_that_is_read_seldom_is_one_incident(
    dark: str, every: int, phase: int
) -> None:
    """Until its next poll some of the circle may be told as a storm, but never two."""
    begins = 32

    def ring(port: Port, second: float) -> float:
        return float(port in RING and second > begins)

    def reply(device: str, second: int, said: Said) -> Said:
        late = device == "l1" and second % every != phase
        return {} if late or device == dark or device[-1] in "ab" else said

    fabric = Polled(ring, lambda port, second: 0.3 * (1.0 - ring(port, second)), reply)
    fabric.until(begins + 3 * max(every, 5))
    assert [kind for kind, _ in fabric.open] == ["pfc.deadlock"]
    assert {name for name, _ in fabric.incidents} == {"i1"}
    if every <= 5:  # it was read before anything counts as a storm
        assert only_deadlock(fabric)


def only_fabric_ports(device: str, second: int, said: Said) -> Said:
    """Let leaves tell of no port that leads to a host, and hosts of nothing."""
    if device[-1] in "ab":
        return {}
    return {key: value for key, value in said.items() if key[1][1] not in {"a", "b"}}


@pytest.mark.parametrize("topology", [clos(), routed()], ids=["by tiers", "by written routes"])
def test_where_no_port_to_a_host_is_read_slow_hosts_are_no_circle(topology: Topology) -> None:
    """They are told, or something behind their leaves."""
    fabric = Polled(behind_both, reply=only_fabric_ports, topology=topology).until(32)
    assert {kind for _, kind in fabric.incidents} == {"pfc.storm"}
    assert all("or something behind it, unseen" in one.because for one in fabric.incidents_open)
    assert {culprit.partition("/")[0] for *_, culprit in fabric.told} == {"l0", "l1"}


def test_where_no_port_to_a_host_is_read_one_queue_that_waits_at_each_switch_is_a_circle() -> None:
    """Slow hosts would stop all that comes down to them."""
    assert only_deadlock(Polled(circle, moves, only_fabric_ports).until(20))


def test_a_port_of_management_that_says_nothing_hides_no_circle() -> None:
    bare = clos()
    cables = [
        Link(a=f"{switch}/mgmt", b=f"m/{switch}", speed_gbps=1) for switch in ("l0", "l1", "s0")
    ]
    managed = Topology(
        [*bare.devices.values(), Device(name="m", role="host")], [*bare.links.values(), *cables]
    )

    def reply(device: str, second: int, said: Said) -> Said:
        mute = {key: value for key, value in said.items() if key[1][1] != "mgmt"}
        return {} if device == "m" else mute

    assert only_deadlock(Polled(circle, moves, reply, topology=managed).until(20))


@pytest.mark.parametrize(
    ("paused", "sent", "load", "still"),
    [
        ([1.0, 1.0], [np.nan] * 2, [0.3, 0.3], True),  # stopped all the time: it sent nothing
        ([0.96, 0.96], [np.nan] * 2, [0.3, 0.3], False),  # it had the time to send
        ([0.96, 0.96], [np.nan] * 2, [0.0, 0.0], True),
        ([0.96, 0.96], [0.0, 0.0], [0.3, 0.3], True),
        ([1.0, 1.0], [0.02, 0.0], [0.3, 0.3], False),
        ([1.0, np.nan, 1.0], [np.nan] * 3, [np.nan] * 3, True),
        ([np.nan, 1.0], [np.nan] * 2, [np.nan] * 2, False),  # one poll proves nothing
    ],
)
def test_what_stands_is_stopped_all_the_time_and_sends_nothing(
    paused: list[float], sent: list[float], load: list[float], still: bool
) -> None:
    one = [np.array([row]) for row in (paused, sent, load)]
    assert standing(one[0], np.array([True]), one[1], one[2]).still.tolist() == [still]
    assert standing(one[0], np.array([False]), one[1], one[2]).still.tolist() == [False]
