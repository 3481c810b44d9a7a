"""QSFP+ and QSFP28 modules (SFF-8636): lower memory, page 00h, limits on page 03h.

Many QSFP28 and all copper cables do not measure light sent: page 00h byte 220 says so, and the
zeros that they give are not darkness.
"""

from collectors.protocols.module import BOUNDS
from collectors.protocols.optics import codes
from collectors.protocols.optics.field import Checksum, Field, Form, Page, Per, When, offered
from collectors.protocols.optics.rows import alarm, flag, limits, monitor, signal, text

LANES = 4

STATUS = "SFF-8636 6.2.2 Status Indicators"
FLAGS = "SFF-8636 6.2.3 Interrupt Flags"
MODULE = "SFF-8636 6.2.4 Free Side Device Monitors"
CHANNEL = "SFF-8636 6.2.5 Channel Monitors"
CONTROL = "SFF-8636 6.2.6 Control Functions"
SERIAL = "SFF-8636 6.3 Upper Page 00h"
LIMITS = "SFF-8636 6.6 Upper Page 03h"

OPTICAL = When("00", 147, 4, 4, frozenset(range(codes.FIRST_COPPER)), "copper: there is no light")
ACTIVE = When(
    "00", 147, 4, 4,
    frozenset(range(16)) - frozenset(range(codes.FIRST_COPPER, codes.FIRST_ACTIVE)),
    "passive copper: nothing in it could tell",
)  # fmt: skip
SENDS = offered("00", 220, 2, "light sent is not measured")
PAGED = When("", 2, 2, 1, frozenset({0}), "flat memory: the module has page 00h alone")

PAGES = (
    Page("", "Status, flags, monitors and controls.", changes=True),
    Page("00", "What the module is."),
    Page("03", "The module's own limits.", (PAGED,)),
)

LIGHT = {"rx_power": (OPTICAL,), "tx_bias": (OPTICAL,), "tx_power": (OPTICAL, SENDS)}
MODULE_ROWS = {"temperature": (22, 128, 6), "supply_voltage": (26, 144, 7)}
"""First byte of the value, of the limits on 03h, and the byte of the flags."""
LANE_ROWS = {"rx_power": (34, 176, 9), "tx_bias": (42, 184, 11), "tx_power": (50, 192, 13)}


def _flag_places(byte: int, number: int) -> tuple[tuple[int, int], ...]:
    """Return byte and bit by lane: lanes 1 and 2 in one byte, the odd one in the high nibble."""
    return tuple((byte + lane // 2, 7 - 4 * (lane % 2) - number) for lane in range(LANES))


def _by_lane(name: str, byte: int, low: int, says: str, *gates: When) -> Field:
    return flag(name, "", byte, low, says, FLAGS, per=Per.MEDIA, lanes=LANES,
                gates=(ACTIVE, *gates), tells=signal(name))  # fmt: skip


MEASURED = (
    *(
        row
        for quantity, (byte, first, flags) in MODULE_ROWS.items()
        for row in (
            monitor(quantity, "", byte, MODULE),
            *limits(quantity, "03", first, LIMITS),
            *(
                alarm(quantity, bound, level, "", flags, 7 - number, FLAGS)
                for number, (bound, level) in enumerate(BOUNDS)
            ),
        )
    ),
    *(
        row
        for quantity, (byte, first, flags) in LANE_ROWS.items()
        for row in (
            monitor(quantity, "", byte, CHANNEL, lanes=LANES, gates=LIGHT[quantity]),
            *limits(quantity, "03", first, LIMITS, gates=LIGHT[quantity]),
            *(
                alarm(quantity, bound, level, "", flags, 0, FLAGS, lanes=LANES,
                      places=_flag_places(flags, number), gates=LIGHT[quantity])
                for number, (bound, level) in enumerate(BOUNDS)
            ),
        )
    ),
)  # fmt: skip

SIGNALS = (
    _by_lane("rx_los", 3, 0, "Latched: the receiver lost its signal."),
    _by_lane("tx_los", 3, 4, "Latched: no electrical signal to the transmitter.",
             offered("00", 195, 1, "transmitter loss not implemented")),
    _by_lane("tx_fault", 4, 0, "Latched: a transmitter fault.",
             offered("00", 195, 3, "transmitter fault not implemented")),
    _by_lane("rx_lol", 5, 0, "Latched: the receiver's clock recovery lost its lock.",
             offered("00", 129, 2, "no clock recovery of the receiver")),
    _by_lane("tx_lol", 5, 4, "Latched: the transmitter's clock recovery lost its lock.",
             offered("00", 129, 3, "no clock recovery of the transmitter")),
)  # fmt: skip

ABOUT = (
    Field("identifier", "", 0, "What kind of module it is.", STATUS, codes=codes.IDENTIFIERS),
    Field("revision_compliance", "", 1, "Revision of SFF-8636 it complies with.", STATUS),
    flag("flat_memory", "", 2, 2, "Only page 00h exists.", STATUS),
    flag("data_not_ready", "", 2, 0, "Monitors are not valid yet.", STATUS),
    flag("tx_disabled", "", 86, 0, "The transmitter of the lane is switched off.", CONTROL,
         per=Per.MEDIA, lanes=LANES, gates=(OPTICAL,)),
    Field("power_class", "00", 129, "Power class 1 to 4.", SERIAL, low=6, width=2,
          codes=codes.POWER_CLASSES),
    Field("power_class_high", "00", 129, "Power class 5 to 7; 0 where it is lower.", SERIAL,
          width=2, codes={0: "none", 1: "5", 2: "6", 3: "7"}),
    flag("tx_cdr", "00", 129, 3, "The transmitter recovers the clock.", SERIAL),
    flag("rx_cdr", "00", 129, 2, "The receiver recovers the clock.", SERIAL),
    Field("connector", "00", 130, "The connector on the media side.", SERIAL,
          codes=codes.CONNECTORS),
    Field("compliance", "00", 131, "Which interfaces it complies with.", SERIAL, Form.OCTETS, 8),
    Field("signalling_rate", "00", 140, "Nominal rate of symbols; FFh: beyond 25.4 GBd.", SERIAL,
          scale=1e8, unit="Bd", none=frozenset({0xFF})),
    Field("length_single_mode", "00", 142, "Reach on single-mode fibre.", SERIAL, scale=1e3,
          unit="m"),
    Field("length_om3", "00", 143, "Reach on OM3 fibre.", SERIAL, scale=2.0, unit="m"),
    Field("length_om2", "00", 144, "Reach on OM2 fibre.", SERIAL, unit="m"),
    Field("length_om1", "00", 145, "Reach on OM1 fibre.", SERIAL, unit="m"),
    Field("length_cable", "00", 146, "Metres of cable, or reach on OM4 in 2 m.", SERIAL),
    Field("technology", "00", 147, "What makes the light, or which copper.", SERIAL, low=4,
          width=4, codes=codes.TECHNOLOGIES),
    flag("tunable", "00", 147, 0, "The transmitter can be tuned.", SERIAL),
    text("vendor", "00", 148, 163, "Who made it.", SERIAL),
    Field("vendor_oui", "00", 165, "IEEE company number of the vendor.", SERIAL, Form.OCTETS, 3),
    text("part", "00", 168, 183, "The vendor's part number.", SERIAL),
    text("revision", "00", 184, 185, "The vendor's revision of the part.", SERIAL),
    Field("wavelength", "00", 186, "Nominal wavelength of the laser.", SERIAL, size=2,
          scale=0.05e-9, unit="m", gates=(OPTICAL,)),
    Field("wavelength_tolerance", "00", 188, "Tolerance of the wavelength.", SERIAL, size=2,
          scale=0.005e-9, unit="m", gates=(OPTICAL,)),
    Field("case_temperature_limit", "00", 190, "Highest temperature of the case; 0 is 70 degC.",
          SERIAL, unit="degC"),
    text("serial", "00", 196, 211, "Serial number.", SERIAL),
    text("date_code", "00", 212, 219, "When it was made (YYMMDD), and its lot.", SERIAL),
    Field("rx_power_kind", "00", 220, "How light received is measured.", SERIAL, low=3, width=1,
          codes=codes.AVERAGE_OR_OMA, gates=(OPTICAL,)),
    flag("tx_power_measured", "00", 220, 2, "Light sent is measured.", SERIAL),
)  # fmt: skip

FIELDS = (*ABOUT, *MEASURED, *SIGNALS)

CHECKSUMS = (Checksum("00", 128, 190, 191, SERIAL), Checksum("00", 192, 222, 223, SERIAL))
