"""Values of modules as people read them: dBm, mA, nm, words for codes, runs of lanes."""

from collections.abc import Iterable
from math import isnan, log10

from collectors.protocols.optics.reference import Told

MILLI, NANO, GIGA = 1e-3, 1e-9, 1e9
FIELD_UNITS = {  # SI unit of a row: what the field counts in, digits, and its name
    "A": (MILLI, ".2f", "mA"), "m": (NANO, ".2f", "nm"), "Hz": (GIGA, ".6g", "GHz"),
    "Bd": (GIGA, ".4g", "GBd"), "degC": (1.0, ".2f", "degC"), "V": (1.0, ".3f", "V"),
    "dB": (1.0, ".2f", "dB"), "dBm": (1.0, ".2f", "dBm"),
}  # fmt: skip
CONSUMED = "power_limit"
"""The row in watts that is no light."""
DARK_WATTS = 1e-7
"""What is at or below -40 dBm."""


def dbm(watts: float) -> str:
    """Return light in dBm; at or below -40 it is dark."""
    return "dark" if watts <= DARK_WATTS else f"{level(watts):.2f} dBm"


def level(watts: float) -> float:
    """Return light in dBm, -40 where it is dark."""
    return 10 * log10(max(watts, DARK_WATTS) / MILLI)


def number(value: float, unit: str) -> str:
    """Return a number with its unit, in the unit that the field reads it in."""
    if isnan(value):
        return "-"
    if unit == "m" and not 0 < value < MILLI:
        return f"{value:.4g} m"
    if unit in FIELD_UNITS:
        scale, digits, name = FIELD_UNITS[unit]
        return f"{value / scale:{digits}} {name}"
    return f"{value:.4g} {unit}".strip()


def limit(value: float, unit: str) -> str:
    """Return a limit with its unit; one at the dark floor is a number like the others."""
    return f"{level(value):.2f} dBm" if unit == "W" else number(value, unit)


def told(one: Told) -> str:
    """Return one value; with its word where its number is a code."""
    if isinstance(one.value, str):
        return one.value or "(blank)"
    if one.why:
        return f"- ({one.why})"
    row = one.cell.field
    if row.codes is not None:
        word = row.codes.get(int(one.value), "unknown")
        return f"{word} ({int(one.value):02x}h)"
    if row.unit == "W" and row.name != CONSUMED:
        return dbm(one.value)
    return number(one.value, row.unit)


def runs(lanes: Iterable[int]) -> str:
    """Return lanes as people write them: `1-4, 7`."""
    found: list[list[int]] = []
    for lane in sorted(lanes):
        if found and lane == found[-1][-1] + 1:
            found[-1][1:] = [lane]
        else:
            found.append([lane])
    return ", ".join("-".join(map(str, run)) for run in found)


def table(rows: list[list[str]], indent: str = "  ") -> Iterable[str]:
    """Yield the lines of a table, its columns as wide as they must be."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield (indent + "  ".join(cells)).rstrip()
