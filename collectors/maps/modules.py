"""What a pluggable module tells -> catalogue, for whatever carried its memory or its text."""

from collections.abc import Iterator
from math import isnan

import numpy as np

from collectors.maps.columns import Reading
from collectors.protocols.module import Module
from fabrichealth.catalogue.optics import (
    ALARM,
    LOL,
    LOS,
    OPTICS_INFO,
    RX_POWER,
    SUPPLY,
    TEMPERATURE,
    THRESHOLD,
    TX_BIAS,
    TX_FAULT,
    TX_POWER,
)
from fabrichealth.units import DARK_DBM, dbm

MODULE = {"temperature": TEMPERATURE, "supply_voltage": SUPPLY}
LANE = {"rx_power": RX_POWER, "tx_power": TX_POWER, "tx_bias": TX_BIAS}
TINY = 0.005
"""dB within which a level in text or in steps of 0.1 uW is the dark floor itself."""
LIGHT = {"rx_power", "tx_power"}
SIGNALS = {
    "rx_los": (LOS, ("media",)),
    "tx_los": (LOS, ("host",)),
    "rx_lol": (LOL, ("media",)),
    "tx_lol": (LOL, ("host",)),
    "tx_fault": (TX_FAULT, ()),
}
METRICS = (*MODULE.values(), *LANE.values(), LOS, LOL, TX_FAULT, ALARM, THRESHOLD, OPTICS_INFO)


def readings(module: Module) -> Iterator[Reading]:
    """Yield everything a module tells, in the catalogue's units.

    A dark receiver lane is lost signal as well, where the module has no flag of its own for that.
    """
    identity = module.identity
    labels = (
        identity.vendor,
        identity.part,
        identity.serial,
        identity.lot,
        identity.firmware,
        identity.media,
        identity.connector,
        identity.kind,
    )
    if any(labels):
        yield OPTICS_INFO, labels, 1.0
    flagged = {signal.lane for signal in module.signals if signal.name == "rx_los"}
    for quantity, lane, value in module.values:
        if quantity in MODULE:
            yield MODULE[quantity], (), value
        elif quantity in LANE:
            level = _unit(quantity, value)
            yield LANE[quantity], (str(lane),), level
            if quantity == "rx_power" and lane not in flagged and not isnan(level):
                yield LOS, (str(lane), "media"), float(level < DARK_DBM + TINY)
    for name, lane, raised in module.signals:
        metric, side = SIGNALS[name]
        yield metric, (str(lane), *side), float(raised)
    for quantity, bound, level_name, value in module.limits:
        yield THRESHOLD, (quantity, bound, level_name), _unit(quantity, value)
    for quantity, bound, level_name, lane, raised in module.alarms:
        yield ALARM, (str(lane) if lane else "", quantity, bound, level_name), float(raised)


def _unit(quantity: str, value: float) -> float:
    """Return a value in the catalogue's unit; NaN for a power that no light has."""
    return float(dbm(np.array(value))) if quantity in LIGHT else value
