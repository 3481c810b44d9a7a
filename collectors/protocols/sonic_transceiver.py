"""Names of the fields of STATE_DB's TRANSCEIVER tables, and what the modules are.

Source: sonic-platform-daemons (xcvrd) and sonic-platform-common (sonic_xcvr): power in dBm, bias in
mA with its multiplier applied, lanes from 1. The tables of flags spell the quantities differently
from those of limits. Keys exist for 8 lanes even where the module has fewer.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from collectors.protocols.module import Identity

DOM = "TRANSCEIVER_DOM_SENSOR"
FAST = "TRANSCEIVER_DOM_TEMPERATURE"
LIMITS = "TRANSCEIVER_DOM_THRESHOLD"
DOM_FLAGS = "TRANSCEIVER_DOM_FLAG"
STATUS = "TRANSCEIVER_STATUS"
STATUS_FLAGS = "TRANSCEIVER_STATUS_FLAG"
VDM = "TRANSCEIVER_VDM_REAL_VALUE"
PM = "TRANSCEIVER_PM"
INFO = "TRANSCEIVER_INFO"
FIRMWARE = "TRANSCEIVER_FIRMWARE_INFO"
VDM_FLAGS = {
    f"TRANSCEIVER_VDM_{bound[0].upper()}{level}_FLAG": (bound, meaning)
    for bound in ("high", "low")
    for level, meaning in (("ALARM", "alarm"), ("WARN", "warning"))
}
STAMP = b"last_update_time"
"""Local text without a zone: it says whether a row moves, never how old it is."""

QUANTITIES = {
    "temp": "temperature", "temperature": "temperature", "vcc": "supply_voltage",
    "voltage": "supply_voltage", "rxpower": "rx_power", "txpower": "tx_power", "txbias": "tx_bias",
    "lasertemp": "laser_temperature", "laser_temperature": "laser_temperature",
}  # fmt: skip

_MONITOR = re.compile(r"(temperature|voltage|laser_temperature)|(rx|tx)([1-9])(power|bias)")
_LIMIT = re.compile(r"(temp|vcc|rxpower|txpower|txbias|lasertemp)(high|low)(alarm|warning)")
_FLAG = re.compile(r"(?:(temp|vcc|lasertemp)|(rx|tx)([1-9])(power|bias))(H|L)(Alarm|Warn)")
_SIGNAL = re.compile(
    r"(rx|tx)(?:([1-9])(los|cdrlol|fault)(?:_hostlane)?|(los|cdrlol|fault)(?:_hostlane)?([1-9]))"
)
_VDM = re.compile(
    r"(laser_temperature)_media([1-9])|(esnr|prefec_ber_(?:curr|avg))_(media|host)_input([1-9])"
    r"|(esnr)([1-9])"
)
SIGNALS = {"los": "los", "cdrlol": "lol", "fault": "fault"}


class Monitor(NamedTuple):
    """A quantity under the catalogue's name, its lane (0: the module), and its side."""

    quantity: str
    lane: int
    side: str = "media"


class Bound(NamedTuple):
    """A limit or a flag of a quantity."""

    quantity: str
    bound: str
    level: str
    lane: int = 0


class Cage(NamedTuple):
    """What limits the fields of a port: lanes of its module, and whether it has sensors."""

    media_lanes: int = 9
    host_lanes: int = 9
    sensors: bool = True

    def has(self, lane: int, side: str = "media") -> bool:
        """Return whether the module has this lane (0: the module itself)."""
        return lane <= (self.media_lanes if side == "media" else self.host_lanes)


def monitor(name: str) -> Monitor | None:
    """Return what a field of DOM_SENSOR measures."""
    found = _MONITOR.fullmatch(name)
    if not found:
        return None
    if found[1]:
        return Monitor(QUANTITIES[found[1]], 0)
    quantity = QUANTITIES.get(found[2] + found[4])
    return Monitor(quantity, int(found[3])) if quantity else None


def limit(name: str) -> Bound | None:
    """Return what a field of DOM_THRESHOLD limits."""
    found = _LIMIT.fullmatch(name)
    return Bound(QUANTITIES[found[1]], found[2], found[3]) if found else None


def flag(name: str) -> Bound | None:
    """Return what a field of DOM_FLAG warns of."""
    found = _FLAG.fullmatch(name)
    quantity = QUANTITIES.get(found[1] or found[2] + found[4]) if found else None
    if not found or quantity is None:
        return None
    bound = "high" if found[5] == "H" else "low"
    level = "alarm" if found[6] == "Alarm" else "warning"
    return Bound(quantity, bound, level, int(found[3] or 0))


def signal(name: str) -> tuple[str, int] | None:
    """Return (`rx_los`.., lane) of a field of STATUS_FLAG, or of STATUS in older releases."""
    found = _SIGNAL.fullmatch(name)
    if not found:
        return None
    what = SIGNALS[found[3] or found[4]]
    return f"{found[1]}_{what}", int(found[2] or found[5])


def diagnostic(name: str) -> Monitor | None:
    """Return what a field of VDM_REAL_VALUE, or of its flags, is about."""
    found = _VDM.fullmatch(name)
    if not found:
        return None
    if found[1]:
        return Monitor("laser_temperature", int(found[2]))
    if found[6]:
        return Monitor("snr", int(found[7]))
    quantity = "snr" if found[3] == "esnr" else found[3]
    return Monitor(quantity, int(found[5]), found[4])


def cage(info: Mapping[str, str]) -> Cage:
    """Return what a module has; a passive cable has no sensors, only a row of placeholders."""
    return Cage(
        _lanes(info.get("media_lane_count", "")),
        _lanes(info.get("host_lane_count", "")),
        not is_passive_copper(info),
    )


def is_passive_copper(info: Mapping[str, str]) -> bool:
    """Return whether a module is a copper cable or socket without optics."""
    said = " ".join(
        info.get(name, "")
        for name in ("specification_compliance", "media_interface_technology", "type",
                     "application_advertisement")
    ).casefold()  # fmt: skip
    return any(word in said for word in ("passive_copper", "passive copper", "copper cable",
                                         "copper cable, unequalized", "rj45"))  # fmt: skip


def identity(info: Mapping[str, str], firmware: Mapping[str, str]) -> Identity:
    """Return who made a module and what it is."""
    said = " ".join(info.values()).casefold()
    kind = ""
    if info.get("manufacturer") or info.get("model"):
        kind = "pluggable"
        if is_passive_copper(info):
            kind = "dac"
        elif "active optical" in said or re.search(r"\baoc\b", said):
            kind = "aoc"
        elif re.search(r"\b(aec|active copper|active electrical)\b", said):
            kind = "aec"
    technology = info.get("media_interface_technology", "")
    return Identity(
        vendor=info.get("manufacturer", ""),
        part=info.get("model", ""),
        serial=info.get("serial", ""),
        lot=info.get("vendor_date", ""),
        firmware=firmware.get("active_firmware", "") or info.get("active_firmware", ""),
        media="copper" if kind == "dac" else technology,
        connector=info.get("connector", ""),
        kind=kind,
    )


def _lanes(text: str) -> int:
    return int(text) if text.isdecimal() and 0 < int(text[:3]) < 9 else 9
