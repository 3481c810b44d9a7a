"""What `ethtool --json` prints: a list with one object for each interface.

The first releases with JSON for `-m` use module_temperature, module_voltage, laser_bias_current and
laser_output_power twice in one object, for the reading and then for its limits. A plain parser
keeps the limits alone; here every value of a key is kept, and its form tells which it is.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.protocols.ethtool_netlink import Fec, Pause
from collectors.protocols.ethtool_text import fec_mode
from collectors.protocols.module import (
    BOUNDS,
    Alarm,
    Identity,
    Limit,
    Module,
    Signal,
    Value,
)
from collectors.protocols.optics.codes import CONNECTORS
from fabrichealth.errors import MalformedReply

MILLI = 1e-3
MONITORS = {  # key, quantity, SI units of one, whether by lane
    "module_temperature": ("temperature", 1.0, False),
    "module_voltage": ("supply_voltage", 1.0, False),
    "laser_bias_current": ("tx_bias", MILLI, True),
    "laser_tx_bias_current": ("tx_bias", MILLI, True),
    "laser_output_power": ("tx_power", MILLI, True),
    "transmit_avg_optical_power": ("tx_power", MILLI, True),
    "rx_power": ("rx_power", MILLI, True),
    "laser_rx_power": ("rx_power", MILLI, True),
}
ALARMS = {
    "module_temperature": ("temperature", False),
    "module_voltage": ("supply_voltage", False),
    "laser_bias_current": ("tx_bias", True),
    "laser_tx_bias_current": ("tx_bias", True),
    "laser_tx_power": ("tx_power", True),
    "laser_output_power": ("tx_power", True),
    "laser_rx_power": ("rx_power", True),
}
SIGNALS = {
    "rx_loss_of_signal": "rx_los",
    "tx_loss_of_signal": "tx_los",
    "rx_loss_of_lock": "rx_lol",
    "tx_loss_of_lock": "tx_lol",
    "tx_fault": "tx_fault",
}


class Pairs(dict[str, Any]):
    """A JSON object that remembers every value of a key given twice (`all`)."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.all: dict[str, list[Any]] = {}
        for key, value in pairs:
            self.all.setdefault(key, []).append(value)


@dataclass(frozen=True, slots=True)
class Groups:
    """Standard statistics by (group, name): `eth-mac`, `FramesReceivedOK`."""

    values: Mapping[tuple[str, str], int] = field(default_factory=dict)


def parse(text: str) -> Any:
    """Return JSON with every object as `Pairs`.

    Raises:
        MalformedReply: not JSON, or nested beyond reason.
    """
    try:
        return json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError) as wrong:
        raise MalformedReply(f"not JSON: {str(wrong)[:80]}") from None


def replies(plain: Any) -> Iterator[tuple[str, Groups | Fec | Pause | Module]]:
    """Yield (interface or "", what it says) of each object that is one of ethtool's."""
    for found in plain if isinstance(plain, list) else [plain]:
        if not isinstance(found, Pairs):
            continue
        name = found.get("ifname")
        interface = name if isinstance(name, str) else ""
        groups = {key for key in found if key in {"eth-phy", "eth-mac", "eth-ctrl", "rmon"}}
        statistics = found.get("statistics")
        statistics = statistics if isinstance(statistics, Pairs) else Pairs([])
        if groups:
            yield interface, Groups(_groups(found, groups))
        elif "identifier" in found:
            yield interface, module(found)
        elif "config" in found or "active" in found:
            yield interface, _fec(found, statistics)
        elif "autonegotiate" in found or "tx_pause_frames" in statistics:
            sent, received = statistics.get("tx_pause_frames"), statistics.get("rx_pause_frames")
            yield interface, Pause(_count(sent), _count(received))


def module(found: Pairs) -> Module:
    """Read an object of `ethtool --json -m`, of either spelling of its limits."""
    values: list[Value] = []
    limits: list[Limit] = []
    for key, (quantity, unit, by_lane) in MONITORS.items():
        for said in found.all.get(key, []):
            if isinstance(said, Pairs) and "values" not in said:
                limits += _limits(quantity, said, unit)
            else:
                values += _values(quantity, said, unit, by_lane=by_lane)
        for said in found.all.get(f"{key}_thresholds", []):
            if isinstance(said, Pairs):
                limits += _limits(quantity, said, unit)
    return Module(
        _identity(found),
        tuple(values),
        tuple(limits),
        tuple(_alarms(found)),
        tuple(_signals(found)),
    )


def _identity(found: Pairs) -> Identity:
    def word(key: str) -> str:
        said = found.get(key)
        return said.strip() if isinstance(said, str) else ""

    connector = found.get("connector")
    name = CONNECTORS.get(connector, "") if isinstance(connector, int) else ""
    return Identity(
        word("vendor_name"),
        word("vendor_pn"),
        word("vendor_sn"),
        word("date_code"),
        word("active_firmware_version"),
        connector=name,
        kind="dac" if name == "copper pigtail" else "pluggable",
    )


def _values(quantity: str, said: Any, unit: float, *, by_lane: bool) -> Iterator[Value]:
    if isinstance(said, Pairs):
        said = said.get("values")
    lanes = said if isinstance(said, list) else [said]
    for lane, one in enumerate(lanes, 1):
        if isinstance(one, int | float) and not isinstance(one, bool):
            yield Value(quantity, lane if by_lane else 0, float(one) * unit)


def _limits(quantity: str, said: Pairs, unit: float) -> Iterator[Limit]:
    for bound, level in BOUNDS:
        one = said.get(f"{bound}_{level}_threshold", said.get(f"{bound}_{level}"))
        if isinstance(one, int | float) and not isinstance(one, bool):
            yield Limit(quantity, bound, level, float(one) * unit)


def _alarms(found: Pairs) -> Iterator[Alarm]:
    for key, (quantity, by_lane) in ALARMS.items():
        for bound, level in BOUNDS:
            said = found.get(f"{key}_{bound}_{level}")
            lanes = said if isinstance(said, list) else [said]
            for lane, one in enumerate(lanes, 1):
                if isinstance(one, bool):
                    yield Alarm(quantity, bound, level, lane if by_lane else 0, one)


def _signals(found: Pairs) -> Iterator[Signal]:
    """Yield lists of Yes and No; a bare `false` says that the module has no such flag, or none."""
    for key, name in SIGNALS.items():
        said = found.get(key)
        for lane, word in enumerate(said if isinstance(said, list) else [], 1):
            if word in ("Yes", "No", True, False):
                yield Signal(name, lane, word in ("Yes", True))


def _groups(found: Pairs, groups: set[str]) -> dict[tuple[str, str], int]:
    return {
        (group, name): number
        for group in sorted(groups)
        if isinstance(found[group], Pairs)
        for name, said in found[group].items()
        if (number := _count(said)) is not None
    }


def _fec(found: Pairs, statistics: Pairs) -> Fec:
    active = found.get("active")
    names = active if isinstance(active, list) else [active]
    mode = names[0] if names and isinstance(names[0], str) else ""
    bins = {}
    histogram = statistics.get("hist")
    for one in histogram if isinstance(histogram, list) else []:
        if isinstance(one, Pairs):
            low, high, total = (_count(one.get(key)) for key in ("bin_low", "bin_high", "total"))
            if low is not None and total is not None:
                bins[low, low if high is None else high] = total
    return Fec(
        fec_mode(mode),
        _total(statistics, "corrected_blocks"),
        _total(statistics, "uncorrectable_blocks"),
        _total(statistics, "corrected_bits"),
        bins,
    )


def _total(statistics: Pairs, key: str) -> int | None:
    said = statistics.get(key)
    return _count(said.get("total") if isinstance(said, Pairs) else said)


def _count(said: Any) -> int | None:
    """Return an unsigned number; a float or a text is none."""
    return said if isinstance(said, int) and not isinstance(said, bool) and said >= 0 else None
