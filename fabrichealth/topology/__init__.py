"""Topology: what faces what, what sits where (contract 2), and the names that things go by."""

from fabrichealth.topology.inventory import Topology
from fabrichealth.topology.reading import read
from fabrichealth.topology.rows import (
    Device,
    Domain,
    Feed,
    Link,
    Loop,
    Module,
    PortFacts,
    Rack,
    Route,
)

__all__ = [
    "Device",
    "Domain",
    "Feed",
    "Link",
    "Loop",
    "Module",
    "PortFacts",
    "Rack",
    "Route",
    "Topology",
    "read",
]
