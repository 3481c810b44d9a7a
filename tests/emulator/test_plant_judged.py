"""Water and power of the emulated hall, read by the real sources and judged: who is named."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from emulator.faults import Fault
from emulator.plan import Plan
from emulator.plant.faults import (
    Burst,
    FacilityHot,
    FeedLost,
    Leak,
    Overloaded,
    PhaseShifted,
    PumpStopped,
    SupplyFails,
)
from fabrichealth.model import Place
from tests.emulator.storms import Judged

PLAN = Plan(racks=2, hosts_per_rack=1, accelerators=8, rails=1, plant=True)
LATE = 36_000.0


@pytest.mark.parametrize(
    ("faults", "minutes", "period", "expected"),
    [
        pytest.param([], 4, 20.0, set(), id="nothing"),
        pytest.param(
            [Leak(60, LATE, branch="r01", litres_an_hour=30.0)],
            6,
            10.0,
            {("cooling.leak", "page", "cdu-01/r01")},
            id="a hose drips",
        ),
        pytest.param(
            [Burst(120, LATE, branch="r01", litres_a_minute=6.0)],
            5,
            10.0,
            {("cooling.leak", "page", "cdu-01")},
            id="a hose tears",
        ),
        pytest.param(
            [PumpStopped(120, LATE, pump="")],
            4,
            10.0,
            {("cooling.pump_wear", "page", "cdu-01")},
            id="both pumps trip",
        ),
        pytest.param(
            [FeedLost(120, LATE, feed="r02-A"), FeedLost(120, LATE, feed="r01-B")],
            4,
            10.0,
            {("power.feed_lost", "page", "r02-A"), ("power.feed_lost", "page", "r01-B")},
            id="two breakers are off, by Modbus and by SNMP",
        ),
        pytest.param(
            [SupplyFails(60, LATE, rack="r01")],
            3,
            10.0,
            {("power.supply_failed", "ticket", "r01")},
            id="a supply fails",
        ),
        pytest.param(
            [PhaseShifted(0, LATE, feed="r02-B", more=1.0)],
            17,
            60.0,
            {("power.phase_imbalance", "ticket", "r02-B")},
            id="everything hangs on one phase",
        ),
        pytest.param(
            [Overloaded(60, LATE, rack="r02", watts=13_300.0)],
            5,
            10.0,
            {("power.overload", "page", "r02-A"), ("power.overload", "page", "r02-B")},
            id="too much hangs on a rack",
        ),
    ],
)
async def test_what_is_wrong_is_named_and_nothing_else(
    tmp_path: Path,
    faults: Sequence[Fault],
    minutes: float,
    period: float,
    expected: set[tuple[str, str, str]],
) -> None:
    async with Judged(tmp_path, PLAN, faults, period) as judged:
        await judged.live(minutes)
    assert {
        (one.kind.name, one.severity.name.lower(), one.culprit.id) for one in judged.heard.values()
    } == expected


async def test_hot_water_of_the_building_is_one_incident_with_the_modules_that_it_warms(
    tmp_path: Path,
) -> None:
    plan = Plan(racks=1, hosts_per_rack=1, accelerators=8, rails=1, access=("eapi",), plant=True)
    async with Judged(tmp_path, plan, [FacilityHot(60, LATE, kelvin=32.0)], 60.0) as judged:
        await judged.live(26)
    (incident,) = judged.heard.values()
    assert (incident.kind.name, incident.culprit.id) == ("cooling.supply_hot", "cdu-01")
    assert Place("link", "host-001/eth0--tor-01/Ethernet1/1") in incident.victims
    ways = [one.why_not for one in incident.alternatives]
    assert any("min later and follows from it: cdu-01 > cdu-01/r01 > r01 >" in one for one in ways)
