"""Layers of the analyzer that can be taken out, to see what each adds.

Physics: limits by technology, forecasts, what light and heat say. Peers: comparison with links or
modules that should be alike. Multivariate: the screen over all features at once. Grouping: one
cause is one incident, shared parts and bad lots included; without it every culprit is its own.
"""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats

ROBUST = ("group_quantiles", "group_spread")
COMPARING = (
    "analyzer.evidence.optics.levels",
    "analyzer.evidence.optics.fleet",
    "analyzer.evidence.link.peers",
    "analyzer.evidence.parts.shifts",
)
"""Modules that compare with peers, by the functions of `robust` that they use."""


@dataclass(frozen=True)
class Layer:
    """Detectors that do not judge, and functions (module, name) that something else replaces."""

    detectors: tuple[str, ...] = ()
    replaced: Mapping[tuple[str, str], Any] = field(default_factory=dict)


def _no_quantiles(
    values: Floats, group: NDArray[np.int64], shares: tuple[float, ...], least: int
) -> Floats:
    return np.full((len(values), len(shares)), np.nan)


def _no_spread(values: Floats, group: NDArray[np.int64], least: int) -> tuple[Floats, Floats]:
    nothing = np.full(len(values), np.nan)
    return nothing, nothing


def _alone(every: list[Any], topology: object) -> list[Any]:
    return every


def _without_peers() -> dict[tuple[str, str], Any]:
    stands = dict(zip(ROBUST, (_no_quantiles, _no_spread), strict=True))
    return {
        (module, name): stands[name]
        for module in COMPARING
        for name in ROBUST
        if hasattr(importlib.import_module(module), name)
    }


LAYERS: dict[str, Layer] = {
    "physics": Layer(("link_subhealthy", "link_will_fail", "optics_degrading",
                      "optics_overheating")),
    "peers": Layer(replaced=_without_peers()),
    "multivariate": Layer(("modules_odd",)),
    "grouping": Layer(("parts_shared_component", "parts_bad_batch"),
                      {("analyzer.judge", "explained"): _alone}),
}  # fmt: skip


@contextmanager
def without(name: str) -> Iterator[tuple[str, ...]]:
    """Take a layer out; gives the detectors that must not judge. No name: everything stays."""
    layer = LAYERS[name] if name else Layer()
    before = []
    try:
        for (module, function), stand_in in layer.replaced.items():
            room = importlib.import_module(module)
            before.append((room, function, getattr(room, function)))
            setattr(room, function, stand_in)
        yield layer.detectors
    finally:
        for room, function, real in before:
            setattr(room, function, real)
