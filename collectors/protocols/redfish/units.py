"""Units of Redfish's readings: UCUM text as written, and as services write it (DSP0268, Sensor).

What a reading's own `ReadingUnits` says comes first, what its `ReadingType` implies second. A name
here is that of a measure; the map of measures knows what it is worth.
"""

from collections.abc import Mapping

MEASURES: Mapping[str, str] = {
    "cel": "celsius", "c": "celsius", "°c": "celsius", "degc": "celsius", "celsius": "celsius",
    "degrees c": "celsius", "deg c": "celsius",
    "[degf]": "fahrenheit", "f": "fahrenheit", "°f": "fahrenheit", "degf": "fahrenheit",
    "fahrenheit": "fahrenheit", "k": "kelvin", "kelvin": "kelvin",
    "kpa": "kilopascals", "pa": "pascals", "bar": "bar", "mbar": "millibar", "hpa": "millibar",
    "psi": "psi", "[psi]": "psi", "psig": "psi", "mpa": "megapascals",
    "l/min": "liters_per_minute", "lpm": "liters_per_minute", "l/m": "liters_per_minute",
    "l/s": "liters_per_second", "l/h": "liters_per_hour", "m3/h": "cubic_meters_per_hour",
    "m^3/h": "cubic_meters_per_hour", "cmh": "cubic_meters_per_hour",
    "gal/min": "gallons_per_minute", "[gal_us]/min": "gallons_per_minute",
    "gpm": "gallons_per_minute",
    "l": "liters", "w": "watts", "watt": "watts", "watts": "watts", "kw": "kilowatts",
    "mw": "milliwatts",
    "j": "joules", "kj": "kilojoules", "w.h": "watt_hours", "wh": "watt_hours",
    "kw.h": "kilowatt_hours", "kwh": "kilowatt_hours", "mw.h": "megawatt_hours",
    "mwh": "megawatt_hours",
    "v": "volts", "volts": "volts", "mv": "millivolts", "kv": "kilovolts",
    "a": "amperes", "amps": "amperes", "ma": "milliamperes", "hz": "hertz",
    "%": "percent", "percent": "percent",
    "rpm": "rpm", "{rev}/min": "rpm", "rev/min": "rpm",
}  # fmt: skip
"""Measures by unit, in small letters; `mW` and `MW` are told apart by their case first."""

BY_CASE: Mapping[str, str] = {"MW": "megawatts", "mW": "milliwatts", "MPa": "megapascals"}

OF_TYPES: Mapping[str, str] = {
    "Temperature": "celsius", "Humidity": "percent", "Power": "watts",
    "EnergykWh": "kilowatt_hours", "EnergyWh": "watt_hours", "EnergyJoules": "joules",
    "Voltage": "volts", "Current": "amperes", "Frequency": "hertz",
    "LiquidFlowLPM": "liters_per_minute", "LiquidFlow": "liters_per_second",
    "PressurekPa": "kilopascals", "PressurePa": "pascals", "Pressure": "pascals",
    "Heat": "kilowatts", "Percent": "percent", "Valve": "percent", "Rotational": "rpm",
}  # fmt: skip
"""Measures that a sensor's ReadingType implies; a pressure alone is in pascals."""


def measure(reading_units: object, reading_type: object = None) -> str:
    """Return the measure of a reading; empty for a unit that is not known.

    `reading_units` decides where it is given, even if the type would say otherwise.
    """
    if isinstance(reading_units, str) and reading_units.strip():
        text = reading_units.strip()
        return BY_CASE.get(text) or MEASURES.get(text.casefold(), "")
    return OF_TYPES.get(reading_type, "") if isinstance(reading_type, str) else ""
