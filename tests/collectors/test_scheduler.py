"""What every scheduler tells: who holds which accelerator, who waits, and what changed."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import kubernetes, slurm
from emulator.scheduling.slurm import SlurmController
from emulator.scheduling.workload import Workload
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED, SCHEDULABLE
from fabrichealth.events import Event
from tests.collectors.schedulers import AT, Seen, by_kubernetes, by_slurm, workload


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def told(events: Sequence[Event]) -> list[tuple[float, str, str]]:
    return [(event.at - AT, event.kind, event.scope["job"]) for event in events]


HELD = {f"host-0-{n}" for n in range(4)} | {"host-1-0", "host-1-2"}


Tell = Callable[[Workload], tuple[str, ...]]

TELLERS = [
    pytest.param(by_slurm, id="slurm"),
    pytest.param(lambda load: by_slurm(load, new=False), id="slurm before 23.02"),
    pytest.param(lambda load: by_slurm(load, groups=True), id="slurm, sinfo's groups"),
    pytest.param(by_kubernetes, id="kubernetes with volcano"),
]


@pytest.mark.parametrize("tell", TELLERS)
class TestEveryScheduler:
    def test_says_who_is_held_and_who_is_free(self, tell: Tell, seen: Seen) -> None:
        poll = seen.look(*tell(workload()))
        allocated = seen.said(poll, ALLOCATED)
        assert {name for name, value in allocated.items() if value == 1.0} == HELD
        assert len(allocated) == 16
        assert seen.said(poll, HOST_ALLOCATED) == {
            "host-0": 4.0, "host-1": 2.0, "host-2": 0.0, "host-3": 0.0,
        }  # fmt: skip
        assert poll.refused == []

    def test_says_where_work_may_be_placed(self, tell: Tell, seen: Seen) -> None:
        poll = seen.look(*tell(workload()))
        assert seen.said(poll, SCHEDULABLE) == {
            "host-0": 1.0, "host-1": 1.0, "host-2": 1.0, "host-3": 0.0,
        }  # fmt: skip

    def test_counts_who_waits_by_size_and_says_when_nobody_does_any_more(
        self, tell: Tell, seen: Seen
    ) -> None:
        load = workload()
        poll = seen.look(*tell(load))
        assert seen.pending(poll) == {("", "0"): 0.0, ("", "8"): 1.0}
        load.end("waits")
        assert seen.pending(seen.look(*tell(load), at=AT + 30))["", "8"] == 0.0

    def test_tells_what_changed_once(self, tell: Tell, seen: Seen) -> None:
        load = workload()
        first = seen.look(*tell(load))
        assert [(at, kind) for at, kind, _ in told(first.events)] == [
            (-600.0, "job_start"), (-300.0, "job_pending"),
        ]  # fmt: skip
        assert set(first.events[0].more["accelerators"]) == HELD
        assert seen.look(*tell(load), at=AT + 30).events == []
        load.end("big")
        load.end("waits")
        load.place("next", AT + 50, host_2=(1,))
        last = seen.look(*tell(load), at=AT + 60)
        assert sorted((at, kind) for at, kind, _ in told(last.events)) == [
            (50.0, "job_start"), (60.0, "job_cancelled"), (60.0, "job_end"),
        ]  # fmt: skip

    def test_a_restart_tells_nothing_twice(
        self, tell: Tell, seen: Seen, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        load = workload()
        seen.look(*tell(load))
        other = Seen(tmp_path_factory.mktemp("again"))
        other.source.remember(json.loads(json.dumps(seen.source.memory())))
        load.end("big")
        assert [kind for _, kind, _ in told(other.look(*tell(load), at=AT + 30).events)] == [
            "job_end"
        ]


def test_a_job_had_ended_when_the_next_began_on_its_accelerators(seen: Seen) -> None:
    load = workload()
    seen.look(*by_slurm(load))
    load.end("big")
    load.place("next", AT + 12, host_1=(2, 3))
    events = seen.look(*by_slurm(load), at=AT + 30).events
    assert [(one.at - AT, one.kind) for one in events] == [(12.0, "job_end"), (12.0, "job_start")]


def test_a_job_that_grows_is_told_though_nobody_says_onto_what(seen: Seen) -> None:
    def running(size: int) -> str:
        job = {"job_id": 7, "job_state": ["RUNNING"], "nodes": "host-0"}
        return json.dumps({"jobs": [job | {"tres_alloc_str": f"gres/gpu={size}"}]})

    seen.look(running(1))
    (grown,) = seen.look(running(2), at=AT + 30).events
    assert (grown.kind, grown.at, grown.more["size"]) == ("job_start", AT + 30, 2)
    assert seen.look(running(2), at=AT + 60).events == []


def test_a_scheduler_of_one_domain_has_its_queue_there(seen: Seen) -> None:
    load = Workload({"host-0": 4, "host-1": 4}, now=AT)
    load.queue("waits", 8, AT - 300)
    poll = seen.look(*by_slurm(load))
    assert seen.pending(poll) == {("pod-0", "0"): 0.0, ("pod-0", "8"): 1.0}
    (wait,) = poll.events
    assert wait.scope["domain"] == "pod-0"


def test_a_job_that_runs_for_weeks_is_told_anew(seen: Seen) -> None:
    load = workload()
    load.end("waits")
    seen.look(*by_slurm(load))
    (again,) = seen.look(*by_slurm(load), at=AT + 8 * 86_400).events
    assert (again.kind, again.at) == ("job_start", AT + 8 * 86_400)


def test_what_runs_again_did_not_begin_before_it_was_told_to_be_over(seen: Seen) -> None:
    load = workload()
    seen.look(*by_slurm(load))
    load.end("big")
    seen.look(*by_slurm(load), at=AT + 30)
    load.place("big", AT - 600, host_0=(0, 1, 2, 3), host_1=(0, 2))
    (again,) = seen.look(*by_slurm(load), at=AT + 60).events
    assert (again.kind, again.at) == ("job_start", AT + 30)


def test_a_job_keeps_its_accelerators_while_nobody_says_which_they_are(seen: Seen) -> None:
    load = workload()
    load.end("big")
    load.place("whole", AT - 60, host_0=(0, 1, 2, 3))
    control = SlurmController(load, counts=True)  # known by their number on full hosts alone
    (start, _) = seen.look(control.squeue(), control.nodes()).events[::-1]
    assert len(start.more["accelerators"]) == 4
    assert seen.look(control.squeue(), at=AT + 30).events == []
    assert seen.look(control.squeue(), control.nodes(), at=AT + 60).events == []


@given(data=st.data())
def test_lists_spoiled_anywhere_lose_rows_at_most(data: st.DataObject) -> None:
    for whole in (*by_slurm(workload()), *by_kubernetes(workload())):
        words = json.loads(whole)
        rows = next(value for key, value in words.items() if key in {"jobs", "nodes", "items"})
        row = data.draw(st.sampled_from(rows))
        key = data.draw(st.sampled_from(sorted(row)))
        row[key] = data.draw(
            st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
        )
        text = json.dumps(words)
        found = kubernetes.listed(text) if "kind" in words else slurm.listing(text, ("gpu",))
        assert len(found.malformed) <= 1
