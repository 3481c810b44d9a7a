"""Later faults join an incident or leave it, by rule; who was accused before is not forgotten."""

from dataclasses import replace

import pytest

from fabrichealth.kinds import (
    DEVICE_DOWN,
    FABRIC_ECMP_POLARIZED,
    FABRIC_HOT_LINK,
    LINK_DEGRADED_SPEED,
    LINK_DOWN,
    LINK_SUBHEALTHY,
    PARTS_SHARED_COMPONENT,
    PFC_DEADLOCK,
    PFC_INCAST,
    PFC_STORM,
    Severity,
)
from fabrichealth.model import Finding, Place, Port
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.stories import MINUTE, START, Script, Story, during, event, finding

LEAF = Place("device", "leaf-0")


def port(number: int) -> Port:
    return Port(f"host-{number}", "eth0")


def link(number: int) -> Place:
    return Place("link", f"host-{number}/eth0--leaf-0/{number}")


def fabric(hosts: int = 6) -> Topology:
    devices = [Device(name="leaf-0", role="switch")]
    devices += [Device(name=f"host-{n}", role="host") for n in range(hosts)]
    links = [Link(a=f"host-{n}/eth0", b=f"leaf-0/{n}", technology="ib") for n in range(hosts)]
    return Topology(devices, links)


def shared(
    start: int, end: int, members: tuple[int, ...], severity: Severity | None = None
) -> Script:
    """Return a script that accuses the leaf of its links, from minute to minute."""

    def script(elapsed: float) -> list[Finding]:
        if not start * MINUTE <= elapsed < end * MINUTE:
            return []
        found = finding(PARTS_SHARED_COMPONENT, LEAF, start * MINUTE, elapsed, severity)
        return [replace(found, victims=tuple(link(n) for n in members))]

    return script


def joined(*scripts: Script) -> Script:
    return lambda elapsed: [said for script in scripts for said in script(elapsed)]


def ill(number: int, start: int, end: int, severity: Severity | None = None) -> Script:
    return during(LINK_SUBHEALTHY, port(number), (start * MINUTE, end * MINUTE), severity=severity)


def test_links_that_share_a_part_become_one_incident_that_keeps_the_oldest_id() -> None:
    script = joined(ill(0, 1, 90), ill(1, 5, 90), ill(2, 9, 90), shared(20, 90, (0, 1, 2)))
    story = Story(script, topology=fabric()).until(40 * MINUTE)
    (incident,) = story.ledger.incidents
    assert (incident.incident, incident.culprit) == ("i1", LEAF)
    assert incident.opened_at == START + 1 * MINUTE
    assert {link(n) for n in range(3)} <= set(incident.victims)
    assert [one.incident for one in story.closed] == ["i2", "i3"]
    assert all("explained by i1" in one.because for one in story.closed)
    assert [step.kind for step in incident.history] == [
        "link.subhealthy", "parts.shared_component",
    ]  # fmt: skip
    former = next(one for one in incident.alternatives if one.culprit == link(0))
    assert "leaf-0 explains it and more" in former.why_not


def test_a_shared_part_is_as_grave_as_its_links() -> None:
    script = joined(ill(0, 1, 90, Severity.PAGE), shared(20, 90, (0, 1, 2)))
    (incident,) = Story(script, topology=fabric()).until(40 * MINUTE).ledger.incidents
    assert (incident.culprit, incident.severity) == (LEAF, Severity.PAGE)
    assert incident.held_back is None


def test_a_link_that_falls_ill_later_joins_what_explains_it() -> None:
    script = joined(shared(20, 120, (0, 1, 2, 3)), ill(3, 60, 120))
    story = Story(script, topology=fabric()).until(90 * MINUTE)
    (incident,) = story.all
    assert link(3) in incident.victims
    rival = next(one for one in incident.alternatives if one.culprit == link(3))
    assert rival.why_not == "link.subhealthy there began 40 min later and follows from it"


def test_a_link_that_it_does_not_list_stays_its_own() -> None:
    script = joined(shared(20, 90, (0, 1, 2)), ill(5, 30, 90))
    story = Story(script, topology=fabric()).until(60 * MINUTE)
    assert {one.culprit for one in story.ledger.incidents} == {LEAF, link(5)}


def test_what_comes_back_one_by_one_behind_a_switch_accuses_no_trunk() -> None:
    """The last links of a switch that was dark are no ill bundle; others' links may be one."""
    dark = during(DEVICE_DOWN, LEAF, (5 * MINUTE, 30 * MINUTE))
    trunk = Place("bundle", "mpo-1")

    def late(elapsed: float) -> list[Finding]:
        if not 29 * MINUTE <= elapsed < 33 * MINUTE:
            return []
        found = finding(PARTS_SHARED_COMPONENT, trunk, 6 * MINUTE, elapsed, Severity.PAGE)
        return [replace(found, victims=(link(2), link(3)))]

    one = Story(joined(dark, late), topology=fabric()).until(40 * MINUTE).only
    assert (one.kind, one.culprit) == (DEVICE_DOWN, LEAF)


def test_what_outlasts_its_cause_is_told_by_itself() -> None:
    script = joined(
        during(DEVICE_DOWN, LEAF, (10 * MINUTE, 20 * MINUTE)),
        during(LINK_DOWN, port(0), (10 * MINUTE, 60 * MINUTE)),
        during(LINK_DOWN, port(1), (10 * MINUTE, 20 * MINUTE)),
    )
    story = Story(script, topology=fabric()).until(15 * MINUTE)
    assert [one.culprit for one in story.ledger.incidents] == [LEAF]
    later = story.until(40 * MINUTE).ledger.incidents
    assert {one.culprit for one in later} == {LEAF, link(0)}


def test_a_link_goes_on_under_its_own_name_when_nothing_explains_it_any_longer() -> None:
    script = joined(
        ill(0, 1, 35), ill(1, 5, 35), ill(2, 9, 200), ill(3, 9, 30), shared(20, 35, (0, 1, 2, 3)),
    )  # fmt: skip
    story = Story(script, topology=fabric()).until(30 * MINUTE)
    assert [one.incident for one in story.ledger.incidents] == ["i1"]
    assert {one.incident for one in story.ledger.merged} == {"i2", "i3", "i4"}
    later = story.until(120 * MINUTE).ledger
    (again,) = later.incidents
    assert (again.incident, again.culprit, again.merged_into) == ("i3", link(2), None)
    assert again.opened_at == START + 9 * MINUTE
    assert later.merged == []
    story.until(180 * MINUTE)
    assert story.ledger.sequence == 4


def ring() -> Topology:
    """Return four switches in a circle, each with a host."""
    devices = [Device(name=f"s{n}", role="switch") for n in range(4)]
    devices += [Device(name=f"h{n}", role="host") for n in range(4)]
    links = [Link(a=f"s{n}/next", b=f"s{(n + 1) % 4}/last", technology="roce") for n in range(4)]
    links += [Link(a=f"s{n}/0", b=f"h{n}/eth0", technology="roce") for n in range(4)]
    return Topology(devices, links)


def stuck(start: int, end: int) -> Script:
    """Return a script that tells of a deadlock of all four."""

    def script(elapsed: float) -> list[Finding]:
        if not start * MINUTE <= elapsed < end * MINUTE:
            return []
        found = finding(PFC_DEADLOCK, Port("s0", "next"), start * MINUTE, elapsed)
        others = tuple(Place("port", f"s{n}/next") for n in (1, 2, 3))
        return [replace(found, victims=others)]

    return script


def test_storms_of_switches_that_turn_out_to_wait_in_a_circle_become_the_deadlock() -> None:
    script = joined(
        during(PFC_STORM, Port("s1", "0"), (5 * MINUTE, 8 * MINUTE)),
        during(PFC_STORM, Port("s2", "last"), (6 * MINUTE, 8 * MINUTE)),
        stuck(8, 60),
    )
    story = Story(script, topology=ring()).until(30 * MINUTE)
    (incident,) = story.ledger.incidents
    assert (incident.incident, incident.kind) == ("i1", PFC_DEADLOCK)
    assert incident.culprit == Place("port", "s0/next")
    assert ["explained by i1" in one.because for one in story.closed] == [True]


@pytest.mark.parametrize(
    ("begins", "ends", "deadlock"),
    [(5, 60, 8), (1, 200, 100), (1, 10, 35)],
    ids=["goes on beside it", "began long before and goes on", "was over long before"],
)
def test_a_storm_of_a_switch_of_the_circle_that_has_its_own_life_stays_its_own(
    begins: int, ends: int, deadlock: int
) -> None:
    storm = during(PFC_STORM, Port("s1", "0"), (begins * MINUTE, ends * MINUTE))
    script = joined(storm, stuck(deadlock, deadlock + 20))
    story = Story(script, topology=ring())
    for minute in range(deadlock + 1, deadlock + 19, 3):
        incidents = story.until(minute * MINUTE).ledger.incidents
        assert [one.kind for one in incidents][-1] is PFC_DEADLOCK
        assert [one.incident for one in incidents][-1] == "i2"
    assert all(one.merged_into is None for one in story.closed)


def test_a_storm_of_a_switch_of_the_circle_that_is_seen_later_is_the_circle() -> None:
    """A switch of it that is not read looks as if it stopped the others for no reason."""
    storm = during(PFC_STORM, Port("s2", "last"), (12 * MINUTE, 20 * MINUTE))
    beside = during(PFC_STORM, Port("h2", "eth0"), (14 * MINUTE, 20 * MINUTE))
    story = Story(joined(storm, beside, stuck(8, 60)), topology=ring()).until(18 * MINUTE)
    told = [(one.kind, one.culprit.id) for one in story.ledger.incidents]
    assert told == [(PFC_DEADLOCK, "s0/next"), (PFC_STORM, "h2/eth0")]


def test_two_circles_that_a_third_joins_are_one_incident_from_then_on() -> None:
    other = during(PFC_DEADLOCK, Port("s2", "last"), (10 * MINUTE, 20 * MINUTE))

    def script(elapsed: float) -> list[Finding]:
        more = (Place("port", "s2/last"),) if elapsed >= 20 * MINUTE else ()
        both = [replace(one, victims=(*one.victims, *more)) for one in stuck(8, 60)(elapsed)]
        return [*both, *other(elapsed)]

    story = Story(script, topology=ring())
    assert len(story.until(19 * MINUTE).ledger.incidents) == 2
    (incident,) = story.until(22 * MINUTE).ledger.incidents
    assert incident.culprit.id == "s0/next"


@pytest.mark.parametrize("said", ["verdict_ack", "verdict_false"])
def test_a_word_about_a_storm_does_not_silence_the_deadlock_that_it_becomes(said: str) -> None:
    script = joined(during(PFC_STORM, Port("s1", "0"), (5 * MINUTE, 8 * MINUTE)), stuck(8, 60))
    word = event(said, 6 * MINUTE, {"incident": "i1"})
    story = Story(script, [word], topology=ring())
    before = story.until(7 * MINUTE).only.operator
    assert before is not None
    assert before.silent
    incident = story.until(12 * MINUTE).only
    assert (incident.incident, incident.kind) == ("i1", PFC_DEADLOCK)
    assert incident.operator is not None
    assert not incident.operator.silent


def test_a_host_that_storms_beside_a_deadlock_stays_its_own() -> None:
    script = joined(during(PFC_STORM, Port("h1", "eth0"), (5 * MINUTE, 60 * MINUTE)), stuck(8, 60))
    story = Story(script, topology=ring()).until(30 * MINUTE)
    assert {one.kind for one in story.ledger.incidents} == {PFC_STORM, PFC_DEADLOCK}


def test_who_shares_what_is_weighed_and_ruled_out_by_how_few_are_ill() -> None:
    incident = Story(ill(0, 1, 90), topology=fabric()).until(10 * MINUTE).only
    (other,) = incident.alternatives
    assert (other.culprit, other.why_not) == (LEAF, "only 1 ill of its 6 links")
    assert other.share == round(1 / 6, 4)
    many = joined(*(ill(n, 1, 90) for n in range(4)))
    found = Story(many, topology=fabric()).until(10 * MINUTE).ledger.incidents
    assert all(one.alternatives == [] for one in found)  # most of its links: not ruled out


def test_a_queue_before_a_slow_link_is_its_victim_and_no_crowd() -> None:
    crowd = during(PFC_INCAST, Port("leaf-0", "0"), (12 * MINUTE, 60 * MINUTE))
    elsewhere = during(PFC_INCAST, Port("leaf-0", "3"), (12 * MINUTE, 60 * MINUTE))
    slow = during(LINK_DEGRADED_SPEED, port(0), (10 * MINUTE, 60 * MINUTE))
    story = Story(joined(slow, crowd, elsewhere), topology=fabric()).until(40 * MINUTE)
    first, second = story.ledger.incidents
    assert (first.kind, first.culprit) == (LINK_DEGRADED_SPEED, link(0))
    assert Place("link", link(0).id) not in first.victims
    assert second.kind is PFC_INCAST


def test_uplinks_of_a_polarized_switch_are_its_victims_though_they_were_told_first() -> None:
    hot = during(FABRIC_HOT_LINK, Port("leaf-0", "1"), (10 * MINUTE, 60 * MINUTE))
    polarized = during(FABRIC_ECMP_POLARIZED, LEAF, (15 * MINUTE, 60 * MINUTE))
    story = Story(joined(hot, polarized), topology=fabric()).until(40 * MINUTE)
    (incident,) = story.ledger.incidents
    assert (incident.kind, incident.culprit) == (FABRIC_ECMP_POLARIZED, LEAF)
    assert link(1) in incident.victims
