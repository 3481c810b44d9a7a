"""The ethtool ioctl: buffers asked with, buffers answered."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import ethtool_ioctl
from fabrichealth.errors import MalformedReply

DECODERS = (
    ethtool_ioctl.driver,
    ethtool_ioctl.set_size,
    ethtool_ioctl.names,
    ethtool_ioctl.statistics,
    ethtool_ioctl.module_info,
    ethtool_ioctl.module_eeprom,
)


@pytest.mark.parametrize("decode", DECODERS)
@given(reply=st.binary(max_size=250))
def test_any_bytes_give_a_value_or_a_malformed_reply(decode: object, reply: bytes) -> None:
    assert callable(decode)
    with suppress(MalformedReply):
        decode(reply)


def test_a_driver_says_who_it_is_and_where() -> None:
    reply = bytearray(ethtool_ioctl.driver_request())
    for start, text in ((4, b"mlx5_core"), (36, b"6.8"), (68, b"28.40"), (100, b"0000:3b:00.0")):
        reply[start : start + len(text)] = text
    struct.pack_into("=I", reply, 180, 512)
    assert ethtool_ioctl.driver(bytes(reply)) == ethtool_ioctl.Driver(
        "mlx5_core", "6.8", "28.40", "0000:3b:00.0", 512
    )


def test_a_name_of_32_characters_has_no_end_mark() -> None:
    long, short = b"x" * 32, b"rx_bytes".ljust(32, b"\0")
    reply = struct.pack("=III", ethtool_ioctl.GET_STRINGS, 1, 2) + long + short
    assert ethtool_ioctl.names(reply) == ("x" * 32, "rx_bytes")


def test_values_are_unsigned_64_bit() -> None:
    reply = struct.pack("=II2Q", ethtool_ioctl.GET_STATISTICS, 2, 2**64 - 1, 5) + bytes(16)
    assert ethtool_ioctl.statistics(reply).tolist() == [2**64 - 1, 5]


def test_buffers_leave_room_for_rings_added_meanwhile() -> None:
    assert len(ethtool_ioctl.statistics_request(10)) >= 8 + 8 * (10 + ethtool_ioctl.ROOM)
    assert len(ethtool_ioctl.names_request(1, 10)) >= 12 + 32 * (10 + ethtool_ioctl.ROOM)


def test_a_driver_without_the_set_has_no_statistics() -> None:
    assert ethtool_ioctl.set_size(struct.pack("=IIQI", 0x37, 0, 0, 9)) == 0
    assert ethtool_ioctl.set_size(struct.pack("=IIQI", 0x37, 0, 2, 9)) == 9
