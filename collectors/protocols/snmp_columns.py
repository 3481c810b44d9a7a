"""Columns of SNMP tables: what a walk below one OID gave, checked and split into index and value.

An agent answers in ascending order of OIDs (RFC 3416 section 4.2.2). One that does not would be
walked for ever, or would give a row twice: its answer is malformed from there on.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from collectors.protocols.snmprec import Value
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Floats

Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A column as it was walked: OIDs, ascending, and their values."""

    oids: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()


NONE = Answer()


def key(oid: str) -> Key:
    """Return an OID as numbers, which sort as agents do."""
    return tuple(map(int, oid.split(".")))


def checked(answer: Answer, column: str) -> tuple[str, ...]:
    """Return the indices of the rows of a column.

    Raises:
        MalformedReply: a row is not of the column, or rows do not ascend.
    """
    stem = f"{column}."
    before: Key = ()
    for oid in answer.oids:
        if not oid.startswith(stem):
            raise MalformedReply(f"{oid} is not below {column}")
        now = key(oid)
        if now <= before:
            raise MalformedReply(f"{oid} does not ascend")
        before = now
    return tuple(oid[len(stem) :] for oid in answer.oids)


def numbers(values: Iterable[Value]) -> Floats:
    """Return values as floats, NaN where one is no number."""
    given = values if isinstance(values, tuple) else tuple(values)
    if set(map(type, given)) <= {int, float}:
        return np.array(given, np.float64)
    return np.array(
        [float(one) if isinstance(one, int | float) else np.nan for one in given], np.float64
    )


def text(value: Value) -> str:
    """Return octets as text without what cannot be shown; a number as it is written."""
    if value is None:
        return ""
    words = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return "".join(one if one.isprintable() else " " for one in words).strip()


class Recording:
    """Answers from a recorded walk."""

    def __init__(self, variables: Mapping[str, Value]) -> None:
        rows = sorted((key(oid), oid) for oid in variables)
        self._keys = [one for one, _ in rows]
        self._oids = [oid for _, oid in rows]
        self._variables = variables

    def variables(self, oids: Iterable[str]) -> dict[str, Answer]:
        """Return single variables, as far as they are there."""
        found = self._variables
        return {oid: Answer((oid,), (found[oid],)) for oid in oids if oid in found}

    def column(self, oid: str) -> Answer:
        """Return what lies below an OID."""
        stem = key(oid)
        first = bisect_left(self._keys, (*stem, 0))
        last = bisect_left(self._keys, (*stem[:-1], stem[-1] + 1))
        oids = tuple(self._oids[first:last])
        return Answer(oids, tuple(self._variables[one] for one in oids))
