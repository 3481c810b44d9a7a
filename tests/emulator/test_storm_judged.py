"""Storms of the emulated fabric, read by the real sources and judged: who is named, and who not."""

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("redis")

from emulator.congestion.faults import BrokenNic, ChoppyStorm, Incast, SlowReceiver, Thresholds
from emulator.faults import Fault
from emulator.plan import Plan
from tests.emulator.storms import Judged

PLAN = Plan(
    racks=1,
    hosts_per_rack=8,
    accelerators=0,
    rails=0,
    access=("sonic", "nvue"),
    spines=2,
    flows=True,
)
NIC = "host-003/eth0"
LATE = 3600.0
"""When nothing has ended yet."""


@pytest.mark.parametrize(
    ("faults", "minutes", "expected"),
    [
        pytest.param(
            [BrokenNic(60, LATE, NIC)], 2.5, {("pfc.storm", "page", NIC)}, id="a broken NIC"
        ),
        pytest.param(
            [ChoppyStorm(60, LATE, NIC)], 3, {("pfc.storm", "page", NIC)}, id="a choppy one"
        ),
        pytest.param(
            [SlowReceiver(30, LATE, "host-004/eth0")],
            3,
            {("pfc.slow_receiver", "ticket", "host-004/eth0")},
            id="a slow one",
        ),
        pytest.param(
            [Thresholds(30, LATE, "tor-01"), Incast(30, LATE, NIC, senders=6)],
            3,
            {("pfc.ecn_misconfigured", "ticket", "tor-01")},
            id="a switch whose marks are off",
        ),
        pytest.param([Incast(30, LATE, NIC)], 2.5, set(), id="marks that hold an incast"),
    ],
)
async def test_what_is_wrong_is_named_and_nothing_else(
    tmp_path: Path, faults: Sequence[Fault], minutes: float, expected: set[tuple[str, str, str]]
) -> None:
    async with Judged(tmp_path, PLAN, faults) as judged:
        await judged.live(minutes)
    assert {
        (one.kind.name, one.severity.name.lower(), one.culprit.id) for one in judged.heard.values()
    } == expected
