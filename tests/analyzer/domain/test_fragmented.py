"""Domains in which a job waits that would fit if what is free lay together."""

import numpy as np
import pytest

from analyzer.evidence.domain.allocation import allocation
from analyzer.evidence.domain.fitness import fitness
from analyzer.evidence.domain.inventory import inventory
from analyzer.evidence.domain.migrations import Move, migrations, pieces
from analyzer.evidence.domain.room import rooms
from fabrichealth.catalogue.verdicts import (
    DOMAIN_FRAGMENTATION,
    DOMAIN_STRANDED,
    DOMAIN_TIER_FRAGMENTATION,
    LARGEST_PLACEABLE,
)
from fabrichealth.events import Event
from fabrichealth.model import Finding, Place, View
from fabrichealth.topology import Topology
from tests.analyzer.domain.halls import (
    NOW,
    Said,
    allocated,
    detector,
    drained,
    hall,
    ill,
    pending,
    seen,
    start,
)

HALVES = {f"h0-0-{n}": "xx.." for n in range(4)}
"""Two of four are held on each host."""


def judged(
    *said: Said, topology: Topology | None = None, events: list[Event] | None = None
) -> list[Finding]:
    return list(detector().judge(seen(topology or hall(), *said, events=events or [])))


def test_enough_is_free_and_the_job_fits_nowhere() -> None:
    (one,) = judged(allocated(hall(), HALVES), pending(4))
    assert one.about == Place("domain", "pod-0")
    assert one.score == pytest.approx(1.0 / 0.3)
    assert one.since == pytest.approx(NOW - 20 * 60, abs=30)
    assert "8 of 16 accelerators are free" in one.because
    assert (
        "a job of 4 has waited for 20 min: 100% of what is free is lost to that size" in one.because
    )
    assert "the largest job that fits is 2" in one.because


@pytest.mark.parametrize(
    "said",
    [
        pytest.param((allocated(hall(), HALVES), pending(4, minutes=8)), id="it came just now"),
        pytest.param((allocated(hall(), HALVES), pending(2)), id="a pair fits on any host"),
        pytest.param((allocated(hall(), HALVES), pending(16)), id="too few are free anyhow"),
        pytest.param(
            (allocated(hall(), {**HALVES, "h0-0-3": "...."}), pending(4)), id="one host is free"
        ),
        pytest.param((allocated(hall(), HALVES), pending(4, many=0)), id="nobody waits"),
        pytest.param((allocated(hall(), HALVES), pending(4, domain="pod-9")), id="of another"),
        pytest.param((pending(4),), id="nobody says what is held"),
        pytest.param(
            (allocated(hall(), HALVES), drained(*HALVES), pending(4)), id="all is drained"
        ),
    ],
)
def test_is_silent_where_it_says_so(said: tuple[Said, ...]) -> None:
    assert judged(*said) == []


def test_a_job_that_fits_in_another_domain_is_no_matter_of_this_one() -> None:
    topology = hall(domains=2)
    halves = allocated(topology, HALVES)
    assert judged(halves, pending(4), topology=topology) == []
    (one,) = judged(halves, pending(4, domain="pod-0"), topology=topology)
    assert one.about == Place("domain", "pod-0")


def test_a_sick_link_may_be_what_keeps_a_job_waiting() -> None:
    topology = hall(hosts=2)
    free = allocated(topology, {"h0-0-0": "xxxx"})
    link = "h0-0-1-0/nvlink/0--pod-0-sw/h0-0-1-0"
    assert judged(free, pending(4), topology=topology) == []
    (one,) = judged(free, ill("link.subhealthy", link), pending(4), topology=topology)
    assert "1 of them behind something ill" in one.because
    assert "(0% if all were well)" in one.because


def test_events_alone_tell_who_holds_and_who_waits() -> None:
    events = [start(f"j{n}", f"h0-0-{n}-0", f"h0-0-{n}-1") for n in range(4)]
    waits = Event(NOW - 1200, "job_pending", {"job": "big"}, more={"size": 4})
    (one,) = judged(events=[*events, waits])
    assert one.since == NOW - 1200


def test_who_waited_when_the_scheduler_said_that_nobody_did_is_not_believed() -> None:
    old = Event(NOW - 3 * 86_400, "job_pending", {"job": "old"}, more={"size": 4})
    assert judged(allocated(hall(), HALVES), pending(4, minutes=8), events=[old]) == []
    others = pending(1, many=0)  # the scheduler spoke, and of no job of four
    fresh: Said = {key: [one or np.nan for one in row]
                   for key, row in pending(4, minutes=8).items()}  # fmt: skip
    assert judged(allocated(hall(), HALVES), others, fresh, events=[old]) == []
    (one,) = judged(allocated(hall(), HALVES), pending(4, minutes=60), events=[old])
    assert one.since == old.at  # it waited all along


def pairs(view: View, job: int) -> list[Move] | None:
    stock = inventory(view)
    own = pieces(stock, allocation(view), fitness(view, stock))
    return migrations(rooms(view)["pod-0"], own, job)


def test_the_fewest_moves_that_make_room_are_told() -> None:
    held = {"h0-0-0": "xx..", "h0-0-1": "x...", "h0-0-2": "xxx.", "h0-0-3": "xxxx"}
    events = [
        start("two", "h0-0-0-0", "h0-0-0-1"),
        start("one", "h0-0-1-0"),
        start("three", "h0-0-2-0", "h0-0-2-1", "h0-0-2-2"),
        start("four", *(f"h0-0-3-{n}" for n in range(4))),
    ]
    view = seen(hall(), allocated(hall(), held), events=events)
    assert pairs(view, 4) == [Move("one", 1, "h0-0-1", "h0-0-2")]
    # for two whole trays: the one above, and then the pair has nowhere to go
    assert pairs(view, 8) is None


def test_nothing_is_moved_off_a_host_that_takes_no_work() -> None:
    held = {"h0-0-0": "xxxx", "h0-0-1": "xxx.", "h0-0-2": "xxx.", "h0-0-3": "xx.."}
    ones = [start(f"one-{n}", f"h0-0-0-{n}") for n in range(4)]
    view = seen(hall(), allocated(hall(), held), drained("h0-0-0"), events=ones)
    assert pairs(view, 4) is None
    open_ = seen(hall(), allocated(hall(), held), events=ones)
    assert len(pairs(open_, 4) or ()) == 4


def test_nothing_is_moved_off_what_is_behind_something_ill() -> None:
    held = {"h0-0-0": "xx..", "h0-0-1": "xxx.", "h0-0-2": "xxx.", "h0-0-3": "xxx."}
    ones = [start(f"one-{n}", f"h0-0-0-{n}") for n in range(2)]
    link = "h0-0-0-0/nvlink/0--pod-0-sw/h0-0-0-0"
    view = seen(hall(), allocated(hall(), held), ill("link.down", link), events=ones)
    assert pairs(view, 4) is None  # of its four one is behind a link that is down
    moves = pairs(view, 3)
    assert moves is not None
    assert [move.job for move in moves] == ["one-1"]  # and the other makes room for three


def test_two_trays_are_freed_for_a_job_of_two() -> None:
    held = {"h0-0-0": "x...", "h0-0-1": "x...", "h0-0-2": "x...", "h0-0-3": "x..."}
    events = [start(f"j{n}", f"h0-0-{n}-0") for n in range(4)]
    moves = pairs(seen(hall(), allocated(hall(), held), events=events), 8)
    assert moves is not None
    assert {move.source for move in moves} == {"h0-0-0", "h0-0-1"}
    assert {move.target for move in moves} <= {"h0-0-2", "h0-0-3"}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([], id="nobody knows who holds them"),
        pytest.param(
            [start("all", *(f"h0-0-{n}-{k}" for n in range(4) for k in range(2)))],
            id="one job over all hosts",
        ),
    ],
)
def test_what_cannot_be_moved_is_not_advised(events: list[Event]) -> None:
    view = seen(hall(), allocated(hall(), HALVES), events=events)
    assert pairs(view, 4) is None


def test_a_domain_is_told_by_sizes_that_wait_a_tray_and_a_rack() -> None:
    view = seen(hall(), allocated(hall(), {"h0-0-0": "xx.."}), pending(3))
    said = {(one.metric, one.labels): one.value for one in detector().verdicts(view, {})}
    whole = {key: value for key, value in said.items() if key[0] is not DOMAIN_TIER_FRAGMENTATION}
    assert whole == {
        (LARGEST_PLACEABLE, ("pod-0",)): 12.0,
        (DOMAIN_STRANDED, ("pod-0",)): 2.0,
        (DOMAIN_FRAGMENTATION, ("pod-0", "3")): pytest.approx(1 - 9 / 14),
        (DOMAIN_FRAGMENTATION, ("pod-0", "4")): pytest.approx(1 - 12 / 14),
        (DOMAIN_FRAGMENTATION, ("pod-0", "16")): 1.0,
    }


def test_each_tier_is_told_with_what_is_ill_and_without() -> None:
    topology = hall(racks=2, hosts=2)
    held = allocated(topology, {"h0-0-0": "xx..", "h0-1-1": "xx.."})
    link = "h0-0-1-0/nvlink/0--pod-0-sw/h0-0-1-0"
    view = seen(topology, held, ill("link.down", link, "page"), pending(6))
    shares = {
        one.labels[2:]: round(one.value, 3)
        for one in detector().verdicts(view, {})
        if one.metric is DOMAIN_TIER_FRAGMENTATION and one.labels[1] == "6"
    }
    assert shares == {
        ("tray", "free"): 0.5, ("tray", "fit"): 1.0,
        ("rack", "free"): 0.0, ("rack", "fit"): 0.5,
        ("domain", "free"): 0.0, ("domain", "fit"): 0.5,
    }  # fmt: skip


def test_of_a_silent_scheduler_nothing_is_told() -> None:
    assert list(detector().verdicts(seen(hall()), {})) == []
