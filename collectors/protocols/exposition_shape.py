"""The shape of a page: all that stays when only its numbers change, and the numbers read fast.

A page of an exporter has the same lines in the same order, scrape after scrape. `Shape` keeps
what stands before each value, as bytes, lines of equal length together; a new page of that
shape is recognised by copying those bytes out of it and comparing them, which is memory
bandwidth. Its numbers are then laid out as rows of one matrix, joined by commas and read as one
JSON array. Numbers that JSON does not know (NaN, +Inf, `.5`) are read one by one.
"""

import numpy as np
import orjson
from numpy.typing import NDArray

from collectors.protocols.exposition_line import reading_of
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Floats

WIDEST = 64
"""Bytes of value and time stamp that are read in bulk; a longer line is read by itself."""

_COMMA, _BLANK = b", "
_PLAIN = b"0123456789+-.eE,"

Positions = NDArray[np.int64]
Wrong = list[tuple[int, str]]


class Changed(Exception):
    """The page does not have the shape."""


class Shape:
    """The lines of one page without their numbers.

    `heads[line]` is the byte of the line at which its value starts, or -1 for a line that must
    come again as it is (comments, blank lines, what could not be read).
    """

    def __init__(self, body: bytes, heads: Positions) -> None:
        starts, ends = _bounds(body)
        lengths = np.where(heads < 0, ends - starts, heads)
        order = np.argsort(lengths, kind="stable")
        cuts = np.flatnonzero(np.diff(lengths[order])) + 1
        self._lines = len(heads)
        self._fixed = heads < 0
        self._lengths = lengths
        self._sampled = np.flatnonzero(~self._fixed)
        self._same: list[tuple[int, Positions, bytes]] = [
            (length, lines, _cut(body, starts[lines], length))
            for lines in np.split(order, cuts)
            if len(lines) and (length := int(lengths[lines[0]]))
        ]

    def numbers(self, body: bytes) -> tuple[Floats, Floats, Wrong]:
        """Return (values, time stamps or NaN, (line, why) of those not read) of all samples.

        Raises:
            Changed: the page has another shape.
        """
        starts, ends = _bounds(body)
        if len(starts) != self._lines:
            raise Changed
        room = ends - starts - self._lengths
        if (room < 0).any() or room[self._fixed].any():
            raise Changed
        for length, lines, text in self._same:
            if _cut(body, starts[lines], length) != text:
                raise Changed
        first = (starts + self._lengths)[self._sampled]
        values, stamps, wrong = _read(body, first, room[self._sampled])
        return values, stamps, [(int(self._sampled[row]), why) for row, why in wrong]


def _bounds(body: bytes) -> tuple[Positions, Positions]:
    """Return where each line starts and ends, without its line feed."""
    ends = np.flatnonzero(np.frombuffer(body, np.uint8) == 10)
    if body and body[-1] != 10:
        ends = np.append(ends, len(body))
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    return starts, ends


def _slices(body: bytes, first: Positions, length: int) -> NDArray[np.void]:
    """Return `length` bytes from each position; all must lie within the body."""
    overlapping: NDArray[np.void] = np.ndarray(
        (len(body) - length + 1,), f"V{length}", body, strides=(1,)
    )
    return overlapping[first]


def _cut(body: bytes, first: Positions, length: int) -> bytes:
    return _slices(body, first, length).tobytes()


def _read(body: bytes, first: Positions, room: Positions) -> tuple[Floats, Floats, Wrong]:
    """Read the numbers that start at `first` and take `room` bytes."""
    values = np.full(len(first), np.nan)
    stamps = np.full(len(first), np.nan)
    width = int(min(max(room.max(initial=1), 1), WIDEST))
    # A row near the end of the page reads beyond it: those few are read by themselves.
    bulk = (room > 0) & (room <= width) & (first + width <= len(body))
    rows = np.flatnonzero(bulk)
    single = [np.flatnonzero(~bulk)]
    matrix = np.zeros((len(rows), width + 1), np.uint8)
    if len(rows):
        taken = _slices(body, first[rows], width).view(np.uint8).reshape(len(rows), width)
        np.multiply(taken, np.arange(width) < room[rows, None], out=matrix[:, :width])
        matrix[np.arange(len(rows)), room[rows]] = _COMMA
    blanks = matrix == _BLANK
    stamped = blanks.any(axis=1)
    if stamped.any():
        # The first blank becomes a comma, so that a stamped row is two numbers of the array.
        mine = np.flatnonzero(stamped)
        matrix[mine, blanks[mine].argmax(axis=1)] = _COMMA
    for group, per_row in ((np.flatnonzero(~stamped), 1), (np.flatnonzero(stamped), 2)):
        if not len(group):
            continue
        whole = len(group) == len(rows)
        read = _array(matrix if whole else matrix[group], room[rows[group]], per_row)
        if read is None:
            single.append(rows[group])
            continue
        values[rows[group]] = read[::per_row]
        if per_row == 2:
            stamps[rows[group]] = read[1::2]
    wrong: Wrong = []
    for row in np.concatenate(single).tolist():
        try:
            values[row], stamps[row] = reading_of(body[first[row] : first[row] + room[row]])
        except MalformedReply as bad:
            wrong.append((row, str(bad)))
    return values, stamps, wrong


def _array(matrix: NDArray[np.uint8], room: Positions, per_row: int) -> Floats | None:
    """Read rows `number,` or `number,number,`, zero bytes between; None if one is unusual."""
    text = matrix.tobytes().translate(None, b"\0")
    # Only digits, signs and commas, and as many bytes as there were: JSON can then hold nothing
    # but numbers, and no byte has vanished with the padding.
    if len(text) != int(room.sum()) + len(room) or text.translate(None, _PLAIN):
        return None
    try:
        numbers = orjson.loads(b"[%b]" % text[:-1])
    except orjson.JSONDecodeError:
        return None
    if len(numbers) != per_row * len(matrix):
        return None
    return np.array(numbers, np.float64)
