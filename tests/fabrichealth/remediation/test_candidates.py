"""What may be asked of remediators by what is open, and when an incident is over for them."""

import pytest

from fabrichealth.cli._remedying import candidates, not_over
from fabrichealth.kinds import (
    ACCELERATOR_ERRORS,
    DEVICE_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Incident, Place, Word
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device, Link

LEAVES = 4


def fabric(many: int = 2) -> Topology:
    """Hosts with a link to each of four leaves."""
    numbers = range(1, many + 1)
    hosts = [Device(name=f"h{n}", role="host") for n in numbers]
    leaves = [Device(name=f"leaf-{n}", role="switch") for n in range(LEAVES)]
    card = Device(name="h1-0", role="accelerator", host="h1")
    links = [Link(a=f"h{h}/eth{n}", b=f"leaf-{n}/{h}") for h in numbers for n in range(LEAVES)]
    return Topology([*hosts, card, *leaves], links)


def open_one(kind: IncidentKind, culprit: Place, **facts: object) -> dict[str, object]:
    one = Incident("i7", kind, Severity.PAGE, 1.0, culprit, "because", kind.action)
    for name, value in facts.items():
        setattr(one, name, value)
    return one.to_json()


def test_of_a_dark_host_culprit_and_node_may_be_drained() -> None:
    found = candidates(
        [open_one(DEVICE_DOWN, Place("device", "h1"), dark=True)], fabric(), [], 0.5, "http://f"
    )
    (one,) = found
    assert (one.safe, one.page) == (True, "http://f/#/incident/i7")
    assert [(node.name, node.safe) for node in one.nodes] == [("h1", True)]


def test_a_host_is_judged_with_those_that_are_out_or_were_named_before_it_drained() -> None:
    ill = [
        {**open_one(ACCELERATOR_ERRORS, Place("device", name)), "incident": name}
        for name in ("h1", "h2")
    ]
    both = candidates(ill, fabric(4), [], 0.6, "http://f")
    assert [one.nodes[0].safe_for_new for one in both] == [True, False]
    (second,) = candidates(ill[1:], fabric(4), [], 0.6, "http://f", ["h1"])
    assert not second.nodes[0].safe
    assert "of leaf-0 would be left" in second.nodes[0].because


def test_an_ill_link_drains_no_host() -> None:
    link = Place("link", "h1/eth0--leaf-0/1")
    (one,) = candidates([open_one(LINK_FLAPPING, link)], fabric(), [], 0.5, "http://f")
    assert one.nodes == ()


@pytest.mark.parametrize(
    "facts",
    [
        {"suppressed_by": "maintenance:chg-1"},
        {"severity": Severity.WATCH},
        {"operator": Word("ack", 1.0, "at it", silent=True)},
    ],
    ids=str,
)
def test_what_is_excused_or_in_somebodys_hands_is_left(facts: dict[str, object]) -> None:
    link = Place("link", "h1/eth0--leaf-0/1")
    told = open_one(LINK_SUBHEALTHY, link, **facts)
    assert candidates([told], fabric(), [], 0.5, "http://f") == []


def test_an_incident_is_over_when_it_is_closed_or_called_false_and_not_when_it_is_excused() -> None:
    host = Place("device", "h1")
    booted = {**open_one(DEVICE_DOWN, host, suppressed_by="boot:h1"), "incident": "i1"}
    false = {**open_one(DEVICE_DOWN, host, operator=Word("false", 1.0, silent=True)),
             "incident": "i2"}  # fmt: skip
    taken = {**open_one(DEVICE_DOWN, host, operator=Word("ack", 1.0, silent=True)),
             "incident": "i3"}  # fmt: skip
    assert not_over([booted, false, taken]) == {"i1", "i3"}
