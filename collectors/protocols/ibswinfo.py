"""ibswinfo: hardware of an unmanaged InfiniBand switch, as `key | value` lines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_LINE = re.compile(r"(\s*)([A-Za-z#0-9][\w#/ ():.-]{0,40}?)\s*\|\s*(.*?)\s*")
_UPTIME = re.compile(r"(?:(\d{1,6})d-)?(\d{1,2}):(\d{2}):(\d{2})")


@dataclass(frozen=True, slots=True)
class SwitchInfo:
    """What a switch says of itself: temperatures in degrees Celsius, fans in rpm."""

    guid: str = ""
    model: str = ""
    part: str = ""
    serial: str = ""
    firmware: str = ""
    uptime: float | None = None
    """Seconds."""
    temperature: float | None = None
    fans: Mapping[str, float] = field(default_factory=dict)
    supplies: Mapping[str, bool] = field(default_factory=dict)
    """Whether each power supply, its output and its fan are well."""


def info(text: str) -> SwitchInfo | None:
    """Read ibswinfo; None where it is something else."""
    said: dict[str, str] = {}
    fans: dict[str, float] = {}
    supplies: dict[str, bool] = {}
    unit = ""
    for raw in text.splitlines():
        found = _LINE.fullmatch(raw[:200])
        if not found:
            continue
        key, value = found[2], found[3]
        if psu := re.fullmatch(r"PSU(\d{1,2}) status", key):
            unit = f"PSU{psu[1]}"
            supplies[unit] = value == "OK"
        elif found[1] and unit and key in {"DC power", "fan status"}:
            supplies[unit] &= value == "OK"
        elif fan := re.fullmatch(r"fan#(\d{1,3}) \(rpm\)", key):
            if re.fullmatch(r"\d{1,6}", value):
                fans[fan[1]] = float(value)
        elif not found[1]:
            said[key] = value
    guid = re.fullmatch(r"0x([0-9a-f]{1,16})", said.get("GUID", ""))
    if not guid and not ("firmware version" in said and "ports" in said):
        return None
    return SwitchInfo(
        guid[1].rjust(16, "0") if guid else "",
        said.get("product name", ""),
        said.get("part number", ""),
        said.get("serial number", ""),
        said.get("firmware version", ""),
        _uptime(said.get("uptime (d-h:m:s)", "")),
        _number(said.get("temperature (C)", "")),
        fans,
        supplies,
    )


def _uptime(text: str) -> float | None:
    found = _UPTIME.fullmatch(text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d{1,4}(?:\.\d{1,3})?", text) else None
