"""One storm is one incident, whether the switch before it answers all the time or not."""

from collections.abc import Callable

import pytest

from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.model import Port
from tests.analyzer.pause.polled import RING, Polled, Said, routed

BEGINS = 10
WAITING = (Port("l0", "b"), Port("s0", "l0"), Port("s1", "l0"), Port("l1", "s0"), Port("l1", "s1"))
"""What waits for a NIC behind the first leaf."""
BEHIND = ("l0b/eth0", "pfc.storm")


def storm(port: Port, second: float) -> float:
    return float(port in WAITING and second > BEGINS)


def silent(first: int, last: int) -> Callable[[str, int, Said], Said]:
    """Let the leaf before the NIC not answer for some seconds, and hosts never."""

    def reply(device: str, second: int, said: Said) -> Said:
        gone = device == "l0" and first <= second <= last
        return {} if gone or device[-1] in "ab" else said

    return reply


@pytest.mark.parametrize(
    ("first", "last", "front"),
    [(11, 15, True), (5, 18, True), (16, 21, False), (16, 90, False), (14, 14, False)],
    ids=["as it begins", "before it begins", "while it stands", "and stays so", "for one poll"],
)
def test_a_storm_behind_a_leaf_that_falls_silent_is_one_incident(
    first: int, last: int, front: bool
) -> None:
    fabric = Polled(storm, reply=silent(first, last)).until(30)
    assert {name for _, name, *_ in fabric.told} == {"i1"}
    assert [culprit for *_, culprit in fabric.told][-1] == BEHIND[0]
    assert any(culprit.startswith("l0/") for *_, culprit in fabric.told) is front
    assert fabric.open == [BEHIND[::-1]]


@pytest.mark.parametrize("priorities", ["3", "34"])
def test_a_leaf_that_counts_anew_after_a_gap_is_not_told_beside_the_storm(priorities: str) -> None:
    """Most of its counters stand at nothing, and of the one that moves no rate is known yet."""
    before: Said = {}

    def reply(device: str, second: int, said: Said) -> Said:
        if device[-1] in "ab" or (device == "l0" and 16 <= second < 21):
            return {}
        more = {
            (metric, (*labels[:2], priority)): value if priority == labels[2] else 0.0
            for (metric, labels), value in said.items()
            if metric in {PFC_RX_PAUSE, PFC_TX_PAUSE}
            for priority in priorities
        }
        if device == "l0" and second == 15:
            before.update(more)
        if device == "l0" and second >= 21:
            more = {key: value - before[key] for key, value in more.items()}
        return {**said, **more}

    fabric = Polled(storm, reply=reply).until(26)
    assert {(name, culprit) for _, name, _, culprit in fabric.told} == {("i1", BEHIND[0])}


def test_a_storm_that_stands_while_its_leaf_stays_silent_does_not_end() -> None:
    fabric = Polled(storm, reply=silent(65, 1300), period=20)
    assert fabric.until(1300).open == [BEHIND[::-1]]
    assert {name for _, name, *_ in fabric.told} == {"i1"}


def of_the_leaf_then_of_the_nic(port: Port, second: float) -> float:
    """Return how a leaf stops its spines by itself, is mended, and a NIC storms a minute later."""
    if BEGINS < second <= 20:
        return float(port in WAITING and port != WAITING[0])
    return float(port in WAITING and second > 80)


def test_a_nic_that_stops_two_priorities_is_told_once_with_both() -> None:
    def both(device: str, second: int, said: Said) -> Said:
        more = {
            (metric, (*labels[:2], "4")): value
            for (metric, labels), value in said.items()
            if metric in {PFC_RX_PAUSE, PFC_TX_PAUSE}
        }
        return {**said, **more}

    (incident,) = Polled(storm, reply=both).until(18).incidents_open
    assert incident.culprit.id == BEHIND[0]
    assert " stops priority 3 for 100% of 5 s and priority 4 for " in incident.because


def test_two_storms_one_after_the_other_are_two_incidents() -> None:
    fabric = Polled(of_the_leaf_then_of_the_nic, reply=silent(0, 0)).until(100)
    assert sorted(fabric.open, key=lambda one: one[1])[1:] == [BEHIND[::-1]]
    assert len(fabric.incidents) == 2


def test_a_storm_behind_a_leaf_that_fell_silent_later_is_another() -> None:
    """The NIC stopped at 20; what is behind the leaf at 60 need not be that NIC."""

    def twice(port: Port, second: float) -> float:
        return storm(port, second) if second <= 20 or second > 60 else 0.0

    fabric = Polled(twice, reply=silent(55, 100)).until(80)
    assert len(fabric.incidents) == 2


def test_what_a_port_did_before_its_leaf_fell_silent_is_not_held_against_it_afterwards() -> None:
    """It storms until 20; the leaf answers at 51, and then another of its hosts storms."""
    beyond = [port for port in WAITING if port != Port("l0", "b")]

    def one_then_the_other(port: Port, second: float) -> float:
        if BEGINS < second <= 20:
            return float(port in WAITING)
        return float(second > 34 and (port in beyond or port == Port("l0", "a")))

    fabric = Polled(one_then_the_other, reply=silent(22, 50)).until(58)
    assert {culprit for second, *_, culprit in fabric.told if second > 50} == {"l0a/eth0"}
    assert len(fabric.incidents) == 2


def test_a_nic_that_says_itself_that_it_stops_a_silent_leaf_is_the_one_told() -> None:
    def reply(device: str, second: int, said: Said) -> Said:
        return {} if device == "l0" else said

    fabric = Polled(storm, reply=reply).until(25)
    assert {culprit for *_, culprit in fabric.told} == {BEHIND[0]}
    assert fabric.open == [BEHIND[::-1]]


def test_a_storm_behind_a_silent_leaf_is_told_beside_one_that_is_seen() -> None:
    """Both stop the spines; the one that is seen explains no more than its half."""
    seen = {Port("l1", "b"), Port("s0", "l1"), Port("s1", "l1"), Port("l0", "s0"), Port("l0", "s1")}

    def both(port: Port, second: float) -> float:
        return float((port in seen or port in WAITING) and second > BEGINS)

    def reply(device: str, second: int, said: Said) -> Said:
        return {} if device == "l0" or device in {"l0a", "l0b"} else said

    fabric = Polled(both, reply=reply).until(20)
    assert {culprit.partition("/")[0] for *_, culprit in fabric.told} == {"l0", "l1b"}
    assert {kind for _, kind in fabric.incidents} == {"pfc.storm"}


@pytest.mark.parametrize("dark", ["s0", "l1", "s0 l1", "s0 s1"])
@pytest.mark.parametrize("hosts", [True, False], ids=["hosts are read", "hosts are not read"])
def test_no_silent_switch_that_waits_itself_is_told_beside_the_storm(
    dark: str, hosts: bool
) -> None:
    """What its neighbours say that they stop of it is enough to know it for a victim."""

    def reply(device: str, second: int, said: Said) -> Said:
        return {} if device in dark.split() or (device[-1] in "ab" and not hosts) else said

    fabric = Polled(storm, reply=reply).until(16)
    assert fabric.open == [BEHIND[::-1]]


def test_a_word_about_the_front_does_not_silence_the_port_that_is_found_behind_it() -> None:
    fabric = Polled(storm, reply=silent(11, 16)).until(14)
    fabric.say("verdict_false", "i1")
    (incident,) = fabric.until(24).incidents_open
    assert incident.culprit.id == BEHIND[0]
    assert incident.operator is not None
    assert not incident.operator.silent


def test_a_circle_through_a_spine_that_is_not_read_is_told_by_its_neighbours() -> None:
    def circle(port: Port, second: float) -> float:
        return float(port in RING and second > BEGINS)

    def reply(device: str, second: int, said: Said) -> Said:
        return {} if device == "s0" or device[-1] in "ab" else said

    fabric = Polled(circle, lambda port, second: 0.0 if circle(port, second) else 0.3, reply=reply)
    assert {kind for _, kind in fabric.until(18).incidents} == {"pfc.deadlock"}


@pytest.mark.parametrize(("dark", "told"), [("l0 l1", {"l0", "l1"}), ("l0", {"l0", "l1b"})])
def test_what_is_hidden_behind_silent_leaves_closes_no_circle_where_routes_are_written(
    dark: str, told: set[str]
) -> None:
    stopped = {Port(leaf, "b") for leaf in ("l0", "l1")}
    stopped |= {Port(spine, leaf) for spine in ("s0", "s1") for leaf in ("l0", "l1")}
    stopped |= {Port(leaf, spine) for spine in ("s0", "s1") for leaf in ("l0", "l1")}

    def both(port: Port, second: float) -> float:
        return float(port in stopped and second > BEGINS)

    def reply(device: str, second: int, said: Said) -> Said:
        return {} if device in dark.split() or device[-1] in "ab" else said

    fabric = Polled(both, reply=reply, topology=routed()).until(18)
    assert {kind for _, kind in fabric.incidents} == {"pfc.storm"}
    assert {culprit.partition("/")[0] for *_, culprit in fabric.told} == told
