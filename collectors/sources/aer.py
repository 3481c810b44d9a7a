"""PCIe and CXL links of a host: advanced error reports, and links slower than they could be.

A riser or a retimer that is half in its slot counts corrected errors for weeks before it fails,
and a link that trained to x8 instead of x16 halves an accelerator without an error anywhere. One
poll reads sysfs. A port is `pcie/BDF`, where CXL memory sits `cxl/memN`; it belongs to the
accelerator or NIC that the topology knows by that address, else to the host. A zero is a count that
the kernel keeps; what a device does not report is absent. Of CXL's own protocols the kernel keeps
no counts in sysfs.

Live target: no address; `root` may name another root. Captures: such a tree or its JSON map.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EINVAL, ENODATA, EOPNOTSUPP
from pathlib import Path
from typing import Literal

import numpy as np
import orjson

from collectors.captures import content
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.protocols import netlink, sysfs, sysfs_pci
from collectors.protocols.sysfs_pci import REPORTS, ROOT_REPORTS, Places
from collectors.source import Source, SourceSettings, Target
from collectors.transports.tree import FolderTree, Tree, map_tree
from fabrichealth.catalogue.devices import PCIE_ERRORS
from fabrichealth.catalogue.ports import LANES, MAX_LANES, MAX_SPEED, PORT_INFO, SPEED
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Ids, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

CLASSES = ("0x02", "0x03", "0x12", "0x0502", "0x0604", "0x0b40")
"""Class codes of what a fabric is made of: network, display, accelerators, CXL memory, bridges,
co-processors (PCI code and ID assignment)."""

LINKS = (
    ("current_link_speed", "current_link_width", SPEED, LANES),
    ("max_link_speed", "max_link_width", MAX_SPEED, MAX_LANES),
)

ROOT_TYPE = "received"
"""Type of the messages that a root port received from below."""

NEVER = {EINVAL, ENODATA, EOPNOTSUPP}

LARGEST_MAP = 64 * 2**20


class AerSettings(SourceSettings):
    """Aer section of the configuration."""

    period: Duration = seconds(30)
    """How often the reports are read."""

    devices: Literal["fabric", "all"] = "fabric"
    """Which PCI devices are read: fabric takes network cards, accelerators, CXL memory and the
    bridges before them."""

    rediscover: Duration = seconds(300)
    """How often it is looked which devices there are."""


@dataclass(slots=True)
class _Report:
    """One file of counts: its types as read last, and their series."""

    path: str
    severity: str
    types: tuple[str, ...] = ()
    series: Ids = field(default_factory=lambda: np.empty(0, np.int32))


@dataclass(slots=True)
class _Device:
    """One PCI function: its labels and files."""

    path: str
    device: str
    port: str
    reports: list[_Report]
    links: list[tuple[str, str, int, int]]
    """Files of speed and width, and their series."""
    info: int


class Aer(Source):
    """The PCIe links of one host."""

    settings_type = AerSettings
    settings: AerSettings
    metrics = (PCIE_ERRORS, SPEED, LANES, MAX_SPEED, MAX_LANES, PORT_INFO)

    def __init__(self, settings: AerSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._host = device_name(target.subject)
        self._tree: Tree = FolderTree(Path(target.options.get("root", "/")))
        self._found: list[_Device] = []
        self._next = float("-inf")

    async def read(self, at: float) -> Poll:
        """Read every report once, in a thread: configuration space may answer slowly.

        Raises:
            SourceUnavailable: there is no PCI device that reports.
        """
        return await asyncio.to_thread(self._read, at)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read trees, or their JSON maps, as one poll.

        Raises:
            SourceUnavailable: none of the files is a tree with PCI devices.
        """
        columns = Columns(self.table)
        found = False
        for tree in _trees(files):
            self._tree, self._found = tree, []
            self._look(at)
            self._take(columns)
            found |= bool(self._found)
        if not found:
            raise SourceUnavailable(
                f"{files[0]}: no PCI device that reports errors; give a sysfs tree or its JSON map"
            )
        return columns.poll(self.clock, at)

    def _read(self, at: float) -> Poll:
        if at >= self._next:
            self._look(at)
        if not self._found:
            root = self.target.options.get("root", "/")
            raise SourceUnavailable(
                f"{self.target.name}: no PCI device of a fabric below {root}; see devices: all"
            )
        columns = Columns(self.table)
        self._take(columns)
        return columns.poll(self.clock, at)

    def _look(self, at: float) -> None:
        """Find the devices and lay out their series."""
        self._next = at + self.settings.rediscover
        places = sysfs_pci.places(self._tree)
        known = {one.path: one for one in self._found}
        self._found = []
        for address, path in places.devices.items():
            names = set(self._tree.names("" if path == "." else path))
            if self._wanted(path, names):
                self._found.append(known.get(path) or self._device(address, path, names, places))

    def _wanted(self, path: str, names: set[str]) -> bool:
        if not names & {*REPORTS, "current_link_width"}:
            return False
        if self.settings.devices == "all" or "class" not in names:
            return True
        try:
            kind = sysfs.word(self._tree.read(f"{path}/class"))
        except OSError:
            return True
        return kind.startswith(CLASSES)

    def _device(self, address: str, path: str, names: set[str], places: Places) -> _Device:
        device = self.target.topology.named(address, self._host) or self._host
        memory = places.memories.get(address)
        port = f"cxl/{memory}" if memory else f"pcie/{address}"
        reports = [
            _Report(f"{path}/{name}", severity)
            for name, severity in (*REPORTS.items(), *ROOT_REPORTS.items())
            if name in names
        ]
        links = [
            (f"{path}/{speed}", f"{path}/{width}", self._series(rate, device, port),
             self._series(lanes, device, port))
            for speed, width, rate, lanes in LINKS
            if {speed, width} <= names
        ]  # fmt: skip
        known = {
            "device": device,
            "port": port,
            "technology": "cxl" if memory else "pcie",
            "uid": address,
        }
        labels = tuple(known.get(label, "") for label in PORT_INFO.labels)
        info = self.table.intern(PORT_INFO, labels)
        return _Device(path, device, port, reports, links, info)

    def _series(self, metric: Metric, device: str, port: str) -> int:
        return self.table.intern(metric, (device, port))

    def _take(self, columns: Columns) -> None:
        for one in self._found:
            for report in one.reports:
                self._report(one, report, columns)
            for speed, width, rate, lanes in one.links:
                self._link(one, speed, width, rate, lanes, columns)
            columns.put(one.info, 1.0)

    def _report(self, one: _Device, report: _Report, columns: Columns) -> None:
        raw = self._file(one, report.path, columns)
        if raw is None:
            return
        try:
            if report.path.rpartition("/")[2] in ROOT_REPORTS:
                number = sysfs.count(raw)
                counts = {} if number is None else {ROOT_TYPE: number}
            else:
                counts = sysfs_pci.report(raw)
        except MalformedReply as wrong:
            self._refuse(one, report.path, Reason.MALFORMED, str(wrong), columns)
            return
        types = tuple(counts)
        if types != report.types:
            report.types = types
            report.series = self.table.intern_all(
                (PCIE_ERRORS, (one.device, one.port, report.severity, kind)) for kind in types
            )
        columns.put_all(report.series, np.fromiter(counts.values(), np.float64, len(counts)))

    def _link(
        self, one: _Device, speed: str, width: str, rate: int, lanes: int, columns: Columns
    ) -> None:
        fast, wide = self._file(one, speed, columns), self._file(one, width, columns)
        if fast is None or wide is None:
            return
        try:
            transfers, count = sysfs_pci.speed(fast), sysfs_pci.width(wide)
        except MalformedReply as wrong:
            self._refuse(one, speed, Reason.MALFORMED, str(wrong), columns)
            return
        if count is not None:
            columns.put(lanes, float(count))
            if transfers is not None:
                columns.put(rate, transfers * count)

    def _file(self, one: _Device, path: str, columns: Columns) -> bytes | None:
        try:
            return self._tree.read(path)
        except FileNotFoundError:
            self._next = float("-inf")  # it was taken out: look again
        except OSError as wrong:
            number = wrong.errno or 0
            reason = Reason.UNSUPPORTED if number in NEVER else Reason.FAILED
            self._refuse(one, path, reason, netlink.error_name(number), columns)
        return None

    def _refuse(self, one: _Device, path: str, reason: Reason, raw: str, columns: Columns) -> None:
        labels = {"device": one.device, "port": one.port}
        columns.refuse(reason, path.rpartition("/")[2], labels, raw)


def _trees(files: list[Path]) -> list[Tree]:
    """Return the trees among files: folders, and JSON maps; other files are none."""
    found: list[Tree] = []
    for path in files:
        if path.is_dir():
            tree = FolderTree(path)
            if sysfs_pci.places(tree).devices:
                found.append(tree)
            else:
                with suppress(OSError):  # what cannot be listed holds no tree
                    found += _trees(sorted(entry for entry in path.iterdir() if entry.is_file()))
            continue
        try:
            mapped = map_tree(orjson.loads(content(path, LARGEST_MAP)), path.stem)
        except (OSError, orjson.JSONDecodeError, MalformedReply):
            continue
        if mapped is not None:
            found.append(mapped)
    return found
