"""Gentle reading against an emulated module on its bus: flags clear by reading, pages repeat."""

import os

import pytest

from collectors.host.modules import HostModules
from collectors.host.ports import HostPort
from collectors.maps.columns import Columns
from collectors.optics.columns import ModuleColumns
from collectors.optics.reading import SECOND_ADDRESS, ModuleReader
from collectors.transports.one_reader import OneReader
from emulator.module_kinds import KINDS
from emulator.modules.device import Bus
from emulator.optics import ModuleState
from fabrichealth.catalogue.optics import ALARM, OPTICS_INFO, RX_POWER, TEMPERATURE
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, SeriesTable
from tests.fixtures import readings

HALF = 128


class OnTheBus:
    """The kernel's part: half pages of an emulated module, counted."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.reads = 0

    def module_page(
        self, interface: str, page: int, *, upper: bool, bank: int = 0, address: int = 0x50
    ) -> bytes:
        self.reads += 1
        if address == SECOND_ADDRESS:
            return self.bus.read(1, 0, HALF)
        return self.bus.read(page, HALF if upper else 0, HALF, bank)

    def module_image(self, interface: str) -> bytes:
        raise OSError(95, os.strerror(95))


class Host:
    """A host with one module."""

    def __init__(self, kind: str) -> None:
        self.state = ModuleState("S1", KINDS[kind].lanes, kind=kind)
        receiver = KINDS[kind].receiver
        self.state.rx_dbm = [receiver.dbm if receiver else 0.0] * self.state.lanes
        self.kernel = OnTheBus(Bus(self.state))
        self.table = SeriesTable()
        self.modules = HostModules(
            ModuleReader(self.kernel),
            ModuleColumns(self.table),
            1.0,
            600.0,
            OneReader(f"test.bus.{os.getpid()}."),
        )
        self.refused: list[str] = []

    def look(self, at: float, metric: Metric) -> dict[Labels, float]:
        columns = Columns(self.table)
        port = HostPort("host-001", "eth0", "eth0", "", interface="eth0")
        self.kernel.reads = 0
        self.modules.read(port, at, columns)
        poll = columns.poll(0, at)
        self.refused = [one.what for one in poll.refused]
        return readings(poll, self.table, metric)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_from_its_bus_without_a_refusal(kind: str) -> None:
    host = Host(kind)
    try:
        assert {labels[-1] for labels in host.look(0.0, OPTICS_INFO)} == {KINDS[kind].kind}
        assert host.refused == []
        first = host.kernel.reads
        again = host.look(60.0, TEMPERATURE)
        assert host.refused == []
        assert host.kernel.reads < first
        assert bool(again) == KINDS[kind].monitored
    finally:
        host.modules.close()


def test_a_flag_that_was_raised_between_two_polls_is_told_once() -> None:
    host = Host("dr4")
    low = ("host-001", "eth0", "2", "rx_power", "low", "alarm")
    try:
        assert host.look(0.0, ALARM)[low] == 0.0
        well = list(host.state.rx_dbm)
        host.state.rx_dbm[1] = -20.0
        host.kernel.bus.advance(10.0)
        host.state.rx_dbm = well
        host.kernel.bus.advance(10.0)
        assert host.look(60.0, ALARM)[low] == 1.0
        assert host.look(120.0, ALARM)[low] == 0.0
    finally:
        host.modules.close()


def test_light_is_what_shines_at_each_poll() -> None:
    host = Host("sr8")
    try:
        for at, level in ((0.0, -1.0), (60.0, -6.0), (120.0, 1.0)):
            host.state.rx_dbm = [level] * 8
            host.kernel.bus.advance(60.0)
            light = host.look(at, RX_POWER)
            assert sorted(light.values()) == pytest.approx([level] * 8, abs=0.01)
    finally:
        host.modules.close()
