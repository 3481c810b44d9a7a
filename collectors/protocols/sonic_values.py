"""What stands in the hashes of SONiC's databases: every value is text, some of it no number.

Sources: sonic-swss (flex counters write decimal text), sonic-utilities (rates in exponent form such
as `2.e9`), sonic-platform-daemons (DOM: `N/A`, `-inf` for a lane without light, `True`/`False`).
"""

from collections.abc import Sequence
from math import nan

import numpy as np

from fabrichealth.counters import Floats

ABSENT = frozenset({b"", b"N/A", b"n/a", b"NA", b"None", b"none", b"null", b"Unknown", b"unknown"})
"""Words for what was not measured."""

FLAGS = {
    b"True": 1.0, b"true": 1.0, b"1": 1.0,
    b"False": 0.0, b"false": 0.0, b"0": 0.0,
}  # fmt: skip

NOT_COMPUTED = b"-1"
"""What the rates hold before there are two polls to compute one from."""

Hash = list[bytes]
"""A hash as Redis sends it: name, value, name, value, .."""


def numbers(texts: Sequence[bytes]) -> Floats:
    """Return texts [n] as numbers; NaN where there is none, infinities as they are written."""
    try:
        return np.fromiter(map(float, texts), np.float64, len(texts))
    except (ValueError, OverflowError):
        return np.fromiter(map(_number, texts), np.float64, len(texts))


def flags(texts: Sequence[bytes]) -> Floats:
    """Return texts [n] as 1 or 0; NaN where they are neither."""
    return np.fromiter((FLAGS.get(text, nan) for text in texts), np.float64, len(texts))


def is_absent(text: bytes) -> bool:
    """Return whether a text that is no number says "not measured", and not nonsense."""
    word = text.strip()
    if word in ABSENT:
        return True
    try:
        return float(word) != float(word) or abs(float(word)) == float("inf")
    except ValueError:
        return False


def words(raw: Hash) -> dict[str, str]:
    """Return a hash as text, without what is absent; bytes that are no UTF-8 are replaced."""
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace").strip()
        for name, value in zip(raw[0::2], raw[1::2], strict=False)
        if value.strip() not in ABSENT
    }


def _number(text: bytes) -> float:
    try:
        return float(text)
    except (ValueError, OverflowError):
        return nan
