"""Where only the sender counts, a switch that is not read is told of only for what it begins."""

import pytest

from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.catalogue.ports import TRANSMIT_WAIT
from fabrichealth.model import Port
from tests.analyzer.pause.polled import Polled, Said

BEGINS = 10
STORM = "l0b/eth0"
WAITING = {
    Port("l0", "b"), Port("s0", "l0"), Port("s1", "l0"), Port("l1", "s0"), Port("l1", "s1"),
    Port("l1a", "eth0"), Port("l1b", "eth0"), Port("l0a", "eth0"),
}  # fmt: skip
"""What waits for a host behind the first leaf."""
HIDDEN = {Port("s0", "l1"), Port("s1", "l1")}
"""What waits besides, if a host behind the second leaf does the same."""


def by_credits(said: Said) -> Said:
    """Return an InfiniBand device's answer: a port counts what it waits for itself, and no more."""
    return {
        (TRANSMIT_WAIT, labels[:2]) if metric is PFC_RX_PAUSE else (metric, labels): value
        for (metric, labels), value in said.items()
        if metric is not PFC_TX_PAUSE
    }


def judged(dark: str, waiting: set[Port]) -> Polled:
    def reply(device: str, second: int, said: Said) -> Said:
        return {} if device in dark.split() else by_credits(said)

    def stopped(port: Port, second: float) -> float:
        return float(port in waiting and second > BEGINS)

    return Polled(stopped, reply=reply).until(18)


@pytest.mark.parametrize("dark", ["", "l1", "s0", "l1 l1a l1b", "s0 l0a l0b l1a l1b"])
def test_a_silent_switch_that_only_waits_is_not_told_beside_the_storm(dark: str) -> None:
    assert judged(dark, WAITING).open == [("pfc.storm", STORM)]


def test_a_silent_switch_before_the_storm_is_told_as_what_it_may_hide_behind() -> None:
    assert [kind for kind, _ in judged("l0", WAITING).open] == ["pfc.storm"]
    assert judged("l0", WAITING).open[0][1].startswith("l0/")


def test_a_storm_behind_a_silent_switch_is_told_beside_one_that_is_seen() -> None:
    told = judged("l1", WAITING | HIDDEN | {Port("l0", "s0"), Port("l0", "s1")}).open
    assert {culprit.partition("/")[0] for _, culprit in told} == {"l0b", "l1"}
