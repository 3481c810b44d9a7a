"""API: the lists that Kubernetes and slurmrestd serve, each as a whole or not at all.

Half a list of pods would look as if the other half had ended. Volcano's jobs, resource claims and
slices are read where the cluster has them; what it has not is asked for again each hour only.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import quote

from collectors.protocols.kubernetes import Listed
from collectors.transports.http import HttpClient, NoSuchResource
from fabrichealth.errors import MalformedReply, SourceUnavailable

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods?fieldSelector=status.phase!%3DSucceeded,status.phase!%3DFailed"

OPTIONAL = {
    **{
        what: tuple(f"/apis/resource.k8s.io/{one}/{what}" for one in ("v1", "v1beta2", "v1beta1"))
        for what in ("resourceclaims", "resourceslices")
    },
    "podgroups": ("/apis/scheduling.volcano.sh/v1beta1/podgroups",),
    "jobs": ("/apis/batch.volcano.sh/v1alpha1/jobs",),
}
"""Lists that not every cluster has, each under the versions by which it may be served."""

ASK_AGAIN = 3600.0
"""Seconds after which what a cluster has not is asked for again."""

MOST_PAGES = 10_000

T = TypeVar("T")


@dataclass(slots=True)
class Visit(Generic[T]):
    """What one visit brought: replies that are whole, and why others are not there."""

    replies: list[T] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)

    @property
    def why(self) -> str:
        """The first reason, for a message."""
        return next(iter(self.lost.values()), "nothing was asked")


class KubernetesLists:
    """The lists of one API server."""

    def __init__(self, http: HttpClient, page_size: int, read: Callable[[bytes], Listed]) -> None:
        self._http = http
        self._page_size = page_size
        self._read = read
        self._lacking: dict[str, float] = {}
        """When to ask again for what the cluster has not, by list."""
        self._served: dict[str, str] = {}
        """Path of each optional list that it has."""

    async def visit(self, until: float) -> Visit[Listed]:
        """Read every list by a deadline of the event loop's clock."""
        found = Visit[Listed]()
        await self._take("nodes", NODES, until, found)
        await self._take("pods", PODS, until, found)
        now = asyncio.get_running_loop().time()
        for what, versions in OPTIONAL.items():
            if self._lacking.get(what, 0.0) > now:
                continue
            known = (self._served[what],) if what in self._served else versions
            for path in known:
                if await self._take(what, path, until, found):
                    self._served[what] = path
                    break
            else:
                self._served.pop(what, None)
                self._lacking[what] = now + ASK_AGAIN
        return found

    async def _take(self, what: str, path: str, until: float, found: Visit[Listed]) -> bool:
        """Read one list; return False where the server has no such."""
        pages: list[Listed] = []
        try:
            async with asyncio.timeout_at(until):
                token = ""
                for _ in range(MOST_PAGES):
                    page = await self._page(path, token)
                    pages.append(page)
                    if not page.more or page.more == token:
                        break
                    token = page.more
        except NoSuchResource as absent:
            if what not in OPTIONAL:
                found.lost[what] = str(absent)
            return False
        except TimeoutError:
            found.lost[what] = "not read in time"
            return True
        except SourceUnavailable as wrong:
            if what in OPTIONAL and what not in self._served and await self._absent(path, until):
                return False
            found.lost[what] = str(wrong)
            return True
        found.replies += pages
        return True

    async def _absent(self, path: str, until: float) -> bool:
        """Return whether the cluster has no such API: who may not list is told 403 of any."""
        try:
            async with asyncio.timeout_at(until):
                await self._http.get(path.rpartition("/")[0])
        except NoSuchResource:
            return True
        except (SourceUnavailable, TimeoutError):
            return False
        return False

    async def _page(self, path: str, token: str) -> Listed:
        joint = "&" if "?" in path else "?"
        more = f"&continue={quote(token, safe='')}" if token else ""
        reply = await self._http.get(f"{path}{joint}limit={self._page_size}{more}")
        try:
            return self._read(reply.body)
        except MalformedReply as wrong:
            raise SourceUnavailable(
                f"{self._http.where}: {path.partition('?')[0]}: {wrong}"
            ) from None


class SlurmRest:
    """The two lists of slurmrestd below a folder such as `/slurm/v0.0.40`."""

    def __init__(self, http: HttpClient, folder: str) -> None:
        self._http = http
        self._folder = folder

    async def visit(self, until: float, token: str | None) -> Visit[bytes]:
        """Read both lists by a deadline of the event loop's clock."""
        found = Visit[bytes]()
        sent = {"X-SLURM-USER-TOKEN": token} if token else {}
        for what in ("jobs", "nodes"):
            try:
                async with asyncio.timeout_at(until):
                    reply = await self._http.get(f"{self._folder}/{what}/", headers=sent)
                found.replies.append(reply.body)
            except TimeoutError:
                found.lost[what] = "not read in time"
            except SourceUnavailable as wrong:
                found.lost[what] = str(wrong)
        return found
