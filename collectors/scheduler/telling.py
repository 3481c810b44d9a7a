"""Telling: a cluster as readings, under the topology's names.

An accelerator whose host is known by count only has no reading of its own: it is in the host's
count. Where a scheduler offers fewer than a host has, the rest is ill, kept back or cut in slices,
and nobody says which that is; where it gives away more, they are shares: nothing is told of either.
What cannot be (more held than there are, one in two jobs) is refused and costs nobody else.
"""

from collections.abc import Iterable, Mapping

from collectors.maps.accelerator_names import accelerator
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.scheduler.cluster import Cluster, Host, RunningJob, WaitingJob
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED, JOBS_PENDING, SCHEDULABLE
from fabrichealth.model import Reason
from fabrichealth.topology import Topology

METRICS = (ALLOCATED, HOST_ALLOCATED, SCHEDULABLE, JOBS_PENDING)

MOST_OF_A_HOST = 1024
"""Accelerators of one host; a count beyond that is a mistake."""

NONE = "0"
"""Label size of jobs that ask for no accelerator."""

MOST_SIZES = 256
"""Sizes of jobs that are told as 0 once nobody waits for them any more."""


class Names:
    """The topology's names for a scheduler's hosts and their accelerators."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._hosts: dict[str, str] = {}

    def host(self, said: str) -> str:
        """Return the device of a host: by its name or system name, with or without its domain."""
        found = self._hosts.get(said)
        if found is None:
            named = self._topology.named
            short = said.partition(".")[0]
            found = self._hosts[said] = named(said) or named(short) or device_name(said)
        return found

    def accelerator(self, host: str, said: str) -> str:
        """Return the accelerator of a host by what the scheduler calls it: index or UUID."""
        device = self.host(host)
        if said.isdigit():
            return accelerator(self._topology, device, index=said)
        return device_name(accelerator(self._topology, device, uuid=said))

    def holder(self, accelerator: str) -> str:
        """Return the host of an accelerator; empty where the topology does not name it."""
        row = self._topology.devices.get(accelerator)
        return row.host if row is not None and row.host else ""

    def domain(self, hosts: Iterable[str]) -> str:
        """Return the domain in which all of these hosts lie; empty if there is no such."""
        found = {self._topology.domain_of(self.host(one)) for one in hosts}
        return found.pop() if len(found) == 1 else ""

    def listed(self, host: str) -> list[str]:
        """Return the accelerators that the topology names on a host."""
        rows = self._topology.devices
        written = self._topology.hosted.get(self.host(host), ())
        return [name for name in written if rows[name].role == "accelerator"]

    def all_of(self, host: Host) -> list[str]:
        """Return the accelerators of a host by index, those that a UUID names among them."""
        own = self.listed(host.name)
        total = min(host.total or 0, MOST_OF_A_HOST)
        return own or [self.accelerator(host.name, str(n)) for n in range(total)]


def tell(cluster: Cluster, names: Names, sizes: dict[tuple[str, str], None], into: Columns) -> None:
    """Put a cluster's readings into a poll; `sizes` are those of (domain, size) told before."""
    for reason, what, labels, raw in cluster.refused:
        into.refuse(reason, what, labels, raw)
    into.missing += cluster.missing
    for host in cluster.hosts or ():
        _host(host, names, into)
    if cluster.hosts is None and cluster.running is not None:
        _held(cluster.running, names, into)
    lost = cluster.hosts is None and any(domain for domain, _ in sizes)
    if cluster.waiting is not None and not lost:  # else where they wait is not known
        _waiting(cluster.waiting, names, home(cluster, names), sizes, into)


def _host(host: Host, names: Names, into: Columns) -> None:
    device = names.host(host.name)
    into.take(SCHEDULABLE, (device,), float(host.schedulable))
    if not host.total and not host.used:
        return
    if host.used is not None:
        if host.total is not None and host.used > host.total:
            raw = f"{host.used} of {host.total} held"
            into.refuse(Reason.IMPLAUSIBLE, str(HOST_ALLOCATED), {"device": device}, raw)
            return
        has = len(names.listed(host.name))
        fewer = host.total is not None and host.total < has
        if fewer or 0 < has < host.used:
            raw = f"{host.used} of {host.total} held, the host has {has}"
            into.refuse(Reason.UNSUPPORTED, str(HOST_ALLOCATED), {"device": device}, raw)
            return
        if host.total is not None:
            into.take(HOST_ALLOCATED, (device,), float(host.used))
    if host.held is None:
        return
    held = {names.accelerator(host.name, one) for one in host.held}
    every = names.all_of(host)
    if host.used == 0 or len(held) == len(every) or held <= set(every):
        whole = len(held) == len(every)
        for one in every if host.total is not None else held:  # else nobody offers the rest
            into.take(ALLOCATED, (one,), float(whole or one in held))
    else:  # another numbering than the inventory's: who they are is not known
        raw = ", ".join(sorted(held - set(every))[:4])
        into.refuse(Reason.IMPLAUSIBLE, str(ALLOCATED), {"device": device}, f"not listed: {raw}")


def _held(running: Iterable[RunningJob], names: Names, into: Columns) -> None:
    """Tell what jobs hold where no hosts were listed, so that nothing is known to be free."""
    for job in running:
        for host, mine in job.accelerators.items():
            for one in mine:
                into.take(ALLOCATED, (names.accelerator(host, one),), 1.0)


def _waiting(
    waiting: Iterable[WaitingJob],
    names: Names,
    own: str,
    sizes: dict[tuple[str, str], None],
    into: Columns,
) -> None:
    many: dict[tuple[str, str], int] = dict.fromkeys(sizes, 0) | {(own, NONE): 0}
    for job in waiting:
        domain = domain_of(job, names, own)
        key = (domain, str(job.size))
        many[key] = many.get(key, 0) + job.tasks
        if len(sizes) < MOST_SIZES:
            sizes[key] = None
    for key, count in many.items():
        into.take(JOBS_PENDING, key, float(count))


def home(cluster: Cluster, names: Names) -> str:
    """Return the one domain whose accelerators a scheduler gives away; empty if it has several.

    So the queues of two schedulers that have a domain each are told apart.
    """
    return names.domain(host.name for host in cluster.hosts or () if host.total)


def domain_of(job: WaitingJob, names: Names, own: str) -> str:
    """Return the one domain in which a job may be placed, of `own` scheduler; else empty."""
    return names.domain(job.hosts) if job.hosts else own


def named(job: RunningJob, names: Names) -> Mapping[str, list[str]]:
    """Return a job's accelerators by host, all by the topology's names."""
    return {
        names.host(host): [names.accelerator(host, one) for one in mine]
        for host, mine in job.accelerators.items()
    }
