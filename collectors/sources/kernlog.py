"""Logs of kernels and devices: Xid and SXid, links that went, modules, PCIe errors.

It is what an on-call looks at first. A line that a rule knows (`collectors/maps/logs`) is counted
by device and code, and told as a `device_log` event with its meaning and whether work is lost; of a
flood only a quota becomes events. Counters and the place reached survive restarts.

Live: without an address this host's kernel (/dev/kmsg, else the journal), a path is a file that is
followed through rotation, `syslog+udp://` and `syslog+tcp://` listen for what other hosts send.
Captures: `dmesg`, the journal's JSON, syslog files, fabricmanager.log; each counts its own lines.
Only the kernel and the daemons that a rule names are believed, by what a writer cannot choose.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from collectors.captures import captured
from collectors.logs import counts
from collectors.logs.counts import LogCounts
from collectors.logs.quota import Quota
from collectors.logs.watch import LogWatch
from collectors.maps.log_rules import matched
from collectors.privilege import Privilege
from collectors.protocols import log_line, nvidia_proc, sysfs
from collectors.protocols.log_line import Line
from collectors.source import Source, SourceSettings, Target
from collectors.transports.journal import Journal
from collectors.transports.kmsg import Kmsg
from collectors.transports.logfile import LogFile
from collectors.transports.logs import LogReader
from collectors.transports.syslog import Syslog
from collectors.transports.tree import FolderTree, Tree
from fabrichealth.address import shown
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.events import Event
from fabrichealth.model import Poll, Reason, Refused, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

KMSG = "dev/kmsg"

NVIDIA = "proc/driver/nvidia/gpus"


class KernlogSettings(SourceSettings):
    """Kernlog section of the configuration."""

    log: Literal["auto", "kmsg", "journal"] = "auto"
    """Where this host's kernel log is read: auto takes /dev/kmsg where it may, else the journal,
    which also has the fabric manager's."""

    quota: int = Field(default=10, ge=1)
    """Of one code of one device so many lines become events in each `quota_over`; the others are
    counted, and told together when it is over."""

    quota_over: Duration = seconds(600)
    """The span of the quota."""

    max_bytes: Size = 4 * 2**20
    """At most so much of a file is read in one poll, and at the first contact its last part of
    this size; the next poll goes on."""

    held: int = Field(default=50_000, ge=1)
    """So many lines of the journal or of senders are held between two polls; more are lost, and
    counted."""


class Kernlog(Source):
    """One log: this host's, a file, or what other hosts send here."""

    settings_type = KernlogSettings
    settings: KernlogSettings
    privileges = (
        Privilege("journal", "the kernel's log in the journal", groups=("systemd-journal",)),
        Privilege("files", "log files below /var/log", groups=("adm",)),
        Privilege(
            "syslog",
            "what others send to a port below 1024",
            capabilities=("CAP_NET_BIND_SERVICE",),
        ),
    )
    schemes = ("syslog+tcp", "syslog+udp")
    listens = True
    local = True
    metrics = counts.METRICS

    def __init__(self, settings: KernlogSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._root = Path(target.options.get("root", "/"))
        self._counts = LogCounts(table, self.clock)
        self._watch = LogWatch(target, self._counts, Quota(settings.quota, settings.quota_over))
        self._watch.many = "://" in target.address
        self._cursor: object = None
        self._reader: LogReader | None = None
        if self._watch.many:
            self._reader = Syslog(target.address, target.name, settings.held)

    async def read(self, at: float) -> Poll:
        """Read what came since the last visit.

        Raises:
            SourceUnavailable: the log cannot be read, or the address not be listened at.
        """
        if self._reader is None:
            self._reader = self._opened()
        try:
            raw = await self._reader.lines()
        except OSError as wrong:
            where = shown(self.target.address) or self._root / KMSG
            reason = wrong.strerror or "no reason given"
            raise SourceUnavailable(
                f"{self.target.name}: {where}: {reason}; check path and rights"
            ) from None
        except SourceUnavailable as wrong:
            raise SourceUnavailable(f"{self.target.name}: {wrong}") from None
        if not self._watch.many:
            self._watch.begin(_accelerators(FolderTree(self._root)))
        lines = [line for text in raw if (line := log_line.line(text, at))]
        if isinstance(self._reader, Journal) and lines and lines[-1].cursor:
            self._reader.reached(lines[-1].cursor)
        events = self._watch.hear(lines, at, self._boot_time(at))
        lost = self._reader.lost()
        return self._poll(at, [*events, *self._watch.quota.due(at)], lost)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read the logs among these files as one poll, whose counts are the lines in it.

        Raises:
            SourceUnavailable: no file has a line in the form of a log.
        """
        lines = _lines(files, at)
        if not lines:
            raise SourceUnavailable(
                f"{files[0]}: not a log; give what dmesg, journalctl -o json or syslog wrote"
            )
        self._counts.forget()
        self._watch.many = len({line.host for line in lines if line.host}) > 1
        if not self._watch.many:
            self._watch.begin({})
        boot = _boot_of(lines, at)
        events = self._watch.hear(lines, at, boot)
        return self._poll(at, [*events, *self._watch.quota.all()], 0)

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time that a line of these files has."""
        try:
            lines = _lines(files, _newest_file(files))
        except SourceUnavailable:
            return None
        return max((line.at for line in lines if line.at is not None), default=None)

    def memory(self) -> dict[str, Any]:
        """Return the counts and the place reached."""
        reader = self._reader
        cursor = self._cursor if reader is None else reader.cursor()
        kept = self._counts.memory()
        return {**kept, "cursor": cursor} if kept["counts"] or cursor else {}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up `memory` of before the restart."""
        self._counts.remember(memory)
        self._cursor = memory.get("cursor") if isinstance(memory.get("cursor"), dict) else None

    async def close(self) -> None:
        """Let go of file, child or socket."""
        if self._reader is not None:
            self._cursor = self._reader.cursor()
            await self._reader.close()
            self._reader = None

    def _opened(self) -> LogReader:
        settings = self.settings
        path = self.target.address
        if path and path != f"/{KMSG}":
            return LogFile(Path(path), self._cursor, settings.max_bytes)
        if settings.log == "journal":
            return Journal(self._cursor, settings.held)
        kmsg = self._root / KMSG
        try:
            return Kmsg(kmsg, self._boot(), self._cursor, settings.max_bytes)
        except OSError as wrong:
            if settings.log == "auto" and not path:
                return Journal(self._cursor, settings.held)
            raise SourceUnavailable(
                f"{self.target.name}: {kmsg} cannot be read ({wrong.strerror}); run with "
                "CAP_SYSLOG, or set log: journal"
            ) from None

    def _boot(self) -> str:
        """Return the name of this boot; empty where the kernel has none."""
        return _word(FolderTree(self._root), "proc/sys/kernel/random/boot_id")

    def _boot_time(self, at: float) -> float | None:
        """Return when the host booted by its own clock, unix seconds."""
        uptime = _word(FolderTree(self._root), "proc/uptime").partition(" ")[0]
        try:
            return at - float(uptime)
        except ValueError:
            return None

    def _poll(self, at: float, events: list[Event], lost: int) -> Poll:
        refused = []
        labels = {"device": self.target.subject}
        if lost:
            refused.append(Refused(Reason.FAILED, "lines", labels, f"{lost} lines were lost"))
        if self._watch.strange:
            text = f"{self._watch.strange} lines of too many devices or codes"
            refused.append(Refused(Reason.IMPLAUSIBLE, "lines", labels, text))
            self._watch.strange = 0
        if self._watch.misdated:
            text = f"{self._watch.misdated} lines of a day that does not exist"
            refused.append(Refused(Reason.MALFORMED, "lines", labels, text))
            self._watch.misdated = 0
        return Poll(self._counts.batches(at), refused, events=events)


def _lines(files: list[Path], at: float) -> list[Line]:
    """Return the lines of the logs among files; a file without a line that is dated is none."""
    found: list[Line] = []
    for file in captured(files):
        raw = file.text.split("\n")
        own = [line for text in raw if (line := log_line.line(text, at)) is not None]
        if not own:
            bare = map(log_line.plain, raw)
            own = [line for line in bare if matched(line.text, line.speaker) is not None]
        found += own
    return found


def _newest_file(files: Iterable[Path]) -> float:
    times = []
    for path in files:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def _boot_of(lines: Iterable[Line], at: float) -> float | None:
    """Return when the host of a capture booted: its newest line was written at `at`."""
    newest = max((line.since_boot for line in lines if line.since_boot is not None), default=None)
    return None if newest is None else at - newest


def _word(tree: Tree, path: str) -> str:
    try:
        return sysfs.word(tree.read(path))
    except OSError:
        return ""


def _accelerators(tree: Tree) -> dict[str, str]:
    """Return the UUIDs of this host's accelerators by PCI address, as their driver has them."""
    found = {}
    for address in tree.names(NVIDIA):
        try:
            found[address] = nvidia_proc.uuid(tree.read(f"{NVIDIA}/{address}/information"))
        except (OSError, MalformedReply):
            found[address] = ""
    return found
