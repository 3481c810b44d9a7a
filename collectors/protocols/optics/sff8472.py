"""SFP modules (SFF-8472): identity at address A0h, diagnostics at A2h.

Externally calibrated modules give raw numbers and the constants to turn them into values; the
constants hold for the limits as well. Without either kind of calibration the numbers mean nothing.
"""

from collectors.protocols.module import BOUNDS, DIAGNOSTICS
from collectors.protocols.optics import codes
from collectors.protocols.optics.field import (
    Calibration,
    Checksum,
    Field,
    Form,
    Page,
    When,
    offered,
)
from collectors.protocols.optics.rows import alarm, flag, limits, monitor, signal, text

A2 = DIAGNOSTICS
ID = "SFF-8472 table 4-1"
TYPE = "SFF-8472 table 8-5"
LIMITS = "SFF-8472 table 9-5"
CONSTANTS = "SFF-8472 table 9-6"
VALUES = "SFF-8472 table 9-11"
FLAGS = "SFF-8472 table 9-12"

MEASURES = offered("", 92, 6, "no diagnostics implemented")
CALIBRATED = When(
    "", 92, 4, 2, frozenset({1, 2, 3}), "neither internally nor externally calibrated"
)
EXTERNAL = When("", 92, 5, 1, frozenset({0}), "internally calibrated")
USABLE = (MEASURES, CALIBRATED)
FLAGGED = (*USABLE, offered("", 93, 7, "alarm and warning flags not implemented"))

PAGES = (
    Page("", "Address A0h: what the module is."),
    Page("00", "Address A0h, upper half: the vendor's own."),
    Page(A2, "Address A2h: limits, calibration, monitors, flags.", (MEASURES,), changes=True),
)

QUANTITIES = {  # first byte of the limits, of the value, of slope and offset; high bits of flags
    "temperature": (0, 96, 84, (112, 7), 0),
    "supply_voltage": (8, 98, 88, (112, 5), 0),
    "tx_bias": (16, 100, 76, (112, 3), 1),
    "tx_power": (24, 102, 80, (112, 1), 1),
    "rx_power": (32, 104, 0, (113, 7), 1),
}
RX_POWERS = (72, 68, 64, 60, 56)
"""float32 coefficients of received power, from the constant to the fourth power."""


def _calibration(quantity: str) -> Calibration:
    slope = QUANTITIES[quantity][2]
    return Calibration(EXTERNAL, A2, slope, () if slope else RX_POWERS)


IDENTITY = (
    Field("identifier", "", 0, "What kind of module it is.", ID, codes=codes.IDENTIFIERS),
    Field("connector", "", 2, "The connector on the media side.", ID, codes=codes.CONNECTORS),
    Field("compliance", "", 3, "Which interfaces it complies with.", ID, Form.OCTETS, 8),
    flag("passive_cable", "", 8, 2, "A passive copper cable.", "SFF-8472 table 5-3"),
    flag("active_cable", "", 8, 3, "An active cable.", "SFF-8472 table 5-3"),
    Field("signalling_rate", "", 12, "Nominal rate of symbols.", ID, scale=1e8, unit="Bd"),
    Field("length_single_mode", "", 14, "Reach on single-mode fibre.", ID, scale=1e3, unit="m"),
    Field("length_om2", "", 16, "Reach on OM2 fibre.", ID, scale=10.0, unit="m"),
    Field("length_om1", "", 17, "Reach on OM1 fibre.", ID, scale=10.0, unit="m"),
    Field("length_cable", "", 18, "Reach on OM4 fibre in 10 m, or metres of cable.", ID),
    Field("length_om3", "", 19, "Reach on OM3 fibre.", ID, scale=10.0, unit="m"),
    text("vendor", "", 20, 35, "Who made it.", ID),
    Field("vendor_oui", "", 37, "IEEE company number of the vendor.", ID, Form.OCTETS, 3),
    text("part", "", 40, 55, "The vendor's part number.", ID),
    text("revision", "", 56, 59, "The vendor's revision of the part.", ID),
    Field("wavelength", "", 60, "Nominal wavelength of the laser.", ID, size=2, scale=1e-9,
          unit="m"),
    text("serial", "", 68, 83, "Serial number.", ID),
    text("date_code", "", 84, 91, "When it was made (YYMMDD), and its lot.", ID),
    flag("diagnostics", "", 92, 6, "Diagnostics are implemented.", TYPE),
    flag("internally_calibrated", "", 92, 5, "Monitors are values as they stand.", TYPE),
    flag("externally_calibrated", "", 92, 4, "Monitors need constants of A2h.", TYPE),
    Field("rx_power_kind", "", 92, "How light received is measured.", TYPE, low=3, width=1,
          codes=codes.AVERAGE_OR_OMA),
)  # fmt: skip

MEASURED = tuple(
    row
    for quantity, (first, value, _, (byte, high), lane) in QUANTITIES.items()
    for row in (
        monitor(quantity, A2, value, VALUES, lane=lane, gates=USABLE,
                calibration=_calibration(quantity)),
        *limits(quantity, A2, first, LIMITS, gates=USABLE, calibration=_calibration(quantity)),
        *(
            alarm(quantity, bound, level, A2, byte + 4 * (level == "warning"),
                  high - (bound == "low"), FLAGS, lane=lane, gates=FLAGGED)
            for bound, level in BOUNDS
        ),
    )
)  # fmt: skip

CALIBRATION = (
    *(
        Field(f"rx_power_coefficient_{power}", A2, byte,
              f"External calibration of light received: factor of the raw number to the {power}.",
              CONSTANTS, Form.FLOAT, 4, gates=(*USABLE, EXTERNAL))
        for power, byte in enumerate(RX_POWERS)
    ),
    *(
        row
        for quantity, (_, _, slope, _, _) in QUANTITIES.items()
        if slope
        for row in (
            Field(f"{quantity}_slope", A2, slope, f"External calibration of {quantity}: slope.",
                  CONSTANTS, size=2, scale=1 / 256, gates=(*USABLE, EXTERNAL)),
            Field(f"{quantity}_offset", A2, slope + 2,
                  f"External calibration of {quantity}: offset in raw steps.", CONSTANTS,
                  Form.SIGNED, 2, gates=(*USABLE, EXTERNAL)),
        )
    ),
)  # fmt: skip

STATUS = (
    flag("tx_disabled", A2, 110, 7, "The transmitter is switched off.", VALUES, gates=(MEASURES,)),
    flag("rx_los", A2, 110, 1, "The receiver has lost its signal.", VALUES,
         gates=(*USABLE, offered("", 65, 1, "receiver loss not implemented")),
         tells=signal("rx_los")._replace(lane=1)),
    flag("tx_fault", A2, 110, 2, "The transmitter is at fault.", VALUES,
         gates=(*USABLE, offered("", 65, 3, "transmitter fault not implemented")),
         tells=signal("tx_fault")._replace(lane=1)),
    flag("data_not_ready", A2, 110, 0, "Monitors are not valid yet.", VALUES, gates=(MEASURES,)),
)  # fmt: skip

FIELDS = (*IDENTITY, *MEASURED, *CALIBRATION, *STATUS)

CHECKSUMS = (
    Checksum("", 0, 62, 63, ID),
    Checksum("", 64, 94, 95, ID),
    Checksum(A2, 0, 94, 95, "SFF-8472 table 4-2"),
)
