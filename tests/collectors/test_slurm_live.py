"""The scheduler source against a real Slurm."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors.source import Target
from collectors.sources.scheduler import Scheduler, SchedulerSettings
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import JOBS_PENDING, SCHEDULABLE
from fabrichealth.model import Poll, SeriesTable
from tests.collectors.slurm_peer import MISSING, Slurm, started
from tests.fixtures import readings

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"no Slurm here: {MISSING} is missing")

AT = 2_000_000_000.0


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slurm]:
    cluster = started(tmp_path / "slurm")
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    yield cluster
    cluster.stop()


def held(poll: Poll, table: SeriesTable) -> set[str]:
    allocated = readings(poll, table, ALLOCATED)
    assert len(allocated) == 8
    return {name for (name,), value in allocated.items() if value == 1.0}


async def test_a_real_cluster_is_read_by_its_own_commands(slurm: Slurm) -> None:
    table = SeriesTable()
    source = Scheduler(SchedulerSettings(), Target("slurm", "scheduler"), table)
    pair = slurm.submit("-N2", "--gres=gpu:2")
    one = slurm.submit("-N1", "--gres=gpu:h100:1")
    slurm.until("2", "squeue", "-h", "-t", "running", "-o", "%i")
    slurm.submit("-N2", "--gres=gpu:4")
    slurm.submit("--hold", "--gpus=4")
    tasks = slurm.submit("-N1", "--gpus=3", "--array=1-2")
    slurm.until(f"{tasks}_[1-2]", "squeue", "-h", "-t", "pending", "-o", "%i")
    poll = await source.read(AT)
    assert poll.missing == []
    taken = held(poll, table)
    assert len(taken) == 5
    assert {"host-0-0", "host-0-1", "host-1-0", "host-1-1"} < taken
    starts = {event.scope["job"]: event for event in poll.events if event.kind == "job_start"}
    assert set(starts[pair].more["accelerators"]) == taken - set(starts[one].more["accelerators"])
    waits = {labels[1]: value for labels, value in readings(poll, table, JOBS_PENDING).items()}
    assert {size: many for size, many in waits.items() if many} == {"8": 1.0, "3": 2.0}
    slurm.run("scancel", one)
    slurm.run("scontrol", "update", "nodename=host-1", "state=drain", "reason=test")
    slurm.until("DRAIN", "scontrol", "show", "node", "host-1")
    poll = await source.read(AT + 30)
    assert {event.scope["job"] for event in poll.events if event.kind == "job_end"} == {one}
    assert readings(poll, table, SCHEDULABLE) == {("host-0",): 1.0, ("host-1",): 0.0}
