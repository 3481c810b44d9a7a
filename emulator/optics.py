"""Optics: a module at one end of a fibre, its lasers and its receivers, lane by lane.

A receiver limited by thermal noise has a Q that falls with the light that reaches it; of NRZ or
of one PAM4 eye the bit-error rate is erfc(Q/sqrt(2))/2 (Agrawal, Fiber-Optic Communication
Systems, section 4.6).
"""

import math
from dataclasses import dataclass, field

NOMINAL_DBM = -1.0
"""Light at a receiver of a link as it was built."""
NOMINAL_Q = 5.9
"""Q at that light: a pre-FEC BER of 2e-9, as healthy 100G-PAM4 lanes have it."""
BUILT_LOSS_DB = 2.0
DARK_DBM = -40.0
"""Light of a receiver that gets none: the register's lowest value, 0.1 uW."""


@dataclass
class ModuleState:
    """One optical module; lists are by lane."""

    serial: str
    lanes: int = 4
    vendor: str = "EMULATED"
    part: str = "EMU-400-DR4"
    lot: str = "2601"
    firmware: str = "1.7"
    temperature: float = 46.0
    voltage: float = 3.31
    loss_db: float = 0.0
    """Loss on the way to this receiver beyond what the link was built with: dirt, a bend."""
    wear_db: list[float] = field(default_factory=list)
    """Light that each laser has lost, which its control answers with bias until it cannot."""
    bias_ma: list[float] = field(default_factory=list)
    tx_dbm: list[float] = field(default_factory=list)
    rx_dbm: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wear_db = self.wear_db or [0.0] * self.lanes
        self.bias_ma = [60.0] * self.lanes
        self.tx_dbm = [NOMINAL_DBM + BUILT_LOSS_DB] * self.lanes
        self.rx_dbm = [DARK_DBM] * self.lanes

    def shine(self, ambient: float) -> None:
        """Let lasers and case follow the air around them (degrees Celsius)."""
        self.temperature += (ambient + 16.0 - self.temperature) * 0.05
        for lane, wear in enumerate(self.wear_db):
            warm = 1 + 0.008 * (self.temperature - 46.0)
            self.bias_ma[lane] = min(60.0 * warm * 10 ** (wear / 10), 95.0)
            held = 10 * math.log10(self.bias_ma[lane] / (60.0 * warm))
            self.tx_dbm[lane] = NOMINAL_DBM + BUILT_LOSS_DB + held - wear

    def receive(self, sender: "ModuleState | None") -> None:
        """Let the light of the other end arrive, None if it is dark."""
        for lane in range(self.lanes):
            sent = sender.tx_dbm[lane] if sender else DARK_DBM
            self.rx_dbm[lane] = max(sent - BUILT_LOSS_DB - self.loss_db, DARK_DBM)

    @property
    def ber(self) -> float:
        """Mean pre-FEC bit-error rate of the lanes."""
        return sum(map(bit_error_rate, self.rx_dbm)) / self.lanes

    @property
    def snr_db(self) -> list[float]:
        """Electrical signal-to-noise ratio of each lane in dB."""
        return [20 * math.log10(max(quality(dbm), 1e-3)) + 4.8 for dbm in self.rx_dbm]


def quality(dbm: float) -> float:
    """Return Q at so much light."""
    return NOMINAL_Q * 10 ** ((dbm - NOMINAL_DBM) / 10)


def bit_error_rate(dbm: float) -> float:
    """Return the pre-FEC bit-error rate of a lane at so much light."""
    return float(0.5 * math.erfc(quality(dbm) / math.sqrt(2)))
