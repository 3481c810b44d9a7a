"""Versions: devices of one role and model that run another firmware or driver than most do.

A version that differs is no fault. It is one where those that run it are ill and the others are
not, by more than chance: Fisher's exact test of each odd version against the rest of its role, over
all odd versions there are.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import hypergeom

from fabrichealth.catalogue.accelerators import ACCELERATOR_INFO
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.metric import Metric
from fabrichealth.model import View
from fabrichealth.topology import Topology

TOLD: tuple[tuple[Metric, str], ...] = (
    (DEVICE_INFO, "firmware"), (DEVICE_INFO, "driver"), (ACCELERATOR_INFO, "driver"),
)  # fmt: skip
"""Which label of which info series is a version."""

MAJORITY = 0.5
"""Most run the same: a role of many versions has no odd ones."""


@dataclass(frozen=True)
class Running:
    """What a device runs, as it says itself."""

    metric: Metric
    labels: tuple[str, ...]
    what: str
    """firmware or driver."""
    version: str
    at: float


@dataclass(frozen=True)
class Odd:
    """Devices of a role that run another version than most."""

    role: str
    what: str
    version: str
    usual: str
    devices: tuple[str, ...]
    ill: tuple[str, ...]
    """Of those, which are ill."""
    others: int
    """Devices of the role that run another version,"""
    others_ill: int
    """and how many of them are ill."""
    chance: float
    """Of this or worse if versions did not matter; over all odd versions looked at."""


def running(view: View) -> list[Running]:
    """Return what devices run: of each and each sort of version the newest word."""
    newest: dict[tuple[str, str], Running] = {}
    for metric, what in TOLD:
        window = view[metric]
        place = metric.labels.index(what)
        for row in np.argsort(window.last_at, kind="stable").tolist():
            labels = window.labels(row)
            if labels[place]:
                newest[labels[0], what] = Running(
                    metric, labels, what, labels[place], float(window.last_at[row])
                )
    return list(newest.values())


def odd_versions(
    told: Collection[Running], topology: Topology, model: Mapping[str, str], ill: Collection[str]
) -> Iterator[Odd]:
    """Yield the versions that differ from what most of a role run, with who of them is ill.

    `model` tells what accelerators are; others are what the topology says. Devices of no known role
    have no peers.
    """
    by_role: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for one in told:
        row = topology.devices.get(one.labels[0])
        role = row.role if row else "accelerator" if one.labels[0] in model else ""
        if role:
            sort = model.get(one.labels[0]) or (row.model if row else "")
            by_role[role, sort, one.what][one.labels[0]] = one.version
    found = [
        odd
        for (role, _, what), versions in sorted(by_role.items())
        for odd in _of_role(role, what, versions, frozenset(ill))
    ]
    for odd in found:
        yield replace(odd, chance=min(odd.chance * len(found), 1.0))


def _of_role(
    role: str, what: str, versions: Mapping[str, str], ill: frozenset[str]
) -> Iterator[Odd]:
    count = Counter(versions.values())
    usual, many = count.most_common(1)[0]
    if many <= MAJORITY * len(versions):
        return
    sick = {name for name in versions if name in ill}
    for version in sorted(count.keys() - {usual}):
        mine = tuple(sorted(name for name, own in versions.items() if own == version))
        own = tuple(name for name in mine if name in sick)
        chance = hypergeom.sf(len(own) - 1, len(versions), len(sick), len(mine))
        yield Odd(
            role, what, version, usual, mine, own,
            len(versions) - len(mine), len(sick) - len(own), float(chance),
        )  # fmt: skip
