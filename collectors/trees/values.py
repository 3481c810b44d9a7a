"""Values of leaves as numbers, by the form that a map gives them.

A function returns NaN for what is absent and None for nonsense. Texts are understood once and
remembered: a switch says the same few again and again.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import inf, isnan, log10, nan
from typing import Any

from collectors.maps.modules import TINY
from fabrichealth.units import DARK_DBM

ABSENT = frozenset({"", "-", "n/a", "na", "none", "null", "unknown", "notavailable", "not present"})
"""What stands for no value, in small letters."""

MOST_TEXTS = 2**16

UP = {
    "up": 1.0, "connected": 1.0, "down": 0.0, "notconnect": 0.0, "disabled": 0.0, "admindown": 0.0,
    "errdisabled": 0.0, "notpresent": 0.0, "lowerlayerdown": 0.0, "dormant": 0.0, "inactive": nan,
    "testing": nan, "monitoring": 1.0, "active": 1.0, "initialize": 1.0, "armed": 1.0,
}  # fmt: skip
"""Whether a port that calls itself so is operationally up."""

ENABLED = {
    "up": 1.0, "connected": 1.0, "down": 1.0, "notconnect": 1.0, "errdisabled": 1.0,
    "monitoring": 1.0, "enabled": 1.0, "on": 1.0, "disabled": 0.0, "admindown": 0.0, "off": 0.0,
    "inactive": nan, "notpresent": nan, "testing": nan,
}  # fmt: skip
"""Whether it is enabled by configuration; what the switch itself took down still is."""

FLAGS = {"true": 1.0, "false": 0.0, "on": 1.0, "off": 0.0, "yes": 1.0, "no": 0.0}

BITS = {"": 1e6, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
"""Units of a speed in text; a bare number is in Mb/s."""

UNITS = {
    "": 1.0, "c": 1.0, "degrees c": 1.0, "v": 1.0, "mv": 1e-3, "ma": 1e-3, "ua": 1e-6, "a": 1.0,
    "db": 1.0, "%": 1e-2,
}  # fmt: skip
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_AMOUNT = re.compile(rf"({NUMBER})\s*([A-Za-z%]*(?: C)?)(?:\s*/.*)?")
_LEVEL = re.compile(rf"(?:.*/\s*)?({NUMBER}|-inf)\s*dBm", re.IGNORECASE)
_MILLIWATTS = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*mW", re.IGNORECASE)
_SPEED = re.compile(r"(\d{1,9}(?:\.\d+)?)\s*([KMGT]?)(?:b(?:ps|/s)|B(?:ps)?)?", re.IGNORECASE)
_LANES = re.compile(r"(\d{1,2})[xX]?")
_COUNT = re.compile(r"([0-9][0-9,]*)(?:\s*Bytes?)?")
NO_ERRORS = 1e-200
"""A ratio below this is no measurement: the firmware writes 15E-255 where it has none."""


def plain(value: Any) -> float | None:
    """Return a JSON number as it is; infinity and NaN are absent."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return nan if abs(found) == inf else found


def number(form: str, value: Any) -> float | None:
    """Return a value as its form tells it; NaN where it is absent, None where it is nonsense."""
    if value is None:
        return nan
    if isinstance(value, str):
        return _text(form, value)
    if form in {"one", "zero"}:  # the key says it all: {"up": {}}
        return float(form == "one") if value == {} else None
    if isinstance(value, bool):
        return float(value) if form == "flag" else None
    found = plain(value)
    return found if found is None or isnan(found) else AFTER.get(form, _same)(found)


@lru_cache(maxsize=MOST_TEXTS)
def _text(form: str, text: str) -> float | None:
    word = text.strip()
    if word.casefold() in ABSENT:
        return nan
    if form in WORDS:
        return WORDS[form].get(word.casefold())
    found = READ.get(form, _amount)(word)
    return found if found is None or isnan(found) else AFTER.get(form, _same)(found)


def _amount(word: str) -> float | None:
    """Return a number with its unit, in SI: `42.56 C`, `6.750 mA`."""
    found = _AMOUNT.fullmatch(word)
    if not found or found[2].casefold() not in UNITS:
        return None
    value = float(found[1])
    return nan if abs(value) == inf else value * UNITS[found[2].casefold()]


def _count(word: str) -> float | None:
    """Return a whole number; `9.73 MB` was rounded for people, so that it counts nothing."""
    found = _COUNT.fullmatch(word)
    return float(found[1].replace(",", "")) if found and len(found[1]) < 40 else None


def _level(word: str) -> float | None:
    """Return dBm: `-0.64 dBm`, `0.8625 mW / -0.64 dBm`, `32 mW`, or a bare number."""
    found = _LEVEL.fullmatch(word)
    if found:
        return float(found[1])
    watts = _MILLIWATTS.fullmatch(word)
    if watts:
        power = float(watts[1])
        return 10.0 * log10(power) if power else -inf
    return float(word) if re.fullmatch(rf"{NUMBER}|-inf", word) else None


def _speed(word: str) -> float | None:
    found = _SPEED.fullmatch(word)
    return float(found[1]) * BITS[found[2].upper()] if found else None


def _lanes(word: str) -> float | None:
    found = _LANES.fullmatch(word)
    return float(found[1]) if found else None


def _light(level: float) -> float:
    return nan if level == inf else max(level, DARK_DBM)


def _dark(level: float) -> float:
    return float(_light(level) < DARK_DBM + TINY)


def _known(value: float) -> float:
    """Return a value that is 0 only where there is none."""
    return value or nan


def _measured(ratio: float) -> float:
    return nan if 0 < ratio < NO_ERRORS or ratio < 0 else ratio


def _same(value: float) -> float:
    return value


WORDS: dict[str, Mapping[str, float]] = {
    "up": UP,
    "enabled": ENABLED,
    "flag": FLAGS,
    "fallen": {word: 1.0 - state for word, state in UP.items()},
}
READ: dict[str, Callable[[str], float | None]] = {
    "count": _count,
    "power": _level,
    "dark": _level,
    "speed": _speed,
    "lanes": _lanes,
    "ticks": _count,
}
AFTER: dict[str, Callable[[float], float]] = {
    "power": _light,
    "dark": _dark,
    "ratio": _measured,
    "speed": _known,
    "lanes": _known,
    "snr": _known,
}
