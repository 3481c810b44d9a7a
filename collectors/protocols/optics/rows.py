"""Rows that every standard has: monitors, their limits, and flags."""

from collections.abc import Iterator

from collectors.protocols.module import BOUNDS, Item, Kind
from collectors.protocols.optics.field import (
    Calibration,
    Factor,
    Field,
    Form,
    Per,
    When,
)

UNITS = {
    "temperature": "degC", "supply_voltage": "V", "rx_power": "W", "tx_power": "W", "tx_bias": "A",
    "laser_temperature": "degC", "snr": "dB",
}  # fmt: skip
CELSIUS = 1 / 256
"""Degrees Celsius of a step, in every standard."""
SUPPLY_VOLTS = 100e-6
LIGHT_WATTS = 0.1e-6
BIAS_AMPERES = 2e-6
SCALES = {
    "temperature": CELSIUS, "supply_voltage": SUPPLY_VOLTS, "rx_power": LIGHT_WATTS,
    "tx_power": LIGHT_WATTS, "tx_bias": BIAS_AMPERES, "laser_temperature": CELSIUS,
}  # fmt: skip
WORDS = {
    "temperature": "temperature of the case", "supply_voltage": "supply voltage",
    "rx_power": "light received", "tx_power": "light sent", "tx_bias": "laser bias current",
    "laser_temperature": "temperature of the laser",
}  # fmt: skip
SIGNED = {"temperature", "laser_temperature"}


def monitor(
    quantity: str,
    page: str,
    byte: int,
    spec: str,
    *,
    lanes: int = 0,
    lane: int = 0,
    gates: tuple[When, ...] = (),
    factor: Factor | None = None,
    calibration: Calibration | None = None,
    banked: bool = False,
) -> Field:
    """Return the row of a monitor of two bytes; `lane` is that of a row with one value."""
    return Field(
        quantity,
        page,
        byte,
        f"The {WORDS[quantity]}.",
        spec,
        form=Form.SIGNED if quantity in SIGNED else Form.UNSIGNED,
        size=2,
        scale=SCALES[quantity],
        unit=UNITS[quantity],
        per=Per.MEDIA if lanes else Per.MODULE,
        lanes=lanes,
        gates=gates,
        factor=factor,
        calibration=calibration,
        tells=Item(Kind.VALUE, quantity, lane),
        banked=banked,
    )


def limits(
    quantity: str,
    page: str,
    byte: int,
    spec: str,
    *,
    gates: tuple[When, ...] = (),
    factor: Factor | None = None,
    calibration: Calibration | None = None,
) -> Iterator[Field]:
    """Yield the four limits of a quantity, two bytes each; all of them 0 are not set."""
    for number, (bound, level) in enumerate(BOUNDS):
        yield Field(
            f"{quantity}_{bound}_{level}_limit",
            page,
            byte + 2 * number,
            f"The module's own {bound} {level} limit of the {WORDS[quantity]}.",
            spec,
            form=Form.SIGNED if quantity in SIGNED else Form.UNSIGNED,
            size=2,
            scale=SCALES[quantity],
            unit=UNITS[quantity],
            gates=gates,
            factor=factor,
            calibration=calibration,
            tells=Item(Kind.LIMIT, quantity, 0, "media", bound, level),
            of_four=number,
        )


def flag(
    name: str,
    page: str,
    byte: int,
    low: int,
    says: str,
    spec: str,
    *,
    per: Per = Per.MODULE,
    lanes: int = 0,
    places: tuple[tuple[int, int], ...] = (),
    gates: tuple[When, ...] = (),
    tells: Item | None = None,
    banked: bool = False,
) -> Field:
    """Return the row of a flag: a bit, of the module or of each lane."""
    return Field(
        name,
        page,
        byte,
        says,
        spec,
        low=low,
        width=1,
        per=per,
        lanes=lanes,
        places=places,
        gates=gates,
        tells=tells,
        banked=banked,
    )


def alarm(
    quantity: str,
    bound: str,
    level: str,
    page: str,
    byte: int,
    low: int,
    spec: str,
    *,
    lanes: int = 0,
    lane: int = 0,
    places: tuple[tuple[int, int], ...] = (),
    gates: tuple[When, ...] = (),
    banked: bool = False,
) -> Field:
    """Return the row of the flag that a limit was crossed; latched until it is read."""
    return flag(
        f"{quantity}_{bound}_{level}",
        page,
        byte,
        low,
        f"Latched: the {WORDS[quantity]} was beyond its {bound} {level} limit.",
        spec,
        per=Per.MEDIA if lanes else Per.MODULE,
        lanes=lanes,
        places=places,
        gates=gates,
        tells=Item(Kind.ALARM, quantity, lane, "media", bound, level),
        banked=banked,
    )


def signal(name: str) -> Item:
    """Return the item of a condition of a lane."""
    return Item(Kind.SIGNAL, name, 0, "host" if name in {"tx_los", "tx_lol"} else "media")


def text(name: str, page: str, first: int, last: int, says: str, spec: str) -> Field:
    """Return the row of ASCII text, padded with blanks; both ends belong to it."""
    return Field(name, page, first, says, spec, form=Form.TEXT, size=last - first + 1)
