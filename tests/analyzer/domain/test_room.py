"""How many accelerators are free in each tray, and fit for a job of several."""

import numpy as np
import pytest

from analyzer.evidence.domain.room import Room, rooms
from fabrichealth.catalogue.accelerators import HEALTHY
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.events import Event
from fabrichealth.topology import Device, Topology
from tests.analyzer.domain.halls import NOW, Said, allocated, drained, hall, ill, seen, told


def room(*said: Said, topology: Topology | None = None, domain: str = "pod-0") -> Room:
    return rooms(seen(topology or hall(), *said))[domain]


def test_trays_are_hosts() -> None:
    found = room(allocated(hall(), {"h0-0-1": "xx..", "h0-0-3": "xxxx"}))
    assert found.trays == ("h0-0-0", "h0-0-1", "h0-0-2", "h0-0-3")
    assert found.free.tolist() == found.fit.tolist() == [4, 2, 4, 0]
    assert found.largest == 8
    assert found.lost(4) == pytest.approx(0.2)


def test_a_host_that_takes_no_work_has_no_room() -> None:
    found = room(allocated(hall(), {}), drained("h0-0-2"))
    assert found.free.tolist() == [4, 4, 0, 4]


@pytest.mark.parametrize(
    ("scope", "since", "until", "free"),
    [
        pytest.param({"device": "h0-0-2"}, -600.0, None, [4, 4, 0, 4], id="a host"),
        pytest.param({"device": "h0-0-2-1"}, -600.0, None, [4, 4, 3, 4], id="an accelerator"),
        pytest.param({"domain": "pod-0"}, -600.0, None, [0, 0, 0, 0], id="all of it"),
        pytest.param({"device": "h0-0-2"}, -600.0, -60.0, [4, 4, 4, 4], id="it is over"),
        pytest.param({"device": "h0-0-2"}, -86_400.0, None, [4, 4, 4, 4], id="nobody ended it"),
    ],
)
def test_what_is_under_maintenance_is_given_to_nobody(
    scope: dict[str, str], since: float, until: float | None, free: list[int]
) -> None:
    events = [Event(NOW + since, "maintenance_start", scope, "chg-7")]
    if until is not None:
        events.append(Event(NOW + until, "maintenance_end", {}, "chg-7"))
    found = rooms(seen(hall(), allocated(hall(), {}), events=events))["pod-0"]
    assert found.free.tolist() == found.fit.tolist() == free


def test_what_nobody_tells_is_neither_free_nor_held() -> None:
    found = room(allocated(hall(), {"h0-0-1": "x.??"}))
    assert found.free.tolist() == [4, 1, 4, 4]
    assert found.unknown.tolist() == [0, 2, 0, 0]
    silent = rooms(seen(hall()))["pod-0"]
    assert not silent.known
    assert (silent.lost(4), silent.largest) == (None, 0)


def test_a_host_that_is_counted_has_room_by_its_count() -> None:
    found = room(allocated(hall(), {"h0-0-1": "????"}), told(HOST_ALLOCATED, "h0-0-1", value=3.0))
    assert found.free.tolist() == [4, 1, 4, 4]
    assert found.known


LINK = "h0-0-1-0/nvlink/0--pod-0-sw/h0-0-1-0"


@pytest.mark.parametrize(
    ("said", "free", "fit"),
    [
        pytest.param(
            ill("link.subhealthy", LINK),
            [4, 4, 4, 4], [4, 3, 4, 4], id="a link that is up and sick",
        ),
        pytest.param(
            ill("link.subhealthy", LINK, "watch"),
            [4, 4, 4, 4], [4, 4, 4, 4], id="a link that is watched",
        ),
        pytest.param(
            ill("link.flapping", LINK, "page"),
            [4, 4, 4, 4], [4, 3, 4, 4], id="a link that flaps",
        ),
        pytest.param(
            ill("power.capped", "pod-0-r0"),
            [4, 4, 4, 4], [0, 0, 0, 0], id="a rack that is short of power",
        ),
        pytest.param(
            ill("device.down", "h0-0-2", "page"),
            [4, 4, 0, 4], [4, 4, 0, 4], id="a host that is down",
        ),
        pytest.param(
            ill("device.down", "pod-0-sw", "page"),
            [4, 4, 4, 4], [0, 0, 0, 0], id="the switch before all of them is down",
        ),
        pytest.param(
            ill("device.down", "pod-0-r0", "page"),
            [0, 0, 0, 0], [0, 0, 0, 0], id="the rack is dark",
        ),
        pytest.param(
            ill("parts.shared_component", "trunk-1"),
            [4, 4, 4, 4], [4, 4, 4, 2], id="a trunk of two links is bent",
        ),
        pytest.param(
            ill("cooling.thermal_contact", "h0-0-2-1"),
            [4, 4, 4, 4], [4, 4, 3, 4], id="a cold plate that sits badly",
        ),
        pytest.param(
            ill("accelerator.errors", "h0-0-2-1", "watch"),
            [4, 4, 4, 4], [4, 4, 4, 4], id="errors that are watched",
        ),
        pytest.param(
            told(HEALTHY, "h0-0-3-3", value=0.0),
            [4, 4, 4, 3], [4, 4, 4, 3], id="an accelerator that says it is ill",
        ),
        pytest.param(
            ill("no.such_kind", "h0-0-2", "page"),
            [4, 4, 4, 4], [4, 4, 4, 4], id="a kind that nobody knows",
        ),
    ],
)  # fmt: skip
def test_what_is_ill_does_not_do_in_a_job_of_several(
    said: Said, free: list[int], fit: list[int]
) -> None:
    found = room(allocated(hall(), {}), said)
    assert found.free.tolist() == free
    assert found.fit.tolist() == fit


def test_ill_links_are_lost_to_larger_jobs_and_not_to_single_ones() -> None:
    found = room(allocated(hall(), {}), ill("link.down", LINK, "page"))
    assert found.lost(1) == 0.0
    assert found.lost(4) == pytest.approx(4 / 16)
    assert found.lost(4, healthy=False) == 0.0


def test_tiers_are_trays_racks_and_the_domain() -> None:
    topology = hall(racks=2, hosts=2)
    held = allocated(topology, {"h0-0-0": "xx..", "h0-1-1": "xx.."})
    found = room(held, topology=topology)
    assert [found.units(tier).size.tolist() for tier in ("tray", "rack", "domain")] == [
        [4, 4, 4, 4], [8, 8], [16],
    ]  # fmt: skip
    assert [found.lost(6, tier) for tier in ("tray", "rack", "domain")] == [
        pytest.approx(0.5), 0.0, 0.0,
    ]  # fmt: skip


def test_accelerators_of_no_host_lie_in_their_rack() -> None:
    topology = Topology(
        [Device(name=f"a{n}", role="accelerator", rack="r1", domain="pod") for n in range(4)]
    )
    found = rooms(seen(topology, *(told(HEALTHY, f"a{n}") for n in range(4))))["pod"]
    assert (found.trays, found.size.tolist(), found.known) == (("r1",), [4], False)


def test_each_domain_has_its_own_room() -> None:
    topology = hall(domains=2)
    found = rooms(seen(topology, allocated(topology, {"h1-0-0": "xxxx"})))
    assert {name: int(one.free.sum()) for name, one in found.items()} == {"pod-0": 16, "pod-1": 12}
    assert np.all(found["pod-0"].size == 4)
