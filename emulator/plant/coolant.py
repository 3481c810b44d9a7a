"""Coolant: 25 % propylene glycol (PG25) and water, between 5 and 60 degrees Celsius.

Densities and heat capacities as makers of the mixture tabulate them, straight lines between;
viscosity falls exponentially with warmth.
"""

import math
from dataclasses import dataclass

EXPANSION = 4e-4
"""Share of its volume by which coolant grows a kelvin."""


@dataclass(frozen=True)
class Coolant:
    """One fluid: density (kg/m3) and heat capacity (kJ/kg K) at 25 C, and their slopes."""

    density: float
    density_slope: float
    capacity: float
    capacity_slope: float
    viscosity: float
    """mPa s at 25 C."""
    thinning: float
    """Share by which viscosity falls a kelvin."""

    def heat_capacity(self, celsius: float) -> float:
        """Return kilojoules a litre and kelvin."""
        warm = celsius - 25.0
        density = self.density + self.density_slope * warm
        return density * (self.capacity + self.capacity_slope * warm) / 1000.0

    def watts_per_kelvin(self, litres_a_minute: float, celsius: float) -> float:
        """Return the heat that a flow carries for each kelvin of difference."""
        return self.heat_capacity(celsius) * 1000.0 * litres_a_minute / 60.0

    def thickness(self, celsius: float) -> float:
        """Return viscosity over what it is at 35 C."""
        return math.exp(-self.thinning * (celsius - 35.0))


PG25 = Coolant(1021.5, -0.48, 3.91, 0.003, 2.0, 0.0238)
WATER = Coolant(997.0, -0.28, 4.18, 0.0, 0.89, 0.021)
