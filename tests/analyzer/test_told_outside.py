"""What rules, routes and budgets outside are told of incidents: covers, owners, counted pages."""

import logging

import pytest

from analyzer.incidents.covering import COVERED, covered
from analyzer.incidents.owner import owner_of
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.verdicts import (
    INCIDENT_COVERS,
    INCIDENT_OWNER,
    PAGES,
    PAGES_ACCEPTED,
)
from fabrichealth.catalogue.watchers import ANALYSIS_FAILING, ANALYSIS_TIME
from fabrichealth.kinds import (
    COOLING_LEAK,
    DEVICE_DOWN,
    HOST_IRQ_MISPLACED,
    LINK_DOWN,
    POWER_OVERLOAD,
    WATCH_SOURCE_SILENT,
    IncidentKind,
    Severity,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Incident, Owner, Place, Port
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device, Domain, Feed, Link, Loop, Rack
from tests.analyzer.stories import HOUR, LINK, MINUTE, START, Story, during, event

NEAR = Port("host-0", "eth0")


def hall() -> Topology:
    """Two racks of two teams, a host in each, a leaf between them that is the network team's."""
    return Topology(
        devices=[
            Device(name="h1", role="host", rack="r1"),
            Device(name="h1-0", role="accelerator", host="h1"),
            Device(name="h2", role="host", rack="r2"),
            Device(name="leaf", role="switch", team="network"),
        ],
        links=[Link(a="h1/eth0", b="leaf/1"), Link(a="h2/eth0", b="leaf/2")],
        domains=[Domain(name="pod-a", team="pod-a-team")],
        racks=[
            Rack(name="r1", room="hall-1", team="east", loop="cdu-1"),
            Rack(name="r2", room="hall-1", domain="pod-a", loop="cdu-1"),
        ],
        loops=[Loop(name="cdu-1")],
        feeds=[Feed(name="r1-A", rack="r1")],
    )


def incident(kind: IncidentKind, culprit: Place, *victims: Place) -> Incident:
    return Incident(
        "i1", kind, Severity.PAGE, START, culprit, "because", "do", victims=list(victims)
    )


@pytest.mark.parametrize(
    ("kind", "culprit", "victims", "wanted"),
    [
        pytest.param(
            LINK_DOWN, Place("link", "h1/eth0--leaf/1"), (),
            [{"device": "h1", "port": "eth0"}, {"device": "leaf", "port": "1"}],
            id="both ends of a link",
        ),
        pytest.param(
            DEVICE_DOWN, Place("device", "leaf"), (Place("source", "snmp/leaf"),),
            [
                {"device": "leaf"},
                {"device": "h1", "port": "eth0"}, {"device": "leaf", "port": "1"},
                {"device": "h2", "port": "eth0"}, {"device": "leaf", "port": "2"},
                {"source": "snmp", "target": "leaf"},
            ],
            id="a dark switch, the far ends of its cables, and the source that fell silent with it",
        ),
        pytest.param(
            DEVICE_DOWN, Place("rack", "r1"), (),
            [{"rack": "r1"}, {"device": "h1"}, {"device": "h1", "port": "eth0"},
             {"device": "leaf", "port": "1"}, {"device": "h1-0"}],
            id="a dark rack and all in it",
        ),
        pytest.param(
            HOST_IRQ_MISPLACED, Place("device", "h1"), (), [{"device": "h1"}],
            id="a device that works covers none of its ports",
        ),
        pytest.param(COOLING_LEAK, Place("branch", "cdu-1/b2"), (), [{"loop": "cdu-1"}],
                     id="the loop of a branch"),
        pytest.param(POWER_OVERLOAD, Place("feed", "r1-A"), (), [{"feed": "r1-A", "rack": "r1"}],
                     id="a feed with its rack"),
        pytest.param(
            WATCH_SOURCE_SILENT, Place("source", "prom"), (Place("device", "h2"),),
            [{"source": "prom"}, {"source": "prom", "target": "h2"}, {"device": "h2"}],
            id="each target of a whole source",
        ),
        pytest.param(
            LINK_DOWN, Place("link", "h1/eth0--leaf/1"), (Place("port", "h2/eth0"),),
            [{"device": "h1", "port": "eth0"}, {"device": "leaf", "port": "1"},
             {"device": "h2", "port": "eth0"}, {"device": "leaf", "port": "2"}],
            id="a port as victim, with its far end",
        ),
    ],
)  # fmt: skip
def test_an_incident_covers_what_it_names(
    kind: IncidentKind, culprit: Place, victims: tuple[Place, ...], wanted: list[dict[str, str]]
) -> None:
    rows = covered(incident(kind, culprit, *victims), hall())
    found = [
        {label: name for label, name in zip(COVERED, row, strict=True) if name} for row in rows
    ]
    assert len(found) == len(wanted)
    assert all(row in found for row in wanted)


@pytest.mark.parametrize(
    ("culprit", "side", "wanted"),
    [
        (Place("device", "h1"), None, Owner("r1", "hall-1", "east")),
        (Place("device", "h1-0"), None, Owner("r1", "hall-1", "east")),
        (Place("device", "h2"), None, Owner("r2", "hall-1", "pod-a-team")),
        (Place("device", "leaf"), None, Owner("", "", "network")),
        (Place("link", "h1/eth0--leaf/1"), None, Owner("r1", "hall-1", "")),
        (Place("link", "h1/eth0--leaf/1"), "leaf/1", Owner("", "", "network")),
        (Place("link", "h1/eth0--leaf/1"), "h1/eth0", Owner("r1", "hall-1", "east")),
        (Place("rack", "r2"), None, Owner("r2", "hall-1", "pod-a-team")),
        (Place("feed", "r1-A"), None, Owner("r1", "hall-1", "east")),
        (Place("loop", "cdu-1"), None, Owner("", "hall-1", "")),
        (Place("domain", "pod-a"), None, Owner("", "", "pod-a-team")),
        (Place("source", "prom/h1"), None, Owner("r1", "hall-1", "east")),
        (Place("lot", "v/p/7"), None, Owner()),
    ],
    ids=str,
)
def test_an_alert_goes_to_the_one_team_that_has_the_culprit(
    culprit: Place, side: str | None, wanted: Owner
) -> None:
    assert owner_of(culprit, side, hall()) == wanted


def series(verdicts: list[Verdict], metric: Metric) -> dict[tuple[str, ...], float]:
    return {one.labels: one.value for one in verdicts if one.metric is metric}


def test_a_suppressed_incident_covers_its_ports_and_has_an_owner() -> None:
    work = [event("maintenance_start", 300, {"rack": "r1"}, "chg-1")]
    story = Story(during(LINK_DOWN, NEAR, (600, 900)), work).until(700)
    assert story.only.suppressed_by == "maintenance:chg-1"
    said = story.outcomes[-1].verdicts
    name = story.only.incident
    covers = {labels[2:4] for labels in series(said, INCIDENT_COVERS)}
    assert covers == {tuple(end.split("/")) for end in LINK.split("--")}
    assert set(series(said, INCIDENT_COVERS).values()) == {4.0}
    (owner,) = series(said, INCIDENT_OWNER)
    assert owner[:2] == (name, "r1")


def test_pages_are_counted_from_zero_once_each_and_not_while_suppressed() -> None:
    work = [event("maintenance_start", 300, {"rack": "r1"}, "chg-1"),
            event("maintenance_end", HOUR, {"rack": "r1"}, "chg-1")]  # fmt: skip
    story = Story(during(LINK_DOWN, NEAR, (600, 2 * HOUR)), work).until(300)

    def pages() -> float:
        return sum(series(story.outcomes[-1].verdicts, PAGES).values())

    assert series(story.outcomes[-1].verdicts, PAGES)
    assert pages() == 0
    story.until(HOUR)
    assert pages() == 0
    story.until(HOUR + 2 * MINUTE)
    assert pages() == 1
    story.restart()
    assert (story.until(2 * HOUR), pages()) == (story, 1)


def test_what_is_accepted_follows_the_number_of_links_of_each_domain() -> None:
    story = Story(during(LINK_DOWN, NEAR)).until(120)
    accepted = series(story.outcomes[-1].verdicts, PAGES_ACCEPTED)
    links = len(story.judge.topology.links)
    assert sum(accepted.values()) == pytest.approx(10 * links / 10_000)


def test_each_pass_says_when_it_was_and_which_detector_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    story = Story(during(LINK_DOWN, NEAR)).until(120)
    said = story.outcomes[-1].verdicts
    assert series(said, ANALYSIS_TIME) == {("",): START + 120}
    assert series(said, ANALYSIS_FAILING) == {("script",): 0.0}

    def broken(view: object) -> list[Finding]:
        raise ZeroDivisionError

    monkeypatch.setattr(story.judge._detectors["script"], "judge", broken)
    with caplog.at_level(logging.CRITICAL, "analyzer.judge"):  # it is told in the log as well
        story.until(180)
    assert series(story.outcomes[-1].verdicts, ANALYSIS_FAILING) == {("script",): 1.0}
