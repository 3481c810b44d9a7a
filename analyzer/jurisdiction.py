"""Jurisdiction: which domains' incidents an analyzer tells, and what it reads to judge them.

Several analyzers share a site by domains; links and devices of no domain are the domain `fabric`.
An incident is told by who has its culprit. To see that a culprit lies elsewhere, in the leaf that
all dark links hang on or the loop that all hot chips share, an analyzer reads beyond its own: two
cables far, and what stands in the same racks or on the same loops. Whoever judges `fabric` reads
everything, since lots, loops and spines are everywhere.
"""

from collections.abc import Iterable

from analyzer.incidents.scope import domain_of
from analyzer.verdicts import Verdict
from fabrichealth.metric import Metric, Subject
from fabrichealth.model import Incident, Labels, Place
from fabrichealth.topology import FABRIC, Topology

CABLES = 2
"""So far from its own devices an analyzer reads."""

DEVICES = frozenset({Subject.PORT, Subject.PRIORITY, Subject.LANE, Subject.DEVICE})
RACKS = frozenset({Subject.RACK, Subject.FEED, Subject.PHASE, Subject.SUPPLY})
LOOPS = frozenset({Subject.LOOP, Subject.BRANCH, Subject.POINT})


class Jurisdiction:
    """What one analyzer of a site judges; everything where no domain is named."""

    def __init__(self, topology: Topology, domains: Iterable[str] = ()) -> None:
        self._topology = topology
        self._domains = frozenset(domains)
        self._whole = not self._domains or FABRIC in self._domains
        self._devices = frozenset() if self._whole else _near(topology, self._domains)
        racks = {topology.rack_of(name) for name in self._devices} - {""}
        self._racks = racks
        self._loops = {topology.racks[name].loop for name in racks if name in topology.racks}
        self._loops |= {loop.name for loop in topology.loops.values() if racks & {*loop.racks}}

    @property
    def name(self) -> str:
        """The domains that are judged here, `pod-a+pod-b`; nothing where all are."""
        return "+".join(sorted(self._domains))

    @property
    def prefix(self) -> str:
        """What the names of incidents begin with: no two analyzers give the same name."""
        return f"{self.name}-i" if self._domains else "i"

    def wants(self, metric: Metric, labels: Labels) -> bool:
        """Return whether a series is read; what the topology does not know always is."""
        if self._whole:
            return True
        name = labels[0] if labels else ""
        if metric.subject in DEVICES:
            return name in self._devices or name not in self._topology.devices
        if metric.subject in RACKS:
            return name in self._racks or name not in self._topology.racks
        if metric.subject in LOOPS:
            return name in self._loops or name not in self._topology.loops
        return True

    def holds(self, incident: Incident) -> bool:
        """Return whether an incident is told here."""
        return self._has(incident.domain)

    def tells(self, verdict: Verdict, incidents: frozenset[str]) -> bool:
        """Return whether a verdict series is told here; `incidents` are told here and open.

        What is about an incident goes with it, what is about a link or a domain with that; what is
        about judging itself is everybody's own.
        """
        if not self._domains:
            return True
        named = dict(zip(verdict.metric.labels, verdict.labels, strict=True))
        if "incident" in named:
            return named["incident"] in incidents
        if "link" in named:
            return self._has(domain_of(Place("link", named["link"]), self._topology))
        return "domain" not in named or self._has(named["domain"])

    def _has(self, domain: str | None) -> bool:
        return not self._domains or (domain or FABRIC) in self._domains


def _near(topology: Topology, domains: frozenset[str]) -> frozenset[str]:
    """Return the devices of domains, those within a few cables of them, and what shares a loop."""
    found = {name for name in topology.devices if topology.domain_of(name) in domains}
    edge = found
    for _ in range(CABLES):
        edge = {
            end.device
            for name in edge
            for link in topology.links_of.get(name, ())
            for end in link.ends
        } - found
        found = found | edge
    racks = {topology.rack_of(name) for name in found} - {""}
    for loop in topology.loops.values():
        if racks & {*loop.racks}:
            racks |= {*loop.racks}
    found |= {name for rack in racks for name in topology.in_rack.get(rack, ())}
    hosts = {topology.devices[name].host for name in found if name in topology.devices} - {""}
    return frozenset(
        found | hosts | {part for name in found | hosts for part in topology.hosted.get(name, ())}
    )
