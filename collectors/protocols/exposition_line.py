r"""One line of a Prometheus page: `name{label="value",..} value [time]`, and its escapes.

The grammar is that of the text format 0.0.4 (prometheus.io, "Exposition formats", text format
details) and of OpenMetrics 1.0.0 (section "ABNF"), where they agree. Escapes in label values
are `\\`, `\"` and `\n`; any other backslash stands for itself. A comma before the closing brace
is legal. What an exemplar says is stepped over.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import nan

from fabrichealth.errors import MalformedReply

_LABEL = rb'[a-zA-Z_][a-zA-Z0-9_]*+[ \t]*+=[ \t]*+"(?:[^"\\]|\\.)*+"[ \t]*+'
_SERIES = re.compile(
    rb"[ \t]*+([a-zA-Z_:][a-zA-Z0-9_:]*+)[ \t]*+"
    rb"(?:\{[ \t]*+((?:" + _LABEL + rb"(?:,[ \t]*+|(?=\})))*+)\}[ \t]*+)?+"
)
_PAIR = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_READING = re.compile(rb"[ \t]*+([^ \t\r#]++)(?:[ \t]++([^ \t\r#]++))?+[ \t\r]*+(?:#[ \t]*+\{.*)?+")
_ESCAPE = re.compile(r'\\([\\n"])')
_UNESCAPED = {"\\": "\\", "n": "\n", '"': '"'}


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """What stands before a value: the name, and the labels without their escapes."""

    name: str
    labels: Mapping[str, str]


def series_of(line: bytes) -> tuple[Series, int]:
    """Return the series of a line, and the byte at which its value starts.

    Raises:
        MalformedReply: the line does not begin with a name and well-formed labels.
    """
    begun = _SERIES.match(line)
    if begun is None:
        raise MalformedReply("no metric name at the start of the line")
    end = begun.end()
    if line[end - 1 : end] not in {b" ", b"\t", b"}"}:
        raise MalformedReply("no value after the name, or labels that are not closed")
    return Series(begun[1].decode(), _labels(begun[2] or b"")), end


def _labels(text: bytes) -> dict[str, str]:
    try:
        pairs = _PAIR.findall(text.decode())
    except UnicodeDecodeError:
        raise MalformedReply("a label value is not UTF-8") from None
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedReply("a label is given twice")
    if b"\\" in text:
        found = {name: unescaped(value) for name, value in found.items()}
    return found


def unescaped(text: str) -> str:
    r"""Return a label value without its escapes `\\`, `\"`, `\n`."""
    return _ESCAPE.sub(lambda found: _UNESCAPED[found[1]], text)


def reading_of(text: bytes) -> tuple[float, float]:
    """Return (value, time stamp in the page's unit or NaN) of what stands after the series.

    Raises:
        MalformedReply: not a number, or more than a value, a time stamp and an exemplar.
    """
    if b"_" not in text:  # most lines are a value and nothing else
        try:
            return float(text), nan
        except ValueError:
            pass
    read = _READING.fullmatch(text)
    if read is None:
        raise MalformedReply(f"{text[:40]!r} is not a value with or without a time stamp")
    return number_of(read[1]), number_of(read[2]) if read[2] else nan


def number_of(text: bytes) -> float:
    """Return a number as the format writes it: no underscores, no hexadecimal digits.

    Raises:
        MalformedReply: not a number.
    """
    if b"_" not in text:
        with suppress(ValueError):
            return float(text)
    raise MalformedReply(f"{text[:40]!r} is not a number")
