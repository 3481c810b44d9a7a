"""Distribution of recovery times and failures."""

from dataclasses import replace

import pytest

from analyzer.recovery.distribution import failures, times
from fabrichealth.events import Event
from fabrichealth.topology import Device, Topology
from tests.analyzer.recovery.test_phases import CASE, HOUR, LINK, PAGE

DAY = 24 * HOUR


def test_open_repairs_count_as_lasting_longer_and_drills_stand_apart() -> None:
    cases = [
        replace(CASE, incident=f"i{n}", opened_at=n * DAY, confirmed_at=n * DAY,
                closed_at=n * DAY + (n + 1) * HOUR)
        for n in range(4)
    ]  # fmt: skip
    still = replace(CASE, opened_at=5 * DAY, confirmed_at=5 * DAY, closed_at=None)
    drill = replace(CASE, opened_at=6 * DAY, confirmed_at=6 * DAY, closed_at=6 * DAY + 60)
    events = [Event(6 * DAY - 60, "drill_start", {"link": LINK})]
    found = {
        (one.by, one.group, one.phase, one.drill): one
        for one in times([*cases, still, drill], events, PAGE, 6 * DAY)
    }
    whole = found["domain", "pod", "all", False]
    assert (whole.number, whole.over) == (5, 4)
    assert (whole.median, whole.p90) == (3 * HOUR, None)
    assert found["cause", "link.flapping", "all", False].median == 3 * HOUR
    assert found["domain", "pod", "all", True].median == 60.0


def test_failures_are_counted_by_kind_of_part_with_what_they_hit() -> None:
    cases = [
        replace(CASE, opened_at=10.0, accelerators=8, jobs=2),
        replace(CASE, opened_at=20.0, accelerators=2, jobs=1),
        replace(CASE, opened_at=-10.0, accelerators=64),  # before we looked
    ]
    found = {one.part: one for one in failures(cases, (), PAGE, 0.0, 10 * DAY)}
    link = found["optical link"]
    assert (link.parts, link.failures, link.between) == (1, 2, 5 * DAY)
    assert 0 < link.at_least < 5 * DAY
    assert (link.accelerators, link.most_accelerators) == (5.0, 8)
    assert (link.jobs, link.most_jobs) == (1.5, 2)
    switch = found["switch"]
    assert (switch.failures, switch.between, switch.accelerators) == (0, None, None)
    assert switch.at_least == pytest.approx(10 * DAY / 3, rel=0.01)  # the rule of three


def test_parts_of_another_domain_make_no_part_of_this_one_safer() -> None:
    topology = Topology(
        [Device(name=f"h{n}", role="host", domain=f"d{n % 2}") for n in range(4)]
        + [Device(name="spine", role="switch")]
    )
    case = replace(CASE, part="host", type="device", culprit="h1", domain="d1", opened_at=1.0)
    for domain, parts, hit in (("d0", 2, 0), ("d1", 2, 1)):
        found = {one.part: one for one in failures([case], (), topology, 0.0, 9.0, {domain, ""})}
        assert (found["host"].parts, found["host"].failures) == (parts, hit)
        assert found["switch"].parts == 1  # it serves both


def test_nothing_is_known_of_a_site_without_parts() -> None:
    assert failures([], (), Topology(), 0.0, 10.0) == []
    assert times([], (), Topology(), 0.0) == []
