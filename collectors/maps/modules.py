"""What a pluggable module tells -> catalogue, for whatever carried its memory or its text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from collectors.maps.columns import Reading
from collectors.protocols.module import Identity, Item, Kind, Module
from fabrichealth.catalogue.optics import (
    ALARM,
    LASER_AGE,
    LASER_TEMPERATURE,
    LOL,
    LOS,
    OPTICS_INFO,
    PRE_FEC_BER,
    RX_POWER,
    SNR,
    SUPPLY,
    TEC_CURRENT,
    TEMPERATURE,
    THRESHOLD,
    TX_BIAS,
    TX_FAULT,
    TX_POWER,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Labels
from fabrichealth.units import DARK_DBM, dbm

MODULE = {"temperature": TEMPERATURE, "supply_voltage": SUPPLY}
LANE = {"rx_power": RX_POWER, "tx_power": TX_POWER, "tx_bias": TX_BIAS}
LASER = {
    "laser_temperature": LASER_TEMPERATURE,
    "tec_current": TEC_CURRENT,
    "laser_age": LASER_AGE,
}
"""By lane, or of the whole module."""
SIDED = {"snr": SNR, "pre_fec_ber": PRE_FEC_BER}
"""By lane, or of the whole side, media or host."""
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
METRICS = (
    *MODULE.values(), *LANE.values(), *LASER.values(), *SIDED.values(), LOS, LOL, TX_FAULT, ALARM,
    THRESHOLD, OPTICS_INFO,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Columns:
    """What columns of decoded items become: one place in the catalogue each."""

    names: tuple[tuple[Metric, Labels], ...]
    """Metric, and its labels after device and port."""
    _from: np.ndarray[tuple[int], np.dtype[np.intp]]
    _light: np.ndarray[tuple[int], np.dtype[np.bool_]]
    _dark: np.ndarray[tuple[int], np.dtype[np.bool_]]
    _unheard: tuple[tuple[int, list[int]], ...]
    """Error ratios of received lanes, and where their loss of signal stands among the names."""

    def values(self, decoded: Floats) -> Floats:
        """Return [module, name] in the catalogue's units for decoded [module, item] in SI.

        A dark receiver lane is lost signal as well, where the module has no flag of its own. An
        error ratio of 0 on lost signal says that nothing was counted, so there is none.
        """
        found = decoded[:, self._from]
        found[:, self._light] = dbm(found[:, self._light])
        levels = found[:, self._dark]
        lost = np.where(np.isnan(levels), np.nan, levels < DARK_DBM + TINY)
        whole = np.concatenate([found, lost], axis=1)
        for ratio, losses in self._unheard:
            counted = whole[:, ratio] > 0.0
            whole[~counted & (whole[:, losses] > 0.0).any(axis=1), ratio] = np.nan
        return whole


def columns(items: Sequence[Item | None]) -> Columns:
    """Return what items become; of two that are the same to the catalogue the first counts."""
    found: dict[tuple[Metric, Labels], int] = {}
    for number, item in enumerate(items):
        place = _place(item) if item else None
        if place is not None:
            found.setdefault(place, number)
    flagged = {labels for metric, labels in found if metric is LOS}
    dark = [
        (LOS, (*labels, "media"))
        for metric, labels in found
        if metric is RX_POWER and (*labels, "media") not in flagged
    ]
    without_flag = set(dark)
    picked = list(found.values())
    names = (*found, *dark)
    return Columns(
        names,
        np.array(picked, np.intp),
        np.array([_is_light(items[number]) for number in picked], bool),
        np.array(
            [m is RX_POWER and (LOS, (*at, "media")) in without_flag for m, at in found], bool
        ),
        tuple(_unheard(names)),
    )


def _unheard(names: Sequence[tuple[Metric, Labels]]) -> Iterator[tuple[int, list[int]]]:
    """Yield each error ratio of the media side with the losses of its lane, or of all lanes."""
    losses = {at[0]: n for n, (metric, at) in enumerate(names) if metric is LOS and "media" in at}
    for number, (metric, labels) in enumerate(names):
        if metric is PRE_FEC_BER and labels[1] == "media":
            lane = labels[0]
            its = [losses[lane]] if lane in losses else [] if lane else list(losses.values())
            if its:
                yield number, its


def identity(known: Identity) -> Iterator[Reading]:
    """Yield what a module is, where it says anything."""
    labels = (
        known.vendor,
        known.part,
        known.serial,
        known.lot,
        known.firmware,
        known.media,
        known.connector,
        known.kind,
    )
    if any(labels):
        yield OPTICS_INFO, labels, 1.0


def readings(module: Module) -> Iterator[Reading]:
    """Yield everything a module tells, in the catalogue's units."""
    yield from identity(module.identity)
    told = [
        *((Item(Kind.VALUE, v.quantity, v.lane, v.side), v.value) for v in module.values),
        *((Item(Kind.SIGNAL, s.name, s.lane), float(s.raised)) for s in module.signals),
        *(
            (Item(Kind.LIMIT, one.quantity, 0, "media", one.bound, one.level), one.value)
            for one in module.limits
        ),
        *(
            (Item(Kind.ALARM, a.quantity, a.lane, "media", a.bound, a.level), float(a.raised))
            for a in module.alarms
        ),
    ]
    if told:
        known = columns([item for item, _ in told])
        values = known.values(np.array([[value for _, value in told]], np.float64))[0]
        for (metric, labels), value in zip(known.names, values.tolist(), strict=True):
            if not isnan(value):
                yield metric, labels, value


def _place(item: Item) -> tuple[Metric, Labels] | None:
    """Return metric and labels of an item; None where the catalogue has none for it."""
    lane = str(item.lane) if item.lane else ""
    if item.kind is Kind.SIGNAL:
        metric, side = SIGNALS[item.quantity]
        return metric, (lane, *side)
    if item.kind is Kind.LIMIT:
        return THRESHOLD, (item.quantity, item.bound, item.level)
    if item.kind is Kind.ALARM:
        return ALARM, (lane, item.quantity, item.bound, item.level)
    if item.quantity in MODULE:
        return MODULE[item.quantity], ()
    if item.quantity in SIDED:
        return SIDED[item.quantity], (lane, item.side)
    found = LANE.get(item.quantity) or LASER.get(item.quantity)
    return (found, (lane,)) if found else None


def _is_light(item: Item | None) -> bool:
    is_level = item is not None and item.kind in {Kind.VALUE, Kind.LIMIT}
    return is_level and item is not None and item.quantity in LIGHT
