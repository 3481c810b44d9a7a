"""Reader: streams recorded histories into a store.

Lines come in any order and series in any number of pieces; memory stays bounded whatever the
size of the files. Nothing in a file stops the reading of what is good around it: each line that
cannot be used is counted and named in the report.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from fabrichealth.history.files import lines
from fabrichealth.history.gathering import Gathering, Keeps
from fabrichealth.history.recorded import JsonLines, Malformed, labels_of, of_text
from fabrichealth.history.report import HistoryReport
from fabrichealth.model import Reason

MILLISECONDS_FROM = 1e11
"""A time stamp of text beyond this is in milliseconds (Prometheus' older format), not seconds."""

TEXT_LINES_AT_ONCE = 500_000


def read(
    paths: Sequence[Path], into: Keeps, told: Callable[[float], None] = lambda done: None
) -> HistoryReport:
    """Read histories, in order, into a store; of equal time stamps of a series the last wins.

    `told` is called with the bytes of the files that were read so far.

    Verdict series come through like all others, on clocks of a history; a replay does not ask
    for them.

    Raises:
        SiteError: a file cannot be read.
        StoreError: the store cannot keep it.
    """
    report = HistoryReport()
    gathering = Gathering(into, report)
    done = 0

    def piece(size: int) -> None:
        nonlocal done
        done += size
        told(done)

    for path in paths:
        numbered = lines(path, report, piece)
        first = next(numbered, None)
        if first is None:
            continue
        every = _again(first, numbered)
        if first[1].lstrip().startswith((b"{", b"[")):
            _read_json(path, every, gathering, report)
        else:
            _read_text(path, every, gathering, report)
        gathering.end_file(path.name)
    return report


def _again(
    first: tuple[int, bytes], rest: Iterable[tuple[int, bytes]]
) -> Iterable[tuple[int, bytes]]:
    yield first
    yield from rest


def _read_json(
    path: Path, numbered: Iterable[tuple[int, bytes]], gathering: Gathering, report: HistoryReport
) -> None:
    json = JsonLines()
    for number, line in numbered:
        where = f"{path.name}:{number}"
        try:
            gathering.add(json.read(line), where)
        except Malformed as wrong:
            report.refuse_line(where, str(wrong))


def _read_text(
    path: Path, numbered: Iterable[tuple[int, bytes]], gathering: Gathering, report: HistoryReport
) -> None:
    """Read OpenMetrics text: a sample a line, gathered by series before it goes on."""
    known: dict[str, int | None] = {}
    held: dict[int, tuple[list[float], list[float]]] = {}
    since = 0
    for number, line in numbered:
        where = f"{path.name}:{number}"
        try:
            one = of_text(line)
            if one is None:
                continue
            if one.series not in known:
                known[one.series] = gathering.series(one.name, labels_of(one.labels), where)
        except Malformed as wrong:
            report.refuse_line(where, str(wrong))
            continue
        series = known[one.series]
        if series is None:
            continue
        if np.isnan(one.value):
            report.missing += 1
        elif np.isinf(one.value) or np.isnan(one.at):
            report.refused[Reason.MALFORMED] += 1
            report.warn(where, "infinite, or without a time stamp; skipped")
        else:
            at = one.at / 1e3 if abs(one.at) > MILLISECONDS_FROM else one.at
            times, values = held.setdefault(series, ([], []))
            times.append(at)
            values.append(one.value)
            since += 1
        if since >= TEXT_LINES_AT_ONCE:
            _hand_over(held, gathering)
            since = 0
    _hand_over(held, gathering)


def _hand_over(held: dict[int, tuple[list[float], list[float]]], gathering: Gathering) -> None:
    for series, (times, values) in held.items():
        gathering.put(series, np.array(times), np.array(values))
    held.clear()
