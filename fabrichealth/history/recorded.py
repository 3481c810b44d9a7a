"""Recorded: what one line of a history says, in either form."""

import re
from typing import Any, NamedTuple

import numpy as np
import orjson

from fabrichealth.model import Floats

NUMBERS = {int, float}

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


def of_json(line: bytes) -> Recorded:
    """Read one line of JSON (contract 3); null is missing, text and infinities are left out.

    Raises:
        Malformed: the line is not such an object.
    """
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
    if not isinstance(values, list) or not isinstance(times, list) or len(values) != len(times):
        raise Malformed("needs `values` and `timestamps` of equal length; skipped")
    if not set(map(type, times)) <= NUMBERS:
        raise Malformed("has a timestamp that is no number; skipped")
    name = labels.pop("__name__")
    try:
        at = np.array(times, np.float64) / 1e3
        numbers = _numbers(values)
    except OverflowError:
        raise Malformed("has a number too large for float64; skipped") from None
    usable = np.isfinite(numbers)
    left_out = len(numbers) - int(np.count_nonzero(usable))
    if left_out:
        at, numbers = at[usable], numbers[usable]
    missing = values.count(None) if left_out else 0
    return Recorded(name, labels, at, numbers, missing, left_out - missing)


def _numbers(values: list[Any]) -> Floats:
    """Return values as floats, NaN for what is no number."""
    if not set(map(type, values)) <= NUMBERS:
        values = [value if type(value) in NUMBERS else None for value in values]
    return np.array(values, np.float64)


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
