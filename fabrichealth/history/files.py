"""Files: lines of a history file, packed or not, torn or not."""

import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fabrichealth.errors import SiteError
from fabrichealth.history.report import HistoryReport

GZIP = b"\x1f\x8b"
READ_BYTES = 1 << 20
UNPACKED_BYTES = 2 << 20
MOST_LINE_BYTES = 1 << 29
"""A longer line is no line of a history; it would not fit the memory either."""


def lines(
    path: Path, report: HistoryReport, told: Callable[[int], None] = lambda size: None
) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line) of a file, unpacked if it is gzip, without empty lines.

    A file that ends in the middle of its packing gives what came before, and a warning. `told`
    is called with the size of each piece of the file that was read.

    Raises:
        SiteError: the file cannot be read.
    """
    number, rest = 0, b""
    for block in _blocks(path, report, told):
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            number += 1
            if line.strip():
                yield number, line
        if len(rest) > MOST_LINE_BYTES:
            report.refuse_line(f"{path.name}:{number + 1}", "line too long; the rest is skipped")
            return
    if rest.strip():
        yield number + 1, rest


def _blocks(path: Path, report: HistoryReport, told: Callable[[int], None]) -> Iterator[bytes]:
    def piece() -> bytes:
        read = file.read(READ_BYTES)
        told(len(read))
        return read

    try:
        with path.open("rb") as file:
            start = file.read(len(GZIP))
            file.seek(0)
            if start == GZIP:
                yield from _ahead(_unpacked(path, iter(piece, b""), report))
            else:
                yield from iter(piece, b"")
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be read ({wrong.strerror}); check the path") from None


def _ahead(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks while the next one is made ready beside."""
    with ThreadPoolExecutor(1, "unpack") as beside:
        coming = beside.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = beside.submit(next, blocks, None)
            yield block


def _unpacked(path: Path, blocks: Iterator[bytes], report: HistoryReport) -> Iterator[bytes]:
    """Unpack gzip members, one after the other."""
    member, begun = zlib.decompressobj(wbits=31), False
    try:
        for packed in blocks:
            block, full = packed, True
            while block or full:
                begun = begun or bool(block)
                unpacked = member.decompress(block, UNPACKED_BYTES)
                yield unpacked
                full = len(unpacked) == UNPACKED_BYTES  # more may be inside
                block = member.unconsumed_tail or member.unused_data
                if member.eof:
                    member, begun = zlib.decompressobj(wbits=31), False
    except zlib.error as wrong:
        report.refuse_line(path.name, f"gzip is damaged ({wrong}); what came before it is kept")
        return
    if begun:
        report.refuse_line(path.name, "gzip ends in the middle; what came before it is kept")
