"""Inventory: info series of ports and links, from what is written and what devices say.

A port has one info series, or joins on it would be ambiguous: what the topology says and what
its device says are merged here. What is written wins for names and cabling; the device knows
its own uid and what its packet counters count.
"""

from collections.abc import Mapping

import numpy as np

from fabrichealth.catalogue.ports import LINK_INFO, NEIGHBOR_INFO, PORT_INFO
from fabrichealth.model import Batch, Ids, Labels, Neighbor, Poll, Port, SeriesTable
from fabrichealth.topology import Topology

DEVICE_KNOWS = frozenset({"uid", "packets", "fec"})


class Inventory:
    """Merges what is known of ports; gives one batch of info series when asked."""

    def __init__(self, table: SeriesTable, topology: Topology) -> None:
        self._table = table
        self._topology = topology
        self._said: dict[Port, Mapping[str, str]] = {}
        self._clock = table.clock("inventory", "ports")
        self._series: Ids | None = None
        self._neighbors: dict[Neighbor, int] = {}

    def take(self, poll: Poll) -> Poll:
        """Take port facts out of a poll, and put its neighbours into it as info series."""
        infos = set(self._table.of(PORT_INFO).tolist())
        batches = []
        for batch in poll.batches:
            mine = np.isin(batch.series, self._table.of(PORT_INFO)) if infos else None
            if mine is not None and mine.any():
                for series in batch.series[mine].tolist():
                    self._note(self._table.labels(series))
                kept = ~mine
                batches.append(Batch(batch.clock, batch.at, batch.series[kept], batch.values[kept]))
            else:
                batches.append(batch)
        if poll.neighbors and batches:
            newest = max(batches, key=lambda batch: batch.at)
            series = np.array([self._neighbor(one) for one in poll.neighbors], np.int32)
            batches.append(
                Batch(newest.clock, newest.at, np.unique(series), np.ones(len(np.unique(series))))
            )
        return Poll(batches, poll.refused, poll.neighbors, poll.events, poll.missing)

    def batch(self, at: float) -> Batch:
        """Return the info series of every port and link known."""
        if self._series is None:
            self._series = self._laid_out()
        return Batch(self._clock, at, self._series, np.ones(len(self._series)))

    def _note(self, labels: Labels) -> None:
        facts = {
            name: value
            for name, value in zip(PORT_INFO.labels, labels, strict=True)
            if value and name not in {"device", "port"}
        }
        port = Port(labels[0], labels[1])
        if self._said.get(port) != facts:
            self._said[port] = facts
            self._series = None

    def _neighbor(self, one: Neighbor) -> int:
        found = self._neighbors.get(one)
        if found is None:
            labels = (one.device, one.port, one.remote_device, one.remote_port, one.via)
            found = self._neighbors[one] = self._table.intern(NEIGHBOR_INFO, labels)
        return found

    def _laid_out(self) -> Ids:
        ports = set(self._topology.link_of) | set(self._said)
        series = [self._table.intern(PORT_INFO, self._port(port)) for port in sorted(ports)]
        series += [
            self._table.intern(LINK_INFO, labels)
            for labels in map(self._link, self._topology.links)
        ]
        return np.unique(np.array(series, np.int32))

    def _port(self, port: Port) -> Labels:
        written = self._written(port)
        said = self._said.get(port, {})
        merged = {
            name: (said.get(name) or written.get(name, ""))
            if name in DEVICE_KNOWS
            else (written.get(name) or said.get(name, ""))
            for name in PORT_INFO.labels[2:]
        }
        return (port.device, port.port, *merged.values())

    def _written(self, port: Port) -> dict[str, str]:
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
