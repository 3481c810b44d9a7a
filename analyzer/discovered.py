"""Discovered links: what the collectors found beyond the written topology, read from the store.

Any store carries info series, so whoever judges has the same links as whoever collects. Those of
the newest telling count: a link that was taken out of the topology is not judged for long. They
have neither speed nor lanes, so that their peers and not their present state are the norm.
"""

from collections import defaultdict

import numpy as np

from fabrichealth.catalogue.ports import LINK_INFO, PORT_INFO
from fabrichealth.model import Labels, Port
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Link, Topology
from fabrichealth.topology.merging import extended, stranger

LOOK_EVERY = 60.0
"""Seconds; the links are told of as often."""

WITHIN = 86_400.0
"""While nobody collects the links last told of are believed for so many seconds."""

ONE_TELLING = 600.0
"""Seconds: several collectors, each at its own time, tell of all links within it."""

_NAME, _TECHNOLOGY, _MEDIUM, _A, _B = (
    LINK_INFO.labels.index(name) for name in ("link", "technology", "medium", "a", "b")
)
_ROLE = PORT_INFO.labels.index("role")


class Discovered:
    """The written topology completed by the links that the store tells of."""

    def __init__(self, store: Store, written: Topology) -> None:
        self._store = store
        self._written = written
        self._looked = float("-inf")
        self._strange: dict[int, Labels] = {}
        """Series of links that are not written."""
        self._seen = 0
        self._links: tuple[int, ...] = ()
        self._topology = written

    def topology(self, now: float) -> Topology:
        """Return the topology as of `now` (unix seconds); the same object while nothing changes."""
        if now < self._looked + LOOK_EVERY:
            return self._topology
        self._looked = now
        table = self._store.table
        every = table.of(LINK_INFO)
        for number in every[self._seen :].tolist():
            labels = table.labels(number)
            if labels[_NAME] not in self._written.links:
                self._strange[number] = labels
        self._seen = len(every)
        links = tuple(self._told(now)) if self._strange else ()
        if links != self._links:
            self._links = links
            self._topology = self._completed()
        return self._topology

    def _told(self, now: float) -> list[int]:
        """Return the series of the newest telling, newest first, no port in two of them."""
        latest = self._store.latest(LINK_INFO, now, WITHIN)
        newest = float(np.max(latest.at, initial=-np.inf))
        taken = set(self._written.link_of)
        found: list[int] = []
        for row in np.argsort(-latest.at, kind="stable").tolist():
            number = int(latest.series[row])
            labels = self._strange.get(number)
            if labels is None or latest.at[row] < newest - ONE_TELLING:
                continue
            try:
                ends = {Port.parse(labels[_A]), Port.parse(labels[_B])}
            except ValueError:
                continue  # a history of somebody else's
            named = all(end.device.strip() and "--" not in str(end) for end in ends)
            if named and len(ends) == 2 and not ends & taken:
                taken |= ends
                found.append(number)
        return sorted(found)

    def _completed(self) -> Topology:
        written = self._written
        if not self._links:
            return written
        links = dict(written.links)
        for number in self._links:
            row = _row(self._strange[number])
            links[row.id] = row
        devices = dict(written.devices)
        ports: dict[str, set[str]] = defaultdict(set)
        for link in links.values():
            for end in link.ends:
                if end.device not in written.devices:
                    ports[end.device].add(end.port)
        roles = self._roles()
        for name, own in sorted(ports.items()):
            devices[name] = stranger(name, roles.get(name, ""), own)
        return extended(written, devices, links)

    def _roles(self) -> dict[str, str]:
        """Return what devices are by what is told of their ports."""
        table = self._store.table
        rows = (table.labels(number) for number in table.of(PORT_INFO).tolist())
        return {labels[0]: labels[_ROLE] for labels in rows if labels[_ROLE]}


def _row(labels: Labels) -> Link:
    """Return a link as it is told of; words that a topology has no name for are left out."""
    bare = Link(a=labels[_A], b=labels[_B])
    for key, text in (("technology", labels[_TECHNOLOGY]), ("medium", labels[_MEDIUM])):
        try:
            bare = Link.model_validate(
                {**bare.model_dump(exclude_unset=True), key: text or getattr(bare, key)}
            )
        except ValueError:
            continue
    return bare
