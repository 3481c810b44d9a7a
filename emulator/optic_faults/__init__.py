"""Faults of optics, by what falls ill. Each can be part of a scenario, and of a recorded fleet."""

from emulator.optic_faults.electronics import (
    AgeingReceiver,
    BadFirmware,
    Overheating,
    WeakHostLane,
)
from emulator.optic_faults.fault import Moments, OpticFault
from emulator.optic_faults.fibres import Bend, CrushedCable, Dirt, LooseConnector, Reflection
from emulator.optic_faults.lasers import AgeingLaser, DimLaserBank, FailedLaser

FAULTS: dict[str, type[OpticFault]] = {
    "ageing": AgeingLaser,
    "failed": FailedLaser,
    "dirt": Dirt,
    "bend": Bend,
    "reflection": Reflection,
    "receiver": AgeingReceiver,
    "heat": Overheating,
    "host": WeakHostLane,
    "firmware": BadFirmware,
    "bank": DimLaserBank,
    "loose": LooseConnector,
    "cable": CrushedCable,
}
"""By the name that a fleet is asked for with."""

__all__ = ["FAULTS", "Moments", "OpticFault"]
