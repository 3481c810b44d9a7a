"""Rows of /metrics as bytes: `name{labels} ` once, and room for a value that changes.

A block is a matrix with one row per series: the text before the value, zero bytes, a slot for
the value, a line feed. A scrape writes all values of a block as one JSON array, puts each
number's digits into its slot and drops the zero bytes: array operations, no object per sample.
"""

import numpy as np
import orjson
from numpy.typing import NDArray

from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, SeriesTable
from fabrichealth.runtime.exporter_format import labels

ROWS = 4096
"""Rows of a block: little enough that building or writing one takes a few milliseconds."""

SLOT = 24
"""Bytes of the longest float, -1.7976931348623157e+308."""

Text = NDArray[np.uint8]


class Block:
    """Up to `ROWS` series of one metric; which they are never changes, only values do."""

    def __init__(self, series: Ids, text: Text) -> None:
        self.series = series
        self.text = text

    @classmethod
    def of(cls, table: SeriesTable, metric: Metric, series: Ids) -> "Block":
        """Return the block of some series."""
        heads = [
            f"{metric}{labels(metric.labels, table.labels(number))} ".encode()
            for number in series.tolist()
        ]
        width = max(map(len, heads), default=0)
        padded = b"".join(head.ljust(width + SLOT, b"\0") + b"\n" for head in heads)
        text = np.frombuffer(padded, np.uint8).reshape(len(heads), width + SLOT + 1)
        return cls(series, text.copy())

    def only(self, rows: NDArray[np.bool_]) -> "Block":
        """Return the block of some of the rows."""
        return Block(self.series[rows], self.text[rows])

    def joined(self, other: "Block") -> "Block":
        """Return one block of the rows of both."""
        width = max(self.text.shape[1], other.text.shape[1])
        texts = [_widened(block.text, width) for block in (self, other)]
        return Block(np.concatenate([self.series, other.series]), np.concatenate(texts))

    def lines(self, values: Floats) -> bytes:
        """Return the lines of the block; `values` [rows] are finite."""
        numbers = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
        starts, room = _numbers(numbers)
        width = int(room.max(initial=0))
        # Windows of equal width, one per number; what lies beyond a number is zeroed.
        windows: NDArray[np.void] = np.ndarray(
            (len(numbers),), f"V{width}", numbers + bytes(SLOT), strides=(1,)
        )
        digits = windows[starts].view(np.uint8).reshape(len(starts), width)
        slot = self.text[:, -SLOT - 1 : -1]
        slot[:, width:] = 0
        np.multiply(digits, np.arange(width) < room[:, None], out=slot[:, :width])
        return self.text.tobytes().translate(None, b"\0")


def _numbers(text: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return start and length of each number of a JSON array."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(","))
    ends = np.append(ends, len(text) - 1)
    starts = np.empty_like(ends)
    starts[0] = 1
    starts[1:] = ends[:-1] + 1
    return starts, ends - starts


def _widened(text: Text, width: int) -> Text:
    """Return rows with more padding between the text and the slot."""
    more = width - text.shape[1]
    cut = text.shape[1] - SLOT - 1
    if not more:
        return text
    padding = np.zeros((len(text), more), np.uint8)
    return np.concatenate([text[:, :cut], padding, text[:, cut:]], axis=1)
