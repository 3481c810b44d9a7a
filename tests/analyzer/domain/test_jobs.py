"""Jobs as events tell them, odd ones too."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.domain.jobs import jobs
from fabrichealth.events import Event, parse


def start(job: str, at: float, *accelerators: str, **more: object) -> Event:
    return Event(at, "job_start", {"job": job}, more={"accelerators": list(accelerators), **more})


def end(job: str, at: float, kind: str = "job_end") -> Event:
    return Event(at, kind, {"job": job})


def pending(job: str, at: float, size: object, **scope: str) -> Event:
    return Event(at, "job_pending", {"job": job, **scope}, more={"size": size})


def test_a_job_holds_its_accelerators_until_it_ends() -> None:
    told = jobs([start("j1", 10.0, "a", "b"), end("j1", 50.0)])
    (job,) = told.rows
    assert (job.since, job.until, job.accelerators) == (10.0, 50.0, ("a", "b"))
    assert [job.runs(at) for at in (9.0, 10.0, 49.0, 50.0)] == [False, True, True, False]


def test_a_job_that_runs_may_wait_for_more_and_give_it_up() -> None:
    grown = [start("j1", 10.0, "a"), pending("j1", 20.0, 4)]
    assert [one.size for one in jobs(grown).waiting] == [4]
    told = jobs([*grown, pending("j1", 30.0, 0)])
    assert told.waiting == ()
    assert [job.name for job in told.running(40.0)] == ["j1"]


def test_a_start_that_is_told_again_is_no_second_job() -> None:
    (job,) = jobs([start("j1", 10.0, "a"), start("j1", 90.0, "a")]).rows
    assert (job.since, job.until) == (10.0, inf)


def test_a_job_that_grows_has_a_row_for_each_set() -> None:
    told = jobs([start("j1", 10.0, "a"), start("j1", 90.0, "a", "b")])
    assert [(one.since, one.until, one.accelerators) for one in told.rows] == [
        (10.0, 90.0, ("a",)),
        (90.0, inf, ("a", "b")),
    ]
    assert told.oddities == ()


def test_roles_name_accelerators_too() -> None:
    event = Event(1.0, "job_start", {"job": "j"}, more={"roles": {"pp0": ["a"], "pp1": ["b", "c"]}})
    (job,) = jobs([event]).rows
    assert job.accelerators == ("a", "b", "c")
    assert job.roles == {"pp0": ("a",), "pp1": ("b", "c")}


def test_what_waits_keeps_its_place_until_it_starts_or_is_cancelled() -> None:
    told = jobs(
        [
            pending("a", 1.0, 64, domain="pod-a"), pending("a", 5.0, 64, domain="pod-a"),
            pending("b", 2.0, 8), pending("c", 3.0, 8), end("b", 4.0, "job_cancelled"),
            start("c", 6.0, "x"),
        ]
    )  # fmt: skip
    assert [(one.name, one.size, one.since, one.domain) for one in told.waiting] == [
        ("a", 64, 1.0, "pod-a")
    ]


@pytest.mark.parametrize(
    ("events", "what", "job"),
    [
        pytest.param(
            [start("j1", 1.0, "a"), start("j2", 2.0, "a")], "two_jobs", "j2", id="a in two jobs"
        ),
        pytest.param(
            [start("j1", 1.0, "?")], "unknown_accelerator", "j1", id="a name nobody knows"
        ),
        pytest.param([Event(1.0, "job_start")], "unreadable_event", "", id="no job"),
        pytest.param([pending("j1", 1.0, "64")], "unreadable_event", "j1", id="a size in words"),
        pytest.param(
            [Event(1.0, "job_start", {"job": "j1"}, more={"accelerators": ["a", 7]})],
            "unreadable_event", "j1", id="a number for a name",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_so_is_said_and_costs_nothing_else(
    events: list[Event], what: str, job: str
) -> None:
    told = jobs([*events, start("good", 9.0, "b")], {"a", "b"})
    assert [(one.what, one.job) for one in told.oddities] == [(what, job)]
    assert told.rows[-1].accelerators == ("b",)


def test_one_job_after_another_is_no_overlap() -> None:
    told = jobs([start("j1", 1.0, "a"), end("j1", 5.0), start("j2", 5.0, "a")])
    assert told.oddities == ()


WORDS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
LISTS = st.lists(WORDS, max_size=3)
JSON = WORDS | LISTS | st.dictionaries(st.text(max_size=3), WORDS | LISTS, max_size=3)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "at": st.integers(0, 100),
                "kind": st.sampled_from(
                    ["job_start", "job_end", "job_pending", "job_cancelled", "boot"]
                ),
            },
            optional={
                "scope": st.dictionaries(st.just("job"), st.sampled_from("ab"), max_size=1),
                "accelerators": JSON, "roles": JSON, "size": JSON,
            },
        ),
        max_size=12,
    )
)  # fmt: skip
def test_whatever_events_say_jobs_begin_before_they_end(plain: list[dict[str, object]]) -> None:
    events = []
    for one in plain:
        try:
            events.append(parse(one))
        except ValueError:
            continue
    told = jobs(sorted(events, key=lambda event: event.at), {"x"})
    assert all(job.since <= job.until for job in told.rows)
    assert all(one.says for one in told.oddities)


ROLES = {"actor": ["a"], "learner": ["b"]}
BOTH = start("j", 10.0, "a", "b")


@pytest.mark.parametrize(
    "told",
    [
        pytest.param([BOTH, start("j", 12.0, "a", "b", roles=ROLES)], id="the second"),
        pytest.param([start("j", 10.0, "a", "b", roles=ROLES), BOTH], id="the first"),
        pytest.param(
            [BOTH, start("j", 12.0, "b", "a", roles=ROLES), start("j", 9e5, "a", "b")],
            id="in another order, and the scheduler tells it anew in a week",
        ),
        pytest.param(
            [BOTH, Event(12.0, "job_start", {"job": "j"}, more={"roles": ROLES})], id="roles alone"
        ),
    ],
)
def test_roles_that_only_one_of_two_tells_are_kept(told: list[Event]) -> None:
    (job,) = jobs(told).rows
    assert (job.since, job.until) == (10.0, inf)
    assert job.roles == {"actor": ("a",), "learner": ("b",)}


def test_roles_of_a_job_that_moved_are_not_those_of_before() -> None:
    *_, job = jobs([start("j", 10.0, "a", "b", roles=ROLES), start("j", 20.0, "c", "d")]).rows
    assert (job.accelerators, job.roles) == (("c", "d"), {})


@pytest.mark.parametrize("onto", ["a", "b"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_job_that_restarts_within_a_second_runs_whichever_is_written_first(
    onto: str, swapped: bool
) -> None:
    moment = [end("j", 50.0), start("j", 50.0, onto)]
    rows = jobs([start("j", 10.0, "a"), *(moment[::-1] if swapped else moment)]).rows
    assert [(one.since, one.until, one.accelerators) for one in rows] == [
        (10.0, 50.0, ("a",)), (50.0, inf, (onto,)),
    ]  # fmt: skip


def test_a_job_that_is_told_anew_ends_when_it_ends() -> None:
    (job,) = jobs([start("j", 10.0, "a"), start("j", 20.0, "a"), end("j", 30.0)]).rows
    assert (job.since, job.until) == (10.0, 30.0)
    (short,) = jobs([start("j", 10.0, "a"), end("j", 10.0)]).rows
    assert not short.runs(10.0)
