"""Several analyzers of one site: who reads what, and who tells what."""

from collections.abc import Iterable

import pytest

from analyzer.judge import Judge, detectors
from analyzer.jurisdiction import Jurisdiction
from analyzer.ledger import Ledger
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.catalogue.ports import UP
from fabrichealth.catalogue.power import RACK_POWER
from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE, INCIDENTS
from fabrichealth.catalogue.watchers import ANALYSIS_SECONDS
from fabrichealth.kinds import LINK_DOWN, Severity
from fabrichealth.model import Incident, Place
from fabrichealth.topology import FABRIC, Device, Domain, Link, Loop, Rack, Topology
from tests.reference_store import ReferenceStore


def hall() -> Topology:
    """Return three domains of a rack and two hosts; a and b share leaves and a loop, c has its own.

    Leaves hang on one spine.
    """
    hosts = [
        Device(name=f"host-{name}{number}", role="host", rack=f"r-{name}", domain=f"pod-{name}")
        for name in "abc"
        for number in (1, 2)
    ]
    leaves = [Device(name=name, role="switch", tier=1) for name in ("leaf-ab", "leaf-c")]
    links = [
        Link(a=f"{leaf.name}/{host.name}", b=f"{host.name}/eth0")
        for leaf in leaves
        for host in hosts
        if host.name[5] in leaf.name[5:]
    ]
    links += [Link(a=f"{leaf.name}/up", b=f"spine/{leaf.name}") for leaf in leaves]
    return Topology(
        [*hosts, *leaves, Device(name="spine", role="switch", tier=2)],
        links,
        [Domain(name=f"pod-{name}", kind="ub") for name in "abc"],
        [Rack(name=f"r-{name}") for name in "abc"],
        [Loop(name="cdu-ab", racks=["r-a", "r-b"]), Loop(name="cdu-c", racks=["r-c"])],
    )


def reads(domains: Iterable[str]) -> set[str]:
    """Return the devices whose ports an analyzer of some domains reads."""
    topology = hall()
    ours = Jurisdiction(topology, domains)
    return {name for name in [*topology.devices, "stranger"] if ours.wants(UP, (name, "p"))}


def test_an_analyzer_reads_its_own_and_what_may_be_to_blame() -> None:
    assert reads(["pod-c"]) == {"host-c1", "host-c2", "leaf-c", "spine", "stranger"}
    assert "leaf-c" not in reads(["pod-a"])
    assert {"host-a1", "host-b2", "leaf-ab", "spine"} <= reads(["pod-a"])


@pytest.mark.parametrize("domains", [[], [FABRIC], ["pod-a", FABRIC]])
def test_who_judges_what_belongs_to_no_domain_reads_everything(domains: list[str]) -> None:
    assert reads(domains) == {*hall().devices, "stranger"}


def test_racks_and_loops_are_read_with_their_devices() -> None:
    ours = Jurisdiction(hall(), ["pod-a"])
    power = {name for name in ("r-a", "r-b", "r-c", "other") if ours.wants(RACK_POWER, (name,))}
    assert power == {"r-a", "r-b", "other"}
    loops = [name for name in ("cdu-ab", "cdu-c") if ours.wants(FLOW, (name,))]
    assert loops == ["cdu-ab"]
    assert ours.wants(ANALYSIS_SECONDS, ("link_down",))


def incident(name: str, domain: str | None, culprit: Place | None = None) -> Incident:
    """Return an open incident of a domain."""
    return Incident(
        incident=name,
        kind=LINK_DOWN,
        severity=Severity.PAGE,
        opened_at=0.0,
        culprit=culprit or Place("link", "leaf-ab/host-a1--host-a1/eth0"),
        because="",
        action="",
        domain=domain,
    )


def test_each_incident_is_told_by_exactly_one() -> None:
    shares = [["pod-a"], ["pod-b", "pod-c"], [FABRIC]]
    every = [Jurisdiction(hall(), share) for share in shares]
    for domain, teller in (("pod-a", 0), ("pod-b", 1), ("pod-c", 1), (None, 2)):
        held = [ours.holds(incident("i1", domain)) for ours in every]
        assert held == [place == teller for place in range(3)]
    assert Jurisdiction(hall()).holds(incident("i1", None))
    assert len({ours.prefix for ours in every}) == 3


def test_verdicts_go_with_what_they_are_about() -> None:
    ours = Jurisdiction(hall(), ["pod-a"])
    told = frozenset({"pod-a-i1"})
    rows = [
        (INCIDENT_ACTIVE, ("pod-a-i1", "pod-a", "x"), True),
        (INCIDENT_ACTIVE, ("pod-a-i2", "", "x"), False),
        (INCIDENTS, ("link.down", "page", "pod-a"), True),
        (INCIDENTS, ("link.down", "page", ""), False),
        (ANALYSIS_SECONDS, ("link_down",), True),
    ]
    for metric, labels, wanted in rows:
        assert ours.tells(Verdict(metric, labels, 1.0), told) is wanted


def test_an_incident_whose_culprit_turns_out_to_be_elsewhere_is_over_here() -> None:
    mine = incident("pod-a-i1", "pod-a")
    ledger = Ledger(incidents=[mine])
    topology = hall()
    judge = Judge(
        ReferenceStore(), topology, detectors({}), ledger, ours=Jurisdiction(topology, ["pod-a"])
    )
    assert [one.incident for one in judge.open] == ["pod-a-i1"]
    mine.domain, mine.culprit, mine.last_seen = None, Place("device", "leaf-ab"), 50.0
    changed, closed = judge._of_ours([mine], [])
    assert changed == []
    assert [(one.incident, one.closed_at) for one in closed] == [("pod-a-i1", 50.0)]
    assert judge._of_ours([mine], []) == ([], [])
    assert mine.closed_at is None
