"""CMIS pages of lanes: 10h what is asked of them, 11h how they are, 12h how their lasers are tuned.

Flags of page 11h are latched and cleared by reading.
"""

from collectors.protocols.module import BOUNDS, Item
from collectors.protocols.optics import codes
from collectors.protocols.optics.cmis_lower import BIAS_FACTOR, RX_POWER, TUNABLE, TX_BIAS, TX_POWER
from collectors.protocols.optics.field import LANES_OF_BANK, Field, Form, Per, When, offered
from collectors.protocols.optics.rows import alarm, flag, monitor, signal

CONTROL = "OIF-CMIS-05.2 8.8 Page 10h"
STATUS = "OIF-CMIS-05.2 8.9 Page 11h"
TUNING = "OIF-CMIS-05.2 8.10 Page 12h"

TX_FAULT = offered("01", 157, 0, "transmitter fault is not flagged")
TX_LOS = offered("01", 157, 1, "loss of the host's signal is not flagged")
TX_LOL = offered("01", 157, 2, "no lock of the host side is flagged (no clock recovery)")
TX_EQ = offered("01", 157, 3, "adaptive equaliser failure is not flagged")
RX_LOS = offered("01", 158, 1, "loss of received signal is not flagged")
RX_LOL = offered("01", 158, 2, "no lock of the media side is flagged (no clock recovery)")


def _bits(
    name: str,
    page: str,
    byte: int,
    says: str,
    spec: str,
    per: Per,
    *gates: When,
    tells: Item | None = None,
) -> Field:
    return flag(name, page, byte, 0, says, spec, per=per, lanes=LANES_OF_BANK, gates=gates,
                tells=tells, banked=True)  # fmt: skip


def _lanes(
    name: str,
    page: str,
    byte: int,
    says: str,
    spec: str,
    per: Per,
    form: Form = Form.UNSIGNED,
    size: int = 1,
    low: int = 0,
    width: int = 8,
    scale: float = 1.0,
    unit: str = "",
    gates: tuple[When, ...] = (),
    names: dict[int, str] | None = None,
    places: tuple[tuple[int, int], ...] = (),
) -> Field:
    return Field(name, page, byte, says, spec, form, size, low, width, scale, unit, per,
                 LANES_OF_BANK, places=places, gates=gates, codes=names,
                 banked=True)  # fmt: skip


def _every_byte(first: int, low: int) -> tuple[tuple[int, int], ...]:
    """Return where each lane's bits lie that are part of a byte of its own."""
    return tuple((first + lane, low) for lane in range(LANES_OF_BANK))


CONTROLS = (
    _bits("data_path_deinit", "10", 128, "The host asks that the lane's data path be taken down.",
          CONTROL, Per.HOST),
    _bits("tx_output_disable", "10", 130, "The host has switched the lane's light off.", CONTROL,
          Per.MEDIA),
    _bits("rx_output_disable", "10", 138, "The host has switched the lane's output off.", CONTROL,
          Per.HOST),
    _lanes("staged_application", "10", 145, "The application that the host asks for.", CONTROL,
           Per.HOST, low=4, width=4, places=_every_byte(145, 4)),
)  # fmt: skip

STATES = (
    _lanes("data_path_state", "11", 128, "State of the lane's data path.", STATUS, Per.HOST,
           width=4, names=codes.DATA_PATH_STATES),
    _bits("rx_output_valid", "11", 132, "The output to the host is valid.", STATUS, Per.HOST),
    _bits("tx_output_valid", "11", 133, "The output to the media is valid.", STATUS, Per.MEDIA),
    _bits("data_path_changed", "11", 134, "Latched: the data path changed its state.", STATUS,
          Per.HOST),
    _lanes("configuration_status", "11", 202, "How the lane's last configuration went.", STATUS,
           Per.HOST, width=4, names=codes.CONFIGURATION_STATES),
    _lanes("active_application", "11", 206, "Application that the lane serves; 0 none.", STATUS,
           Per.HOST, low=4, width=4, places=_every_byte(206, 4)),
    _lanes("data_path", "11", 206, "First lane of the data path it belongs to, from 0.", STATUS,
           Per.HOST_IN_USE, low=1, width=3, places=_every_byte(206, 1)),
    _bits("data_path_init_pending", "11", 235, "A configuration waits to be taken up.", STATUS,
          Per.HOST),
    _lanes("tx_wavelength_number", "11", 240, "Which wavelength the lane sends.", STATUS,
           Per.MEDIA, low=4, width=4, places=_every_byte(240, 4)),
    _lanes("tx_fibre", "11", 240, "Which fibre the lane sends on.", STATUS, Per.MEDIA, width=4,
           places=_every_byte(240, 0)),
    _lanes("rx_wavelength_number", "11", 248, "Which wavelength the lane receives.", STATUS,
           Per.MEDIA, low=4, width=4, places=_every_byte(248, 4)),
    _lanes("rx_fibre", "11", 248, "Which fibre the lane receives on.", STATUS, Per.MEDIA, width=4,
           places=_every_byte(248, 0)),
)  # fmt: skip

SIGNALS = (
    _bits("tx_fault", "11", 135, "Latched: a transmitter fault.", STATUS, Per.MEDIA, TX_FAULT,
          tells=signal("tx_fault")),
    _bits("tx_los", "11", 136, "Latched: no electrical signal from the host.", STATUS,
          Per.HOST_IN_USE, TX_LOS, tells=signal("tx_los")),
    _bits("tx_lol", "11", 137, "Latched: clock recovery of the host side lost its lock.", STATUS,
          Per.HOST_IN_USE, TX_LOL, tells=signal("tx_lol")),
    _bits("tx_equaliser_failed", "11", 138, "Latched: the adaptive equaliser failed.", STATUS,
          Per.HOST_IN_USE, TX_EQ),
    _bits("rx_los", "11", 147, "Latched: the receiver lost its signal.", STATUS, Per.MEDIA, RX_LOS,
          tells=signal("rx_los")),
    _bits("rx_lol", "11", 148, "Latched: clock recovery of the media side lost its lock.", STATUS,
          Per.MEDIA, RX_LOL, tells=signal("rx_lol")),
    _bits("rx_output_changed", "11", 153, "Latched: the output to the host changed.", STATUS,
          Per.HOST),
)  # fmt: skip

LIGHT = (
    ("tx_power", 154, 139, TX_POWER, None),
    ("tx_bias", 170, 143, TX_BIAS, BIAS_FACTOR),
    ("rx_power", 186, 149, RX_POWER, None),
)
"""Quantity, first byte of the values, of the flags, gates, and the factor of the scale."""

MONITORS = tuple(
    row
    for quantity, byte, flags, gates, factor in LIGHT
    for row in (
        monitor(quantity, "11", byte, STATUS, lanes=LANES_OF_BANK, gates=gates, factor=factor,
                banked=True),
        *(
            alarm(quantity, bound, level, "11", flags + number, 0, STATUS, lanes=LANES_OF_BANK,
                  gates=gates, banked=True)
            for number, (bound, level) in enumerate(BOUNDS)
        ),
    )
)  # fmt: skip

TUNED = (
    _lanes("laser_grid", "12", 128, "Grid spacing, coded.", TUNING, Per.MEDIA, low=4, width=4,
           places=_every_byte(128, 4), gates=(TUNABLE,)),
    _lanes("laser_channel", "12", 136, "Channel number on the grid.", TUNING, Per.MEDIA,
           Form.SIGNED, 2, gates=(TUNABLE,)),
    _lanes("laser_frequency", "12", 168, "Frequency of the laser.", TUNING, Per.MEDIA, size=4,
           scale=1e6, unit="Hz", gates=(TUNABLE,)),
    _lanes("tx_power_target", "12", 200, "Light asked for.", TUNING, Per.MEDIA, Form.SIGNED, 2,
           scale=0.01, unit="dBm", gates=(TUNABLE,)),
    _lanes("laser_tuning", "12", 222, "The laser is being tuned.", TUNING, Per.MEDIA, low=1,
           width=1, places=_every_byte(222, 1), gates=(TUNABLE,)),
    _lanes("laser_unlocked", "12", 222, "The laser is not on its frequency.", TUNING, Per.MEDIA,
           width=1, places=_every_byte(222, 0), gates=(TUNABLE,)),
)  # fmt: skip

FIELDS = (*MONITORS, *SIGNALS, *STATES, *CONTROLS, *TUNED)
