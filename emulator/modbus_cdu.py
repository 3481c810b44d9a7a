"""What a coolant distribution unit shows by Modbus: thirteen holding registers from 0.

The layout that open projects use: temperatures in signed tenths of a degree, the rest in whole
units. A probe that fell off shows 7FFFh, as such units do.
"""

from dataclasses import dataclass

from emulator.modbus import HOLDING, Cells

NO_PROBE = 0x7FFF


@dataclass
class CoolantUnit:
    """The state of a unit; None is a probe that fell off."""

    supply_celsius: float | None = 30.0
    return_celsius: float | None = 40.0
    liters_per_minute: float | None = 420.0
    kilowatts: float | None = 280.0
    pump_percent: float | None = 62.0
    supply_kilopascals: float | None = 240.0
    return_kilopascals: float | None = 170.0
    reservoir_percent: float | None = 88.0
    inlet_celsius: float | None = 22.0
    humidity_percent: float | None = 42.0
    dew_point_celsius: float | None = 9.0
    wet: bool = False

    def cells(self) -> Cells:
        """Return all registers now."""
        difference = (
            None
            if self.supply_celsius is None or self.return_celsius is None
            else self.return_celsius - self.supply_celsius
        )
        words = (
            _tenths(self.supply_celsius),
            _tenths(self.return_celsius),
            _tenths(difference),
            _whole(self.liters_per_minute),
            _whole(self.kilowatts),
            _whole(self.pump_percent),
            _whole(self.supply_kilopascals),
            _whole(self.return_kilopascals),
            _whole(self.reservoir_percent),
            _tenths(self.inlet_celsius),
            _whole(self.humidity_percent),
            _tenths(self.dew_point_celsius),
            int(self.wet),
        )
        return {(HOLDING, address): word for address, word in enumerate(words)}


def _tenths(value: float | None) -> int:
    return NO_PROBE if value is None else round(value * 10) & 0xFFFF


def _whole(value: float | None) -> int:
    return NO_PROBE if value is None else round(value) & 0xFFFF
