"""The faults of power at three strengths, and how each shows."""

from dataclasses import dataclass

from fabrichealth.kinds import (
    POWER_CAPPED,
    POWER_FEED_LOST,
    POWER_METER_DRIFT,
    POWER_OVERLOAD,
    POWER_PHASE_IMBALANCE,
    POWER_SUPPLY_FAILED,
    IncidentKind,
)

HOUR = 3600.0


@dataclass(frozen=True)
class Fault:
    """A fault: how far at each strength, and how long until that is reached (seconds)."""

    name: str
    kind: IncidentKind
    strengths: tuple[float, float, float]
    words: tuple[str, str, str]
    """What the strengths are, for the table."""
    grows: float = 0.0


FAULTS = (
    Fault("overload", POWER_OVERLOAD, (0.87, 1.0, 1.3),
          ("87 % of the breaker", "100 %", "130 %")),
    Fault("phase_imbalance", POWER_PHASE_IMBALANCE, (0.25, 0.4, 0.8),
          ("25 % off the mean", "40 %", "80 %")),
    Fault("feed_lost", POWER_FEED_LOST, (0.0, 1.0, 2.0),
          ("its meter falls silent", "current alone is read", "voltage is read")),
    Fault("supply_failed", POWER_SUPPLY_FAILED, (0.0, 1.0, 2.0),
          ("one delivers nothing", "one says so", "two say so")),
    Fault("capped", POWER_CAPPED, (0.92, 0.8, 0.6),
          ("8 % less than wanted", "20 %", "40 %")),
    Fault("meter_drift", POWER_METER_DRIFT, (0.08, -0.12, 0.25),
          ("8 % too much", "12 % too little", "25 % too much"), 2 * HOUR),
)  # fmt: skip

BY_NAME = {one.name: one for one in FAULTS}
STRENGTHS = ("weak", "middle", "strong")
