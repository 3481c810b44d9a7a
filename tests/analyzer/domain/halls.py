"""Halls written by hand: domains of racks of hosts of accelerators, and what a scheduler says."""

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.judge import detectors
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import JOBS_PENDING, SCHEDULABLE
from fabrichealth.catalogue.verdicts import INCIDENT_INFO
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, View
from fabrichealth.topology import Device, Domain, Link, Rack, Topology
from tests.analyzer.views import START, view_of

POLLS, PERIOD = 50, 30.0
NOW = START + (POLLS - 1) * PERIOD + 5.0

Said = dict[tuple[Metric, Labels], Sequence[float]]


def hall(domains: int = 1, racks: int = 1, hosts: int = 4, accelerators: int = 4) -> Topology:
    """Return domains pod-D of racks pod-D-rR of hosts hD-R-H of accelerators hD-R-H-N.

    Each accelerator has a link nvlink/0 to a switch of its domain; two of each rack's last host
    lie in trunk-1.
    """
    devices, links, every, domain_rows = [], [], [], []
    for d in range(domains):
        pod = f"pod-{d}"
        domain_rows.append(Domain(name=pod, accelerators=racks * hosts * accelerators))
        devices.append(Device(name=f"{pod}-sw", role="switch", domain=pod))
        for r in range(racks):
            rack = f"{pod}-r{r}"
            every.append(Rack(name=rack, domain=pod))
            for h in range(hosts):
                host = f"h{d}-{r}-{h}"
                devices.append(Device(name=host, role="host", rack=rack, domain=pod))
                for n in range(accelerators):
                    name = f"{host}-{n}"
                    devices.append(Device(name=name, role="accelerator", host=host))
                    trunk = "trunk-1" if h == hosts - 1 and n < 2 else ""
                    links.append(
                        Link(
                            a=f"{name}/nvlink/0", b=f"{pod}-sw/{name}", technology="nvlink",
                            bundle=trunk,
                        )
                    )  # fmt: skip
    return Topology(devices, links, domain_rows, every)


def allocated(topology: Topology, held: Mapping[str, str]) -> Said:
    """Return the scheduler's word on every accelerator.

    `held` names by host which are held, one letter each: `x` held, `.` free, `?` not told; a host
    that is not in it is free.
    """
    said: Said = {}
    for host, own in topology.hosted.items():
        for name, letter in zip(own, held.get(host, "." * len(own)), strict=True):
            if letter != "?":
                said[ALLOCATED, (name,)] = [float(letter == "x")] * POLLS
    return said


def pending(size: int, many: float = 1, domain: str = "", minutes: float = 20) -> Said:
    """Return so many jobs of a size that wait since so many minutes."""
    at = START + np.arange(POLLS) * PERIOD
    waits = np.where(at >= NOW - 60 * minutes, many, 0.0)
    return {(JOBS_PENDING, (domain, str(size))): waits.tolist()}


def drained(*hosts: str) -> Said:
    """Return hosts to which nothing is scheduled."""
    return {(SCHEDULABLE, (host,)): [0.0] * POLLS for host in hosts}


def told(metric: Metric, *labels: str, value: float = 1.0) -> Said:
    """Return one series that says the same all along."""
    return {(metric, labels): [value] * POLLS}


def ill(kind: str, culprit: str, severity: str = "ticket") -> Said:
    """Return an incident that is open all along."""
    return told(INCIDENT_INFO, "i1", kind, severity, "", culprit, "")


def start(job: str, *accelerators: str) -> Event:
    """Return that a job began before everything else."""
    return Event(START, "job_start", {"job": job}, more={"accelerators": list(accelerators)})


def seen(topology: Topology, *said: Said, events: Sequence[Event] = ()) -> View:
    """Return what the detector of fragmentation sees after 25 minutes of polls."""
    history = {key: values for part in said for key, values in part.items()}
    return view_of(detector(), history, PERIOD, topology, events, now=NOW)


def detector() -> AnyDetector:
    """Return the detector of fragmentation."""
    return detectors()["domain_fragmented"]
