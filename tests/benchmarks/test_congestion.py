"""The fluid fabric, its watchdog and its score: what they must keep to, whatever the case."""

import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.congestion import __main__ as command
from benchmarks.congestion.case import Chop, calm, stopping
from benchmarks.congestion.cases import CASES, case
from benchmarks.congestion.fabrics import either
from benchmarks.congestion.fluid import Fluid, State, settle
from benchmarks.congestion.judging import Said
from benchmarks.congestion.picture import delays
from benchmarks.congestion.receivers import receiver
from benchmarks.congestion.scoring import Result, kept, kept_name, of_json, to_json
from benchmarks.congestion.tables import figures, in_time
from benchmarks.congestion.watchdog import Look, Times, Watchdog
from benchmarks.kept import Keeper
from benchmarks.report import BEGIN, END

LINE = 50e9
SEEDS = st.integers(0, 2**31)


def two_leaves() -> Fluid:
    """Return three hosts below two leaves below a spine."""
    cables = [("leaf-0", "spine-0"), ("leaf-1", "spine-0"), ("host-0", "leaf-0"),
              ("host-1", "leaf-0"), ("host-2", "leaf-1")]  # fmt: skip
    return Fluid(cables, LINE)


def state(fluid: Fluid, marks: bool = False, heeded: bool = True) -> State:
    n = len(fluid.names)
    return State(fluid.demand, np.zeros(n), np.full(n, LINE), np.full(n, marks), heeded)


def crowded() -> Fluid:
    fluid = two_leaves()
    fluid.flow(["host-0", "leaf-0", "host-1"], 0.8 * LINE)
    fluid.flow(["host-2", "leaf-1", "spine-0", "leaf-0", "host-1"], 0.8 * LINE)
    return fluid


# What flows ----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.floats(0.0, 1.0), st.booleans(), st.booleans())
def test_nothing_sends_more_than_it_can_and_no_stop_is_longer_than_time(
    seed: int, duty: float, marks: bool, heeded: bool
) -> None:
    made = either(np.random.default_rng(seed))
    host, leaf = receiver(made)
    base = calm(made)
    ill = replace(stopping(made, {(leaf, host): duty}, base), heeded=heeded)
    ill = ill if marks else replace(ill, marks=np.zeros_like(ill.marks))
    for one, settled in zip((base, ill), settle(made.fluid, [base, ill]), strict=True):
        assert (settled.stopped >= one.forced - 1e-9).all()
        assert (settled.stopped <= 1.0).all()
        able = one.capacity * (1.0 - settled.stopped)
        assert (settled.sent <= able * (1.0 + 1e-9) + 1e-6).all()
        assert (settled.marked[~one.marks] == 0.0).all()


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_states_settle_together_as_they_do_alone(seed: int) -> None:
    made = either(np.random.default_rng(seed))
    host, leaf = receiver(made)
    states = [stopping(made, {(leaf, host): duty}, calm(made)) for duty in (0.0, 0.3, 1.0)]
    for one, settled in zip(states, settle(made.fluid, states), strict=True):
        (alone,) = settle(made.fluid, [one])
        assert np.array_equal(alone.stopped, settled.stopped)
        assert np.array_equal(alone.sent, settled.sent)


def test_pauses_share_a_full_port_and_marks_spare_the_pauses() -> None:
    fluid = crowded()
    pausing, marking = settle(fluid, [state(fluid), state(fluid, marks=True)])
    full = fluid.number["leaf-0", "host-1"]
    senders = [fluid.number["host-0", "leaf-0"], fluid.number["host-2", "leaf-1"]]
    assert pausing.sent[full] == pytest.approx(LINE, rel=0.03)
    assert (pausing.stopped[senders] > 0.4).all()
    assert marking.sent[full] == pytest.approx(LINE, rel=0.03)
    assert (marking.stopped[senders] < 0.05).all()
    assert (pausing.full[full], marking.marked[full] > 0) == (True, True)


def test_what_waits_behind_a_dead_receiver_stands_still_too() -> None:
    fluid = crowded()
    fluid.flow(["host-0", "leaf-0", "spine-0", "leaf-1", "host-2"], 0.1 * LINE)
    dead = state(fluid, marks=True)
    dead.forced[fluid.number["leaf-0", "host-1"]] = 1.0
    (settled,) = settle(fluid, [dead])
    assert settled.sent.sum() == pytest.approx(0.0, abs=1.0)  # of the innocent flow, too
    assert settled.full[fluid.number["leaf-0", "host-1"]]


@given(st.floats(0.05, 0.99), st.floats(0.01, 2.0), st.floats(0.0, 2.0), st.integers(0, 40))
def test_stops_with_breaks_add_up_to_their_duty(
    duty: float, turn: float, phase: float, first: int
) -> None:
    chop = Chop(duty, turn, phase)
    whole = 100
    shares = [chop.share(0.2 * n, 0.2 * (n + 1)) for n in range(first, first + whole)]
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert sum(shares) / whole == pytest.approx(duty, abs=0.006 + turn / (0.2 * whole))


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_the_same_for_the_same_seed_and_names_ports_that_are_there(name: str) -> None:
    one, again = case(name, 3), case(name, 3)
    assert one.fabric.fluid.names == again.fabric.fluid.names
    assert (one.truth, one.began, one.read) == (again.truth, again.began, again.read)
    topology = one.fabric.topology()
    there = {*topology.devices, *topology.links, *map("/".join, one.fabric.fluid.names)}
    culprits = {name for names in one.truth.right.values() for name in names}
    assert culprits <= there
    assert set(one.faced) <= there


# The watchdog --------------------------------------------------------------------------------


def looked(dog: Watchdog, paused: list[float], moves: list[bool]) -> None:
    for number, (share, moved) in enumerate(zip(paused, moves, strict=True), 1):
        frames, seconds = np.array([5000.0 * share]), np.array([0.2 * share])
        dog.look(0.2 * number, Look(np.array([True]), np.array([moved]), frames, seconds))


def test_times_grow_with_the_ports_and_the_poll_to_a_second_at_most() -> None:
    assert Times.of(32) == Times(0.2, 0.2, 0.2)
    assert Times.of(33) == Times(0.4, 0.4, 0.4)
    assert Times.of(512) == Times(1.0, 3.2, 3.2)


def test_a_queue_that_stands_still_storms_and_is_restored_once_no_frame_comes() -> None:
    dog = Watchdog(np.array([True]), Times(0.2, 0.4, 0.4))
    looked(dog, [1.0] * 5 + [0.0] * 2, [False] * 7)
    assert [at for at, _ in dog.storms] == [0.4]
    assert [at for at, _ in dog.restores] == [pytest.approx(1.4)]
    assert not dog.stormed.any()


def test_a_break_in_which_a_packet_goes_out_begins_the_count_again() -> None:
    dog = Watchdog(np.array([True]), Times(0.2, 0.4, 0.4))
    looked(dog, [1.0, 0.9] * 6, [False, True] * 6)
    assert dog.storms == []


# The score -----------------------------------------------------------------------------------


def result(*said: Said, **given: object) -> Result:
    plain = Result(
        "choppy_storm", 1, "rails", 400, 1.0, 0.4, 0.8, 0.5, ("leaf-0/host-0",),
        {"pfc.storm": ("host-0/leaf-0",)}, {"pfc.slow_receiver": ("host-0/leaf-0",)}, "", "",
        30.0, said, (), 0, 25, 1.0,
    )  # fmt: skip
    return replace(plain, **given)  # type: ignore[arg-type]  # fields by name


def storm(at: float, culprit: str = "host-0/leaf-0", kind: str = "pfc.storm") -> Said:
    return Said(f"{kind}-{culprit}", at, kind, 4, culprit, "it stops others")


def test_a_storm_is_found_named_first_and_in_time_or_not() -> None:
    late = result(storm(2.0, "spine-0/leaf-0"), storm(7.0))
    assert (late.found, late.first, in_time(late)) == (storm(7.0), False, False)
    assert late.false() == [storm(2.0, "spine-0/leaf-0")]
    soon = result(storm(1.5, kind="pfc.slow_receiver"), storm(6.0))
    assert (soon.first, in_time(soon), soon.false()) == (True, True, [])
    assert in_time(result(storm(10.8), period=5.0))
    assert not in_time(result(storm(11.2), period=5.0))
    assert result().found is None


def test_a_circle_where_there_is_none_is_counted_as_one() -> None:
    assert len(result(storm(3.0, kind="pfc.deadlock")).cycles()) == 1


def test_a_watchdog_that_names_victims_at_once_did_not_name_the_origin_alone() -> None:
    alone = result(storms=((0.2, "leaf-0/host-0"), (0.8, "spine-0/leaf-0")))
    among = result(storms=((0.2, "leaf-0/host-0"), (0.2, "spine-0/leaf-0")))
    assert (alone.alone, among.alone, result().alone) == (True, False, False)
    assert (alone.barked, result().barked) == (0.2, None)


def test_a_result_is_read_back_as_it_was(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    one = result(storm(3.0), storms=((0.2, "leaf-0/host-0"),))
    assert of_json(to_json(one)) == one
    keeper.keep(kept_name(one.name, one.seed), to_json(one))
    assert kept(keeper, one.name, one.seed) == one
    assert kept(keeper, one.name, one.seed + 1) is None


def test_tables_and_picture_are_of_what_was_counted() -> None:
    found, missed = result(storm(3.0), storms=((0.2, "leaf-0/host-0"),)), result(seed=2)
    text = figures([found, missed])
    (row,) = (line for line in text.splitlines() if line.startswith("| storms of 60 %"))
    assert "0.500" in row
    assert "n=2" in row
    picture = ET.fromstring(delays([found, missed]))  # noqa: S314  # drawn just now
    assert len([one for one in picture.iter() if one.tag.endswith("circle")]) == 4


def test_the_command_keeps_what_it_judged_and_writes_it_between_the_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(command, "PAGE", page)
    monkeypatch.setattr(command, "PICTURES", tmp_path / "seen")
    keep = ["--keep", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", ["congestion", "--only", "broken_nic", "--each", "1", *keep])
    assert command.main() == 0
    judged = capsys.readouterr().out
    assert "| broken nic" in judged
    monkeypatch.setattr(sys, "argv", ["congestion", "--print", "--write", *keep])
    assert command.main() == 0
    text = page.read_text("utf-8")
    assert text.startswith(f"before\n{BEGIN}\nMade by")
    assert text.endswith(f"{END}\nafter\n")
    assert "pfc.storm" in text
    assert "`- " in text  # the tree of those that wait
    assert (tmp_path / "seen" / "storms.svg").exists()


def test_nothing_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["congestion", "--print", "--keep", str(tmp_path)])
    assert command.main() == 1
