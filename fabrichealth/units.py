"""Units of the catalogue, and the conversions into them.

SI base units as Prometheus asks for, with house exceptions that the field reads off its
instruments: dBm and dB for light, L/min and kPa for coolant, rpm for fans. The value of a
`Unit` is the suffix that a metric's name must carry (before `_total`).
"""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Unit(StrEnum):
    """What a number counts; the value is the suffix of the metric's name."""

    NONE = ""
    AMPERES = "amperes"
    BITS_PER_SECOND = "bits_per_second"
    BYTES = "bytes"
    BYTES_PER_SECOND = "bytes_per_second"
    CELSIUS = "celsius"
    DB = "db"
    DBM = "dbm"
    HERTZ = "hertz"
    JOULES = "joules"
    KILOPASCALS = "kilopascals"
    LITERS = "liters"
    LITERS_PER_MINUTE = "liters_per_minute"
    METERS = "meters"
    RATIO = "ratio"
    RPM = "rpm"
    SECONDS = "seconds"
    TIMESTAMP_SECONDS = "timestamp_seconds"
    VOLTS = "volts"
    WATTS = "watts"


DARK_DBM = -40.0
"""Floor of optical power: at or below it a receiver sees no light (SFF-8636 step 0.1 uW)."""


def dbm(watts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return dBm for power in watts; no light, or less than 0.1 uW, is `DARK_DBM`.

    NaN stays NaN (not measured); a negative power, which no light has, becomes NaN.
    """
    power = np.asarray(watts, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        level = 10.0 * np.log10(power * 1e3)
    level = np.where(power == 0.0, DARK_DBM, level)
    return np.where(level < DARK_DBM, DARK_DBM, level)


def pause_seconds(quanta: NDArray[np.float64], bits_per_second: float) -> NDArray[np.float64]:
    """Return seconds for pause quanta of 512 bit times (IEEE 802.3 annex 31B)."""
    return np.asarray(quanta, np.float64) * 512.0 / bits_per_second


IB_WORD_BYTES = 4
"""InfiniBand data counters count 4-octet words (IBTA PMA, PortXmitData)."""
