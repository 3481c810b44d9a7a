"""The faults of cooling at three strengths, as what they do to a plant and its meters over time."""

from collections.abc import Callable
from dataclasses import dataclass

from fabrichealth.kinds import (
    COOLING_CLOGGED,
    COOLING_CONDENSATION_RISK,
    COOLING_EXCHANGER_FOULED,
    COOLING_FILTER_CLOGGED,
    COOLING_FLOW_IMBALANCE,
    COOLING_LEAK,
    COOLING_PUMP_WEAR,
    COOLING_SENSOR_DRIFT,
    COOLING_SUPPLY_HOT,
    COOLING_THERMAL_CONTACT,
    IncidentKind,
)

HOUR = 3600.0


@dataclass(frozen=True)
class Fault:
    """A fault: what grows, how far at each strength, and how long that takes (hours)."""

    name: str
    kind: IncidentKind
    strengths: tuple[float, float, float]
    hours: float
    """Until it has its full strength; 0: at once."""
    unit: str
    """What the strengths are, for the table."""


GROWING = (
    Fault("leak", COOLING_LEAK, (0.2, 2.0, 60.0), 0.0, "L/h"),
    Fault("clogged", COOLING_CLOGGED, (1.4, 1.8, 3.0), 12.0, "times the branch's resistance"),
    Fault("filter_clogged", COOLING_FILTER_CLOGGED, (1.7, 2.5, 4.0), 18.0,
          "times the filter's resistance"),
    Fault("pump_wear", COOLING_PUMP_WEAR, (0.12, 0.18, 0.3), 12.0, "of the head lost"),
    Fault("flow_imbalance", COOLING_FLOW_IMBALANCE, (1.5, 2.2, 4.0), 0.0,
          "times the branch's resistance"),
    Fault("exchanger_fouled", COOLING_EXCHANGER_FOULED, (0.35, 0.7, 1.5), 18.0,
          "of the exchanger's resistance added"),
    Fault("supply_hot", COOLING_SUPPLY_HOT, (11.0, 14.0, 20.0), 2.0, "K warmer facility water"),
    Fault("thermal_contact", COOLING_THERMAL_CONTACT, (1.3, 1.6, 2.2), 6.0,
          "times the chip's resistance"),
    Fault("condensation_risk", COOLING_CONDENSATION_RISK, (1.2, 0.0, -3.0), 2.0,
          "K above the dew point"),
    Fault("drift_of_flow", COOLING_SENSOR_DRIFT, (-0.1, 0.15, -0.3), 12.0, "of a branch's flow"),
    Fault("drift_of_supply", COOLING_SENSOR_DRIFT, (-1.2, 2.0, -4.0), 12.0, "K of the supply"),
    Fault("drift_of_drop", COOLING_SENSOR_DRIFT, (-0.15, 0.2, -0.35), 12.0,
          "of the pressure drop"),
)  # fmt: skip

SUDDEN = (
    Fault("burst", COOLING_LEAK, (3.0, 10.0, 60.0), 0.0, "L/min, until the pumps run dry"),
    Fault("pump_stopped", COOLING_PUMP_WEAR, (1.0, 2.0, 3.0), 0.0, "of three pumps"),
)  # fmt: skip
"""What is over within minutes; halls of their own."""

FAULTS = (*GROWING, *SUDDEN)
BY_NAME = {one.name: one for one in FAULTS}
STRENGTHS = ("weak", "middle", "strong")
CONTROLS = ("flow", "differential_pressure")

Growth = Callable[[float], float]


def growth(fault: Fault, onset: float) -> Growth:
    """Return how far a fault has come at a moment (unix seconds), 0..1."""

    def share(at: float) -> float:
        if at < onset:
            return 0.0
        return min((at - onset) / (fault.hours * HOUR), 1.0) if fault.hours else 1.0

    return share
