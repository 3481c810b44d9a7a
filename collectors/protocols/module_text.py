"""What `ethtool -m` prints of a module: `Label : value unit / value in another unit`.

Values are turned into SI. Of `0.0002 mW / -37.21 dBm` the second is the more precise; `0.0000 mW /
-inf dBm` is dark, 0 W.
"""

import re
from collections.abc import Iterator, Mapping

from collectors.protocols.ethtool_text import pairs
from collectors.protocols.module import Alarm, Identity, Limit, Module, Signal, Value

UNITS = {"mA": 1e-3, "mW": 1e-3, "V": 1.0, "mV": 1e-3, "degrees C": 1.0}
_NUMBER = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)\s*(mA|mW|mV|V|degrees C)(?![A-Za-z])")
_LEVEL = re.compile(r"(-?\d{1,3}(?:\.\d{1,9})?) dBm")

MONITORS = {
    "module temperature": "temperature",
    "module voltage": "supply_voltage",
    "laser bias current": "tx_bias",
    "laser tx bias current": "tx_bias",
    "laser output power": "tx_power",
    "laser tx power": "tx_power",
    "transmit avg optical power": "tx_power",
    "transmitter avg optical power": "tx_power",
    "receiver signal average optical power": "rx_power",
    "receiver signal oma": "rx_power",
    "rcvr signal avg optical power": "rx_power",
    "laser rx power": "rx_power",
}
TELLING = {
    "connector",
    "vendor name",
    "vendor pn",
    "optical diagnostics support",
    *MONITORS,
    "rcvr signal avg optical power(channel 1)",
}
"""Labels of which a module's text has at least one beside its identifier."""
OF_MODULE = {"temperature", "supply_voltage"}
SIGNALS = {
    "rx loss of signal": "rx_los",
    "tx loss of signal": "tx_los",
    "rx loss of lock": "rx_lol",
    "tx loss of lock": "tx_lol",
    "tx fault": "tx_fault",
}
_MONITOR = re.compile(r"(?P<what>[a-z ]+?)\s*(?:\((?:channel|lane) (?P<lane>\d{1,2})\))?")
_BOUND = re.compile(
    r"(?P<what>[a-z ]+?) (?P<bound>high|low) (?P<level>alarm|warning)(?P<limit> threshold)?"
    r"\s*(?:\((?:channel|lane|chan) (?P<lane>\d{1,2})\))?"
)


def module(text: str) -> Module | None:
    """Read `ethtool -m`; None where it is something else.

    Without optical diagnostics there is an identity alone.
    """
    said = pairs(text)
    if "identifier" not in said or said.keys().isdisjoint(TELLING):
        return None
    return Module(
        _identity(said),
        tuple(_values(said)),
        tuple(_limits(said)),
        tuple(_alarms(said)),
        tuple(_signals(said)),
    )


def _identity(said: Mapping[str, list[str]]) -> Identity:
    def word(label: str) -> str:
        return said.get(label, [""])[0]

    connector = re.search(r"\((.*)\)", word("connector"))
    name = connector[1] if connector else ""
    copper = "copper" in name.casefold()
    return Identity(
        word("vendor name"),
        word("vendor pn"),
        word("vendor sn"),
        word("date code"),
        word("active firmware version"),
        "copper" if copper else "",
        name,
        "dac" if copper else "pluggable",
    )


def _number(text: str) -> float | None:
    level = _LEVEL.search(text)
    if level:
        return 1e-3 * 10 ** (float(level[1]) / 10)
    found = _NUMBER.match(text)
    return float(found[1]) * UNITS[found[2]] if found else None


def _values(said: Mapping[str, list[str]]) -> Iterator[Value]:
    for label, texts in said.items():
        found = _MONITOR.fullmatch(label)
        quantity = MONITORS.get(found["what"]) if found else None
        value = _number(texts[0])
        if found and quantity is not None and value is not None:
            lane = 0 if quantity in OF_MODULE else int(found["lane"] or 1)
            yield Value(quantity, lane, value)


def _limits(said: Mapping[str, list[str]]) -> Iterator[Limit]:
    for label, texts in said.items():
        found = _BOUND.fullmatch(label)
        quantity = MONITORS.get(found["what"]) if found else None
        value = _number(texts[0])
        if found and quantity is not None and found["limit"] and value is not None:
            yield Limit(quantity, found["bound"], found["level"], value)


def _alarms(said: Mapping[str, list[str]]) -> Iterator[Alarm]:
    for label, texts in said.items():
        found = _BOUND.fullmatch(label)
        quantity = MONITORS.get(found["what"]) if found else None
        raised = {"on": True, "off": False}.get(texts[0].casefold())
        if found and quantity is not None and not found["limit"] and raised is not None:
            lane = 0 if quantity in OF_MODULE else int(found["lane"] or 1)
            yield Alarm(quantity, found["bound"], found["level"], lane, raised)


def _signals(said: Mapping[str, list[str]]) -> Iterator[Signal]:
    """Yield `Rx loss of signal : [ No, Yes, No, No ]`; `None` says that no lane has it."""
    for label, name in SIGNALS.items():
        found = re.fullmatch(r"\[?\s*((?:yes|no)(?:\s*,\s*(?:yes|no))*)\s*\]?", _lower(said, label))
        if found:
            for lane, word in enumerate(re.split(r"\s*,\s*", found[1]), 1):
                yield Signal(name, lane, word == "yes")


def _lower(said: Mapping[str, list[str]], label: str) -> str:
    return said.get(label, [""])[0].casefold()
