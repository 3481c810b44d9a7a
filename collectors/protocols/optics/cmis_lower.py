"""CMIS lower memory and the pages that say what a module is: 00h, 01h, 02h, 04h."""

from collectors.protocols.module import BOUNDS, Item, Kind
from collectors.protocols.optics import codes
from collectors.protocols.optics.field import Factor, Field, Form, When, offered
from collectors.protocols.optics.rows import SUPPLY_VOLTS, alarm, flag, limits, monitor, text

LOWER = "OIF-CMIS-05.2 8.2 Lower Memory"
ADMIN = "OIF-CMIS-05.2 8.3 Page 00h"
ADVERTISED = "OIF-CMIS-05.2 8.4 Page 01h"
THRESHOLDS = "OIF-CMIS-05.2 8.5 Page 02h"
LASERS = "OIF-CMIS-05.2 8.7 Page 04h"

OPTICAL = When("00", 212, 0, 8, frozenset(range(256)) - codes.COPPERS, "copper: there is no light")
BIAS_FACTOR = Factor("01", 160, 3, 2, {0: 1.0, 1: 2.0, 2: 4.0})
"""Multiplier of bias currents and their limits; code 3 is reserved."""

TEMPERATURE = (offered("01", 159, 0, "temperature is not monitored"),)
SUPPLY = (offered("01", 159, 1, "supply voltage is not monitored"),)
TX_BIAS = (OPTICAL, offered("01", 160, 0, "laser bias is not monitored"))
TX_POWER = (OPTICAL, offered("01", 160, 1, "light sent is not monitored"))
RX_POWER = (OPTICAL, offered("01", 160, 2, "light received is not monitored"))

TEC = 1 / 32767
"""Share of a cooler's full current in one step; positive heats."""
NOT_A_SHARE = frozenset({0x8000})


def _aux(number: int, meaning: int, why: str) -> tuple[When, When]:
    """Return that an auxiliary monitor is there, and means the second thing (1) or the first."""
    return (
        offered("01", 159, 1 + number, f"auxiliary monitor {number} is not there"),
        When("01", 145, number - 1, 1, frozenset({meaning}), why),
    )


AUX = (  # name, byte, gates, first byte of the limits, byte and lowest bit of the flags
    ("tec_current", 18, _aux(1, 1, "auxiliary monitor 1 is the vendor's own"), 144, (10, 0)),
    ("laser_temperature", 20, _aux(2, 0, "auxiliary monitor 2 is the cooler"), 152, (10, 4)),
    ("tec_current", 20, _aux(2, 1, "auxiliary monitor 2 is the laser temperature"), 152, (10, 4)),
    ("laser_temperature", 22, _aux(3, 0, "auxiliary monitor 3 is a second supply"), 160, (11, 0)),
    ("supply_voltage_2", 22, _aux(3, 1, "auxiliary monitor 3 is the laser temperature"), 160,
     (11, 0)),
)  # fmt: skip
AUX_WORDS = {
    "tec_current": ("current of the cooler as a share of its most", "", TEC),
    "supply_voltage_2": ("second supply voltage", "V", SUPPLY_VOLTS),
}


def _auxiliary(
    name: str, byte: int, gates: tuple[When, ...], first: int, flags: tuple[int, int]
) -> tuple[Field, ...]:
    """Return the rows of an auxiliary monitor: value, limits, flags."""
    at, low = flags
    if name == "laser_temperature":
        return (
            monitor(name, "", byte, LOWER, gates=gates),
            *limits(name, "02", first, THRESHOLDS, gates=gates),
            *(
                alarm(name, bound, level, "", at, low + number, LOWER, gates=gates)
                for number, (bound, level) in enumerate(BOUNDS)
            ),
        )
    words, unit, scale = AUX_WORDS[name]
    form = Form.SIGNED if name == "tec_current" else Form.UNSIGNED
    none = NOT_A_SHARE if name == "tec_current" else frozenset()
    tells = Item(Kind.VALUE, name) if name == "tec_current" else None
    return (
        Field(name, "", byte, f"The {words}.", LOWER, form, 2, scale=scale, unit=unit, gates=gates,
              none=none, tells=tells),
        *(
            Field(f"{name}_{bound}_{level}_limit", "02", first + 2 * number,
                  f"The module's own {bound} {level} limit of the {words}.", THRESHOLDS, form, 2,
                  scale=scale, unit=unit, gates=gates, of_four=number)
            for number, (bound, level) in enumerate(BOUNDS)
        ),
        *(
            flag(f"{name}_{bound}_{level}", "", at, low + number,
                 f"Latched: the {words} was beyond its {bound} {level} limit.", LOWER, gates=gates)
            for number, (bound, level) in enumerate(BOUNDS)
        ),
    )  # fmt: skip


STATUS = (
    Field("identifier", "", 0, "What kind of module it is.", LOWER, codes=codes.IDENTIFIERS),
    Field("revision_major", "", 1, "CMIS revision, before the dot.", LOWER, low=4, width=4),
    Field("revision_minor", "", 1, "CMIS revision, behind the dot.", LOWER, width=4),
    flag("flat_memory", "", 2, 7, "Only page 00h exists.", LOWER),
    Field("module_state", "", 3, "State of the module.", LOWER, low=1, width=3,
          codes=codes.MODULE_STATES),
    Field("lane_flag_summary", "", 4, "Which lanes of banks 0 to 3 have flags.", LOWER,
          Form.OCTETS, 4),
    flag("data_path_firmware_fault", "", 8, 2, "Latched: the data path's firmware failed.", LOWER),
    flag("module_firmware_fault", "", 8, 1, "Latched: the module's firmware failed.", LOWER),
    flag("module_state_changed", "", 8, 0, "Latched: the module's state changed.", LOWER),
    flag("low_power_by_pin", "", 26, 6, "The hardware pin may ask for low power.", LOWER),
    flag("low_power_by_software", "", 26, 4, "Software asks for low power.", LOWER),
    Field("firmware_major", "", 39, "Active firmware, before the dot.", LOWER),
    Field("firmware_minor", "", 40, "Active firmware, behind the dot.", LOWER),
    Field("fault_cause", "", 41, "Why the module is in state Fault.", LOWER,
          codes=codes.FAULT_CAUSES),
    Field("function_type", "", 57, "Transmission, or a resource such as a laser source.",
          "OIF-CMIS-05.3 8.2 Lower Memory", codes=codes.FUNCTIONS),
    Field("media_type", "", 85, "Kind of medium, and of the media interface codes.", LOWER,
          codes=codes.MEDIA_TYPES),
)  # fmt: skip

MONITORS = (
    monitor("temperature", "", 14, LOWER, gates=TEMPERATURE),
    monitor("supply_voltage", "", 16, LOWER, gates=SUPPLY),
    *(
        alarm(quantity, bound, level, "", 9, low + number, LOWER, gates=gates)
        for quantity, low, gates in (("temperature", 0, TEMPERATURE), ("supply_voltage", 4, SUPPLY))
        for number, (bound, level) in enumerate(BOUNDS)
    ),
    *limits("temperature", "02", 128, THRESHOLDS, gates=TEMPERATURE),
    *limits("supply_voltage", "02", 136, THRESHOLDS, gates=SUPPLY),
    *limits("tx_power", "02", 176, THRESHOLDS, gates=TX_POWER),
    *limits("tx_bias", "02", 184, THRESHOLDS, gates=TX_BIAS, factor=BIAS_FACTOR),
    *limits("rx_power", "02", 192, THRESHOLDS, gates=RX_POWER),
    *(row for aux in AUX for row in _auxiliary(*aux)),
    Field("custom_monitor", "", 24, "The vendor's own monitor, raw.", LOWER, Form.SIGNED, 2,
          gates=(offered("01", 159, 5, "custom monitor is not there"),)),
)  # fmt: skip

APPLICATIONS = tuple(
    Field(f"application_{number}_{name}", page, byte + ahead, says, spec, low=low, width=width)
    for number, page, byte, spec in (
        *((n, "", 86 + 4 * (n - 1), LOWER) for n in range(1, 9)),
        *((n, "01", 223 + 4 * (n - 9), ADVERTISED) for n in range(9, 16)),
    )
    for name, ahead, low, width, says in (
        ("host_interface", 0, 0, 8, "Host interface (SFF-8024 table 4-5); FFh: no application."),
        ("media_interface", 1, 0, 8, "Media interface (SFF-8024 tables 4-6 to 4-10)."),
        ("host_lanes", 2, 4, 4, "Lanes of the host interface."),
        ("media_lanes", 2, 0, 4, "Lanes of the media interface."),
        ("host_starts", 3, 0, 8, "Host lanes at which the application may begin, a bit each."),
    )
)

IDENTITY = (
    text("vendor", "00", 129, 144, "Who made it.", ADMIN),
    Field("vendor_oui", "00", 145, "IEEE company number of the vendor.", ADMIN, Form.OCTETS, 3),
    text("part", "00", 148, 163, "The vendor's part number.", ADMIN),
    text("revision", "00", 164, 165, "The vendor's revision of the part.", ADMIN),
    text("serial", "00", 166, 181, "Serial number.", ADMIN),
    text("date_code", "00", 182, 189, "When it was made (YYMMDD), and its lot.", ADMIN),
    Field("power_class", "00", 200, "Power class 1 to 8.", ADMIN, low=5, width=3,
          codes=codes.POWER_CLASSES),
    Field("power_limit", "00", 201, "Most power that it takes.", ADMIN, scale=0.25, unit="W"),
    Field("cable_length", "00", 202, "Length of the cable; 0: no cable.", ADMIN, width=6,
          scale=0.1, unit="m", factor=Factor("00", 202, 6, 2, {1: 10.0, 2: 100.0, 3: 1000.0})),
    Field("connector", "00", 203, "The connector on the media side.", ADMIN,
          codes=codes.CONNECTORS),
    Field("attenuation_5ghz", "00", 204, "Attenuation of the cable at 5 GHz.", ADMIN, unit="dB"),
    Field("attenuation_7ghz", "00", 205, "Attenuation at 7 GHz.", ADMIN, unit="dB"),
    Field("attenuation_13ghz", "00", 206, "Attenuation at 12.9 GHz.", ADMIN, unit="dB"),
    Field("attenuation_26ghz", "00", 207, "Attenuation at 25.8 GHz.", ADMIN, unit="dB"),
    Field("attenuation_53ghz", "00", 208, "Attenuation at 53.1 GHz.", ADMIN, unit="dB"),
    Field("media_lanes_missing", "00", 210, "Media lanes that do not exist; FFh says nothing.",
          ADMIN),
    Field("far_end_configuration", "00", 211, "How the far end of a cable is split.", ADMIN,
          width=5),
    Field("technology", "00", 212, "What makes the light, or which copper.", ADMIN,
          codes=codes.TECHNOLOGIES),
)  # fmt: skip

CAPABILITIES = (
    Field("inactive_firmware_major", "01", 128, "Other firmware, before the dot.", ADVERTISED),
    Field("inactive_firmware_minor", "01", 129, "Other firmware, behind the dot.", ADVERTISED),
    Field("hardware_major", "01", 130, "Hardware revision, before the dot.", ADVERTISED),
    Field("hardware_minor", "01", 131, "Hardware revision, behind the dot.", ADVERTISED),
    Field("length_single_mode", "01", 132, "Reach on single-mode fibre.", ADVERTISED, width=6,
          scale=100.0, unit="m", factor=Factor("01", 132, 6, 2, {1: 10.0})),
    Field("length_om5", "01", 133, "Reach on OM5 fibre.", ADVERTISED, scale=2.0, unit="m"),
    Field("length_om4", "01", 134, "Reach on OM4 fibre.", ADVERTISED, scale=2.0, unit="m"),
    Field("length_om3", "01", 135, "Reach on OM3 fibre.", ADVERTISED, scale=2.0, unit="m"),
    Field("length_om2", "01", 136, "Reach on OM2 fibre.", ADVERTISED, unit="m"),
    Field("wavelength", "01", 138, "Nominal wavelength.", ADVERTISED, size=2, scale=0.05e-9,
          unit="m", gates=(OPTICAL,)),
    Field("wavelength_tolerance", "01", 140, "Tolerance of the wavelength.", ADVERTISED, size=2,
          scale=0.005e-9, unit="m", gates=(OPTICAL,)),
    flag("network_path_pages", "01", 142, 7, "Pages 16h and 17h exist.", ADVERTISED),
    flag("vdm_pages", "01", 142, 6, "Versatile diagnostics (pages 20h to 2Fh) exist.", ADVERTISED),
    flag("diagnostics_pages", "01", 142, 5, "Pages 13h and 14h exist.", ADVERTISED),
    flag("coherent_pages", "01", 142, 4, "Coherent pages exist.", ADVERTISED),
    flag("user_page", "01", 142, 2, "Page 03h exists.", ADVERTISED),
    Field("banks", "01", 142, "Banks of eight lanes.", ADVERTISED, width=2,
          codes={0: "1", 1: "2", 2: "4"}),
    Field("init_time_code", "01", 144, "Longest data path initialisation, coded.", ADVERTISED,
          width=4),
    flag("cooled", "01", 145, 7, "The transmitter is cooled.", ADVERTISED, gates=(OPTICAL,)),
    Field("temperature_highest", "01", 146, "Highest temperature it is made for.", ADVERTISED,
          Form.SIGNED, unit="degC"),
    Field("temperature_lowest", "01", 147, "Lowest temperature it is made for.", ADVERTISED,
          Form.SIGNED, unit="degC"),
    Field("rx_power_kind", "01", 151, "How light received is measured.", ADVERTISED, low=4,
          width=1, codes=codes.AVERAGE_OR_OMA, gates=(OPTICAL,)),
    flag("tunable", "01", 155, 6, "The transmitter can be tuned.", ADVERTISED),
    flag("output_disable", "01", 155, 1, "Outputs can be switched off by lane.", ADVERTISED),
    Field("bias_factor", "01", 160, "Code of the multiplier of bias: 0, 1, 2 are x1, x2, x4.",
          ADVERTISED, low=3, width=2),
    flag("tx_cdr", "01", 161, 0, "The transmitter recovers the clock.", ADVERTISED),
    flag("rx_cdr", "01", 162, 0, "The receiver recovers the clock.", ADVERTISED),
    Field("cdb_instances", "01", 163, "Command interfaces.", ADVERTISED, low=6, width=2),
    Field("media_lane_starts", "01", 176, "Media lanes at which application 1.. may begin.",
          ADVERTISED, Form.OCTETS, 15),
)  # fmt: skip

TUNABLE = offered("01", 155, 6, "the laser cannot be tuned")
LASER = (
    Field("grids", "04", 128, "Which frequency grids the laser knows, a bit each.", LASERS,
          Form.OCTETS, 2),
    Field("fine_tuning_resolution", "04", 190, "Step of fine tuning.", LASERS, size=2, scale=1e6,
          unit="Hz"),
    Field("fine_tuning_lowest", "04", 192, "Lowest offset of fine tuning.", LASERS, Form.SIGNED, 2,
          scale=1e6, unit="Hz"),
    Field("fine_tuning_highest", "04", 194, "Highest offset of fine tuning.", LASERS, Form.SIGNED,
          2, scale=1e6, unit="Hz"),
    Field("output_power_lowest", "04", 198, "Lowest light that can be asked for.", LASERS,
          Form.SIGNED, 2, scale=0.01, unit="dBm"),
    Field("output_power_highest", "04", 200, "Highest light that can be asked for.", LASERS,
          Form.SIGNED, 2, scale=0.01, unit="dBm"),
)  # fmt: skip

FIELDS = (*STATUS, *MONITORS, *APPLICATIONS, *IDENTITY, *CAPABILITIES, *LASER)
