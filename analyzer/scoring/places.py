"""Places: which part holds which, by id alone (contract 6).

A port is held by its link and its device, a link by the devices of both ends, a branch
(`loop/branch`) by its loop. Two places meet when they are the same or one holds the other; two
ports of one device do not.
"""

from collections.abc import Iterable
from functools import lru_cache

from fabrichealth.model import Port
from fabrichealth.topology import Topology


class Places:
    """Compares places by their ids."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self.holders = lru_cache(maxsize=None)(self._holders)

    def meet(self, one: str, other: str) -> bool:
        """Return whether two places are one, or one holds the other."""
        return other in self.holders(one) or one in self.holders(other)

    def any_meet(self, ones: Iterable[str], others: Iterable[str]) -> bool:
        """Return whether any of `ones` meets any of `others`."""
        wanted = tuple(others)
        return any(self.meet(one, other) for one in ones for other in wanted)

    def _holders(self, place: str) -> frozenset[str]:
        """Return a place and all that hold it."""
        if "--" in place:
            return frozenset({place, *(end.partition("/")[0] for end in place.split("--"))})
        head, slash, tail = place.partition("/")
        if not (slash and head and tail):
            return frozenset({place})
        if head in self._topology.loops:
            return frozenset({place, head})
        link = self._topology.link_of.get(Port(head, tail))
        if link is not None:
            return frozenset({place, head}) | self._holders(link.id)
        return frozenset({place, head} if head in self._topology.devices else {place})
