"""What a sensor of ENTITY-SENSOR-MIB is in the catalogue: told by its name, sized by its MIB.

A value is `value x 10^(3 x (scale - 9)) / 10^precision` (RFC 3433: scale 9 is one unit, 8 milli,
10 kilo); a precision of 0 or below divides by nothing.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from enum import IntEnum

from collectors.maps import modules
from collectors.maps.snmp_rules import SensorMap
from fabrichealth.catalogue.optics import LOS
from fabrichealth.metric import Metric

DBM_TYPE = 14
OVERFLOW = 1_000_000_000
"""EntitySensorValue: at this value, or minus it, the sensor is beyond what can be said."""
SCALES = range(1, 18)
PRECISIONS = range(-8, 10)

METRICS = (*modules.MODULE.values(), *modules.LANE.values(), LOS)


class Form(IntEnum):
    """How a value becomes the metric's."""

    NUMBER = 0
    WATTS = 1
    """Light, to be told in dBm."""
    DBM = 2


@dataclass(frozen=True, slots=True)
class Place:
    """A sensor's series: metric, labels after the device, power of ten of one step, and form."""

    metric: Metric
    labels: tuple[str, ...]
    exponent: int
    form: Form = Form.NUMBER


@dataclass(frozen=True, slots=True)
class Sensor:
    """What the MIBs say of one sensor."""

    name: str
    type: int
    scale: int
    precision: int


def exponent(scale: int, precision: int) -> int:
    """Return the power of ten that a step is worth.

    Raises:
        ValueError: scale or precision is none of the MIB's.
    """
    if scale not in SCALES or precision not in PRECISIONS:
        raise ValueError(f"scale {scale}, precision {precision}")
    return 3 * (scale - 9) - max(precision, 0)


def bases(known: SensorMap, names: set[str]) -> set[str]:
    """Return what sensors of whole modules are for; lanes of such a port stand behind its name."""
    found = set()
    for name in names:
        for pattern in known.modules:
            said = pattern.name.fullmatch(name)
            if said and pattern.quantity in modules.MODULE:
                found.add(said["port"])
    return found


def place(
    known: SensorMap, sensor: Sensor, called: Mapping[str, str], whole: Container[str]
) -> Place | None:
    """Return the series of a sensor; None for one that the catalogue has no word for.

    `called` gives the port for a name; `whole` are names of modules that have sensors of their own.

    Raises:
        ValueError: its scale or precision is none of the MIB's.
    """
    for pattern in known.modules:
        said = pattern.name.fullmatch(sensor.name)
        if said is None:
            continue
        if sensor.type not in known.quantities[pattern.quantity]:
            return None
        size = exponent(sensor.scale, sensor.precision)
        groups = said.groupdict()
        port, lane = _port(groups["port"], groups.get("lane") or "", called, whole)
        if pattern.quantity in modules.MODULE:
            return Place(modules.MODULE[pattern.quantity], (port,), size)
        form = Form.NUMBER
        if pattern.quantity in modules.LIGHT:
            form = Form.DBM if sensor.type == DBM_TYPE else Form.WATTS
        return Place(modules.LANE[pattern.quantity], (port, lane), size, form)
    metric = known.devices.get(sensor.type)
    if metric is None or not sensor.name:
        return None
    return Place(metric, (sensor.name,), exponent(sensor.scale, sensor.precision))


def _port(
    text: str, lane: str, called: Mapping[str, str], whole: Container[str]
) -> tuple[str, str]:
    """Return port and lane for what a name says: `Ethernet3`, `Ethernet49/1`, `Ethernet52/4`."""
    if lane or text in called:
        return called.get(text, text), lane or "1"
    stem, _, last = text.rpartition("/")
    if last.isdecimal() and (stem in called or stem in whole):
        return called.get(stem, stem), str(int(last))
    return text, "1"
