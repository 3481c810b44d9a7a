"""Port: one end of a cable, and what it counts whatever its technology."""

import zlib
from dataclasses import dataclass

from emulator.ethernet import EthernetState
from emulator.hosttree import WORD_BYTES
from emulator.optics import ModuleState
from emulator.plan import Cable
from emulator.receiver import ReceiverState


@dataclass
class PortState:
    """One end of a cable."""

    name: str
    cable: Cable
    up: bool = True
    lanes: int = 0
    symbol_errors: float = 0.0
    recoveries: float = 0.0
    link_downs: float = 0.0
    replays: float = 0.0
    crc_errors: float = 0.0
    rx_words: float = 0.0
    """Octets received, in words of 4."""
    tx_words: float = 0.0
    optical: ReceiverState | None = None
    """What only a port of an optical cable has."""
    ethernet: EthernetState | None = None
    """The same, of an Ethernet cable, which also counts pauses."""

    def __post_init__(self) -> None:
        self.lanes = self.cable.lanes
        if self.cable.medium == "optical":
            module = ModuleState(_serial(self.name), self.cable.lanes)
            if self.cable.technology == "roce":
                self.optical = self.ethernet = EthernetState(module)
            else:
                self.optical = ReceiverState(module)

    @property
    def rx_octets(self) -> float:
        """Octets received."""
        return self.rx_words * WORD_BYTES

    @property
    def tx_octets(self) -> float:
        """Octets sent."""
        return self.tx_words * WORD_BYTES

    @property
    def gbps(self) -> float:
        """Speed with the lanes that are active."""
        return self.cable.speed_gbps * self.lanes / self.cable.lanes


def _serial(port: str) -> str:
    """Return the serial number of the module in a port: the same in every run."""
    return f"EM{zlib.crc32(port.encode()):08X}"
