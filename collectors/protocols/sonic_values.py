"""What stands in the hashes of SONiC's databases: every value is text, some of it no number.

Sources: sonic-swss (flex counters write decimal text), sonic-utilities (rates in exponent form such
as `2.e9`), sonic-platform-daemons (DOM: `N/A`, `-inf` for a lane without light, `True`/`False`).
"""

from collections.abc import Sequence
from math import isfinite, nan

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
        if b"_" not in b"".join(texts):  # which Python takes for a separator, and nobody else
            return np.fromiter(map(float, texts), np.float64, len(texts))
    except (ValueError, OverflowError):
        pass
    return np.fromiter(map(_number, texts), np.float64, len(texts))


def flags(texts: Sequence[bytes]) -> Floats:
    """Return texts [n] as 1 or 0; NaN where they are neither."""
    return np.fromiter((FLAGS.get(text, nan) for text in texts), np.float64, len(texts))


def is_absent(text: bytes) -> bool:
    """Return whether a text that is no number says "not measured", and not nonsense."""
    return text.strip() in ABSENT


def is_undefined(text: bytes) -> bool:
    """Return whether a text is what a computation without data gives: no number, or infinity."""
    return not isfinite(number) if (number := _number(text)) == number else b"nan" in text.lower()


def entries(raw: Hash) -> list[Hash]:
    """Return the hashes that stand behind each other in one: each begins where a name comes again.

    Redis has one of each key; a capture may list several entries of a table of neighbours.
    """
    found: list[Hash] = [[]]
    seen: set[bytes] = set()
    for name, value in zip(raw[0::2], raw[1::2], strict=False):
        if name in seen:
            found.append([])
            seen = set()
        seen.add(name)
        found[-1] += [name, value]
    return found


def words(raw: Hash) -> dict[str, str]:
    """Return a hash as text, without what is absent; bytes that are no UTF-8 are replaced."""
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace").strip()
        for name, value in zip(raw[0::2], raw[1::2], strict=False)
        if value.strip() not in ABSENT
    }


def _number(text: bytes) -> float:
    try:
        return nan if b"_" in text else float(text)
    except (ValueError, OverflowError):
        return nan
