"""What happened long ago and still holds: names of ports, and jobs that run on."""

from analyzer.judge import EVENTS_REMEMBERED, Judge, detectors
from analyzer.lasting import lasting
from analyzer.ledger import Ledger
from fabrichealth.events import Event
from tests.analyzer.domain.halls import NOW, allocated, hall, pending
from tests.analyzer.views import store_of


def job(at: float, kind: str, name: str, **more: object) -> Event:
    return Event(at, kind, {"job": name}, more=more)


def test_what_has_not_ended_holds() -> None:
    renamed = Event(1.0, "port_renamed", {"device": "d"}, more={"from": "a", "to": "b"})
    runs, waits = job(2.0, "job_start", "runs"), job(3.0, "job_pending", "waits", size=4)
    over = [job(4.0, "job_start", "over"), job(5.0, "job_end", "over")]
    gone = [job(6.0, "job_pending", "gone"), job(7.0, "job_cancelled", "gone")]
    boot = Event(8.0, "boot", {"device": "d"})
    assert lasting([renamed, runs, waits, *over, *gone, boot]) == [renamed, runs, waits]


def test_a_job_has_its_accelerators_for_as_long_as_it_runs() -> None:
    topology = hall()
    held = {f"h0-0-{n}": "xx.." for n in range(4)}
    began = NOW - EVENTS_REMEMBERED - 86_400.0
    events = [
        job(began, "job_start", f"j{n}", accelerators=[f"h0-0-{n}-0", f"h0-0-{n}-1"])
        for n in range(4)
    ]
    judge = Judge(
        store_of({**allocated(topology, held), **pending(4)}, 30.0),
        topology,
        {"domain_fragmented": detectors()["domain_fragmented"]},
        Ledger(),
    )
    judge.tell(events)
    (one,) = judge.judge(NOW).findings
    assert "moving j0 (2) from h0-0-0 to h0-0-3 makes room" in one.because
    judge.tell([job(NOW - 60.0, "job_end", "j0")])
    (one,) = judge.judge(NOW + 1.0).findings
    assert "moving j1 (2)" in one.because
