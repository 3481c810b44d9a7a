"""Scheduler: which accelerators jobs hold, where work may be placed, and who waits for how many.

Slurm by its own commands on a host that may ask the controller (no address, or the folder that
holds the commands), or by slurmrestd (`https://HOST:6820/slurm/v0.0.40`); Kubernetes, with Volcano
where it is there, by its API (`https://HOST:6443`) with a token that may list nodes, pods and
those. Jobs that begin, end and wait are told as events. A job that waits for something else than
room (a dependency, a limit, a hold) is not counted as waiting. Where a scheduler counts
accelerators and does not say which, a host's count is told and its accelerators are not.
Captures: what `squeue --json`, `scontrol show nodes --json` and `sinfo --json` printed,
slurmrestd's bodies, and lists as `kubectl get -A -o json` prints them.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from collectors.captures import captured
from collectors.maps.columns import Columns
from collectors.protocols import kubernetes, slurm
from collectors.protocols.kubernetes import Listed
from collectors.protocols.slurm import Listing
from collectors.scheduler import kubernetes as pods
from collectors.scheduler import slurm as queue
from collectors.scheduler import telling
from collectors.scheduler.api import KubernetesLists, SlurmRest
from collectors.scheduler.changes import JobChanges
from collectors.scheduler.cluster import Cluster
from collectors.scheduler.telling import Names
from collectors.source import TRUST, Source, SourceSettings, Target
from collectors.transports.http import HttpClient
from collectors.transports.secrets import secret
from collectors.transports.slurm import SlurmCommands
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

SLURM_FOLDER = "/slurm/"
"""Addresses below it are slurmrestd's."""


class SchedulerSettings(SourceSettings):
    """Scheduler section of the configuration."""

    period: Duration = seconds(30)
    """How often all jobs and nodes are listed; more often loads the controller for little."""

    timeout: Duration = seconds(20)
    """Give up on one visit after this long; a list that is not whole by then is missing."""

    gres: tuple[str, ...] = ("gpu", "npu")
    """Slurm's generic resources that are accelerators."""

    resources: tuple[str, ...] = ()
    """Kubernetes' resources that are accelerators, beyond those of the usual device plugins; and
    drivers of claims and classes of devices, beyond those named `gpu.`, `npu.` and the like."""

    page_size: int = Field(default=500, ge=1, le=10_000)
    """Objects of Kubernetes that are asked for at a time."""

    max_bytes: Size = 256 * 2**20
    """A reply beyond this size is not read to its end, and its list is missing."""


class Scheduler(Source):
    """One scheduler."""

    settings_type = SchedulerSettings
    settings: SchedulerSettings
    schemes = ("http", "https")
    local = True
    options = ("secret_file", "secret_env", *TRUST)
    metrics = telling.METRICS

    def __init__(self, settings: SchedulerSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._names = Names(target.topology)
        self._changes = JobChanges()
        self._sizes: dict[tuple[str, str], None] = {}
        """(domain, size) of jobs that waited once."""
        folder = Path(target.address) if target.address.startswith("/") else None
        self._commands = SlurmCommands(folder)
        self._http: HttpClient | None = None
        if target.address and folder is None:
            self._http = HttpClient(target, settings.patience, settings.max_bytes)
            path = urlsplit(target.address).path.rstrip("/")
            rest = f"{path}/".startswith(SLURM_FOLDER)
            self._rest = SlurmRest(self._http, path) if rest else None
            self._lists = KubernetesLists(self._http, settings.page_size, self._listed)

    async def read(self, at: float) -> Poll:
        """List nodes and jobs once.

        Raises:
            SourceUnavailable: neither could be had; the message has the scheduler's own words.
        """
        columns = Columns(self.table)
        until = asyncio.get_running_loop().time() + self.settings.patience
        if self._http is None:
            cluster = await self._by_commands(columns)
        elif self._rest is not None:
            visit = await self._rest.visit(until, secret(self.target))
            cluster = self._slurm(visit.replies, visit.lost, columns)
        else:
            found = await self._lists.visit(until)
            _lose(found.lost, columns)
            cluster = pods.cluster(found.replies, found.lost)
        if cluster.hosts is None and cluster.running is None and cluster.waiting is None:
            first = columns.refused[0].raw if columns.refused else None
            why = first or next((str(raw) for *_, raw in cluster.refused), "lists nothing")
            raise SourceUnavailable(f"{self.target.name}: {why}")
        return self._poll([cluster], columns, at)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read replies of schedulers as one poll.

        Raises:
            SourceUnavailable: none of the files is one.
        """
        columns = Columns(self.table)
        listings: list[Listing] = []
        pages: list[Listed] = []
        wrong = "nothing in it"
        for file in captured(files):
            if file.stderr.strip() and not file.text.strip():
                first = file.stderr.strip().splitlines()[0][:200]
                columns.refuse(Reason.FAILED, file.name, {}, first)
                columns.missing.append(file.name)
                continue
            try:
                listings.append(slurm.listing(file.text, self.settings.gres))
            except MalformedReply as other:
                try:
                    pages.append(self._listed(file.text))
                except MalformedReply:
                    wrong = str(other)
        clusters = ([queue.cluster(listings)] if listings else []) + (
            [pods.cluster(pages)] if pages else []
        )
        if not clusters and not columns.missing:
            raise SourceUnavailable(
                f"{files[0]}: of no scheduler ({wrong}); give what squeue, sinfo or scontrol "
                "--json or kubectl get -o json printed"
            )
        return self._poll(clusters, columns, at)

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time at which a controller says that its answer was so."""
        try:
            texts = [file.text for file in captured(files)]
        except SourceUnavailable:
            return None
        found = []
        for text in texts:
            with suppress(MalformedReply):
                found.append(slurm.listing(text, self.settings.gres).at)
        return max((one for one in found if one is not None), default=None)

    def memory(self) -> dict[str, Any]:
        """Return the jobs that were told."""
        return self._changes.memory()

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up `memory` of before the restart."""
        self._changes.remember(memory)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._http is not None:
            await self._http.close()

    def _listed(self, body: bytes | str) -> Listed:
        return kubernetes.listed(body, self.settings.resources)

    async def _by_commands(self, columns: Columns) -> Cluster:
        within = self.settings.patience / 2
        try:
            jobs = await self._commands.jobs(within)
            nodes = await self._commands.nodes(within)
        except SourceUnavailable as wrong:
            raise SourceUnavailable(f"{self.target.name}: {wrong}") from None
        lost, replies = {}, []
        for what, output in (("jobs", jobs), ("nodes", nodes)):
            if output.stdout.strip() and not output.late:
                replies.append(output.stdout)
            else:
                lost[what] = output.complaint
        return self._slurm(replies, lost, columns)

    def _slurm(
        self, replies: Iterable[bytes | str], lost: Mapping[str, str], columns: Columns
    ) -> Cluster:
        _lose(lost, columns)
        listings = []
        for reply in replies:
            try:
                listings.append(slurm.listing(reply, self.settings.gres))
            except MalformedReply as wrong:
                columns.refuse(Reason.MALFORMED, "slurm", {}, str(wrong))
                columns.missing.append("slurm")
        return queue.cluster(listings)

    def _poll(self, clusters: Iterable[Cluster], columns: Columns, at: float) -> Poll:
        for cluster in clusters:
            telling.tell(cluster, self._names, self._sizes, columns)
            columns.events += self._changes.events(cluster, self._names, at)
        return columns.poll(self.clock, at)


def _lose(lost: Mapping[str, str], columns: Columns) -> None:
    for what, why in lost.items():
        columns.refuse(Reason.FAILED, what, {}, why)
        columns.missing.append(what)
