"""Inventory: info series of ports and links, from what is written and what devices say.

A port has one info series, or joins on it would be ambiguous: what the topology says and what
its device says are merged here. What is written wins for names and cabling; the device knows
its own uid and what its packet counters count. Links that are not written are made of what ports
say of their far ends, and told of like written ones: whoever judges reads them here.
"""

from collections.abc import Mapping

import numpy as np

from collectors.sharding import WHOLE, Shard
from collectors.survey import of_port
from fabrichealth.catalogue.ports import LINK_INFO, NEIGHBOR_INFO, PORT_INFO
from fabrichealth.model import Batch, Ids, Labels, Neighbor, Poll, Port, SeriesTable
from fabrichealth.topology import Discovery, Topology, completed, disputes, own_names

DEVICE_KNOWS = frozenset({"uid", "packets", "fec"})

LOOK_AGAIN = 3600.0
"""Seconds after which links are made of claims anew though nothing is: claims grow old."""


class Inventory:
    """Merges what is known of ports; gives one batch of info series when asked."""

    def __init__(
        self,
        table: SeriesTable,
        topology: Topology,
        discovery: Discovery | None = None,
        shard: Shard = WHOLE,
    ) -> None:
        """Of several collectors each tells of the written ports and links of its `shard`."""
        self._shard = shard
        self._table = table
        self._written = self._topology = topology
        self._discovery = Discovery(topology) if discovery is None else discovery
        self._looked = float("-inf")
        """When links were made of what ports claim; in the far past when anything is new."""
        self._said: dict[Port, dict[int, Mapping[str, str]]] = {}
        """What is said of a port, by the clock of who says it."""
        self.clock = table.clock("inventory", "ports")
        """Of batches that tell all there is, each for itself."""
        self._series: Ids | None = None
        self.doubts: tuple[str, ...] = ()
        """What contradicts the written cabling or itself, a line each, as of the last batch."""
        self._neighbors: dict[Neighbor, int] = {}
        self._answers: dict[int, tuple[list[Neighbor], Ids]] = {}
        """What each target said last of neighbours, by its clock."""

    @property
    def topology(self) -> Topology:
        """What is written, with the links that were discovered."""
        return self._topology

    @property
    def has_news(self) -> bool:
        """Whether anything was said that the last batch did not tell."""
        return self._series is None or self._looked == float("-inf")

    def under(self, topology: Topology) -> "Inventory":
        """Return the same knowledge under another written topology."""
        other = Inventory(self._table, topology, self._discovery.under(topology), self._shard)
        other._said = self._said
        return other

    def memory(self) -> list[list[str | float]]:
        """Return what must survive a restart, as plain JSON values."""
        return self._discovery.memory()

    def remember(self, memory: object) -> None:
        """Take up what `memory` returned before the restart; what cannot be used is ignored."""
        self._discovery.remember(memory)

    def take(self, poll: Poll) -> Poll:
        """Take port facts out of a poll, and put its neighbours into it as info series."""
        infos = set(self._table.of(PORT_INFO).tolist())
        batches = []
        for batch in poll.batches:
            mine = np.isin(batch.series, self._table.of(PORT_INFO)) if infos else None
            if mine is not None and mine.any():
                for series in batch.series[mine].tolist():
                    self._note(self._table.labels(series), batch.clock)
                kept = ~mine
                batches.append(Batch(batch.clock, batch.at, batch.series[kept], batch.values[kept]))
            else:
                batches.append(batch)
        if poll.neighbors and batches:
            newest = max(batches, key=lambda batch: batch.at)
            series = self._of_neighbors(newest.clock, poll.neighbors)
            batches.append(Batch(newest.clock, newest.at, series, np.ones(len(series))))
            if self._discovery.hear(poll.neighbors, newest.at, whole=not poll.missing):
                self._looked = float("-inf")
        return Poll(batches, poll.refused, poll.neighbors, poll.events, poll.missing)

    def batch(self, at: float) -> Batch:
        """Return the info series of every port and link known."""
        if at >= self._looked + LOOK_AGAIN:
            self._looked = at
            facts = {port: of_port(self._facts(port)) for port in self._said}
            links = self._discovery.found(at, own_names(facts))
            found = completed(self._written, links, facts)
            self.doubts = tuple(map(str, disputes(self._written, links)))
            if not found.same_as(self._topology):
                self._topology = found
                self._series = None
        if self._series is None:
            self._series = self._laid_out()
        return Batch(self.clock, at, self._series, np.ones(len(self._series)))

    def _note(self, labels: Labels, clock: int) -> None:
        facts = {
            name: value
            for name, value in zip(PORT_INFO.labels, labels, strict=True)
            if value and name not in {"device", "port"}
        }
        said = self._said.setdefault(Port(labels[0], labels[1]), {})
        if said.get(clock) != facts:
            said[clock] = facts
            self._series = None
            self._looked = float("-inf")

    def _facts(self, port: Port) -> dict[str, str]:
        """Return what is said of a port; of two words about one thing the older source's."""
        merged: dict[str, str] = {}
        for _, facts in sorted(self._said.get(port, {}).items(), reverse=True):
            merged |= facts
        return merged

    def _of_neighbors(self, clock: int, heard: list[Neighbor]) -> Ids:
        """Return the info series of neighbours; those of the same answer as before are known."""
        before = self._answers.get(clock)
        if before is None or before[0] != heard:
            series = np.unique(np.array([self._neighbor(one) for one in heard], np.int32))
            before = self._answers[clock] = list(heard), series
        return before[1]

    def _neighbor(self, one: Neighbor) -> int:
        found = self._neighbors.get(one)
        if found is None:
            labels = (one.device, one.port, one.remote_device, one.remote_port, one.via)
            found = self._neighbors[one] = self._table.intern(NEIGHBOR_INFO, labels)
        return found

    def _laid_out(self) -> Ids:
        ours = self._shard.holds
        written = self._written.link_of
        ports = {
            port for port in self._topology.link_of if port not in written or ours(port.device)
        }
        ports |= set(self._said)
        series = [self._table.intern(PORT_INFO, self._port(port)) for port in sorted(ports)]
        series += [
            self._table.intern(LINK_INFO, labels)
            for name, link in self._topology.links.items()
            if name not in self._written.links or ours(link.ends[0].device)
            for labels in [self._link(name)]
        ]
        return np.unique(np.array(series, np.int32))

    def _port(self, port: Port) -> Labels:
        written = self._in_topology(port)
        said = self._facts(port)
        merged = {
            name: (said.get(name) or written.get(name, ""))
            if name in DEVICE_KNOWS
            else (written.get(name) or said.get(name, ""))
            for name in PORT_INFO.labels[2:]
        }
        return (port.device, port.port, *merged.values())

    def _in_topology(self, port: Port) -> dict[str, str]:
        topology = self._topology
        link, peer = topology.link_of.get(port), topology.peer(port)
        device = topology.devices.get(port.device)
        return {
            "domain": topology.domain_of(port.device),
            "rack": topology.rack_of(port.device),
            "role": device.role if device else "",
            "technology": link.technology if link else "",
            "medium": link.medium if link else "",
            "fec": link.fec if link else "",
            "peer_device": peer.device if peer else "",
            "peer_port": peer.port if peer else "",
            "link": link.id if link else "",
            "bundle": link.bundle if link else "",
            "uid": device.ports[port.port].uid if device and port.port in device.ports else "",
            "packets": "",
        }

    def _link(self, name: str) -> Labels:
        link = self._topology.links[name]
        one, other = sorted((link.a, link.b), key=str.encode)
        domains = {self._topology.domain_of(end.device) for end in link.ends} - {""}
        domain = domains.pop() if len(domains) == 1 else ""
        speed = f"{link.speed_gbps:g}" if link.speed_gbps else ""
        return (name, domain, link.technology, link.medium, speed, one, other)
