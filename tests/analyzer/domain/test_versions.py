"""Odd versions: when they are somebody's trouble, and when they only differ."""

import pytest

from analyzer.evidence.parts.versions import Odd, Running, odd_versions
from fabrichealth.catalogue.accelerators import ACCELERATOR_INFO, ERRORS, HEALTHY
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.catalogue.ports import SYMBOL_ERRORS, UP
from fabrichealth.events import Event
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.analyzer.domain.pods import POLLS, Said, each, names, pod, said, started
from tests.analyzer.views import START

EVERY = names()
OLD = EVERY[:4]


def told(odd: list[str], metric: str = "550.2", others: str = "535.1") -> Said:
    """Return which driver accelerators say they run; the odd ones another."""
    return {
        (ACCELERATOR_INFO, (name, "X", "", "", "", others if name in odd else metric)): [1.0]
        * POLLS
        for name in EVERY
    }


def test_an_odd_driver_whose_accelerators_are_ill_is_accused_with_all_who_run_it() -> None:
    ill = each(HEALTHY, EVERY[4:], 1.0) | each(HEALTHY, OLD, 0.0)
    (finding,) = said("parts_version_drift", told(OLD), ill)
    assert str(finding.about) == "pod-a"
    assert "4 of 4 accelerators with driver 535.1 are ill" in finding.because
    assert "0 of 28 with others; most run 550.2" in finding.because
    assert {place.id for place in finding.victims} == set(OLD)


def test_errors_that_only_the_odd_ones_count_accuse_their_driver() -> None:
    counted: Said = {
        (ERRORS, (name, "xid:31")): [
            0.0 if n < 40 or name not in OLD else 3.0 for n in range(POLLS)
        ]
        for name in EVERY
    }
    (finding,) = said("parts_version_drift", told(OLD), counted)
    assert "4 of 4" in finding.because
    assert any("xid:31" in line.says for line in finding.evidence)


QUIET: dict[str, tuple[Said, ...]] = {
    "a minority that is well": (told(OLD), each(HEALTHY, EVERY, 1.0)),
    "as many ill among the others": (
        told(OLD), each(HEALTHY, EVERY[:2] + EVERY[8:20], 0.0), each(HEALTHY, EVERY[20:], 1.0)),
    "all run the same": (told([]), each(HEALTHY, OLD, 0.0), each(HEALTHY, EVERY[4:], 1.0)),
    "one that is ill and odd among thirty": (
        told(EVERY[:1]), each(HEALTHY, EVERY[:1], 0.0), each(HEALTHY, EVERY[1:], 1.0)),
    "nobody says what it runs": (each(HEALTHY, OLD, 0.0), each(HEALTHY, EVERY[4:], 1.0)),
}  # fmt: skip


@pytest.mark.parametrize("parts", QUIET.values(), ids=QUIET)
def test_what_only_differs_is_nobodys_trouble(parts: tuple[Said, ...]) -> None:
    assert said("parts_version_drift", *parts) == []


def test_links_that_are_down_accuse_the_firmware_of_the_hosts_that_share_it() -> None:
    topology = pod(hosts=24, cards=1)
    every = [f"host-{n}" for n in range(24)]
    firmware: Said = {
        (DEVICE_INFO, (name, "", "28.39" if n < 5 else "28.43", "", "")): [1.0] * POLLS
        for n, name in enumerate(every)
    }
    up: Said = {}
    for n, name in enumerate(every):
        course = [1.0 if n >= 5 or poll < 50 else 0.0 for poll in range(POLLS)]
        up |= {(UP, (name, "eth0")): course, (UP, ("leaf-0", str(n))): course}
        up |= {(UP, (name, "eth1")): [1.0] * POLLS, (UP, ("leaf-1", str(n))): [1.0] * POLLS}
        up |= {(SYMBOL_ERRORS, (name, "eth0")): [0.0] * POLLS}
    (finding,) = said("parts_version_drift", firmware, up, topology=topology)
    assert "5 of 5 hosts with firmware 28.39 are ill" in finding.because
    links = [place.id for place in finding.victims if place.type == "link"]
    assert links == [f"host-{n}/eth0--leaf-0/{n}" for n in range(5)]


def fallen(at: list[int], code: str = "xid:31") -> Said:
    """Return the errors that each of the odd accelerators counts, from its own poll on."""
    return {
        (ERRORS, (name, code)): [
            float(name in OLD and n >= at[OLD.index(name)]) for n in range(POLLS)
        ]
        for name in EVERY
    }


def test_one_job_that_fell_tells_nothing_of_the_driver_it_ran_on() -> None:
    its = [started("j", OLD), Event(START + 290.0, "job_end", {"job": "j"})]
    at_once = fallen([30, 30, 32, 31])
    assert said("parts_version_drift", told(OLD), at_once, events=its) == []
    assert said("parts_version_drift", told(OLD), at_once) != []  # that it was a job nobody says
    for others in (fallen([10, 30, 45, 60]), fallen([30] * 4, "xid:79")):
        assert len(said("parts_version_drift", told(OLD), others, events=its)) == 1
    two = [started("j", OLD[:2]), started("k", OLD[2:])]
    assert len(said("parts_version_drift", told(OLD), at_once, events=two)) == 1


def test_of_one_that_differs_alone_it_is_said_that_it_may_be_ill_of_something_else() -> None:
    topology, every = pod(hosts=128, cards=1), names(128, 1)
    polls = 12  # a minute apart
    runs: Said = {(ACCELERATOR_INFO, (name, "X", "", "", "", str(name == every[0]))): [1.0] * polls
                  for name in every}  # fmt: skip
    ill = each(HEALTHY, every[1:], 1.0, polls) | each(HEALTHY, every[:1], 0.0, polls)
    (finding,) = said("parts_version_drift", runs, ill, topology=topology, period=60.0)
    assert str(finding.about) == every[0]
    assert "it alone runs it" in finding.because


@pytest.mark.parametrize("ill", [1, 2], ids=["one link", "two links"])
def test_one_ill_link_of_the_one_host_that_differs_is_the_links_own_trouble(ill: int) -> None:
    topology, every = pod(hosts=128, cards=1, rails=3), [f"host-{n}" for n in range(128)]
    polls = 12  # a minute apart
    told_by: Said = {(DEVICE_INFO, (name, "", str(name == every[7]), "", "")): [1.0] * polls
                     for name in every}  # fmt: skip
    for n, name in enumerate(every):
        for rail in range(3):
            ends = [(name, f"eth{rail}")] + [(f"leaf-{rail}", str(n))] * (n == 7)
            for end in ends:
                told_by[UP, end] = [float(n != 7 or rail >= ill or poll < 8)
                                    for poll in range(polls)]  # fmt: skip
    found = said("parts_version_drift", told_by, topology=topology, period=60.0)
    assert [str(one.about) for one in found] == ([every[7]] if ill == 2 else [])


def by_role(versions: dict[str, str], ill: set[str]) -> list[Odd]:
    topology = Topology([Device(name=name, role="host") for name in versions])
    rows = [
        Running(DEVICE_INFO, (name, "", version, "", ""), "firmware", version, 0.0)
        for name, version in versions.items()
    ]
    return list(odd_versions(rows, topology, {}, dict.fromkeys(ill, 0.0)))


def test_the_domain_of_most_that_are_ill_is_accused_and_not_the_first_by_name() -> None:
    rows = [Device(name=name, role="accelerator", model="X",
                   domain="pod-a" if name == OLD[0] else "pod-b") for name in EVERY]  # fmt: skip
    topology = Topology(rows, domains=[Domain(name="pod-a"), Domain(name="pod-b")])
    ill = each(HEALTHY, [OLD[0], *EVERY[4:]], 1.0) | each(HEALTHY, OLD[1:], 0.0)
    (finding,) = said("parts_version_drift", told(OLD), ill, topology=topology)
    assert str(finding.about) == "pod-b"


def test_chance_is_fishers_and_counts_how_many_odd_versions_were_looked_at() -> None:
    versions = {f"h{n}": "2" for n in range(18)} | {"a0": "1", "a1": "1", "b0": "3"}
    first, second = by_role(versions, {"a0", "a1"})
    assert (first.version, first.ill, first.others, first.others_ill) == ("1", ("a0", "a1"), 19, 0)
    assert first.chance == pytest.approx(2 * (1 / 210))  # 1 / C(21, 2), of two versions
    assert second.chance == 1.0


def test_a_host_of_which_a_card_is_gone_runs_no_other_version() -> None:
    versions = {f"h{n}": "28.39,32.41" for n in range(18)}
    assert by_role(versions | {"gone": "28.39"}, {"gone"}) == []
    (odd,) = by_role(versions | {"gone": "28.39", "other": "28.39,32.40"}, {"gone"})
    assert (odd.version, odd.devices, odd.others_ill) == ("28.39,32.40", ("other",), 1)


def test_hosts_of_another_make_run_no_odd_version_of_this_one() -> None:
    names = [f"h{n:02}" for n in range(20)]
    rows = [
        Running(DEVICE_INFO, (name, "old" if n < 4 else "new", str(n < 4), "", ""), "firmware",
                str(n < 4), 0.0)
        for n, name in enumerate(names)
    ]  # fmt: skip
    ill = dict.fromkeys(names[:4], 0.0)
    unwritten = Topology([Device(name=name, role="host") for name in names])
    assert list(odd_versions(rows, unwritten, {}, ill)) == []
    alike = Topology([Device(name=name, role="host", model="same") for name in names])
    (odd,) = odd_versions(rows, alike, {}, ill)  # what is written wins
    assert odd.devices == tuple(names[:4])


def test_a_role_without_a_usual_version_has_no_odd_ones() -> None:
    versions = {f"h{n}": str(n % 3) for n in range(12)}
    assert by_role(versions, set(versions)) == []


def test_devices_of_no_role_have_no_peers() -> None:
    row = Running(DEVICE_INFO, ("?", "", "1", "", ""), "firmware", "1", 0.0)
    assert list(odd_versions([row], Topology(links=[Link(a="a/1", b="b/1")]), {}, {"?": 0.0})) == []


@pytest.mark.parametrize("again", [False, True], ids=["none since", "and on"])
def test_errors_under_the_version_before_are_not_the_cures_doing(again: bool) -> None:
    upgraded, nothing = 30, float("nan")
    runs: Said = {
        (ACCELERATOR_INFO, (name, "X", "", "", "", version)): [
            1.0 if (name in OLD and n >= upgraded) == (version == "550.2") else nothing
            for n in range(POLLS)
        ]
        for name in EVERY
        for version in (("535.1", "550.2") if name in OLD else ("535.1",))
    }
    counted: Said = {
        (ERRORS, (name, "xid:31")): [
            3.0 * (n >= 10) + 2.0 * (again and n >= 45) if name in OLD else 0.0
            for n in range(POLLS)
        ]
        for name in EVERY
    }
    findings = said("parts_version_drift", runs, counted)
    assert [str(one.about) for one in findings] == (["pod-a"] if again else [])
    assert all(line.value != 3.0 for one in findings for line in one.evidence)
