"""Clocks of hosts and leaves minutes apart: restarts stay one event, and real faults page."""

from collections.abc import Callable

import pytest

from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, LINK_DOWN, WATCH_DATA_IMPLAUSIBLE
from fabrichealth.model import Incident, Port
from fabrichealth.store.embedded import EmbeddedStore
from tests.analyzer.halls import MINUTE, Hall, lived, pages
from tests.analyzer.views import START

WHEN = 15 * MINUTE
APART = pytest.mark.parametrize("ahead", [180.0, -420.0], ids=["ahead", "behind"])


def apart(incidents: list[Incident]) -> list[str]:
    """Return the devices whose clocks are told to stand apart."""
    told = [one for one in incidents if one.kind is WATCH_DATA_IMPLAUSIBLE]
    assert all(one.confirmed_at is None for one in told)
    return sorted(one.culprit.id for one in told)


def maintenance(device: str, start: float, end: float) -> list[Event]:
    return [
        Event(START + start, "maintenance_start", {"device": device}, "chg-1"),
        Event(START + end, "maintenance_end", {"device": device}, "chg-1"),
    ]


@APART
@pytest.mark.parametrize("live", [True, False], ids=["live", "replayed"])
@pytest.mark.parametrize("tells", [True, False], ids=["tells its boot time", "tells none"])
def test_a_host_that_restarts_is_one_event_and_pages_nobody(
    ahead: float, tells: bool, live: bool, store: EmbeddedStore
) -> None:
    hall = Hall(clocks={"host-1": ahead}, boot_times=tells).restarts("host-1", WHEN)
    found, _ = lived(hall, store, live=live)
    assert pages(found) == []
    assert [one.suppressed_by for one in found if one.kind is DEVICE_DOWN] == ["boot:host-1"]
    assert not [one for one in found if one.kind is LINK_DOWN]
    assert apart(found) == ["host-1"]


@APART
def test_a_host_that_restarts_as_announced_pages_nobody(ahead: float, store: EmbeddedStore) -> None:
    hall = Hall(clocks={"host-1": ahead}).restarts("host-1", WHEN)
    found, _ = lived(hall, store, maintenance("host-1", WHEN - 60, WHEN + 900))
    assert pages(found) == []


@APART
@pytest.mark.parametrize("live", [True, False], ids=["live", "replayed"])
def test_what_breaks_on_such_a_host_after_its_restart_pages_once_and_on_time(
    ahead: float, live: bool, store: EmbeddedStore
) -> None:
    broken = WHEN + 45 * MINUTE
    hall = Hall(clocks={"host-1": ahead}, minutes=65).restarts("host-1", WHEN)
    found, ledger = lived(hall.breaks(Port("host-1", "eth2"), broken), store, live=live)
    (page,) = pages(found)
    assert (page.kind, page.culprit.id) == (LINK_DOWN, "host-1/eth2--leaf-2/1")
    assert START + broken <= page.opened_at <= START + broken + 30
    (clock,) = ledger.before["clocks_apart"]
    assert clock.detail["clock_offset"] == pytest.approx(ahead, abs=15)


@APART
def test_one_cable_of_such_a_host_pages_though_nothing_tells_its_clock(
    ahead: float, store: EmbeddedStore
) -> None:
    hall = Hall(clocks={"host-1": ahead}).breaks(Port("host-1", "eth2"), WHEN)
    found, _ = lived(hall, store)
    assert [(one.kind, one.culprit.id) for one in pages(found)] == [
        (LINK_DOWN, "host-1/eth2--leaf-2/1")
    ]


@APART
def test_all_cables_of_a_host_that_lives_are_one_page(ahead: float, store: EmbeddedStore) -> None:
    hall = Hall(clocks={"host-1": ahead})
    for leaf in range(hall.leaves):
        hall.breaks(Port("host-1", f"eth{leaf}"), WHEN)
    found, _ = lived(hall, store)
    assert [(one.kind, one.culprit.id) for one in pages(found)] == [(DEVICE_DOWN, "host-1")]


@APART
def test_a_leaf_that_restarts_is_one_page(ahead: float, store: EmbeddedStore) -> None:
    found, _ = lived(Hall(clocks={"leaf-1": ahead}).restarts("leaf-1", WHEN), store)
    assert [(one.kind, one.culprit.id) for one in pages(found)] == [(DEVICE_DOWN, "leaf-1")]
    assert apart(found) == ["leaf-1"]


def test_a_host_restarts_under_a_leaf_whose_clock_is_ahead(store: EmbeddedStore) -> None:
    hall = Hall(clocks={"leaf-1": 180.0}, boot_times=False).restarts("host-1", WHEN)
    assert pages(lived(hall, store)[0]) == []


def test_one_host_whose_clock_is_ahead_does_not_acquit_a_dark_leaf(store: EmbeddedStore) -> None:
    found, _ = lived(Hall(clocks={"host-1": 180.0}).restarts("leaf-1", WHEN), store)
    assert [(one.kind, one.culprit.id) for one in pages(found)] == [(DEVICE_DOWN, "leaf-1")]


def test_a_hall_of_64_hosts_restarts_one_after_the_other(store: EmbeddedStore) -> None:
    clocks = {f"host-{n}": (-1) ** n * 60.0 * (n % 8 + 2) for n in range(12)}
    hall = Hall(hosts=64, minutes=30, clocks=clocks)
    for number in range(12):
        hall.restarts(f"host-{number}", WHEN - 300 + number * 20, 240)
    found, _ = lived(hall, store)
    assert pages(found) == []
    assert apart(found) == sorted(clocks)


@pytest.mark.parametrize(
    "befalls",
    [
        pytest.param(lambda hall: hall.restarts("host-1", WHEN), id="a host restarts"),
        pytest.param(lambda hall: hall.restarts("leaf-1", WHEN), id="a leaf restarts"),
        pytest.param(
            lambda hall: hall.restarts("host-1", WHEN).restarts("host-1", WHEN + 600, 150),
            id="a host restarts twice",
        ),
    ],
)
def test_right_clocks_are_not_told_to_stand_apart(
    befalls: Callable[[Hall], Hall], store: EmbeddedStore
) -> None:
    assert apart(lived(befalls(Hall()), store)[0]) == []


@pytest.mark.parametrize("lasts", [300.0, 1200.0], ids=["agent is back late", "agent stays away"])
def test_an_agent_that_was_away_before_its_host_restarted_tells_of_no_clock(
    lasts: float, store: EmbeddedStore
) -> None:
    hall = Hall().restarts("host-1", WHEN)
    hall.silent += [("host-1", WHEN - 500, WHEN - 200), ("host-1", WHEN, WHEN + 300 + lasts)]
    assert apart(lived(hall, store, live=True)[0]) == []


def test_a_clock_that_jumps_before_its_host_restarts_is_not_told_wrongly(
    store: EmbeddedStore,
) -> None:
    hall = Hall(leaps={"host-1": (WHEN - 500, 200.0)}).restarts("host-1", WHEN)
    _, ledger = lived(hall, store, live=True)
    told = [one.detail["clock_offset"] for one in ledger.before["clocks_apart"]]
    assert told == pytest.approx([200.0], abs=20)


def test_a_clock_that_is_set_right_is_believed_again_and_stays_so(store: EmbeddedStore) -> None:
    hall = Hall(clocks={"host-1": 180.0}, set_right=WHEN + 20 * MINUTE, minutes=60)
    broken = WHEN + 35 * MINUTE
    hall.restarts("host-1", WHEN).breaks(Port("host-1", "eth2"), broken)
    found, ledger = lived(hall, store, live=True)
    (clock,) = ledger.before["clocks_apart"]
    assert clock.detail["clock_offset"] == 0.0
    assert "was set right" in clock.because
    (page,) = pages(found)
    assert page.because.startswith("host-1/eth2 and leaf-2/1 down")
    assert START + broken <= page.opened_at <= START + broken + 30
