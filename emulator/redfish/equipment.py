"""What emulated equipment measures: plain numbers, in the units of Redfish's properties."""

from dataclasses import dataclass, field

OK, WARNING, CRITICAL, UNAVAILABLE = "OK", "Warning", "Critical", "Unavailable"
"""States of a leak detector."""


@dataclass
class Connector:
    """A pair of hoses: the facility's side of a unit, or one of its own loop."""

    flow: float = 100.0
    """Litres per minute."""
    supply: float = 30.0
    back: float = 42.0
    """Degrees Celsius, of the coolant that goes to what is cooled and that comes back."""
    supply_kilopascals: float = 300.0
    back_kilopascals: float = 180.0
    heat_kilowatts: float = 80.0
    valve_percent: float | None = None
    loop: str = ""
    """The cooling loop that it leads to, by its name."""


@dataclass
class Pump:
    """A pump."""

    percent: float = 60.0
    rpm: float = 2400.0
    state: str = "Enabled"


@dataclass
class Cdu:
    """A coolant distribution unit; names of parts are their ids."""

    primary: dict[str, Connector] = field(default_factory=lambda: {"1": Connector(flow=120.0)})
    secondary: dict[str, Connector] = field(default_factory=lambda: {"1": Connector()})
    pumps: dict[str, Pump] = field(default_factory=lambda: {"1": Pump(), "2": Pump()})
    filters: dict[str, float] = field(default_factory=lambda: {"1": 20.0})
    """Pressure drop in kPa."""
    reservoirs: dict[str, float] = field(default_factory=lambda: {"1": 80.0})
    """Level in percent."""
    detectors: dict[str, str] = field(default_factory=lambda: {"Tray": OK, "Rope": OK})
    """State by detector."""
    air: float = 24.0
    humidity_percent: float = 45.0
    watts: float = 3000.0
    model: str = "Emulated CDU"
    coolant: str = "Water"


@dataclass
class Circuit:
    """A circuit of one or three phases."""

    volts: tuple[float, ...] = (230.0, 230.0, 230.0)
    amperes: tuple[float, ...] = (10.0, 10.0, 10.0)
    power_factor: float = 0.97
    kilowatt_hours: float = 1000.0
    rated_amperes: float = 32.0
    breaker: str = "Normal"
    watts: float | None = None
    """What it says to carry; by default what follows from the rest."""

    @property
    def power(self) -> float:
        """What it says to carry, in watts."""
        if self.watts is not None:
            return self.watts
        pairs = zip(self.volts, self.amperes, strict=True)
        return self.power_factor * sum(volts * amperes for volts, amperes in pairs)


@dataclass
class Pdu:
    """A rack PDU."""

    mains: dict[str, Circuit] = field(default_factory=lambda: {"1": Circuit()})
    branches: dict[str, Circuit] = field(
        default_factory=lambda: {
            name: Circuit((230.0,), (10.0,), rated_amperes=16.0) for name in "ABC"
        }
    )
    outlets: dict[str, Circuit] = field(
        default_factory=lambda: {"A1": Circuit((230.0,), (5.0,)), "A2": Circuit((230.0,), (5.0,))}
    )
    celsius: float = 31.0
    model: str = "Emulated PDU"


@dataclass
class Supply:
    """A power supply of a shelf."""

    input_watts: float = 3000.0
    output_watts: float = 2880.0
    celsius: float = 41.0
    state: str = "Enabled"
    health: str = "OK"


@dataclass
class Shelf:
    """A power shelf."""

    supplies: dict[str, Supply] = field(
        default_factory=lambda: {str(number): Supply() for number in range(1, 7)}
    )
    model: str = "Emulated power shelf"


@dataclass
class Sensor:
    """A sensor of the chassis that holds it all."""

    reading: float | None
    unit: str
    type: str
    context: str = "Chassis"


@dataclass
class Site:
    """What one service speaks for."""

    cdus: dict[str, Cdu] = field(default_factory=dict)
    pdus: dict[str, Pdu] = field(default_factory=dict)
    shelves: dict[str, Shelf] = field(default_factory=dict)
    sensors: dict[str, Sensor] = field(
        default_factory=lambda: {
            "Cabinet": Sensor(33.0, "Cel", "Temperature"),
            "Fan1": Sensor(60.0, "%", "Percent", "Fan"),
            "Total": Sensor(3200.0, "W", "Power"),
        }
    )
    reported: tuple[str, ...] = ()
    """Sensors that a metric report tells of."""
