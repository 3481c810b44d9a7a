"""External laser sources (OIF-ELSFP-CMIS-01.0): pages 1Ah and 1Bh, eight lasers a bank.

One source feeds several lanes of several ports: what ails it ails all of them.
"""

from collectors.protocols.module import BOUNDS, Item, Kind
from collectors.protocols.optics import codes
from collectors.protocols.optics.field import LANES_OF_BANK, Field, Per
from collectors.protocols.optics.rows import flag

ADVERTISED = "OIF-ELSFP-CMIS-01.0 Page 1Ah"
MONITORED = "OIF-ELSFP-CMIS-01.0 Page 1Bh"
BIAS_AMPERES, POWER_WATTS = 100e-6, 10e-6
MOST_LASERS = 32

QUANTITIES = {"tx_bias": (BIAS_AMPERES, "A"), "tx_power": (POWER_WATTS, "W")}


def _byte(name: str, page: str, byte: int, says: str, scale: float, unit: str, size: int = 2,
          tells: Item | None = None) -> Field:  # fmt: skip
    """Return the row of a value of each laser."""
    spec = ADVERTISED if page == "1a" else MONITORED
    return Field(name, page, byte, says, spec, size=size, scale=scale, unit=unit, per=Per.LASER,
                 lanes=LANES_OF_BANK, tells=tells, banked=True)  # fmt: skip


def _nibble(name: str, low: int, says: str) -> Field:
    places = tuple((212 + lane, low) for lane in range(LANES_OF_BANK))
    return Field(name, "1a", 212, says, ADVERTISED, low=low, width=4, per=Per.LASER,
                 lanes=LANES_OF_BANK, places=places, codes=codes.LASER_FAULTS,
                 banked=True)  # fmt: skip


LIMITS = tuple(
    Field(f"{quantity}_{bound}_{level}_limit", "1a", first + 2 * number,
          f"The source's own {bound} {level} limit.", ADVERTISED, size=2, scale=scale, unit=unit,
          tells=Item(Kind.LIMIT, quantity, 0, "media", bound, level), of_four=number)
    for quantity, first in (("tx_bias", 141), ("tx_power", 149))
    for scale, unit in (QUANTITIES[quantity],)
    for number, (bound, level) in enumerate(BOUNDS)
)  # fmt: skip

ALARMS = tuple(
    flag(f"{quantity}_{bound}_{level}", "1a", first + number, 0,
         f"Latched: beyond the {bound} {level} limit.", ADVERTISED, per=Per.LASER,
         lanes=LANES_OF_BANK, tells=Item(Kind.ALARM, quantity, 0, "media", bound, level),
         banked=True)
    for quantity, first in (("tx_bias", 186), ("tx_power", 190))
    for number, (bound, level) in enumerate(BOUNDS)
)  # fmt: skip

FIELDS = (
    Field("power_highest", "1a", 128, "Most light of a laser.", ADVERTISED, size=2,
          scale=POWER_WATTS, unit="W"),
    Field("power_lowest", "1a", 130, "Least light of a laser.", ADVERTISED, size=2,
          scale=POWER_WATTS, unit="W"),
    Field("bias_highest", "1a", 132, "Most bias of a laser.", ADVERTISED, size=2,
          scale=BIAS_AMPERES, unit="A"),
    Field("bias_lowest", "1a", 134, "Least bias of a laser.", ADVERTISED, size=2,
          scale=BIAS_AMPERES, unit="A"),
    flag("constant_power", "1a", 140, 0, "Light is held constant; else bias is.", ADVERTISED),
    Field("lasers", "1a", 140, "Number of lasers.", ADVERTISED, low=1, width=7),
    *LIMITS,
    flag("laser_fault_summary", "1a", 165, 2, "Some laser is at fault.", ADVERTISED),
    flag("laser_warning_summary", "1a", 165, 3, "Some laser has a warning.", ADVERTISED),
    flag("laser_fault", "1a", 166, 0, "The laser is at fault.", ADVERTISED, per=Per.LASER,
         lanes=MOST_LASERS, tells=Item(Kind.SIGNAL, "tx_fault")),
    flag("laser_warning", "1a", 174, 0, "The laser has a warning.", ADVERTISED, per=Per.LASER,
         lanes=MOST_LASERS),
    *ALARMS,
    _nibble("laser_fault_code", 0, "Why the laser is at fault."),
    _nibble("laser_warning_code", 4, "Why the laser has a warning."),
    flag("laser_enabled", "1a", 220, 0, "The laser is switched on.", ADVERTISED, per=Per.LASER,
         lanes=LANES_OF_BANK, banked=True),
    Field("laser_state", "1a", 221, "State of the laser.", ADVERTISED, width=2, per=Per.LASER,
          lanes=LANES_OF_BANK, codes=codes.LASER_STATES, banked=True),
    Field("output_fibre_checked", "1a", 223, "The fibre was checked before lasers went on.",
          ADVERTISED),
    _byte("laser_fibre", "1a", 224, "Fibre that the laser feeds.", 1.0, "", size=1),
    _byte("laser_frequency", "1a", 232, "Frequency of the laser.", 5e9, "Hz"),
    _byte("bias_setpoint", "1b", 128, "Bias asked for.", BIAS_AMPERES, "A"),
    _byte("power_setpoint", "1b", 144, "Light asked for.", POWER_WATTS, "W"),
    _byte("tx_bias", "1b", 184, "The laser bias current.", BIAS_AMPERES, "A",
          tells=Item(Kind.VALUE, "tx_bias")),
    _byte("tx_power", "1b", 200, "The light sent.", POWER_WATTS, "W",
          tells=Item(Kind.VALUE, "tx_power")),
    _byte("laser_voltage", "1b", 232, "Voltage across the laser.", 15e-3, "V", size=1),
    Field("supply_current", "1b", 240, "Current of the supply.", MONITORED, size=2, scale=200e-6,
          unit="A"),
)  # fmt: skip
