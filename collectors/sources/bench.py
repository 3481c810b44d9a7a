"""Benchmarks of collectives: what bus bandwidth accelerators reached together, by size and number.

Outputs of nccl-tests, rccl-tests and hccl_test as they were printed. The address is a folder into
which whoever runs them puts them; a file counts once, at the time it was last written. A size whose
results the tool calls wrong has no bandwidth, nor has one of which the number of accelerators is
not known, or one of several groups that ran side by side. Of both ways that nccl-tests measures, in
place and out of place, the latter counts.
Captures: the outputs.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from collectors.captures import Captured, captured, files_below
from collectors.maps.columns import Columns
from collectors.protocols.collective_tests import Row, Run, runs
from collectors.source import Source, SourceSettings, Target
from fabrichealth.catalogue.devices import BUS_BANDWIDTH
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds


class BenchSettings(SourceSettings):
    """Bench section of the configuration."""

    period: Duration = seconds(300)
    """How often the folder is looked through for new outputs."""

    timeout: Duration = seconds(30)
    """Give up on one look after this long; the next tries again."""

    stale_after: Duration = seconds(7 * 86_400)
    """An output written this long before it is found is refused as stale."""


class Bench(Source):
    """The outputs of benchmarks in one folder."""

    settings_type = BenchSettings
    settings: BenchSettings
    metrics = (BUS_BANDWIDTH,)
    local = True

    def __init__(self, settings: BenchSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._seen: dict[Path, tuple[float, int]] = {}
        """When each file was last written, and its size."""

    async def read(self, at: float) -> Poll:
        """Read the outputs that are new since the last visit.

        Raises:
            SourceUnavailable: there is no folder, it cannot be read, or a new file is no output.
        """
        if not self.target.address:
            raise SourceUnavailable(
                f"{self.target.name}: no folder to read; give address: /path/to/outputs"
            )
        return await asyncio.to_thread(self._new, Path(self.target.address))

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read outputs as one poll.

        Raises:
            SourceUnavailable: none of the files is such an output.
        """
        return self._poll(captured(files), at, str(files[0]))

    def _new(self, folder: Path) -> Poll:
        if not folder.is_dir():
            raise SourceUnavailable(f"{self.target.name}: {folder} is no folder; check address")
        poll = Poll()
        for file in files_below(folder):
            try:
                state = file.stat()
            except OSError:
                continue  # gone since it was listed
            known = (state.st_mtime, state.st_size)
            if self._seen.get(file) == known:
                continue
            self._seen[file] = known
            try:
                one = self._poll(captured([file]), state.st_mtime, str(file))
            except SourceUnavailable as wrong:
                poll.missing.append(str(wrong))
                continue
            poll.batches.extend(one.batches)
            poll.refused.extend(one.refused)
        return poll

    def _poll(self, files: Iterable[Captured], at: float, first: str) -> Poll:
        told = [run for file in files for run in runs(file.text, file.name)]
        if not told:
            raise SourceUnavailable(
                f"{first}: no output of nccl-tests, rccl-tests or hccl_test; give what X_perf or "
                "X_test printed"
            )
        columns = Columns(self.table)
        values: dict[Labels, list[float]] = defaultdict(list)
        for run in told:
            for line in run.malformed:
                columns.refuse(Reason.MALFORMED, "row", _named(run), line)
            for row in run.rows:
                self._take(run, row, columns, values)
        for labels, found in values.items():
            if len(set(found)) == 1:
                columns.take(BUS_BANDWIDTH, labels, found[0])
                continue
            names = dict(zip(BUS_BANDWIDTH.labels, labels, strict=True))
            for value in found:
                columns.refuse(Reason.DUPLICATE, str(BUS_BANDWIDTH), names, value)
        return columns.poll(self.clock, at)

    def _take(
        self, run: Run, row: Row, columns: Columns, values: dict[Labels, list[float]]
    ) -> None:
        labels = {**_named(run), "bytes": str(row.size)}
        if row.failed:
            columns.refuse(Reason.FAILED, str(BUS_BANDWIDTH), labels, row.line)
        elif not run.operation or not run.ranks or run.split:
            what = "accelerators" if run.operation else "operation"
            columns.refuse(Reason.UNSUPPORTED, what, labels, row.line)
        elif (bus := run.bus(row)) is None:
            columns.refuse(Reason.UNSUPPORTED, str(BUS_BANDWIDTH), labels, row.line)
        else:
            values[tuple(labels[name] for name in BUS_BANDWIDTH.labels)].append(bus)


def _named(run: Run) -> dict[str, str]:
    """Return what a run says of itself, as labels."""
    return {
        "benchmark": run.tool,
        "operation": run.operation,
        "accelerators": str(run.ranks or ""),
    }
