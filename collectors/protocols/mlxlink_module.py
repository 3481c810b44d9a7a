"""The module's section of mlxlink: identity, light, currents, flags, and the limits beside them."""

import re
from collections.abc import Iterator

from collectors.protocols.module import Identity, Limit, Module, Signal, Value

NOTHING = {"n/a", "", "15e-255", "na", "none", "not supported"}
"""What a key says that has no value."""

_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,9})?")
_RANGE = re.compile(r"(.*?)\s*\[(-?[\d.]{1,12})\s*\.\.\s*(-?[\d.]{1,12})\]\s*")

MONITORS = {
    "temperature": ("temperature", 1.0),
    "voltage": ("supply_voltage", 1e-3),
    "bias current": ("tx_bias", 1e-3),
    "rx power current": ("rx_power", None),
    "tx power current": ("tx_power", None),
}
"""Quantity, and what a step is in SI; None is dBm."""

OF_MODULE = {"temperature", "supply_voltage"}

SIGNALS = {
    "rx los": "rx_los",
    "tx los": "tx_los",
    "rx cdr lol": "rx_lol",
    "tx cdr lol": "tx_lol",
    "tx fault": "tx_fault",
    "tx adaptive eq fault": "",
}

KINDS = (
    ("aoc", "aoc"), ("active optical", "aoc"), ("passive copper", "dac"), ("aec", "aec"),
    ("active copper", "acc"), ("acc", "acc"), ("optical module", "pluggable"),
)  # fmt: skip
"""Kinds of module by what Cable Type holds; the first that fits."""


Pairs = dict[str, list[str]]
"""Words by key, in lower case and without units in brackets."""


def one(pairs: Pairs, key: str) -> str:
    """Return what a key says; empty where it says nothing."""
    words = pairs.get(key)
    return words[0] if words else ""


def split(words: list[str]) -> list[str]:
    """Return the words of the lanes, which text joins by commas."""
    if len(words) == 1:
        return [word.strip() for word in words[0].split(",")]
    return words


def module(pairs: Pairs) -> Module | None:
    """Return the module; None where nothing of one is said."""
    cable = one(pairs, "cable type")
    identity = Identity(
        _said(pairs, "vendor name"),
        _said(pairs, "vendor part number"),
        _said(pairs, "vendor serial number"),
        "",
        _said(pairs, "fw version"),
        "",
        "",
        next((kind for mark, kind in KINDS if mark in cable.casefold()), ""),
    )
    values: list[Value] = []
    limits: list[Limit] = []
    for key, (quantity, step) in MONITORS.items():
        words = pairs.get(key)
        if words is None:
            continue
        inside = ",".join(words)
        if bounded := _RANGE.fullmatch(inside):
            inside = bounded[1]
            for bound, word in (("low", bounded[2]), ("high", bounded[3])):
                if _NUMBER.fullmatch(word):
                    limits.append(Limit(quantity, bound, "alarm", _si(float(word), step)))
        values += _lanes(quantity, inside, step)
    signals = [
        Signal(name, lane, word == "1")
        for key, name in SIGNALS.items()
        for lane, word in enumerate(split(pairs.get(key, pairs.get(f"{key} [per lane]", []))), 1)
        if name and word in {"0", "1"}
    ]
    known = any((identity.vendor, identity.part, identity.serial)) or values
    return Module(identity, tuple(values), tuple(limits), (), tuple(signals)) if known else None


def _said(pairs: Pairs, key: str) -> str:
    word = one(pairs, key)
    return "" if word.casefold() in NOTHING else word


def _lanes(quantity: str, inside: str, step: float | None) -> Iterator[Value]:
    for lane, word in enumerate(inside.split(","), 1):
        number = word.strip()
        if number.casefold() == "-inf" and step is None:
            yield Value(quantity, lane, 0.0)
        elif _NUMBER.fullmatch(number):
            yield Value(quantity, 0 if quantity in OF_MODULE else lane, _si(float(number), step))


def _si(number: float, step: float | None) -> float:
    """Return SI; of dBm, watts, where nothing that light has is out of range."""
    if step is not None:
        return number * step
    return float(1e-3 * 10 ** (min(max(number, -100.0), 100.0) / 10))
