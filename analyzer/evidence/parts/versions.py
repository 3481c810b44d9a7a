"""Versions: devices of one role and model that run another firmware or driver than most do.

A version that differs is no fault. It is one where those that run it are ill and the others are
not, by more than chance: Fisher's exact test of each odd version against the rest of its role, over
all odd versions there are. What befell a device under the version before is not this one's doing.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

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
    since: float = -inf
    """Until when it was last seen to run another; -inf where it was not."""


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
    other = _seen(view)
    for metric, what in TOLD:
        window = view[metric]
        place = metric.labels.index(what)
        for row in np.argsort(window.last_at, kind="stable").tolist():
            labels = window.labels(row)
            if version := labels[place]:
                before = other.get((labels[0], what), {})
                newest[labels[0], what] = Running(
                    metric, labels, what, version, float(window.last_at[row]),
                    max((at for name, at in before.items() if name != version), default=-inf),
                )  # fmt: skip
    return list(newest.values())


def _seen(view: View) -> dict[tuple[str, str], dict[str, float]]:
    """Return when each device was last seen to run each version, as long as is remembered."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for metric, what in TOLD:
        changes, place = view.changes(metric), metric.labels.index(what)
        for row, at in enumerate(changes.seen_at.tolist()):
            labels = changes.labels(row)
            if version := labels[place]:
                mine = found[labels[0], what]
                mine[version] = max(mine.get(version, -inf), at)
    return found


def odd_versions(
    told: Collection[Running],
    topology: Topology,
    model: Mapping[str, str],
    ill: Mapping[str, float],
) -> Iterator[Odd]:
    """Yield the versions that differ from what most of a role run, with who of them is ill.

    `ill` tells of each that is ill when it fell ill last (unix seconds). `model` tells what
    accelerators are; others are what the topology says, else what they say of themselves. Devices
    of no known role have no peers.
    """
    by_role: dict[tuple[str, str, str], dict[str, Running]] = defaultdict(dict)
    for one in told:
        row = topology.devices.get(one.labels[0])
        role = row.role if row else "accelerator" if one.labels[0] in model else ""
        if role:
            said = one.labels[one.metric.labels.index("model")]
            sort = model.get(one.labels[0]) or (row.model if row else "") or said
            by_role[role, sort, one.what][one.labels[0]] = one
    found = [
        odd
        for (role, _, what), devices in sorted(by_role.items())
        for odd in _of_role(role, what, devices, ill)
    ]
    for odd in found:
        yield replace(odd, chance=min(odd.chance * len(found), 1.0))


def _of_role(
    role: str, what: str, devices: Mapping[str, Running], ill: Mapping[str, float]
) -> Iterator[Odd]:
    versions = {name: one.version for name, one in devices.items()}
    count = Counter(versions.values())
    usual, many = count.most_common(1)[0]
    if many <= MAJORITY * len(versions):
        return
    cards = {*usual.split(",")}
    for name, version in versions.items():
        if cards > {*version.split(",")}:
            versions[name] = usual  # a card less says nothing: it is gone, and runs nothing else
    count = Counter(versions.values())
    sick = {name for name, one in devices.items() if ill.get(name, -inf) > one.since}
    for version in sorted(count.keys() - {usual}):
        mine = tuple(sorted(name for name, own in versions.items() if own == version))
        own = tuple(name for name in mine if name in sick)
        chance = hypergeom.sf(len(own) - 1, len(versions), len(sick), len(mine))
        yield Odd(
            role, what, version, usual, mine, own,
            len(versions) - len(mine), len(sick) - len(own), float(chance),
        )  # fmt: skip
