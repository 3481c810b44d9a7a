"""What is made of the running kernel's answers, and of its refusals."""

import errno
import os
import struct
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from collectors.host.links import HostLinks
from collectors.host.modules import HostModules
from collectors.host.ports import HostPort
from collectors.maps.columns import Columns
from collectors.optics.columns import ModuleColumns
from collectors.optics.reading import ModuleReader
from collectors.protocols.dcb_netlink import Pfc
from collectors.protocols.ethtool_ioctl import Driver
from collectors.protocols.ethtool_netlink import Fec, LinkModes, LinkState, Pause
from collectors.transports.one_reader import OneReader
from fabrichealth.catalogue.congestion import PFC_RX_FRAMES
from fabrichealth.catalogue.optics import OPTICS_INFO, RX_POWER, TEMPERATURE
from fabrichealth.catalogue.pause import PAUSE_RX_FRAMES
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_UNCORRECTABLE_CODEWORDS,
    LANES,
    LINK_DOWNS,
    RX_BYTES,
    TX_BYTES,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from tests.fixtures import readings

CARD = HostPort("host-001", "eth0", "eth0", "", interface="eth0", driver="mlx5_core")
HERE = ("host-001", "eth0")


def refuse(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class Card:
    """An interface that answers what it is given; an OSError it raises."""

    def __init__(self) -> None:
        self.values: dict[str, int] | OSError = {"rx_bytes_phy": 10, "ring0": 1}
        self.late_rings = 0
        self.asked = 0
        self.modes = LinkModes(4e11, 4)
        self.told: Fec | OSError = refuse(errno.EOPNOTSUPP)
        self.paused: Pause | OSError = refuse(errno.EOPNOTSUPP)
        self.priorities: Pfc | None = None

    def driver(self, interface: str) -> Driver:
        return Driver("mlx5_core", "", "", "", 0)

    def statistics_count(self, interface: str) -> int:
        if isinstance(self.values, OSError):
            raise self.values
        return len(self.values)

    def statistics_names(self, interface: str, count: int) -> tuple[str, ...]:
        assert not isinstance(self.values, OSError)
        return tuple(self.values)

    def statistics(self, interface: str, count: int) -> NDArray[np.uint64]:
        assert not isinstance(self.values, OSError)
        return np.array([*self.values.values(), *[0] * self.late_rings], np.uint64)

    def link_modes(self, interface: str) -> LinkModes:
        return self.modes

    def link_state(self, interface: str) -> LinkState:
        return LinkState(up=True, downs=6)

    def pause(self, interface: str) -> Pause:
        self.asked += 1
        if isinstance(self.paused, OSError):
            raise self.paused
        return self.paused

    def fec(self, interface: str) -> Fec:
        if isinstance(self.told, OSError):
            raise self.told
        return self.told

    def pfc(self, interface: str) -> Pfc | None:
        return self.priorities


class Asked:
    """A card asked poll by poll; the kernel's own smaller byte count is always there."""

    def __init__(self) -> None:
        self.card, self.table = Card(), SeriesTable()
        self.links = HostLinks(self.card, self.table, retry=600.0)
        self.poll = Poll()

    def read(self, at: float) -> None:
        columns = Columns(self.table)
        self.links.read(CARD, 4e11, at, columns)
        columns.take(RX_BYTES, HERE, 3.0)
        columns.take(TX_BYTES, HERE, 4.0)
        self.poll = columns.poll(0, at)

    def values(self, metric: Metric) -> dict[Labels, float]:
        return readings(self.poll, self.table, metric)


def test_the_driver_s_count_of_the_port_wins_over_the_kernel_s() -> None:
    asked = Asked()
    asked.read(0.0)
    assert asked.values(RX_BYTES) == {HERE: 10.0}
    assert asked.values(TX_BYTES) == {HERE: 4.0}
    assert asked.values(LANES) == {HERE: 4.0}
    assert asked.values(LINK_DOWNS) == {HERE: 6.0}


@pytest.mark.parametrize("number", [errno.EBUSY, errno.ENODEV])
def test_a_driver_that_fails_once_leaves_a_gap_and_no_smaller_number(number: int) -> None:
    asked = Asked()
    asked.read(0.0)
    asked.card.values = refuse(number)
    asked.read(1.0)
    assert asked.values(RX_BYTES) == {}
    assert asked.values(TX_BYTES) == {HERE: 4.0}
    assert asked.poll.missing == ["eth0 statistics"]
    assert [one.reason for one in asked.poll.refused] == [Reason.FAILED]


def test_rings_added_while_reading_leave_a_gap_and_then_new_names() -> None:
    asked = Asked()
    asked.read(0.0)
    asked.card.late_rings = 2
    asked.read(1.0)
    assert asked.values(RX_BYTES) == {}
    asked.card.values, asked.card.late_rings = {"ring0": 1, "ring1": 2, "rx_bytes_phy": 30}, 0
    asked.read(2.0)
    assert asked.values(RX_BYTES) == {HERE: 30.0}


def test_as_many_other_names_are_noticed_within_a_minute() -> None:
    asked = Asked()
    asked.read(0.0)
    asked.card.values = {"ring0": 1, "rx_bytes_phy": 30}
    asked.read(61.0)
    assert asked.values(RX_BYTES) == {HERE: 30.0}


def test_what_a_driver_cannot_tell_is_said_once_and_asked_again_after_a_rest() -> None:
    asked = Asked()
    asked.read(0.0)
    assert {one.what: one.reason for one in asked.poll.refused} == {
        "pause": Reason.UNSUPPORTED,
        "fec": Reason.UNSUPPORTED,
    }
    asked.read(1.0)
    assert (asked.poll.refused, asked.card.asked) == ([], 1)
    asked.card.paused = Pause(received=12)
    asked.read(600.0)
    assert asked.values(PAUSE_RX_FRAMES) == {HERE: 12.0}


def test_fec_bins_of_one_error_count_are_series_and_the_code_is_told_by_its_lanes() -> None:
    asked = Asked()
    asked.card.told = Fec("rs", uncorrectable=0, histogram={(0, 0): 9, (1, 1): 2, (4, 7): 1})
    asked.read(0.0)
    assert asked.values(FEC_CODEWORDS) == {(*HERE, "0"): 9.0, (*HERE, "1"): 2.0}
    assert asked.values(FEC_UNCORRECTABLE_CODEWORDS) == {HERE: 0.0}
    assert asked.links.fec == {"eth0": "rs544"}


def test_pfc_is_counted_where_it_is_on() -> None:
    asked = Asked()
    asked.card.priorities = Pfc(0b1000, tuple(range(8)), tuple(range(10, 18)))
    asked.read(0.0)
    assert asked.values(PFC_RX_FRAMES) == {(*HERE, "3"): 13.0}


class Cage:
    """A module by half pages, or the refusal of the kernel; an old kernel has the image alone."""

    def __init__(
        self,
        halves: Mapping[tuple[int, int, bool, int], bytes],
        refusal: OSError | None = None,
        image: bytes = b"",
    ) -> None:
        self.halves, self.refusal, self.image = halves, refusal, image
        self.reads: list[tuple[int, int]] = []

    def module_page(
        self, interface: str, page: int, *, upper: bool, bank: int = 0, address: int = 0x50
    ) -> bytes:
        if self.refusal is not None:
            raise self.refusal
        self.reads.append((bank, page))
        return self.halves.get((address, page, upper, bank), bytes(128))

    def module_image(self, interface: str) -> bytes:
        if not self.image:
            raise refuse(errno.EOPNOTSUPP)
        return self.image


def half(*parts: tuple[int, bytes]) -> bytes:
    found = bytearray(128)
    for place, part in parts:
        found[place % 128 : place % 128 + len(part)] = part
    return bytes(found)


def words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}H", *values)


def plugged(cage: Cage, *times: float) -> tuple[Poll, SeriesTable]:
    """Return the last of several looks at a module."""
    table = SeriesTable()
    alone = OneReader(f"test.{os.getpid()}.")
    modules = HostModules(ModuleReader(cage), ModuleColumns(table), 60.0, 600.0, alone)
    try:
        for at in times or (0.0,):
            columns = Columns(table)
            modules.read(CARD, at, columns)
    finally:
        modules.close()
    return columns.poll(0, 0.0), table


SFP_ABOUT = half((0, b"\x03"), (20, b"ACME".ljust(16)), (92, b"\x68"))
SFP_LIGHT = half((96, words(0x1900, 33000, 3000, 5000, 5012)))


def test_an_sfp_is_read_at_both_addresses() -> None:
    cage = Cage({(0x50, 0, False, 0): SFP_ABOUT, (0x51, 0, False, 0): SFP_LIGHT})
    taken = plugged(cage)
    assert readings(*taken, TEMPERATURE) == {HERE: 25.0}
    assert readings(*taken, RX_POWER) == {(*HERE, "1"): pytest.approx(-3.0, abs=0.01)}


def test_an_old_kernel_gives_one_image() -> None:
    image = SFP_ABOUT + bytes(128) + SFP_LIGHT + bytes(128)
    taken = plugged(Cage({}, refuse(errno.EOPNOTSUPP), image))
    assert readings(*taken, TEMPERATURE) == {HERE: 25.0}


def test_a_module_of_sixteen_lanes_is_read_bank_by_bank() -> None:
    offers = half((142, b"\x01"), (159, b"\x03"), (160, b"\x04"))
    halves = {
        (0x50, 0, False, 0): half((0, b"\x19\x50"), (14, words(0x1900, 33000))),
        (0x50, 1, True, 0): offers,
        (0x50, 0x11, True, 0): half((186, words(*[10000] * 8))),
        (0x50, 0x11, True, 1): half((186, words(*[5000] * 8))),
    }
    taken = plugged(Cage(halves))
    light = readings(*taken, RX_POWER)
    assert len(light) == 16
    assert light[*HERE, "1"] == pytest.approx(0.0)
    assert light[*HERE, "16"] == pytest.approx(-3.01, abs=0.01)


def test_flat_copper_is_known_but_its_missing_pages_are_not_read() -> None:
    cage = Cage({(0x50, 0, False, 0): half((0, b"\x18\x50\x80"), (85, b"\x03"))})
    taken = plugged(cage)
    assert {labels[-1] for labels in readings(*taken, OPTICS_INFO)} == {"dac"}
    assert {page for _, page in cage.reads} == {0}
    assert readings(*taken, TEMPERATURE) == {}


def test_modules_are_read_at_their_own_period() -> None:
    cage = Cage({(0x50, 0, False, 0): SFP_ABOUT, (0x51, 0, False, 0): SFP_LIGHT})
    between, table = plugged(cage, 0.0, 59.0)
    assert readings(between, table, TEMPERATURE) == {}
    due, table = plugged(cage, 0.0, 59.0, 60.0)
    assert readings(due, table, TEMPERATURE) == {HERE: 25.0}


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.EPERM, Reason.FAILED), (errno.EOPNOTSUPP, Reason.UNSUPPORTED)],
)
def test_a_module_that_may_not_be_read_is_said_once(number: int, reason: Reason) -> None:
    first, _ = plugged(Cage({}, refuse(number)), 0.0)
    assert [one.reason for one in first.refused] == [reason]
    later, _ = plugged(Cage({}, refuse(number)), 0.0, 61.0)
    assert later.refused == []
    again, _ = plugged(Cage({}, refuse(number)), 0.0, 601.0)
    assert [one.reason for one in again.refused] == [reason]


def test_a_bus_that_hangs_is_malformed() -> None:
    poll, _ = plugged(Cage({(0x50, 0, False, 0): b"\xff" * 128}))
    assert [one.reason for one in poll.refused] == [Reason.MALFORMED]
