"""Names of a host's accelerators, the same whichever tool or log speaks of them (contract 1)."""

import re

from fabrichealth.topology import Topology
from fabrichealth.topology.inventory import short_pci

_FUNCTION = re.compile(r"\.[0-7]$")


def whole_pci(address: str) -> str:
    """Return a PCI address as domain:bus:device.function, in lower case.

    NVIDIA's driver leaves the function out in its log and writes the domain with eight digits.
    """
    return short_pci(address if _FUNCTION.search(address) else f"{address}.0")


def accelerator(
    topology: Topology, host: str, *, uuid: str = "", pci: str = "", index: str = ""
) -> str:
    """Return the topology's name for an accelerator, else `HOST-ID`: its index, else its address.

    Its UUID counts everywhere, its address within its host.
    """
    address = whole_pci(pci) if pci else ""
    named = (topology.named(uuid) if uuid else None) or (
        topology.named(address, host) if address else None
    )
    return named or f"{host}-{index or address or uuid}"
