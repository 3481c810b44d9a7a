"""How each domain does at one moment: counts of its links by state, and of its devices."""

import base64
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabrichealth.cli._picture import STATES
from fabrichealth.topology import FABRIC

ILL = ("down", "drain", "subhealthy", "watch")
"""States of a link that somebody should know of, the gravest first."""

SILENT, UNHEARD = 2, 0
"""Of devices, as `Pictures.at` numbers them."""

MOST_NAMED = 100
"""More silent devices are only counted."""


class DomainState(NamedTuple):
    """One domain; links and devices of no domain are those of the domain `fabric`."""

    name: str
    links: Mapping[str, int]
    """How many links are in each state; `unknown` where nothing was said."""
    devices: int
    silent: tuple[str, ...]
    """Devices that answered before, and do not now."""
    many_silent: int

    @property
    def ill(self) -> tuple[int, ...]:
        """What sorts domains: numbers of ill links by gravity, then of silent devices."""
        return (*(self.links.get(state, 0) for state in ILL), self.many_silent)


def domain_states(layout: Mapping[str, Any], picture: Mapping[str, str]) -> list[DomainState]:
    """Return the domains of a layout by the states of a moment, the illest first.

    Raises:
        ValueError: the picture is of another layout.
    """
    devices, links = layout["devices"], layout["links"]
    names = [name or FABRIC for name in devices["domain"]]
    domains = list(dict.fromkeys([*(one["name"] for one in layout["domains"]), *names]))
    number = {name: place for place, name in enumerate(domains)}
    owner = np.array([number[name] for name in names], int)
    answers, states = _codes(picture, "devices"), _codes(picture, "links")
    if len(answers) != len(names) or len(states) != len(links["a"]):
        raise ValueError("the picture is of another layout")
    whose = _whose(owner, links, number.get(FABRIC, -1))
    found = []
    for name, place in number.items():
        mine, lines = owner == place, np.bincount(states[whose == place], minlength=len(STATES))
        if not mine.any() and not lines.any():
            continue
        counts = Counter({state: int(many) for state, many in zip(STATES, lines, strict=True)})
        counts["unknown"] += counts.pop("", 0)
        silent = np.flatnonzero(mine & (answers == SILENT))
        named = tuple(devices["name"][one] for one in silent[:MOST_NAMED].tolist())
        found.append(DomainState(name, +counts, int(mine.sum()), named, len(silent)))
    return sorted(found, key=lambda one: (*(-many for many in one.ill), one.name))


def _codes(picture: Mapping[str, str], key: str) -> NDArray[np.uint8]:
    return np.frombuffer(base64.b64decode(picture.get(key, "")), np.uint8)


def _whose(owner: NDArray[np.int64], links: Mapping[str, Any], fabric: int) -> NDArray[np.int64]:
    """Return the domain of each link: that of an end which is in one, else the fabric's."""
    a: NDArray[np.int64] = owner[np.array(links["a"], int)]
    b = owner[np.array(links["b"], int)]
    a[a == fabric] = b[a == fabric]
    return a
