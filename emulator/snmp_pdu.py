"""What a rack PDU shows by SNMP: an APC-like unit with phases, banks, outlets and a probe.

Written from PowerNet-MIB (rPDU2): columns by their number below an entry, rows by a running
number. The unit knows volts, amperes and power factors; what it shows follows from them, in the
MIB's steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from emulator import ber
from emulator.ber import Oid
from emulator.snmp import Mib, Variable

APC: Oid = (1, 3, 6, 1, 4, 1, 318)
SYSTEM: Oid = (1, 3, 6, 1, 2, 1, 1)
IF: Oid = (1, 3, 6, 1, 2, 1, 2, 2, 1)
SWITCHED: Oid = (*APC, 1, 3, 4, 6)
RPDU2: Oid = (*APC, 1, 1, 26)
NOT_INSTALLED, WELL, LOST = 1, 2, 3

Row = tuple[Oid, Variable]


@dataclass
class Phase:
    """One phase of the inlet."""

    volts: float = 230.0
    amperes: float = 0.0
    power_factor: float = 0.96

    @property
    def watts(self) -> float:
        """Active power."""
        return self.volts * self.amperes * self.power_factor


@dataclass
class RackPdu:
    """A PDU in a rack; `advance` lets time pass."""

    name: str
    phases: list[Phase] = field(default_factory=lambda: [Phase(amperes=6.0)])
    outlets: list[float] = field(default_factory=list)
    """Watts of each."""
    probe: int = NOT_INSTALLED
    celsius: float = 24.0
    humidity: float = 0.42
    watt_hours: float = 0.0
    up: float = 0.0
    """Seconds since its card was started."""

    @property
    def watts(self) -> float:
        """Active power of all phases."""
        return sum(phase.watts for phase in self.phases)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.up += seconds
        self.watt_hours += self.watts * seconds / 3600.0

    def mib(self) -> Mib:
        """Return all variables now."""
        return dict(_variables(self))


def _variables(pdu: RackPdu) -> Iterator[Row]:
    yield (*SYSTEM, 1, 0), _text("Emulated rack PDU")
    yield (*SYSTEM, 2, 0), Variable(ber.OID, SWITCHED)
    yield (*SYSTEM, 3, 0), Variable(ber.TIMETICKS, round(pdu.up * 100) % 2**32)
    yield (*SYSTEM, 5, 0), _text(pdu.name)
    yield from _row(IF, 1, {2: _text("eth0"), 3: _integer(6), 7: _integer(1), 8: _integer(1)})
    apparent = sum(phase.volts * phase.amperes for phase in pdu.phases)
    yield from _row(
        (*RPDU2, 4, 3, 1),
        1,
        {
            1: _integer(1),
            2: _integer(1),
            3: _text(pdu.name),
            4: _integer(2),
            5: _integer(round(pdu.watts / 10)),
            9: _integer(round(pdu.watt_hours / 100)),
            16: _integer(round(apparent / 10)),
            17: _integer(round(100 * pdu.watts / apparent) if apparent else -1),
        },
    )
    for number, phase in enumerate(pdu.phases, start=1):
        yield from _row(
            (*RPDU2, 6, 3, 1),
            number,
            {
                1: _integer(number),
                2: _integer(1),
                3: _integer(number),
                5: _integer(round(phase.amperes * 10)),
                6: _integer(round(phase.volts)),
                7: _integer(round(phase.watts / 10)),
                9: _integer(round(phase.power_factor * 100)),
            },
        )
    volts = pdu.phases[0].volts
    for number, watts in enumerate(pdu.outlets, start=1):
        amperes = watts / volts / pdu.phases[0].power_factor
        yield from _row(
            (*RPDU2, 9, 4, 3, 1),
            number,
            {
                1: _integer(number),
                2: _integer(1),
                3: _text(f"Outlet {number}"),
                4: _integer(number),
                6: _integer(round(amperes * 10)),
                7: _integer(round(watts)),
            },
        )
    there = pdu.probe == WELL
    yield from _row(
        (*RPDU2, 10, 2, 2, 1),
        1,
        {
            1: _integer(1),
            2: _integer(1),
            3: _text("inlet"),
            6: _integer(pdu.probe),
            8: _integer(round(pdu.celsius * 10) if there else -1),
            10: _integer(round(pdu.humidity * 100) if there else -1),
        },
    )


def _row(entry: Oid, index: int, columns: dict[int, Variable]) -> Iterator[Row]:
    for column, variable in columns.items():
        yield (*entry, column, index), variable


def _text(words: str) -> Variable:
    return Variable(ber.OCTETS, words.encode())


def _integer(value: int) -> Variable:
    return Variable(ber.INTEGER, value)
