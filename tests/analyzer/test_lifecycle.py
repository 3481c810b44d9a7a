"""How incidents open, grow, close and come back."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.incidents.lifecycle import Policy
from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE, INCIDENT_INFO, INCIDENTS
from fabrichealth.kinds import (
    ACCELERATOR_ERRORS,
    COOLING_LEAK,
    DEVICE_DOWN,
    LINK_DEGRADED_SPEED,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    LINK_WILL_FAIL,
    PFC_INCAST,
    WATCH_SOURCE_SILENT,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Finding, Place, Port
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.analyzer.stories import HOUR, LINK, MINUTE, START, Script, Story, during, finding

NEAR, FAR = Port("host-0", "eth0"), Port("leaf-0", "0")


def joined(*scripts: Script) -> Script:
    return lambda elapsed: [said for script in scripts for said in script(elapsed)]


def test_findings_of_both_ends_are_one_incident_of_the_link() -> None:
    story = Story(joined(during(LINK_DOWN, NEAR, (60, 600)), during(LINK_DOWN, FAR, (120, 600))))
    incident = story.until(700).only
    assert incident.culprit == Place("link", LINK)
    assert incident.opened_at == START + 60


def test_it_closes_when_its_cause_was_absent_for_the_hold_down_at_the_time_seen_last() -> None:
    story = Story(during(LINK_DOWN, NEAR, (60, 600))).until(540 + 29 * MINUTE)
    assert story.closed == []
    incident = story.until(600 + 31 * MINUTE).only
    assert incident.closed_at == START + 540
    assert story.ledger.incidents == []


@pytest.mark.parametrize(
    ("kind", "policy", "hold"),
    [
        pytest.param(LINK_DOWN, None, 30 * MINUTE, id="half an hour"),
        pytest.param(LINK_FLAPPING, None, 24 * HOUR, id="a day for flaps"),
        pytest.param(LINK_DOWN, 10 * MINUTE, 10 * MINUTE, id="as the site says"),
        pytest.param(LINK_DOWN, 2 * HOUR, 2 * HOUR, id="longer, as the site says"),
        pytest.param(LINK_FLAPPING, 10 * MINUTE, 24 * HOUR, id="a kind's own stays"),
    ],
)
def test_hold_downs(kind: IncidentKind, policy: float | None, hold: float) -> None:
    story = Story(during(kind, NEAR, (60, 120)), policy=Policy(policy))
    assert story.until(60 + hold - MINUTE).closed == []
    assert len(story.until(60 + hold).closed) == 1


def test_a_cause_that_returns_within_the_hold_down_continues_it_with_its_id() -> None:
    story = Story(during(LINK_DOWN, NEAR, (60, 300), (1500, 1800))).until(2 * HOUR)
    incident = story.only
    assert (incident.opened_at, incident.closed_at) == (START + 60, START + 1740)
    assert len(incident.history) == 1


def test_a_cause_that_returns_later_is_a_new_incident() -> None:
    story = Story(during(LINK_DOWN, NEAR, (60, 300), (3000, 3300))).until(3 * HOUR)
    assert [one.incident for one in story.all] == ["i1", "i2"]


def test_it_is_named_by_the_gravest_kind_it_reached_and_tells_each_step() -> None:
    story = Story(
        joined(
            during(LINK_WILL_FAIL, NEAR, (60, 600)),
            during(LINK_SUBHEALTHY, NEAR, (180, 600)),
            during(LINK_SUBHEALTHY, NEAR, (300, 600), severity=Severity.PAGE),
            during(LINK_DOWN, FAR, (420, 480)),
            during(LINK_DEGRADED_SPEED, FAR, (480, 600)),
        )
    )
    incident = story.until(600).only
    assert [(step.kind, str(step.severity), step.at - START) for step in incident.history] == [
        ("link.will_fail", "ticket", 60.0),
        ("link.subhealthy", "ticket", 180.0),
        ("link.subhealthy", "page", 300.0),
        ("link.down", "page", 420.0),
    ]
    assert (incident.kind, incident.severity) == (LINK_DOWN, Severity.PAGE)
    assert incident.action == LINK_DOWN.action


GRAVITY = (
    DEVICE_DOWN,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    LINK_DEGRADED_SPEED,
    LINK_WILL_FAIL,
)


def test_gravity_is_the_contracts_order() -> None:
    assert all(graver.gravity > lighter.gravity for graver, lighter in pairwise(GRAVITY))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(GRAVITY[1:]),
            st.sampled_from([None, Severity.PAGE]),
            st.integers(1, 25),  # no gap as long as a hold-down
            st.integers(1, 20),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_is_said_of_a_link_kind_and_severity_only_grow(
    said: list[tuple[IncidentKind, Severity | None, int, int]],
) -> None:
    scripts = [
        during(kind, NEAR, (start * MINUTE, (start + length) * MINUTE), severity=severity)
        for kind, severity, start, length in said
    ]
    incident = Story(joined(*scripts)).until(65 * MINUTE).only
    assert incident.kind.gravity == max(kind.gravity for kind, *_ in said)
    ranks = [  # a trend alone, with one kind of evidence, wakes nobody
        max((Severity.TICKET if kind.statistical else severity) or kind.severity, kind.severity)
        for kind, severity, *_ in said
    ]
    assert incident.severity == max(ranks)
    assert all(one.at <= other.at for one, other in pairwise(incident.history))
    steps = [(step.kind, step.severity) for step in incident.history]
    assert len(set(steps)) == len(steps)
    assert (incident.history[-1].kind, incident.history[-1].severity) == (
        incident.kind.name,
        incident.severity,
    )
    assert incident.opened_at == START + min(start for _, _, start, _ in said) * MINUTE


def test_confirmed_is_when_it_first_became_a_ticket_and_never_for_what_only_watches() -> None:
    ticket = Story(during(LINK_SUBHEALTHY, NEAR, (90, 600))).until(600).only
    assert (ticket.opened_at, ticket.confirmed_at) == (START + 90, START + 120)
    watch = Story(during(PFC_INCAST, NEAR, (60, 600))).until(600).only
    assert watch.confirmed_at is None


def test_the_counter_of_opened_incidents_counts_each_once() -> None:
    scripts = joined(
        during(LINK_DOWN, NEAR, (60, 300), (600, 900)), during(PFC_INCAST, FAR, (60, 900))
    )
    story = Story(scripts).until(1200)
    counts = {
        one.labels: one.value for one in story.outcomes[-1].verdicts if one.metric is INCIDENTS
    }
    assert counts == {("link.down", "page", "pod-a"): 1.0, ("pfc.incast", "watch", ""): 1.0}


def test_verdict_series_last_as_long_as_the_incident() -> None:
    story = Story(during(LINK_DOWN, NEAR, (60, 300))).until(HOUR)
    active = [
        [one.labels for one in outcome.verdicts if one.metric is INCIDENT_ACTIVE]
        for outcome in story.outcomes
    ]
    assert active[0] == [("i1", "pod-a", LINK)]
    assert active[-1] == []
    assert not [one for one in story.outcomes[-1].verdicts if one.metric is INCIDENT_INFO]


def test_a_device_that_goes_dark_takes_over_what_its_link_began() -> None:
    """The oldest goes on under the new culprit; nothing is closed beside it."""
    dark = during(DEVICE_DOWN, Place("device", "host-0"), (60, 3000))
    silent = during(WATCH_SOURCE_SILENT, Place("source", "snmp/host-0"), (200, 3000))
    story = Story(
        lambda elapsed: [
            *during(LINK_DOWN, NEAR, (60, 3000))(elapsed),
            *(dark(elapsed) if elapsed >= 180 else ()),
            *silent(elapsed),
        ]
    )
    incident = story.until(600).only
    assert incident.incident == "i1"
    assert incident.culprit == Place("device", "host-0")
    assert {("link", LINK), ("source", "snmp/host-0"), ("device", "host-0-0")} <= set(
        incident.victims
    )


def test_what_an_outcome_told_is_not_changed_by_later_passes() -> None:
    story = Story(during(LINK_DOWN, NEAR, (60, 300))).until(60)
    (first,) = story.outcomes[0].changed
    story.until(HOUR)
    assert first.closed_at is None
    assert first.last_seen == START + 60


def test_two_leaks_are_two_incidents_and_a_branch_is_not_its_loop() -> None:
    places = [Place("branch", "cdu-1/b1"), Place("loop", "cdu-1")]
    story = Story(joined(*(during(COOLING_LEAK, place, (60, 600)) for place in places)))
    assert {one.culprit for one in story.until(600).all} == set(places)


def test_evidence_is_kept_once_a_series_and_bounded() -> None:
    def script(elapsed: float) -> list[Finding]:
        return [finding(LINK_DOWN, NEAR, 60, elapsed)]

    incident = Story(script).until(6 * HOUR).only
    assert len(incident.evidence) == 1
    assert incident.evidence[0].at == START + 6 * HOUR


def dying(code_marks: float, domain: str, about: str = "host-0-0") -> Story:
    """Tell of an ill NVLink and of an accelerator's errors for the first time in one pass."""
    topology = Topology(
        [
            Device(name="host-0-0", role="accelerator", domain="pod-a"),
            Device(name="host-0-1", role="accelerator", domain="pod-a"),
            Device(name="host-7-0", role="accelerator", domain=domain),
        ],
        [Link(a="host-0-0/nvlink/0", b="host-0-1/nvlink/0", technology="nvlink")],
        [Domain(name="pod-a"), Domain(name="pod-b")],
    )
    ill = during(LINK_SUBHEALTHY, Port("host-0-1", "nvlink/0"), (60, 600))

    def script(elapsed: float) -> list[Finding]:
        errors = finding(ACCELERATOR_ERRORS, Place("device", about), 60, elapsed)
        return [*ill(elapsed), replace(errors, detail={"link_codes": code_marks})]

    return Story(script, topology=topology).until(300)


@pytest.mark.parametrize("about", ["host-0-0", "host-7-0"])
def test_link_codes_in_its_domain_are_victims_of_the_ill_link(about: str) -> None:
    incident = dying(1.0, "pod-a", about).only
    assert incident.kind is LINK_SUBHEALTHY
    assert Place("device", about) in incident.victims


def test_codes_of_their_own_and_of_other_domains_are_their_own_incidents() -> None:
    assert len(dying(0.0, "pod-a").all) == 2
    assert len(dying(1.0, "pod-b", "host-7-0").all) == 2
