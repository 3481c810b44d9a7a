"""Optics: a module at one end of a link, its lasers and its receivers, lane by lane."""

from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np

from emulator.light import BUILT_CELSIUS, DARK_DBM, WARM_CELSIUS, WARM_DB_PER_KELVIN, Floats
from emulator.light import bit_error_rate as _bit_error_rate
from emulator.module_kinds import DSP_HOST_SNR_DB, KINDS, ModuleKind
from emulator.stress import Stress

READY = 3
"""Module state of one that works (CMIS lower byte 3); 1 is LowPwr."""
LOW_POWER = 1
LASER_CELSIUS = 50.0
"""Where a cooler holds its laser."""
COOLER_KELVIN = 60.0
"""Difference that a cooler at full current makes."""
WORN_OUT_DB = 3.0
"""A laser that has lost half its light is at the end of its life."""
LOST_LOCK_DB = 12.0
"""Below this signal-to-noise ratio clock recovery loses its lock."""
LIGHT_LOST_DBM = -15.0


@dataclass
class ModuleState:
    """One module, optical or not; lists are by lane."""

    serial: str
    lanes: int = 4
    vendor: str = "EMULATED"
    part: str = ""
    """Empty: as its kind is called."""
    lot: str = "2601"
    firmware: str = "1.7"
    temperature: float = BUILT_CELSIUS
    voltage: float = 3.31
    loss_db: float = 0.0
    """Loss on the way to this receiver beyond what the link was built with: dirt, a bend."""
    wear_db: list[float] = field(default_factory=list)
    """Light that each laser has lost, which its control answers with bias until it cannot."""
    bias_ma: list[float] = field(default_factory=list)
    """0 where light comes from elsewhere, or there is none."""
    tx_dbm: list[float] = field(default_factory=list)
    rx_dbm: list[float] = field(default_factory=list)
    kind: str = "dr4"
    stresses: dict[object, Stress] = field(default_factory=dict)
    """What acts on it, by what brings it."""
    supply_dbm: list[float] = field(default_factory=list)
    """Light of the external laser source at each lane of a module that has none."""
    wire_ber: float = 0.0
    """Mean error rate of the lanes between host and module, when it last shone."""
    power_state: int = READY
    fault_cause: int = 0
    """Why the module is in state Fault (CMIS lower byte 41)."""
    firmware_fault: bool = False

    def __post_init__(self) -> None:
        built = self.built
        self.part = self.part or built.part
        self.wear_db = self.wear_db or [0.0] * self.lanes
        self.supply_dbm = self.supply_dbm or [built.sent_dbm] * self.lanes
        self.bias_ma = [built.laser.operating_ma if built.laser else 0.0] * self.lanes
        self.tx_dbm = [built.sent_dbm] * self.lanes
        self.rx_dbm = [DARK_DBM] * self.lanes

    @property
    def built(self) -> ModuleKind:
        """What all modules of its kind have."""
        return KINDS[self.kind]

    @property
    def stress(self) -> Stress:
        """Everything that acts on it now."""
        own = Stress(wear_db=np.array(self.wear_db), loss_db=self.loss_db)
        return reduce(add, self.stresses.values(), own)

    def shine(self, ambient: float) -> None:
        """Let lasers and case follow the air around them (degrees Celsius)."""
        stress = self.stress
        heat = float(np.max(np.asarray(stress.heat)))
        wanted = ambient + self.built.rise + heat
        self.temperature += (wanted - self.temperature) * 0.05
        bias, light = sent(
            self.built, self._laser_celsius, stress, np.array(self.supply_dbm)[: self.lanes]
        )
        self.bias_ma = np.broadcast_to(bias, self.lanes).tolist()
        self.tx_dbm = np.broadcast_to(light, self.lanes).tolist()
        # the host's lanes of one media lane share its stress, so the mean is that of either
        host = _bit_error_rate(host_snr(self.temperature, stress))
        self.wire_ber = float(host.mean()) if self.built.host_lanes else 0.0

    def receive(self, sender: "ModuleState | None") -> None:
        """Let the light of the other end arrive, None if it is dark."""
        light = sender.tx_dbm if sender else [DARK_DBM] * self.lanes
        lost = self.built.loss_db + self.stress.lane("loss_db", self.lanes)
        self.rx_dbm = np.maximum(np.array(light) - lost, DARK_DBM).tolist()

    @property
    def ber(self) -> float:
        """Mean pre-FEC bit-error rate of the media lanes."""
        return float(np.mean(self.ber_media))

    @property
    def snr_db(self) -> list[float]:
        """Electrical signal-to-noise ratio of each media lane in dB, as its receiver has it."""
        return _listed(media_snr(self.built, np.array(self.rx_dbm), self.temperature, self.stress))

    @property
    def snr_host_db(self) -> list[float]:
        """Signal-to-noise ratio of each host lane in dB."""
        lanes = self.built.host_lanes
        # the electrical lanes of one optical lane share its stress
        spread = max(lanes // self.lanes, 1)
        found = np.broadcast_to(host_snr(self.temperature, self.stress).reshape(-1), self.lanes)
        return _listed(np.repeat(found, spread)[:lanes])

    @property
    def ber_media(self) -> list[float]:
        """Bit-error rate of each media lane before correction."""
        return _listed(bit_error_rate(np.array(self.snr_db)))

    @property
    def ber_host(self) -> list[float]:
        """Bit-error rate of each host lane before correction."""
        return _listed(bit_error_rate(np.array(self.snr_host_db)))

    @property
    def laser_celsius(self) -> list[float]:
        """Temperature of each laser: held by a cooler, else a little above the case."""
        return [self._laser_celsius] * self.lanes

    @property
    def tec_ratio(self) -> float:
        """Current of the cooler against its greatest; negative heats."""
        return float(np.clip((self.temperature - LASER_CELSIUS) / COOLER_KELVIN, -1.0, 1.0))

    @property
    def laser_age(self) -> list[float]:
        """Age of each laser, 1 at the end of its life."""
        worn = self.stress.lane("wear_db", self.lanes) / WORN_OUT_DB
        return _listed(np.clip(worn, 0.0, 1.0))

    @property
    def los_media(self) -> list[bool]:
        """Which receivers get no light worth the name."""
        return [dbm <= LIGHT_LOST_DBM for dbm in self.rx_dbm]

    @property
    def lol_media(self) -> list[bool]:
        """Which receivers have no lock."""
        return [snr < LOST_LOCK_DB for snr in self.snr_db]

    @property
    def lol_host(self) -> list[bool]:
        """Which host lanes have no lock."""
        return [snr < LOST_LOCK_DB for snr in self.snr_host_db]

    @property
    def tx_fault(self) -> list[bool]:
        """Which lasers give no light."""
        return [self.built.optical and dbm <= LIGHT_LOST_DBM for dbm in self.tx_dbm]

    @property
    def _laser_celsius(self) -> float:
        return LASER_CELSIUS if self.built.cooled else self.temperature


def _listed(values: Floats) -> list[float]:
    found: list[float] = values.tolist()
    return found


def sent(
    kind: ModuleKind, celsius: Floats | float, stress: Stress, supply_dbm: Floats | float
) -> tuple[Floats, Floats]:
    """Return bias (mA) and light (dBm) of lasers at so many degrees Celsius.

    Shapes broadcast over [lane, time]; a module without a laser passes on what it is supplied.
    """
    if kind.laser is None:
        if not kind.external:
            return np.array(0.0), np.array(DARK_DBM)
        light = np.maximum(supply_dbm - np.asarray(stress.supply_db), DARK_DBM)
        return np.array(0.0), np.asarray(light, np.float64)
    bias = kind.laser.bias(celsius, stress.wear_db)
    return bias, kind.laser.light(celsius, bias, stress.wear_db)


def media_snr(kind: ModuleKind, rx_dbm: Floats, celsius: Floats | float, stress: Stress) -> Floats:
    """Return the signal-to-noise ratio (dB) of media lanes; shapes broadcast over [lane, time].

    Copper has no light: its signal is as it was built, less what acts on it.
    """
    receiver = kind.receiver
    if receiver is None:
        return np.zeros(np.shape(rx_dbm))
    light = rx_dbm if kind.optical else np.full(np.shape(rx_dbm), receiver.dbm) - stress.loss_db
    lost = np.add(stress.receiver_db, stress.dsp_db)
    return receiver.snr(light, celsius, lost, stress.interference)


def host_snr(celsius: Floats | float, stress: Stress) -> Floats:
    """Return the signal-to-noise ratio (dB) of host lanes; shapes broadcast over [lane, time]."""
    warm = np.maximum(np.asarray(celsius) - WARM_CELSIUS, 0) * WARM_DB_PER_KELVIN / 2
    lost = np.add(stress.host_db, stress.dsp_db)
    return np.maximum(DSP_HOST_SNR_DB - lost - warm, 0.0)


def bit_error_rate(snr_db: Floats) -> Floats:
    """Return the pre-FEC bit-error rate of lanes; 0.375 where there is no signal."""
    return _bit_error_rate(snr_db)
