"""Jobs that cannot hold what they are said to hold."""

from collections.abc import Sequence

import pytest

from analyzer.judge import detectors
from fabrichealth.events import Event
from fabrichealth.model import Finding, Place
from tests.analyzer.domain.halls import NOW, PERIOD, Said, allocated, hall, start
from tests.analyzer.views import START, view_of


def judged(*events: Event, said: Said | None = None) -> list[Finding]:
    one = detectors()["jobs_contradicted"]
    told = allocated(hall(), {"h0-0-0": "xx.."}) if said is None else said
    view = view_of(one, told, PERIOD, hall(), events, now=NOW)
    return list(one.judge(view))


def at(seconds: float, job: str, *accelerators: str) -> Event:
    return Event(NOW - seconds, "job_start", {"job": job}, more={"accelerators": [*accelerators]})


def end(seconds: float, job: str) -> Event:
    return Event(NOW - seconds, "job_end", {"job": job})


def test_an_accelerator_in_two_jobs_accuses_the_later_one() -> None:
    (one,) = judged(start("j1", "h0-0-0-0"), at(400, "j2", "h0-0-0-0", "h0-0-0-1"))
    assert one.about == Place("job", "j2")
    assert one.since == NOW - 400
    assert "another job has not given them back" in one.because


def test_accelerators_that_nobody_knows_are_one_finding_a_job() -> None:
    (one,) = judged(start("j1", *(f"gpu-{n}" for n in range(8))))
    assert (one.about, one.score) == (Place("job", "j1"), 8.0)
    assert "gpu-0, gpu-1, gpu-2 and 5 more" in one.because


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([start("j1", "h0-0-0-0"), at(200, "j2", "h0-0-0-0")], id="for a moment"),
        pytest.param(
            [start("j1", "h0-0-0-0"), at(400, "j2", "h0-0-0-0"), end(100, "j1")], id="no more"
        ),
        pytest.param([start("j1", "gpu-0"), end(100, "j1")], id="a stranger that has ended"),
        pytest.param([start("j1", "h0-0-0-0"), start("j2", "h0-0-0-1")], id="side by side"),
    ],
)
def test_is_quiet_where_it_says_so(events: Sequence[Event]) -> None:
    assert judged(*events) == []


def test_is_quiet_while_the_scheduler_is_silent() -> None:
    silent: Said = {
        key: [values[0]] * 5 + [float("nan")] * (len(values) - 5)
        for key, values in allocated(hall(), {}).items()
    }
    assert judged(start("j1", "gpu-0"), said=silent) == []


def test_events_alone_are_held_against_each_other_too() -> None:
    (one,) = judged(start("j1", "h0-0-0-0"), at(400, "j2", "h0-0-0-0"), said={})
    assert one.about == Place("job", "j2")
    assert one.evidence[0].value == 1.0
    assert one.since > START
