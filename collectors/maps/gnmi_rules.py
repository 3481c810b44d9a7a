"""gNMI maps: files that say what a model's paths are in the catalogue, checked when they are read.

A rule's path names the keys of its lists in brackets, in order: `port`, `lane`, `priority`,
`level`, `module` (of which the port is known from elsewhere), or a label of the metric.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from collectors.maps.map_parts import AnyMetric, MapPart
from collectors.protocols.gnmi_paths import schema
from fabrichealth.catalogue.optics import LOS, OPTICS_INFO
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.metric import Metric
from fabrichealth.yamlfile import load

FOLDER = Path(__file__).parent / "gnmi"
_KEY = re.compile(r"\[([a-z_-]+)\]")


class LeafRule(MapPart):
    """What one leaf is in the catalogue."""

    to: AnyMetric
    form: Literal["number", "light", "flag", "state", "speed"] = Field("number", alias="as")
    worth: float = 1.0
    labels: Mapping[str, str] = Field(default_factory=dict)


class PathRules(MapPart):
    """The leaves below one path."""

    path: str
    leaves: Mapping[str, LeafRule]


class Words(MapPart):
    """Leaves below one path that are words; each gives what its value is called."""

    path: str
    leaves: Mapping[str, str]


class GnmiMap(MapPart):
    """One file."""

    about: str
    subscribe: Mapping[str, tuple[str, ...]]
    rules: tuple[PathRules, ...]
    facts: Words
    module: str
    neighbor: Words


class Leaf(MapPart):
    """A leaf's rule with the names of its path's keys, and its rank among others of its metric."""

    rule: LeafRule
    keys: tuple[str, ...]
    rank: int


def keys(path: str) -> tuple[str, ...]:
    """Return the names in brackets of a path."""
    return tuple(_KEY.findall(path))


def leaves(known: GnmiMap) -> dict[str, list[Leaf]]:
    """Return the rules of each leaf by its path without keys."""
    found: dict[str, list[Leaf]] = {}
    for place, rules in enumerate(known.rules):
        for rank, (leaf, rule) in enumerate(rules.leaves.items()):
            path = f"{schema(rules.path)}/{leaf}"
            found.setdefault(path, []).append(
                Leaf(rule=rule, keys=keys(rules.path), rank=1000 * place + rank)
            )
    return found


def metrics(known: GnmiMap) -> tuple[Metric, ...]:
    """Return every metric that a map can give, and what follows from it."""
    told = (rule.to for rules in known.rules for rule in rules.leaves.values())
    return tuple(dict.fromkeys((*told, LOS, PORT_INFO, OPTICS_INFO)))


@cache
def named(name: str) -> GnmiMap:
    """Read a map of this folder.

    Raises:
        SiteError: it is wrong; the message says where.
    """
    file = load(FOLDER / f"{name}.yaml")
    known = file.validated(GnmiMap, file.value)
    for number, rules in enumerate(known.rules):
        given = {"port" if key == "module" else key for key in keys(rules.path)}
        for leaf, rule in rules.leaves.items():
            missing = set(rule.to.labels) - given - rule.labels.keys() - {"device"}
            if missing:
                place = ("rules", number, "leaves", leaf)
                raise file.error(place, f"no label {missing.pop()}")
    return known
