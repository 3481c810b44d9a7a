"""Optical modules by their own memory: light, bias, heat, noise and flags of each lane.

Dirt, a bent fibre or a tired laser shows here days before the link drops. One poll reads the
modules of this host's interfaces through the kernel (ethtool), gently: what stands still once per
insertion, what moves once a poll, nothing that a module does not advertise. Reading clears latched
flags, so a module has one reader: a second one is refused. What is not there (cage, lane, monitor)
is absent; dark is -40 dBm; a module that answers nonsense is refused, its neighbours are not.

Live target: no address (every interface), an interface (`eth0`), or the path of a file that holds
a linear image, as the `optoe` driver gives it. Captures: images of modules, binary, as a hex dump
or as JSON by page. Needs CAP_NET_ADMIN.
"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from collectors.captures import files_below
from collectors.host import ports
from collectors.host.modules import HostModules
from collectors.host.ports import HostPort, Naming
from collectors.maps.columns import Columns
from collectors.optics import columns as optics
from collectors.optics import explanation, images
from collectors.optics.columns import Cage, ModuleColumns
from collectors.optics.reading import ModuleReader
from collectors.optics.report import report
from collectors.privilege import MODULE_MEMORY
from collectors.protocols import sysfs
from collectors.protocols.module import Memory
from collectors.source import Source, SourceSettings, Target
from collectors.transports.ethtool import Kernel
from collectors.transports.own_thread import started
from collectors.transports.tree import FolderTree
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

REFRESH = 1.0
"""Seconds in which a module renews its monitors (CMIS, SFF-8636); more often tells nothing new."""


class EepromSettings(SourceSettings):
    """Eeprom section of the configuration."""

    period: Duration = seconds(60)
    """How often the modules are read. A page costs 5 to 15 ms on a module's bus."""

    timeout: Duration = seconds(20)
    """Give up on one visit after this long; the next poll tries again."""

    retry: Duration = seconds(600)
    """A module that cannot be read at all (no cage, no permission) is left alone for this long."""

    identity: Duration = seconds(600)
    """Who made a module is read again this often, should it have been swapped between polls."""

    whole: bool = False
    """Read also pages that hold nothing for the catalogue: tuning, loopbacks, coherent links."""


class Eeprom(Source):
    """The modules of one host, or images of modules."""

    settings_type = EepromSettings
    settings: EepromSettings
    privileges = (MODULE_MEMORY,)
    metrics = optics.METRICS
    local = True

    def __init__(self, settings: EepromSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._naming = Naming(target)
        self._modules = ModuleColumns(table)
        self._kernel: Kernel | None = None
        self._host: HostModules | None = None
        self._visit: Future[Poll] | None = None
        self._seen: list[tuple[str, Memory]] = []

    async def read(self, at: float) -> Poll:
        """Visit the modules once, in a thread of its own: a bus may take its time.

        Raises:
            SourceUnavailable: too slow, still busy with the last visit, or nothing there.
        """
        name = self.target.name
        if self._visit is not None and not self._visit.done():
            raise SourceUnavailable(f"{name}: a module has not answered the last poll; see dmesg")
        self._visit = started(f"eeprom {name}", lambda: self._read(at))
        try:
            async with asyncio.timeout(self.settings.timeout):
                return await asyncio.shield(asyncio.wrap_future(self._visit))
        except TimeoutError:
            raise SourceUnavailable(
                f"{name}: no answer in {self.settings.timeout:g} s; a module's bus hangs, see dmesg"
            ) from None

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read images as one poll, a module each; several are told apart by their files' names.

        Raises:
            SourceUnavailable: none of the files is an image of a module.
        """
        columns = Columns(self.table)
        self._seen = []
        found: list[tuple[Path, Memory]] = []
        wrong: list[tuple[Path, str]] = []
        for file in _files(files):
            try:
                found.append((file, images.read(file)))
            except MalformedReply as malformed:
                wrong.append((file, str(malformed)))
        if not found:
            said = wrong[0][1] if wrong else "there is no file"
            raise SourceUnavailable(f"{files[0]}: no image of a module ({said})")
        alone = len(found) == 1
        cages = [
            Cage(self._naming.subject, self._port(file, alone=alone), memory)
            for file, memory in found
        ]
        self._modules.take(cages, columns)
        self._seen = [(cage.port, cage.memory) for cage in cages]
        for file, why in wrong:
            labels = {"device": self._naming.subject, "port": self._port(file, alone=False)}
            columns.refuse(Reason.MALFORMED, file.name, labels, why)
        return columns.poll(self.clock, at)

    def report(self, *, explain: bool) -> Iterator[str] | None:
        """Return the lines of a report of the modules read last; None if none was."""
        return report(self._seen, explain=explain) if self._seen else None

    def explanation(self) -> Iterator[dict[str, object]]:
        """Yield where each value of the modules read last comes from."""
        return explanation.objects(self._seen)

    async def close(self) -> None:
        """Let others read the modules; one that hangs is not waited for."""
        if self._host is not None:
            self._host.close()
        if self._kernel is not None:
            self._kernel.close()

    def _port(self, file: Path, *, alone: bool) -> str:
        return self.target.options.get("port", "") or ("1" if alone else file.stem)

    def _read(self, at: float) -> Poll:
        address = self.target.address
        if address.startswith("/"):
            return self.captured([Path(address)], at)
        here = self._interfaces(address)
        if self._host is None:
            self._kernel = Kernel()
            reader = ModuleReader(self._kernel, self.settings.identity, self.settings.whole)
            self._host = HostModules(reader, self._modules, REFRESH, self.settings.retry)
        columns = Columns(self.table)
        for port in here:
            self._host.read(port, at, columns)
        last = self._host.last
        self._seen = [
            (port.port, last[port.interface].memory) for port in here if port.interface in last
        ]
        return columns.poll(self.clock, at)

    def _interfaces(self, wanted: str) -> list[HostPort]:
        """Return the interface that is asked for, or every one with a driver that may have cages.

        Raises:
            SourceUnavailable: there is none.
        """
        tree = FolderTree(Path("/"))
        found = [one for one in ports.find(tree, sysfs.places(tree), self._naming) if one.interface]
        here = [one for one in found if (one.interface == wanted if wanted else not one.virtual)]
        if not here:
            what = f"no interface {wanted}" if wanted else "no interface with hardware"
            raise SourceUnavailable(f"{self.target.name}: {what} on this host; see `ip link`")
        return here


def _files(paths: list[Path]) -> list[Path]:
    return [file for path in paths for file in (files_below(path) if path.is_dir() else [path])]
