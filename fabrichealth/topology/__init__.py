"""Topology: what faces what, what sits where (contract 2), and the names that things go by."""

from fabrichealth.topology.differences import Difference, differences, disputes
from fabrichealth.topology.discovery import Discovery, Found, FoundLink
from fabrichealth.topology.inventory import FABRIC, Topology
from fabrichealth.topology.merging import PortSaid, completed, own_names, updated
from fabrichealth.topology.reading import read
from fabrichealth.topology.rows import (
    SCALE_UP,
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
    "FABRIC",
    "SCALE_UP",
    "Device",
    "Difference",
    "Discovery",
    "Domain",
    "Feed",
    "Found",
    "FoundLink",
    "Link",
    "Loop",
    "Module",
    "PortFacts",
    "PortSaid",
    "Rack",
    "Route",
    "Topology",
    "completed",
    "differences",
    "disputes",
    "own_names",
    "read",
    "updated",
]
