"""Where pauses begin, on fabrics small enough to be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.pause.circles import circles, closed
from analyzer.evidence.pause.origins import absorbed, trees, victims
from analyzer.evidence.pause.standing import standing
from analyzer.evidence.pause.waiting import Allowed, Waits, waits
from tests.analyzer.pause.clos import Clos


def graph_of(fabric: Clos) -> tuple[Waits, np.ndarray]:
    queues = fabric.queues()
    return waits(queues, Allowed()), queues.paused.sum(axis=1)


def test_a_storm_is_traced_to_the_host_that_sends_it() -> None:
    fabric = Clos(leaves=3, spines=2)
    fabric.storm("h1.0")
    (tree,) = trees(*graph_of(fabric))
    assert fabric.told(int(tree.origins[0])) == "h1.0"
    assert tree.shares[0] > 0.95


def test_its_victims_are_told_by_their_distance() -> None:
    fabric = Clos(leaves=2, spines=1)
    fabric.storm("h1.0")
    graph, paused = graph_of(fabric)
    (tree,) = trees(graph, paused)
    found, depth = victims(graph, int(tree.origins[0]))
    told = dict(zip((fabric.told(int(one)) for one in found), depth.tolist(), strict=True))
    near = {"l1->h1.0": 1, "s0->l1": 2, "h1.1->l1": 2}
    assert told == near | {"l0->s0": 3, "h0.0->l0": 4, "h0.1->l0": 4}


def test_two_storms_share_what_they_explain() -> None:
    fabric = Clos(leaves=2, spines=2)
    fabric.storm("h0.0")
    fabric.storm("h1.0")
    (tree,) = trees(*graph_of(fabric))
    assert {fabric.told(int(one)) for one in tree.origins[:2]} == {"h0.0", "h1.0"}
    assert tree.shares[:2].sum() == pytest.approx(1.0, abs=1e-3)
    assert tree.shares[0] < 0.6  # not a verdict on one of them alone


def test_a_full_queue_at_line_rate_is_the_origin_of_what_it_backs_up() -> None:
    fabric = Clos(leaves=3, spines=2)
    fabric.congested["l1", "h1.0"] = 1.0
    for name in (("s0", "l1"), ("s1", "l1"), ("l0", "s0"), ("l2", "s1")):
        fabric.stop(name, 0.2)
    (tree,) = trees(*graph_of(fabric))
    assert fabric.told(int(tree.origins[0])) == "l1->h1.0"


def test_behind_a_switch_that_is_not_read_nothing_is_claimed() -> None:
    fabric = Clos(leaves=3, spines=2)
    fabric.storm("h1.0")
    for name in list(fabric.paused):
        if name[0] == "l1":  # it is silent: what stops its own queues is not known
            del fabric.paused[name]
    fabric.silent = frozenset({"l1"})
    (tree,) = trees(*graph_of(fabric))
    assert fabric.told(int(tree.origins[0])) == "l1"


def ring(fabric: Clos) -> None:
    """Let four queues wait for each other: what came down at a leaf was sent up again."""
    for name in (("l0", "s0"), ("s0", "l1"), ("l1", "s1"), ("s1", "l0")):
        fabric.stop(name, 1.0)


def deadlocks(fabric: Clos) -> list[tuple[set[str], str]]:
    queues = fabric.queues()
    graph, free = waits(queues, Allowed()), waits(queues, Allowed(valley_free=False))
    unknown = np.full(queues.paused.shape, np.nan)
    stand = standing(queues.paused, np.ones(len(unknown), bool), unknown, unknown)
    since = np.full(len(queues.device), 1000.0)
    found = circles(closed(queues, graph, stand), graph, free, since, poll=1.0)
    return [({fabric.told(int(one)) for one in c.members}, fabric.told(c.trigger)) for c in found]


def test_four_queues_that_wait_for_each_other_are_a_deadlock() -> None:
    fabric = Clos(leaves=3, spines=2)
    ring(fabric)
    fabric.stop(("l2", "s0"), 1.0)  # a victim outside the circle
    assert deadlocks(fabric) == [({"l0->s0", "s0->l1", "l1->s1", "s1->l0"}, "s0->l1")]


def test_a_deadlock_is_found_beside_a_storm() -> None:
    fabric = Clos(leaves=4, spines=2)
    ring(fabric)
    fabric.stop(("l3", "h3.0"), 1.0)
    (found,) = deadlocks(fabric)
    assert found[0] == {"l0->s0", "s0->l1", "l1->s1", "s1->l0"}


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=5))
def test_storms_alone_are_never_a_deadlock(sick: set[tuple[int, int]]) -> None:
    fabric = Clos(leaves=4, spines=2)
    for leaf, host in sick:
        fabric.storm(f"h{leaf}.{host}")
    for leaf, host in sick:  # a stormer's own sending may well be stopped too
        fabric.paused.pop((f"h{leaf}.{host}", f"l{leaf}"), None)
    assert deadlocks(fabric) == []


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 19), st.floats(0.01, 1.0)), max_size=40),
    st.lists(st.floats(0.0, 10.0), min_size=10, max_size=10),
)
def test_no_paused_time_is_made_or_counted_twice(
    edges: list[tuple[int, int, float]], paused: list[float]
) -> None:
    edges = [edge for edge in edges if edge[0] != edge[1]]
    graph = Waits(
        10,
        np.array([edge[0] for edge in edges], np.intp),
        np.array([edge[1] for edge in edges], np.intp),
        np.array([edge[2] for edge in edges], float),
        np.ones(len(edges)),
    )
    arrived, home = absorbed(graph, np.array(paused))
    assert (arrived >= 0).all()
    assert arrived.sum() <= sum(paused) * (1 + 1e-9)
    assert ((home >= 0) & (home <= 1 + 1e-9)).all()
    assert arrived.sum() == pytest.approx((home * paused).sum(), rel=1e-3, abs=1e-6)
