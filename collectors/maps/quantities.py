"""Units that devices of power and cooling speak in, and what one step of each is in the catalogue.

Factors are exact where the unit is defined so, and are kept as fractions: 251 tenths of a degree
are 25.1 and not a hair more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fabrichealth.units import Unit

PSI = Fraction("6.894757293168")
"""Kilopascals of one pound-force per square inch (NIST SP 811, appendix B)."""
GALLON = Fraction("3.785411784")
"""Litres of one US gallon (NIST SP 811, appendix B)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A unit of a device: a reading is `said * factor + offset` in the catalogue's unit."""

    unit: Unit
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)


def _linear(unit: Unit, **factors: str | int | Fraction) -> dict[str, Measure]:
    return {name: Measure(unit, Fraction(factor)) for name, factor in factors.items()}


MEASURES: Mapping[str, Measure] = {
    "none": Measure(Unit.NONE),
    "celsius": Measure(Unit.CELSIUS),
    "fahrenheit": Measure(Unit.CELSIUS, Fraction(5, 9), Fraction(-160, 9)),
    "kelvin": Measure(Unit.CELSIUS, Fraction(1), Fraction("-273.15")),
    **_linear(
        Unit.KILOPASCALS, kilopascals=1, pascals="1/1000", bar=100, millibar="1/10", psi=PSI,
        megapascals=1000,
    ),
    **_linear(
        Unit.LITERS_PER_MINUTE, liters_per_minute=1, liters_per_second=60, liters_per_hour="1/60",
        cubic_meters_per_hour="50/3", gallons_per_minute=GALLON,
    ),
    **_linear(Unit.LITERS, liters=1, cubic_meters=1000, gallons=GALLON),
    **_linear(Unit.WATTS, watts=1, milliwatts="1/1000", kilowatts=1000, megawatts=1_000_000),
    **_linear(
        Unit.JOULES, joules=1, watt_hours=3600, kilowatt_hours=3_600_000,
        megawatt_hours=3_600_000_000, kilojoules=1000,
    ),
    **_linear(Unit.VOLTS, volts=1, millivolts="1/1000", kilovolts=1000),
    **_linear(Unit.AMPERES, amperes=1, milliamperes="1/1000"),
    **_linear(Unit.RATIO, ratio=1, percent="1/100", per_mille="1/1000"),
    **_linear(Unit.RPM, rpm=1),
    **_linear(Unit.HERTZ, hertz=1),
    **_linear(Unit.BITS_PER_SECOND, bits_per_second=1, gigabits_per_second=1_000_000_000),
    **_linear(Unit.SECONDS, seconds=1, milliseconds="1/1000", hours=3600),
}  # fmt: skip
"""Units by the names that maps give them."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a raw number is worth: `raw * times / over + offset`, each exact as a float."""

    times: float = 1.0
    over: float = 1.0
    offset: float = 0.0


def step(measure: Measure, scale: Fraction = Fraction(1)) -> Step:
    """Return what a raw number is worth that counts `scale` of a unit."""
    size = measure.factor * scale
    return Step(float(size.numerator), float(size.denominator), float(measure.offset))
