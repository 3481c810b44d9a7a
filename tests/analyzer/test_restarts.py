"""Restarts that nobody announced, read off boot times and off agents that came back."""

import numpy as np
import pytest

from analyzer.incidents.restarts import restarts
from analyzer.viewing import Viewing
from fabrichealth.catalogue.devices import BOOT_TIME
from fabrichealth.store.embedded import EmbeddedStore
from tests.analyzer.halls import MINUTE, Hall, lived, pages
from tests.analyzer.views import START, store_of

HOST = (BOOT_TIME, ("host-0",))
DAYS = 86_400.0


def boots(told: list[float], ahead: float = 0.0) -> list[float]:
    """Return when a host that is read every 10 s restarted, in seconds after the start."""
    viewing = Viewing(store_of({HOST: told}, 10.0), {}, {BOOT_TIME: 3600.0})
    viewing.advance(START + len(told) * 10.0)
    found = restarts(viewing.changes(BOOT_TIME, 3600.0), {"host-0": ahead})
    return [round(one.at - START) for one in found]


def test_it_began_when_the_host_was_heard_last() -> None:
    before, after = START - 40 * DAYS, START + 350.0
    assert boots([before] * 20 + [np.nan] * 20 + [after] * 20) == [190]


@pytest.mark.parametrize("ahead", [-420.0, 180.0])
def test_a_boot_time_is_told_by_the_hosts_own_clock(ahead: float) -> None:
    before, after = START - 40 * DAYS + ahead, START + 350.0 + ahead
    assert boots([before] * 20 + [np.nan] * 20 + [after] * 20, ahead) == [190]


@pytest.mark.parametrize("moved", [45.0, 420.0, 7200.0])
def test_a_clock_that_is_set_is_no_boot(moved: float) -> None:
    before = START - 40 * DAYS
    assert boots([before] * 30 + [before + moved] * 30) == []


@pytest.mark.parametrize("tells", [True, False], ids=["tells its boot time", "tells none"])
def test_a_host_whose_agent_is_back_before_its_links_is_restarting(
    tells: bool, store: EmbeddedStore
) -> None:
    found, _ = lived(Hall(boot_times=tells, minutes=30).restarts("host-1", 10 * MINUTE), store)
    assert [(one.culprit.id, one.suppressed_by) for one in found] == [("host-1", "boot:host-1")]
    assert pages(found) == []


def test_a_switch_pages_though_it_tells_a_new_boot_time(store: EmbeddedStore) -> None:
    """Only hosts have grace without an event (contract 5)."""
    (page,) = pages(lived(Hall().restarts("leaf-1", 15 * MINUTE), store)[0])
    assert (page.culprit.id, page.confirmed_at) == ("leaf-1", START + 15 * MINUTE + 30)
