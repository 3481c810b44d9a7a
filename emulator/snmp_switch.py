"""What an Ethernet switch shows by SNMP, told from the state of the fabric.

Written from IF-MIB (RFC 2863), EtherLike-MIB (RFC 3635), IEEE8021-PFC-MIB, ENTITY-SENSOR-MIB
(RFC 3433) and LLDP-MIB (IEEE 802.1AB): columns by their number below an entry, rows by index.
"""

from collections.abc import Iterator

from emulator import ber
from emulator.ber import Oid
from emulator.ethernet import FRAME_BYTES, EthernetState
from emulator.fabric import Fabric
from emulator.port import PortState
from emulator.snmp import Mib, Variable

MIB_2: Oid = (1, 3, 6, 1, 2, 1)
SYSTEM: Oid = (*MIB_2, 1)
IF: Oid = (*MIB_2, 2, 2, 1)
IF_X: Oid = (*MIB_2, 31, 1, 1, 1)
DOT3: Oid = (*MIB_2, 10, 7)
ENTITY: Oid = (*MIB_2, 47, 1, 1, 1, 1)
SENSOR: Oid = (*MIB_2, 99, 1, 1, 1)
PFC: Oid = (1, 3, 111, 2, 802, 1, 1, 21, 1, 1, 1)
LLDP_LOCAL: Oid = (1, 0, 8802, 1, 1, 2, 1, 3, 7, 1)
LLDP_REMOTE: Oid = (1, 0, 8802, 1, 1, 2, 1, 4, 1, 1)

ENTERPRISE: Oid = (1, 3, 6, 1, 4, 1, 8072, 3, 2, 10)
UP_BEFORE = 40 * 86_400.0
"""Seconds that a switch ran before the emulation began."""
ETHERNET, VLAN = 6, 136
CELSIUS, VOLTS, AMPERES, WATTS = 8, 4, 5, 6
UNITS, MILLI = 9, 8

Row = tuple[Oid, Variable]


class SnmpSwitch:
    """A switch with an SNMP agent; one telling serves all that ask at one moment."""

    def __init__(self, fabric: Fabric, name: str) -> None:
        self._fabric = fabric
        self._name = name
        self._told: Mib = {}
        self._when = -1.0

    def mib(self) -> Mib:
        """Return all variables now."""
        if self._when != self._fabric.now:
            self._told = dict(_variables(self._fabric, self._name))
            self._when = self._fabric.now
        return self._told


def _variables(fabric: Fabric, switch: str) -> Iterator[Row]:
    ticks = round((fabric.now - fabric.began + UP_BEFORE) * 100)
    yield (*SYSTEM, 1, 0), _text("Emulated switch")
    yield (*SYSTEM, 2, 0), Variable(ber.OID, ENTERPRISE)
    yield (*SYSTEM, 3, 0), Variable(ber.TIMETICKS, ticks % 2**32)
    yield (*SYSTEM, 5, 0), _text(switch)
    for index, port in enumerate(fabric.ports_of(switch), start=1):
        if port.ethernet is None:
            continue
        name = port.name.partition("/")[2]
        yield from _interface(index, name, port, port.ethernet)
        yield from _sensors(index, name, port.ethernet)
        yield from _neighbor(fabric, index, name, port)
    yield from _row(IF, (5001,), {2: _text("Vlan1"), 3: _integer(VLAN), 7: _integer(1)})
    yield (*IF_X, 1, 5001), _text("Vlan1")


def _interface(index: int, name: str, port: PortState, state: EthernetState) -> Iterator[Row]:
    received, sent = round(port.rx_octets), round(port.tx_octets)
    torn = round(state.rx_errors)
    yield from _row(
        IF,
        (index,),
        {
            2: _text(name),
            3: _integer(ETHERNET),
            7: _integer(1),
            8: _integer(1 if port.up else 2),
            10: _count32(received),
            13: _count32(round(state.rx_discards)),
            14: _count32(torn),
            16: _count32(sent),
            19: _count32(round(state.tx_discards)),
        },
    )
    yield from _row(
        IF_X,
        (index,),
        {
            1: _text(name),
            6: _count64(received),
            7: _count64(received // FRAME_BYTES),
            8: _count64(0),
            9: _count64(0),
            10: _count64(sent),
            11: _count64(sent // FRAME_BYTES),
            12: _count64(0),
            13: _count64(0),
            15: Variable(ber.GAUGE32, round(port.gbps * 1000)),
            19: Variable(ber.TIMETICKS, 0),
        },
    )
    yield from _row((*DOT3, 2, 1), (index,), {3: _count32(torn), 18: _count32(0)})
    yield from _row((*DOT3, 10, 1), (index,), {5: _count64(0), 6: _count64(0)})
    yield from _row((*DOT3, 11, 1), (index,), {2: _count64(torn), 6: _count64(0)})
    paused, stopped = round(sum(state.rx_pause_frames)), round(sum(state.tx_pause_frames))
    yield from _row(PFC, (index,), {2: _count32(stopped), 3: _count32(paused)})


def _sensors(index: int, name: str, state: EthernetState) -> Iterator[Row]:
    module, first = state.module, 100_000 + 100 * index
    told = [
        (f"DOM Temperature Sensor for {name}", CELSIUS, UNITS, 1, module.temperature),
        (f"DOM Voltage Sensor for {name}", VOLTS, UNITS, 2, module.voltage),
    ]
    for lane in range(module.lanes):
        end = f"for {name}/{lane + 1}"
        told += [
            (f"DOM TX Bias Sensor {end}", AMPERES, MILLI, 2, module.bias_ma[lane]),
            (f"DOM TX Power Sensor {end}", WATTS, MILLI, 4, 10 ** (module.tx_dbm[lane] / 10)),
            (f"DOM RX Power Sensor {end}", WATTS, MILLI, 4, 10 ** (module.rx_dbm[lane] / 10)),
        ]
    for place, (words, kind, scale, precision, value) in enumerate(told, start=first):
        yield (*ENTITY, 2, place), _text(words)
        shown = {1: kind, 2: scale, 3: precision, 4: round(value * 10**precision), 5: 1}
        yield from _row(SENSOR, (place,), {at: _integer(one) for at, one in shown.items()})


def _neighbor(fabric: Fabric, index: int, name: str, port: PortState) -> Iterator[Row]:
    yield from _row(LLDP_LOCAL, (index,), {2: _integer(5), 3: _text(name), 4: _text(name)})
    if not port.up:
        return
    device, far = fabric.facing(port)
    chassis = bytes.fromhex(fabric.plan.mac(device).replace(":", ""))
    yield from _row(
        LLDP_REMOTE,
        (0, index, 1),
        {
            4: _integer(4),
            5: Variable(ber.OCTETS, chassis),
            6: _integer(5),
            7: _text(far),
            8: _text(port.name),
            9: _text(device),
        },
    )


def _row(entry: Oid, index: Oid, columns: dict[int, Variable]) -> Iterator[Row]:
    for column, variable in columns.items():
        yield (*entry, column, *index), variable


def _text(words: str) -> Variable:
    return Variable(ber.OCTETS, words.encode())


def _integer(value: int) -> Variable:
    return Variable(ber.INTEGER, value)


def _count32(value: int) -> Variable:
    return Variable(ber.COUNTER32, value % 2**32)


def _count64(value: int) -> Variable:
    return Variable(ber.COUNTER64, value % 2**64)
