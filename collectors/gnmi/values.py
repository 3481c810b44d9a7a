"""Values of leaves as numbers, by the form that a map gives them.

JSON_IETF has 64-bit integers and decimals as text (RFC 7951), identities with the prefix of their
module. A function returns NaN for what is absent and None for nonsense.
"""

import re
from collections.abc import Callable
from math import inf, isnan, nan

from collectors.maps.modules import TINY
from collectors.protocols.gnmi_paths import Scalar, bare
from fabrichealth.units import DARK_DBM

ABSENT = frozenset({"", "N/A", "n/a", "NA", "null", "None", "UNKNOWN", "unknown"})
STATES = {
    "UP": 1.0, "DOWN": 0.0, "LOWER_LAYER_DOWN": 0.0, "NOT_PRESENT": 0.0, "DORMANT": 0.0,
    "TESTING": nan,
}  # fmt: skip
FLAGS = {"true": 1.0, "false": 0.0}
_SPEED = re.compile(r"SPEED_(\d{1,5})(MB|GB)(?:_.*)?")
UNITS = {"MB": 1e6, "GB": 1e9}


def number(form: str, value: Scalar) -> float | None:
    """Return a value as its form tells it; NaN where it is absent, None where it is nonsense."""
    if isinstance(value, str) and value.strip() in ABSENT:
        return nan
    return FORMS[form](value)


def _plain(value: Scalar) -> float | None:
    found = _any(value)
    return nan if found is not None and abs(found) == inf else found


def _light(value: Scalar) -> float | None:
    found = _any(value)
    if found is None or isnan(found):
        return found
    return nan if found == inf else max(found, DARK_DBM)


def _dark(value: Scalar) -> float | None:
    level = _light(value)
    return level if level is None or isnan(level) else float(level < DARK_DBM + TINY)


def _flag(value: Scalar) -> float | None:
    return float(value) if isinstance(value, bool) else FLAGS.get(str(value).casefold())


def _state(value: Scalar) -> float | None:
    return STATES.get(bare(str(value)).upper())


def _speed(value: Scalar) -> float | None:
    word = bare(str(value))
    found = _SPEED.fullmatch(word)
    if found:
        return float(found[1]) * UNITS[found[2]]
    return nan if word == "SPEED_UNKNOWN" else None


def _any(value: Scalar) -> float | None:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


FORMS: dict[str, Callable[[Scalar], float | None]] = {
    "number": _plain,
    "light": _light,
    "dark": _dark,
    "flag": _flag,
    "state": _state,
    "speed": _speed,
}
