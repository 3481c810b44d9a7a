"""Coolants: what a litre carries, how thick it is, how it swells; and when air gives off water.

Density and heat capacity of 25 % propylene glycol are Airedale's table, 25 to 45 °C (detection
reference, E1); those of water the usual ones. Viscosities and expansion are recalled, not
verified: only their ratios count here, between temperatures a few kelvin apart.
"""

from dataclasses import dataclass

import numpy as np

from fabrichealth.model import Floats


@dataclass(frozen=True)
class Fluid:
    """One coolant, its properties at the `celsius` given, straight between."""

    celsius: tuple[float, ...]
    density: tuple[float, ...]
    """kg/m3."""
    heat_capacity: tuple[float, ...]
    """kJ/(kg K)."""
    viscosity_25: float
    """mPa s at 25 °C."""
    viscosity_40: float
    expansion: float
    """Of the volume, per kelvin."""

    def watts(self, liters_per_minute: Floats, kelvin: Floats, celsius: Floats) -> Floats:
        """Return the heat that a flow takes up: density x heat capacity x flow x rise."""
        density = np.interp(celsius, self.celsius, self.density)
        capacity = np.interp(celsius, self.celsius, self.heat_capacity)
        return np.asarray(density * capacity / 60.0 * liters_per_minute * kelvin, np.float64)

    def thickness(self, celsius: Floats) -> Floats:
        """Return viscosity over that at 30 °C; exponential between 25 and 40 °C."""
        fall = np.log(self.viscosity_25 / self.viscosity_40) / 15.0
        return np.asarray(np.exp(-fall * (np.clip(celsius, 0.0, 80.0) - 30.0)), np.float64)


PG25 = Fluid(
    (25.0, 30.0, 35.0, 40.0, 45.0),
    (1021.5, 1019.2, 1016.8, 1014.3, 1011.6),
    (3.91, 3.94, 3.95, 3.96, 3.97),
    2.0,
    1.4,
    4e-4,
)
WATER = Fluid((20.0, 30.0, 45.0), (998.2, 995.6, 990.2), (4.18, 4.18, 4.18), 0.89, 0.65, 3e-4)

DIELECTRIC = Fluid((20.0, 40.0, 60.0), (810.0, 797.0, 784.0), (2.15, 2.22, 2.30), 12.0, 7.5, 8e-4)
"""A synthetic hydrocarbon of single-phase tanks, as their data sheets go (recalled)."""

FLUIDS = {"pg25": PG25, "water": WATER, "dielectric": DIELECTRIC}


def fluid_of(name: str) -> Fluid:
    """Return a fluid by its name in the topology; one that is not known counts as 25 % glycol.

    Verdicts compare a loop with its own past, so a constant factor falls out.
    """
    return FLUIDS.get(name.lower().replace("-", "").replace(" ", ""), PG25)


def dew_point(celsius: Floats, humidity: Floats) -> Floats:
    """Return the dew point of air (°C) by Magnus' formula; `humidity` is a ratio, 0..1."""
    with np.errstate(all="ignore"):
        logged = np.log(np.where(humidity > 0, humidity, np.nan))
        strength = logged + 17.62 * celsius / (243.12 + celsius)
        return np.asarray(243.12 * strength / (17.62 - strength), np.float64)
