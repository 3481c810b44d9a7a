"""The live view as lines: every size, any name, and what is not known."""

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrichealth.catalogue.ports import UP
from fabrichealth.cli._domain_states import DomainState, domain_states
from fabrichealth.cli._following import Now
from fabrichealth.cli._picture import STATES, layout
from fabrichealth.cli._readings import Reading
from fabrichealth.cli._watch_screen import Chosen, once, screen
from fabrichealth.cli._watched import Seen
from fabrichealth.kinds import LINK_DOWN
from fabrichealth.model import Place
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.page.standing import NOW, incident

POD = DomainState("pod-a", {"healthy": 3, "down": 1}, 8, ("h1",), 1)


def seen(*names: str, domains: tuple[DomainState, ...] | None = (POD,)) -> Seen:
    every = [
        incident(f"i{number}", LINK_DOWN, Place("link", name)).to_json()
        for number, name in enumerate(names, start=1)
    ]
    return Seen(NOW, tuple(every), domains)


def drawn(now: Now, chosen: Chosen, size: tuple[int, int] = (80, 24)) -> list[str]:
    return [line.plain for line in screen("site.yaml", now, chosen, size, 100.0)]


@settings(max_examples=10, deadline=None)
@given(
    names=st.lists(st.text(max_size=30), min_size=1, max_size=4),
    size=st.tuples(st.integers(1, 220), st.integers(2, 70)),
    told=st.booleans(),
    top=st.integers(-5, 10_000),
)
def test_whatever_the_names_a_screen_is_filled_and_never_overflows(
    names: list[str], size: tuple[int, int], told: bool, top: int
) -> None:
    now = Now(seen(*names), of="i1", readings=(flat(names[0]),))
    chosen = Chosen(now.seen.incidents[0], told, top)
    lines = screen("site.yaml", now, chosen, size, 0.0)
    assert len(lines) == size[1]
    assert max(line.cell_len for line in lines) <= size[0]
    assert all(line.plain.isprintable() for line in lines)


def flat(name: str) -> Reading:
    return Reading(UP, name, np.array([NOW, NOW + 1]), np.array([1.0, 1.0]))


@pytest.mark.parametrize("size", [(80, 24), (20, 5), (40, 6)], ids=str)
def test_the_list_follows_the_choice_through_more_incidents_than_rows(
    size: tuple[int, int],
) -> None:
    now = Now(seen(*(f"link-{number}" for number in range(100))))
    for place in (0, 50, 99):
        lines = drawn(now, Chosen(now.seen.incidents[place]), size)
        (marked,) = [line for line in lines if line.startswith(">")]
        assert f" i{place + 1} " in marked


def test_what_is_out_of_date_is_said_with_its_age_and_its_reason() -> None:
    now = Now(seen("a--b"), trouble="does not answer", since=77.0)
    lines = drawn(now, Chosen())
    assert lines[1] == "OUT OF DATE for 23 s: does not answer"


def test_a_daemon_that_keeps_no_series_is_not_called_well() -> None:
    lines = drawn(Now(seen(domains=None)), Chosen())
    assert "no series are kept here: domains and silence are not known" in lines
    assert not any("no device" in line for line in lines)
    assert any("not known" in line.plain for line in once("x", seen(domains=None)))


def test_an_incident_that_closes_while_it_is_read_is_told_on_as_open_no_more() -> None:
    gone = incident("i9", LINK_DOWN, Place("link", "a--b")).to_json()
    lines = drawn(Now(seen()), Chosen(gone, told=True))
    assert lines[2] == "it is open no more"
    assert lines[3] == "i9  link.down  page"


def test_a_story_is_scrolled_to_its_end_and_no_further() -> None:
    now = Now(seen("a--b"))
    chosen = Chosen(now.seen.incidents[0], told=True, top=10_000)
    lines = drawn(now, chosen, (60, 12))
    assert lines[-2].strip() == "evidence   none kept"
    assert lines[-1].rstrip().endswith(f"line {chosen.top + 1} of {chosen.top + 9}")


DEVICES = [Device(name=name, role="host", domain=domain) for name, domain in
           (("a", "pod"), ("b", "pod"), ("c", ""))]  # fmt: skip
FABRIC = Topology(DEVICES, [Link(a="a/1", b="b/1"), Link(a="c/1", b="a/2")], [Domain(name="pod")])


def picture(links: list[str], devices: list[int]) -> dict[str, Any]:
    packed = {"links": [STATES.index(one) for one in links], "devices": devices}
    return {key: _base64(codes) for key, codes in packed.items()}


def _base64(codes: list[int]) -> str:
    return base64.b64encode(bytes(codes)).decode()


def test_a_link_counts_in_the_domain_of_an_end_that_is_in_one() -> None:
    found = domain_states(layout(FABRIC), picture(["healthy", "down"], [1, 2, 2]))
    assert [(one.name, dict(one.links)) for one in found] == [
        ("pod", {"down": 1, "healthy": 1}), ("fabric", {}),
    ]  # fmt: skip
    assert [one.silent for one in found] == [("b",), ("c",)]


def test_a_link_of_which_nothing_was_said_is_unknown() -> None:
    found = domain_states(layout(FABRIC), picture(["", "unknown"], [0, 0, 0]))
    (pod,) = [one for one in found if one.name == "pod"]
    assert dict(pod.links) == {"unknown": 2}
    assert pod.silent == ()


def test_a_picture_of_another_layout_is_refused() -> None:
    with pytest.raises(ValueError, match="another layout"):
        domain_states(layout(FABRIC), picture(["healthy"], [1, 1, 1]))
