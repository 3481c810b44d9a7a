"""Schedulers of a small hall, as captures that a source reads poll after poll."""

import json
from pathlib import Path

from collectors.source import Target
from collectors.sources.scheduler import Scheduler, SchedulerSettings
from emulator.scheduling.kubernetes import ApiServer
from emulator.scheduling.slurm import SlurmController
from emulator.scheduling.workload import Workload
from fabrichealth.catalogue.devices import JOBS_PENDING
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, SeriesTable
from fabrichealth.topology import Device, Domain, Topology
from tests.fixtures import readings

AT = 1_800_000_000.0


def hall() -> Topology:
    """Return four hosts of four accelerators, in two domains, one host with a system name."""
    devices = []
    for n in range(4):
        host, domain = f"host-{n}", f"pod-{n // 2}"
        devices.append(Device(name=host, role="host", domain=domain, ids=(f"node{n}.example",)))
        devices += [Device(name=f"{host}-{k}", role="accelerator", host=host) for k in range(4)]
    return Topology(devices, domains=[Domain(name="pod-0"), Domain(name="pod-1")])


def workload() -> Workload:
    """Return a job on a host and a half, one that waits for eight, and one that is held back."""
    load = Workload({f"host-{n}": 4 for n in range(4)}, drained={"host-3"}, now=AT)
    load.place("big", AT - 600, host_0=(0, 1, 2, 3), host_1=(0, 2))
    load.queue("waits", 8, AT - 300)
    return load


class Seen:
    """A source that is given captures, poll after poll."""

    def __init__(self, folder: Path, topology: Topology | None = None) -> None:
        self._folder = folder
        self._polls = 0
        self.table = SeriesTable()
        target = Target("slurm", "scheduler", topology=topology or hall())
        self.source = Scheduler(SchedulerSettings(), target, self.table)

    def look(self, *replies: str, at: float = AT) -> Poll:
        folder = self._folder / f"{self._polls:04}"
        folder.mkdir()
        self._polls += 1
        for place, reply in enumerate(replies):
            (folder / f"{place}.json").write_text(reply)
        return self.source.captured([folder], at)

    def said(self, poll: Poll, metric: Metric) -> dict[str, float]:
        return {labels[0]: value for labels, value in readings(poll, self.table, metric).items()}

    def pending(self, poll: Poll) -> dict[Labels, float]:
        return readings(poll, self.table, JOBS_PENDING)


def by_slurm(load: Workload, *, new: bool = True, groups: bool = False) -> tuple[str, str]:
    control = SlurmController(load, new=new)
    return control.squeue(), control.sinfo() if groups else control.nodes()


def by_kubernetes(load: Workload) -> tuple[str, ...]:
    return tuple(json.dumps(one) for one in ApiServer(load).lists().values())
