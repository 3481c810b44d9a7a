"""Recorded: what one line of a history says, in either form."""

import re
from typing import Any, NamedTuple

import numpy as np
import orjson

from fabrichealth.model import Floats

NUMBERS = {int, float}
TIMESTAMPS = b'"timestamps":['
UNEQUAL = "needs `values` and `timestamps` of equal length; skipped"

SAMPLE = re.compile(
    r'\s*([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?'
    r"\s+(\S+)(?:\s+([^#\s]\S*))?\s*(?:#.*)?"
)
LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
ESCAPED = re.compile(r"\\(.)")


class Malformed(ValueError):
    """A line is not of the form; the message says what is wrong."""


class Recorded(NamedTuple):
    """One recorded series or a piece of it; `at` in unix seconds, in any order.

    Values are finite; time stamps are as they were given.
    """

    name: str
    labels: dict[str, str]
    at: Floats
    values: Floats
    missing: int
    """Values given as null."""
    no_numbers: int
    """Values left out because they are text or infinite."""


class JsonLines:
    """Reads lines of JSON; time stamps that a line repeats from the one before are read once.

    A device answers all of its counters at once, so that nearly every line repeats them.
    """

    def __init__(self) -> None:
        self._text = b""
        self._at: Floats = np.empty(0)

    def read(self, line: bytes) -> Recorded:
        """Read one line (contract 3); null is missing, text and infinities are left out.

        Raises:
            Malformed: the line is not such an object.
        """
        before, _, text = line.rpartition(TIMESTAMPS)
        if text.find(b"]") != len(text) - 2 or text[-1:] != b"}":
            return of_json(line)  # they come last, as exports have it, or are read with the rest
        if text == self._text:
            labels, values, _ = _fields(before + TIMESTAMPS + b"]}")
            return _recorded(labels, values, self._at)
        labels, values, times = _fields(line)
        at = _moments(times)
        self._text, self._at = text, at
        return _recorded(labels, values, at)


def of_json(line: bytes) -> Recorded:
    """Read one line of JSON (contract 3); null is missing, text and infinities are left out.

    Raises:
        Malformed: the line is not such an object.
    """
    labels, values, times = _fields(line)
    return _recorded(labels, values, _moments(times))


def _fields(line: bytes) -> tuple[dict[str, str], list[Any], list[Any]]:
    """Return labels (the name among them), values and time stamps of a line."""
    try:
        plain = orjson.loads(line)
    except orjson.JSONDecodeError as wrong:
        raise Malformed(f"not JSON ({str(wrong).partition(':')[0]}); skipped") from None
    if not isinstance(plain, dict):
        raise Malformed("not a JSON object; skipped")
    labels = plain.get("metric")
    values, times = plain.get("values"), plain.get("timestamps")
    if not isinstance(labels, dict) or not isinstance(labels.get("__name__"), str):
        raise Malformed("has no `metric` with a `__name__`; skipped")
    if not all(isinstance(word, str) for word in labels.values()):
        raise Malformed("has a label whose value is no text; skipped")
    if not isinstance(values, list) or not isinstance(times, list):
        raise Malformed(UNEQUAL)
    return labels, values, times


def _moments(times: list[Any]) -> Floats:
    """Return time stamps in unix seconds."""
    kinds = set(map(type, times))
    if not kinds <= NUMBERS:
        raise Malformed("has a timestamp that is no number; skipped")
    return _floats(times, kinds) / 1e3


def _recorded(labels: dict[str, str], values: list[Any], at: Floats) -> Recorded:
    if len(values) != len(at):
        raise Malformed(UNEQUAL)
    kinds, given = set(map(type, values)), values
    if not kinds <= NUMBERS:
        given = [value if type(value) in NUMBERS else None for value in values]
    numbers = _floats(given, kinds)
    usable = np.isfinite(numbers)
    left_out = len(numbers) - int(np.count_nonzero(usable))
    if left_out:
        at, numbers = at[usable], numbers[usable]
    missing = values.count(None) if left_out else 0
    name = labels.pop("__name__")
    return Recorded(name, labels, at, numbers, missing, left_out - missing)


def _floats(numbers: list[Any], kinds: set[type]) -> Floats:
    """Return numbers as floats, NaN for None; whole ones take half the time by way of int64."""
    try:
        if kinds == {int}:
            return np.array(numbers, np.int64).astype(np.float64)
    except OverflowError:
        pass
    try:
        return np.array(numbers, np.float64)
    except OverflowError:
        raise Malformed("has a number too large for float64; skipped") from None


class TextLine(NamedTuple):
    """One sample of OpenMetrics text; `series` is its name and labels as they stand."""

    series: str
    name: str
    labels: str
    value: float
    at: float
    """Unix seconds; NaN if the line has no time stamp."""


def of_text(line: bytes) -> TextLine | None:
    """Read one line of OpenMetrics text; None for comments.

    Raises:
        Malformed: the line is not of the form.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise Malformed("not UTF-8; skipped") from None
    if text.lstrip().startswith("#") or not text.strip():
        return None
    found = SAMPLE.fullmatch(text)
    if found is None:
        raise Malformed("not a sample of OpenMetrics text; skipped")
    name, labels, value, at = found.groups()
    try:
        number, time = float(value), float(at) if at else np.nan
    except ValueError:
        raise Malformed("has a value or time stamp that is no number; skipped") from None
    return TextLine(name + (labels or ""), name, labels or "", number, time)


def labels_of(text: str) -> dict[str, str]:
    """Return the labels written `{a="x",b="y"}`.

    Raises:
        Malformed: they are not of the form.
    """
    labels, at = {}, 1
    end = len(text) - 1
    while at < end and text[at:end].strip():
        found = LABEL.match(text, at, end)
        if found is None:
            raise Malformed("has labels that are not of the form; skipped")
        labels[found[1]] = ESCAPED.sub(lambda one: {"n": "\n"}.get(one[1], one[1]), found[2])
        at = found.end()
    return labels
