"""UFM: the telemetry of a whole InfiniBand fabric, its ports and its links.

One target is one address: the telemetry's CSV (`http://HOST:9001/csv/metrics`, or a counter set
such as `/csv/cset/low_freq_debug` on 9002), its JSON, or the REST resources
(`https://HOST/ufmRest`: ports and links). Columns are found by name, in any version's spelling;
nodes are known by GUID. Each row counts at its own time stamp, and what UFM still serves of long
ago is refused as stale.
Captures: these bodies, and messages of its stream.
"""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from collectors.captures import captured
from collectors.fabric import ufm_rows
from collectors.fabric.counters import FabricCounters
from collectors.fabric.names import FabricNames
from collectors.fabric.ufm_rows import UfmRows
from collectors.maps.columns import Columns
from collectors.protocols import ufm
from collectors.protocols.ufm import Table
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.http import HttpClient
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

TELEMETRY = "/csv/metrics"
"""What is read where the address has no path."""

REST = "/ufmRest"
RESOURCES = ("/ufmRest/resources/ports", "/ufmRest/resources/links")


LATEST = 1e10
"""Unix seconds of the year 2286: a later time stamp is none."""


class UfmSettings(SourceSettings):
    """Ufm section of the configuration."""

    period: Duration = seconds(30)
    """How often the address is read; UFM renews its first set each 30 s, others each 5 min."""

    timeout: Duration = seconds(20)
    """Give up on one visit after this long."""

    max_bytes: Size = 256 * 2**20
    """A body beyond this size is not read to its end, and the target counts as unavailable."""

    wait_clock_hertz: float | None = Field(default=None, gt=0)
    """Ticks per second of PortXmitWait; default 4 octets at the active rate of the port."""


class Ufm(Source):
    """One address of a UFM."""

    settings_type = UfmSettings
    settings: UfmSettings
    schemes = ("http", "https")
    options = (*LOGIN, *TRUST)
    metrics = tuple(dict.fromkeys(ufm_rows.METRICS))

    def __init__(self, settings: UfmSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        counters = FabricCounters(table, settings.wait_clock_hertz)
        counters.speeds.update(_written(target))
        self._rows = UfmRows(table, FabricNames(target), counters)
        path = urlsplit(target.address).path.rstrip("/") if target.address else ""
        self._paths = RESOURCES if path == REST else (TELEMETRY,) if not path else ("",)
        self._http = (
            HttpClient(target, settings.timeout, settings.max_bytes) if target.address else None
        )

    async def read(self, at: float) -> Poll:
        """Read the address once.

        Raises:
            SourceUnavailable: no answer, or one that is of no UFM.
        """
        if self._http is None:
            raise self.addressless
        found: list[Table] = []
        for path in self._paths:
            reply = await self._http.get(path)
            try:
                found += ufm.tables(reply.body.decode("utf-8", "replace"))
            except MalformedReply as wrong:
                raise SourceUnavailable(
                    f"{self.target.name}: {self._http.where}: {wrong}"
                ) from None
        if not found:
            raise SourceUnavailable(
                f"{self.target.name}: {self._http.where} answers no ports or links of a fabric; "
                "check the path in the address"
            )
        return self._poll(found, at)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read bodies of UFM as one poll.

        Raises:
            SourceUnavailable: none of the files is one.
        """
        found, wrong = _tables(files)
        if not found:
            why = f" ({wrong})" if wrong else ""
            raise SourceUnavailable(
                f"{files[0]}: no ports or links of a UFM{why}; give its CSV, JSON or REST bodies"
            )
        return self._poll(found, at)

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time stamp of any row."""
        try:
            found, _ = _tables(files)
        except SourceUnavailable:
            return None
        times = (at for table in found for at in _times(table) if at is not None)
        return max((at for at in times if 0 < at < LATEST), default=None)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._http is not None:
            await self._http.close()

    def _poll(self, found: Iterable[Table], at: float) -> Poll:
        """Return one batch for each time stamp."""
        self._rows.begin()
        by_time: dict[float, Columns] = {}
        for table in found:
            columns = by_time.setdefault(at, Columns(self.table))
            for line in table.malformed:
                columns.refuse(Reason.MALFORMED, "row", {}, line)
            for row, when in zip(table.rows, _times(table), strict=True):
                if when is not None and not 0 < when < LATEST:
                    columns.refuse(Reason.MALFORMED, "timestamp", {}, str(list(row)[:5])[:200])
                    continue
                stamp = at if when is None else when
                self._rows.take(table, row, by_time.setdefault(stamp, Columns(self.table)))
        polls = [columns.poll(self.clock, when) for when, columns in sorted(by_time.items())]
        return Poll(
            [batch for poll in polls for batch in poll.batches],
            [refused for poll in polls for refused in poll.refused],
            list(self._rows.neighbors),
        )


def _times(table: Table) -> list[float | None]:
    """Return when each row was read, where it says so; 0 where it says what is no time."""
    place = table.place("timestamp", "sampletime")
    if place is None:
        return [None] * len(table.rows)
    known: dict[str, float | None] = {}
    found = []
    for row in table.rows:
        text = str(row[place])
        if text not in known:
            empty = text.strip().casefold() in ufm.NO_VALUE
            moment = None if empty else ufm.moment(text)
            known[text] = moment if moment is not None or empty else 0.0  # a time that is none
        found.append(known[text])
    return found


def _tables(files: list[Path]) -> tuple[list[Table], str]:
    """Return the tables among files, and what was wrong with the last that is none."""
    found: list[Table] = []
    wrong = ""
    for file in captured(files):
        try:
            found += ufm.tables(file.text)
        except MalformedReply as broken:
            wrong = str(broken)
    return found, wrong


def _written(target: Target) -> dict[tuple[str, str], float]:
    """Return the rates that the topology writes, bit/s by (device, port), for ticks of waiting."""
    return {
        (end.device, end.port): link.speed_gbps * 1e9
        for end, link in target.topology.link_of.items()
        if link.speed_gbps
    }
