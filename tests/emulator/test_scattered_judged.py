"""Small jobs of the emulated hall, told by its own scheduler and judged."""

from pathlib import Path

from emulator.plan import Plan
from emulator.scheduling.faults import Scattered
from tests.emulator.storms import Judged

PLAN = Plan(racks=1, hosts_per_rack=3, accelerators=4, rails=1, jobs=True)


LATE = 36_000.0


async def test_a_job_that_fits_nowhere_is_told_once_it_has_waited(tmp_path: Path) -> None:
    async with Judged(tmp_path, PLAN, [Scattered(60, LATE, leaves=2)], period=60.0) as judged:
        await judged.live(9)
        assert judged.noted == {}
        await judged.live(4)
        (one,) = judged.noted.values()
        assert (one.kind.name, one.culprit.id) == ("domain.fragmented", "pod-a")
        assert one.closed_at is None
        assert "a job of 4 has waited for" in one.because
        assert "moving train/tuning-0 (2) from host-001 to host-003 makes room" in one.because
    assert judged.heard == {}
