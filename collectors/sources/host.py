"""A Linux host's NICs and HCAs: link state, errors, FEC, pauses, RoCE transport, optics.

One slow or sick NIC slows a whole job, and the host sees it first: in the counters of its own end.
One poll reads sysfs, and on the live host also asks the drivers (ethtool ioctl and netlink, DCB).
What a driver does not have is absent and said once; one odd file or device costs only itself.

Where lldpd runs it is asked what faces each port.

Live target: no address; `root` may name another root (a captured or emulated tree), of which only
files are read. Captures: such a tree, its JSON map, and what `ethtool`, `rdma` and `lldpcli -f json
show neighbors` print.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from collectors.host import captures, counters, links, modules, tree
from collectors.host.captures import HostCaptures
from collectors.host.counters import HostCounters
from collectors.host.interrupts import HostInterrupts
from collectors.host.links import HostLinks
from collectors.host.modules import HostModules
from collectors.host.neighbors import HostNeighbors, of_ports
from collectors.host.ports import Naming
from collectors.host.replies import Failure, Reply
from collectors.host.replies import read as read_captures
from collectors.host.tree import HostTree
from collectors.maps import kept_wraps
from collectors.maps.columns import Columns
from collectors.optics.columns import ModuleColumns
from collectors.optics.reading import ModuleReader
from collectors.privilege import MODULE_MEMORY, Privilege
from collectors.protocols.lldpcli import Neighbors
from collectors.source import Source, SourceSettings, Target
from collectors.transports.ethtool import Kernel
from collectors.transports.own_thread import started
from collectors.transports.tree import FolderTree, Tree
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Poll, SeriesTable
from fabrichealth.settings import Duration, seconds

SHARE_OF_LLDP = 0.2
"""Share of the time-out that lldpd may take, after everything else was read."""


class HostSettings(SourceSettings):
    """Host section of the configuration."""

    retry: Duration = seconds(600)
    """What a driver refuses to tell is asked for again only after this long."""

    rediscover: Duration = seconds(60)
    """New counters of devices already known are looked for this often; new devices at once."""

    virtual_interfaces: Literal["never", "if_alone", "always"] = "if_alone"
    """Whether interfaces without hardware (veth, bridge, bond) are ports: if_alone takes them
    where there is no other, as in a container."""

    modules: Duration = seconds(60)
    """How often the memory of optical modules is read; 0 never. Needs CAP_NET_ADMIN."""

    interrupts: Duration = seconds(60)
    """How often it is looked where the cards' interrupts are served; 0 never. On a large host
    the file is megabytes."""

    neighbors: Duration = seconds(60)
    """How often lldpd is asked (by lldpcli) what faces each port; 0 never."""

    lldp_socket: str = ""
    """Where lldpd listens, if not at its usual place."""

    wait_clock_hertz: float | None = Field(default=None, gt=0)
    """Ticks per second of the adapter's port_xmit_wait; default 4 octets at the active rate."""


class Host(Source):
    """One host: the live one, or a tree of files that looks like one."""

    settings_type = HostSettings
    settings: HostSettings
    privileges = (
        MODULE_MEMORY,
        Privilege("neighbors", "what lldpd hears, by its socket", groups=("_lldpd",)),
    )
    closest = 0.1  # a driver asks its adapter for the counters at each reading
    metrics = tuple(
        dict.fromkeys(
            metric for part in (counters, links, modules, tree, captures) for metric in part.METRICS
        )
    )

    def __init__(self, settings: HostSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        root = target.options.get("root", "")
        self._live = not root
        self._tree = self._host_tree(FolderTree(Path(root or "/")), settings.retry)
        self._kernel: Kernel | None = None
        self._links: HostLinks | None = None
        self._modules: HostModules | None = None
        port, driver = target.options.get("port", ""), target.options.get("driver", "")
        self._naming = Naming(target)
        self._captures = HostCaptures(table, self._naming, port, driver)
        self._captured_trees: list[HostTree] = []
        self._neighbors = HostNeighbors(
            target, settings.neighbors, settings.retry, settings.lldp_socket
        )
        self._visit: Future[Poll] | None = None

    async def read(self, at: float) -> Poll:
        """Visit the host once, in a thread of its own: a driver may take its time.

        Raises:
            SourceUnavailable: too slow, still busy with the last visit, or nothing there.
        """
        name = self.target.name
        if self._visit is not None and not self._visit.done():
            raise SourceUnavailable(f"{name}: a driver has not answered the last poll; see dmesg")
        self._visit = started(f"host {name}", lambda: self._read(at))
        try:
            async with asyncio.timeout(self.settings.timeout):
                poll = await asyncio.shield(asyncio.wrap_future(self._visit))
        except TimeoutError:
            raise SourceUnavailable(
                f"{name}: no answer in {self.settings.timeout:g} s; a driver hangs, see dmesg"
            ) from None
        return await self._with_neighbors(poll, at) if self._live else poll

    async def _with_neighbors(self, poll: Poll, at: float) -> Poll:
        """Add what lldpd hears at the ports that are read."""
        columns = Columns(self.table)
        said = await self._neighbors.ask(at, SHARE_OF_LLDP * self.settings.timeout, columns)
        poll.refused.extend(columns.refused)
        ports = {one.interface: (one.device, one.port) for one in self._tree.ports if one.interface}
        own = Neighbors(tuple(one for one in said.entries if one.interface in ports))
        poll.neighbors.extend(of_ports(own, self.target, self._naming, ports))
        return poll

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read trees and tool outputs as one poll.

        Raises:
            SourceUnavailable: none of the files is of a host.
        """
        columns = Columns(self.table)
        replies: list[Reply] = []
        failures: list[Failure] = []
        trees: list[Tree] = []
        heard: list[Neighbors] = []
        for found in read_captures(files):
            if isinstance(found, Reply):
                replies.append(found)
            elif isinstance(found, Failure):
                failures.append(found)
            elif isinstance(found, Neighbors):
                heard.append(found)
            else:
                trees.append(found)
        said = [*replies, *trees, *heard]
        if not said and not any(not failure.malformed for failure in failures):
            why = failures[0].text if failures else "there is no file"
            raise SourceUnavailable(
                f"{files[0]}: not of a host ({why}); give a sysfs tree or what ethtool printed"
            )
        self._captures.take(replies, failures, at, columns)
        for number, found_tree in enumerate(trees):
            self._captured_tree(number, found_tree).read_anew(found_tree, at, columns)
        poll = columns.poll(self.clock, at)
        for table in heard:
            poll.neighbors.extend(of_ports(table, self.target, self._naming, {}))
        return poll

    def memory(self) -> dict[str, Any]:
        """Return the names of the ports by identity, and the wraps undone so far."""
        wraps = kept_wraps.kept(self._tree.counters.repair, self.table)
        return {"ports": self._tree.memory(), "wraps": wraps}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up `memory` of before the restart."""
        kept_wraps.restore(self._tree.counters.repair, self.table, memory.get("wraps"))
        ports = memory.get("ports")
        if isinstance(ports, Mapping):
            self._tree.remember(ports)

    async def close(self) -> None:
        """Close the sockets; a driver that hangs is not waited for."""
        if self._modules is not None:
            self._modules.close()
        if self._kernel is not None:
            self._kernel.close()

    def _host_tree(self, files: Tree, retry: float) -> HostTree:
        settings = self.settings
        return HostTree(
            HostCounters(files, self.table, retry, settings.wait_clock_hertz),
            Naming(self.target),
            HostInterrupts(settings.interrupts),
            settings.virtual_interfaces,
            settings.rediscover,
        )

    def _captured_tree(self, number: int, found: Tree) -> HostTree:
        """Return what remembers the trees of this place in a poll; nothing in them rests."""
        while len(self._captured_trees) <= number:
            self._captured_trees.append(self._host_tree(found, retry=0.0))
        return self._captured_trees[number]

    def _read(self, at: float) -> Poll:
        columns = Columns(self.table)
        if not self._tree.find(at, columns):
            root = self.target.options.get("root", "/")
            raise SourceUnavailable(
                f"{self.target.name}: no network or RDMA device below {root}; check root="
            )
        if self._live:
            self._ask(at, columns)
        self._tree.read(at, columns)
        return columns.poll(self.clock, at)

    def _ask(self, at: float, columns: Columns) -> None:
        """Ask the kernel about each interface; its witness comes before sysfs."""
        if self._links is None or self._modules is None:
            self._kernel = Kernel()
            self._links = HostLinks(self._kernel, self.table, self.settings.retry)
            self._modules = HostModules(
                ModuleReader(self._kernel),
                ModuleColumns(self.table),
                self.settings.modules,
                self.settings.retry,
            )
            self._tree.fec = self._links.fec
        for port in self._tree.ports:
            if port.interface:
                self._links.read(port, self._tree.counters.speed(port), at, columns)
                self._modules.read(port, at, columns)
