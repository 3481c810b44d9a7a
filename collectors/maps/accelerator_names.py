"""Names of a host's accelerators, the same whichever tool or log speaks of them (contract 1)."""

import re
from collections.abc import Iterable

from collectors.protocols.nvidia_smi import Gpu
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


class FarEnds:
    """Names for what NVLinks of one host lead to, told by its PCI address.

    An accelerator goes by its own name. What is none is an NVSwitch: the topology's name for the
    address, else `HOST-nvswitchN`, counted in the order of addresses as the driver does.
    """

    def __init__(self, topology: Topology, host: str, gpus: Iterable[Gpu]) -> None:
        self._topology = topology
        self._host = host
        self._known = {
            whole_pci(gpu.pci): accelerator(
                topology, host, uuid=gpu.uuid, pci=gpu.pci, index=gpu.index
            )
            for gpu in gpus
            if gpu.pci
        }

    def number(self, addresses: Iterable[str]) -> None:
        """Take all addresses that links lead to, so that those without a name are counted."""
        own = {whole_pci(one) for one in addresses if one} - self._known.keys()
        for number, address in enumerate(sorted(own)):
            written = self._topology.named(address, self._host)
            self._known[address] = written or f"{self._host}-nvswitch{number}"

    def of(self, address: str) -> str:
        """Return the name of what has this address."""
        return self._known[whole_pci(address)]
