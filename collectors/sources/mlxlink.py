"""NVIDIA network ports by their own firmware: bit error ratios, lanes, FEC histogram, module.

`mlxlink` sees what the kernel does not: errors before FEC by lane, and what the module says. A
value that was not measured (`15E-255`, `N/A`) is refused, never 0. Each call holds the firmware's
semaphore, so that ports are asked one after the other, not more often than twice a minute, and no
counter is ever cleared.

Live: every NVIDIA port of this host. Captures: mlxlink's text or JSON, one port each.
"""

import asyncio
import re
from collections import Counter
from pathlib import Path

from pydantic import Field

from collectors.captures import captured
from collectors.host import ports
from collectors.host.ports import HostPort, Naming
from collectors.maps import mlxlink as port_map
from collectors.maps.columns import Columns
from collectors.privilege import Privilege
from collectors.protocols import mlxlink, sysfs
from collectors.protocols.mlxlink import Link
from collectors.source import Source, SourceSettings, Target
from collectors.transports.process import run
from collectors.transports.tree import FolderTree
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

WORDS = ("-c", "-m", "--json")
HISTOGRAM = ("--rx_fec_histogram", "--show_histogram")

DRIVERS = {"mlx5_core", "mlx4_core"}

LEAVE_TIME = 0.95


class MlxlinkSettings(SourceSettings):
    """Mlxlink section of the configuration."""

    period: Duration = Field(default=seconds(60), ge=30)
    """How often each port is asked; at least 30 s, because a call holds the card's semaphore."""

    timeout: Duration = seconds(50)
    """Give up on one visit after this long; ports not asked by then are missing."""

    tool_timeout: Duration = Field(default=seconds(10), gt=0)
    """Give up on one port after this long."""

    histogram: bool = True
    """Whether the histogram of FEC errors is asked for, where the card has one."""


class Mlxlink(Source):
    """The NVIDIA ports of one host."""

    settings_type = MlxlinkSettings
    settings: MlxlinkSettings
    privileges = (
        Privilege(
            "firmware",
            "registers of the adapter's firmware by mlxlink, which wants to be root",
            capabilities=("CAP_SYS_ADMIN",),
            root=True,
        ),
    )
    metrics = tuple(dict.fromkeys((*port_map.METRICS, PORT_INFO)))

    def __init__(self, settings: MlxlinkSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._naming = Naming(target)
        self._without: set[str] = set()
        """Ports whose card has no histogram."""

    async def read(self, at: float) -> Poll:
        """Ask every port once, one after the other.

        Raises:
            SourceUnavailable: there is no such port or no such tool, or none answered.
        """
        found = self._ports()
        if not found:
            raise SourceUnavailable(
                f"{self.target.name}: no NVIDIA network port on this host; check root="
            )
        columns = Columns(self.table)
        loop = asyncio.get_running_loop()
        until = loop.time() + self.settings.timeout * LEAVE_TIME
        for name, port in found:
            left = until - loop.time()
            if left > 0:
                await self._ask(name, port, left, columns)
            else:
                columns.refuse(Reason.FAILED, "mlxlink", port.labels, "not asked in time")
                columns.missing.append(port.name)
        poll = columns.poll(self.clock, at)
        if not poll.readings:
            raise SourceUnavailable(f"{self.target.name}: {columns.refused[0].raw}")
        return poll

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read mlxlink's outputs, each of one port.

        Raises:
            SourceUnavailable: none of the files is of mlxlink.
        """
        columns = Columns(self.table)
        found: list[tuple[str, Link]] = []
        wrong = "no State, no counters"
        for file in captured(files):
            try:
                link = mlxlink.link(file.text)
            except MalformedReply as broken:
                wrong = str(broken)
                continue
            if link is not None:
                found.append((file.name.partition(".")[0], link))
        if not found:
            raise SourceUnavailable(
                f"{files[0]}: not of mlxlink ({wrong}); give what mlxlink -c -m [--json] printed"
            )
        names = Counter(name for name, _ in found)
        for name, link in found:
            alone = self.target.options.get("port", "1") if len(found) == 1 else name
            label = alone if names[name] == 1 else f"{name}.{names.total()}"
            self._take(link, self._naming.subject, label, "", columns)
        return columns.poll(self.clock, at)

    def _ports(self) -> list[tuple[str, HostPort]]:
        """Return the RDMA device of each port that mlxlink can be asked about, and its labels."""
        tree = FolderTree(Path(self.target.options.get("root", "/")))
        places = sysfs.places(tree)
        every = ports.find(tree, places, self._naming)
        by_interface = {port.interface: port for port in every if port.interface}
        found = []
        for port in every:
            if not port.rdma or port.driver not in DRIVERS:
                continue
            number = port.name.rpartition("/")[2]
            carried = port
            if port.technology == "roce":  # the physical port is the interface's
                names = tree.names(f"{places.infiniband[port.rdma]}/device/net")
                own = [by_interface[name] for name in names if name in by_interface]
                carried = own[0] if len(own) == 1 else port
            found.append((f"{port.rdma}/{number}", carried))
        return found

    async def _ask(self, name: str, port: HostPort, left: float, columns: Columns) -> None:
        card, _, number = name.rpartition("/")
        histogram = HISTOGRAM if self.settings.histogram and name not in self._without else ()
        words = ("mlxlink", "-d", card, "-p", number, *WORDS, *histogram)
        output = await run(words, min(left, self.settings.tool_timeout))
        try:
            link = mlxlink.link(output.stdout)
        except MalformedReply as wrong:
            columns.refuse(Reason.MALFORMED, "mlxlink", port.labels, str(wrong))
            columns.missing.append(port.name)
            return
        if link is None or (link.up is None and not link.counts):
            why = link.complaint if link and link.complaint else output.complaint
            columns.refuse(Reason.FAILED, "mlxlink", port.labels, why)
            columns.missing.append(port.name)
            return
        if re.search("histogram", link.complaint, re.IGNORECASE):
            self._without.add(name)
        self._take(link, port.device, port.port, port.uid, columns)

    def _take(self, link: Link, device: str, port: str, uid: str, columns: Columns) -> None:
        labels = {"device": device, "port": port}
        columns.take_all(device, port, port_map.readings(link))
        if link.up is not None or link.fec:
            known = {
                **labels,
                "technology": "ib" if link.infiniband else "roce" if link.speed else "",
                "fec": link.fec,
                "uid": uid,
            }
            info = tuple(known.get(label, "") for label in PORT_INFO.labels)
            columns.take(PORT_INFO, info, 1.0)
        for key, words in link.unmeasured:
            if key in port_map.KEYS:
                columns.refuse(Reason.UNSUPPORTED, str(port_map.KEYS[key]), labels, words)
        for key, words in link.malformed:
            what = str(port_map.KEYS.get(key, key))
            columns.refuse(Reason.MALFORMED, what, labels, words)
        if link.complaint:
            unsupported = "not supported" in link.complaint.casefold()
            reason = Reason.UNSUPPORTED if unsupported else Reason.FAILED
            columns.refuse(reason, "mlxlink", labels, link.complaint)
