"""A module's own limits: warning and alarm of each quantity, as far as they can be meant.

Modules carry limits that are not filled in: both ends 0, a low power limit at the register's
lowest value (-40 dBm), a pair the wrong way round (SFF-8636 rev 2.10 table 6-28, CMIS 5.2
table 8-45 leave all of it optional). Those are no limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.optics.roster import Roster
from fabrichealth.model import Changes, Floats
from fabrichealth.units import DARK_DBM

LEVELS = ("warning", "alarm")


@dataclass(frozen=True)
class Limits:
    """Limits of one quantity in its unit ([port]); NaN where the module has none."""

    low_warning: Floats
    low_alarm: Floats
    high_warning: Floats
    high_alarm: Floats

    @property
    def low(self) -> Floats:
        """The first limit met going down: the warning, else the alarm."""
        return np.where(np.isfinite(self.low_warning), self.low_warning, self.low_alarm)

    @property
    def high(self) -> Floats:
        """The first limit met going up: the warning, else the alarm."""
        return np.where(np.isfinite(self.high_warning), self.high_warning, self.high_alarm)


POWER = frozenset({"rx_power", "tx_power"})
UPWARDS = frozenset({"temperature", "tx_bias", "supply_voltage"})
"""Quantities whose high limit cannot be 0."""


def limits(thresholds: Changes, lanes: Roster, quantity: str) -> Limits:
    """Return the limits that modules have for a quantity, those not meant left out."""
    told = {
        (bound, level): _told(thresholds, lanes, (quantity, bound, level))
        for bound in ("low", "high")
        for level in LEVELS
    }
    with np.errstate(invalid="ignore"):
        for level in LEVELS:
            low, high = told["low", level], told["high", level]
            unset = low >= high
            if quantity in POWER:
                low[low <= DARK_DBM] = np.nan
                high[high <= DARK_DBM] = np.nan
            if quantity in UPWARDS:
                high[high <= 0] = np.nan
            low[unset], high[unset] = np.nan, np.nan
        # a warning beyond its alarm warns of nothing
        told["low", "warning"][told["low", "warning"] < told["low", "alarm"]] = np.nan
        told["high", "warning"][told["high", "warning"] > told["high", "alarm"]] = np.nan
    return Limits(
        told["low", "warning"], told["low", "alarm"], told["high", "warning"], told["high", "alarm"]
    )


def all_limits(thresholds: Changes, lanes: Roster) -> Mapping[str, Limits]:
    """Return the limits of every quantity that the optics detectors look at."""
    names = ("temperature", "rx_power", "tx_power", "tx_bias", "snr")
    return {name: limits(thresholds, lanes, name) for name in names}


def _told(thresholds: Changes, lanes: Roster, tail: tuple[str, str, str]) -> Floats:
    rows = lanes.having(thresholds.table, thresholds.metric, thresholds.rows, tail)
    places = lanes.places(thresholds.table, thresholds.metric, thresholds.rows[rows])
    found = np.full(len(lanes.ports), np.nan)
    found[lanes.port[places]] = thresholds.value[rows]
    return found
