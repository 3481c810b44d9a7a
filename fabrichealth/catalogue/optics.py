"""Optical transceivers: module, lanes, the module's own limits and flags."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)

TEMPERATURE = Metric(
    name="optics_temperature_celsius",
    kind=Kind.GAUGE,
    unit=Unit.CELSIUS,
    subject=Subject.PORT,
    help="Temperature of the module's case.",
    valid=(-50.0, 130.0),
)

SUPPLY = Metric(
    name="optics_supply_volts",
    kind=Kind.GAUGE,
    unit=Unit.VOLTS,
    subject=Subject.PORT,
    help="Supply voltage.",
    valid=(2.5, 4.0),
)

RX_POWER = Metric(
    name="optics_rx_power_dbm",
    kind=Kind.GAUGE,
    unit=Unit.DBM,
    subject=Subject.LANE,
    help="Average light received on one media lane; -40 when the lane is dark.",
    valid=(-40.0, 20.0),
)

TX_POWER = Metric(
    name="optics_tx_power_dbm",
    kind=Kind.GAUGE,
    unit=Unit.DBM,
    subject=Subject.LANE,
    help="Average light sent on one media lane; -40 when the lane is dark.",
    valid=(-40.0, 20.0),
)

TX_BIAS = Metric(
    name="optics_tx_bias_amperes",
    kind=Kind.GAUGE,
    unit=Unit.AMPERES,
    subject=Subject.LANE,
    help="Laser bias current of one media lane.",
    valid=(0.0, 1.0),
)

SNR = Metric(
    name="optics_snr_db",
    kind=Kind.GAUGE,
    unit=Unit.DB,
    subject=Subject.LANE,
    help="Signal to noise ratio of one lane, media or host side.",
    valid=(0.0, 60.0),
    extra=("side",),
)

PRE_FEC_BER = Metric(
    name="optics_pre_fec_bit_error_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LANE,
    help="Bit error ratio before FEC from the module's own diagnostics.",
    valid=(0.0, 0.5),
    extra=("side",),
)

LASER_TEMPERATURE = Metric(
    name="optics_laser_temperature_celsius",
    kind=Kind.GAUGE,
    unit=Unit.CELSIUS,
    subject=Subject.LANE,
    help="Temperature of the laser, where reported.",
    valid=(-50.0, 130.0),
)

TEC_CURRENT = Metric(
    name="optics_tec_current_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LANE,
    help="Current of the thermo-electric cooler against its maximum; negative cools.",
    valid=(-1.0, 1.0),
)

LASER_AGE = Metric(
    name="optics_laser_age_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LANE,
    help="Age of the laser; 1 is the end of its life as the module reckons it.",
    valid=(0.0, 1.0),
)

LOS = Metric(
    name="optics_los",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LANE,
    help="1 while loss of signal is flagged; side media is the receiver.",
    valid=FLAG,
    extra=("side",),
)

LOL = Metric(
    name="optics_lol",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LANE,
    help="1 while loss of lock is flagged; side media is the receiver.",
    valid=FLAG,
    extra=("side",),
)

TX_FAULT = Metric(
    name="optics_tx_fault",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LANE,
    help="1 while a transmitter fault is flagged.",
    valid=FLAG,
)

ALARM = Metric(
    name="optics_alarm",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LANE,
    help="The module's own latched flag; lane where the flag has one.",
    valid=FLAG,
    extra=("quantity", "bound", "level"),
)

THRESHOLD = Metric(
    name="optics_threshold",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="The module's own limit, in the unit of the quantity.",
    extra=("quantity", "bound", "level"),
)

OPTICS_INFO = Metric(
    name="optics_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="What the module is.",
    extra=("vendor", "part", "serial", "lot", "firmware", "media", "connector", "kind"),
)
