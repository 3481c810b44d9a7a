"""Netlink: frames and attributes, and the ethtool and DCB replies made of them."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import dcb_netlink, ethtool_netlink, netlink
from collectors.protocols.ethtool_netlink import Fec, LinkModes, LinkState, Pause
from fabrichealth.errors import MalformedReply

REPLY = struct.pack("=BBH", 30, 1, 0)
DECODERS = (
    ethtool_netlink.link_modes,
    ethtool_netlink.link_state,
    ethtool_netlink.pause,
    ethtool_netlink.fec,
    ethtool_netlink.module_eeprom,
    dcb_netlink.pfc,
    netlink.family_id,
)


def u32(kind: int, value: int) -> bytes:
    return netlink.attribute(kind, struct.pack("=I", value))


def u64s(kind: int, *values: int) -> bytes:
    return netlink.attribute(kind, struct.pack(f"={len(values)}Q", *values))


def histogram_bin(low: int, high: int, value: bytes) -> bytes:
    return netlink.nest(5, u32(2, low), u32(3, high), netlink.attribute(4, value))


@given(st.lists(st.tuples(st.integers(0, 0x3FFF), st.binary(max_size=40)), max_size=8))
def test_attributes_come_back_as_they_were_packed(wanted: list[tuple[int, bytes]]) -> None:
    packed = b"".join(netlink.attribute(kind, payload) for kind, payload in wanted)
    assert list(netlink.attributes(packed)) == wanted


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5))
def test_several_messages_in_one_datagram_are_told_apart(payloads: list[bytes]) -> None:
    datagram = b"".join(
        frame + bytes(-len(frame) % 4)
        for number, payload in enumerate(payloads)
        for frame in [netlink.frame(29, 0, number, payload)]
    )
    found = list(netlink.frames(datagram))
    assert [frame.payload for frame in found] == payloads
    assert [frame.sequence for frame in found] == list(range(len(payloads)))


def test_an_error_frame_carries_its_errno() -> None:
    datagram = netlink.frame(netlink.ERROR, 0, 7, struct.pack("=i", -95) + bytes(16))
    (frame,) = netlink.frames(datagram)
    assert (frame.error, frame.sequence) == (95, 7)
    assert netlink.error_name(95) == "EOPNOTSUPP"


@pytest.mark.parametrize("decode", DECODERS)
@given(reply=st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_malformed_reply(decode: object, reply: bytes) -> None:
    assert callable(decode)
    with suppress(MalformedReply):
        decode(reply)


@given(st.binary(max_size=200))
def test_any_datagram_gives_frames_or_a_malformed_reply(datagram: bytes) -> None:
    try:
        frames = list(netlink.frames(datagram))
    except MalformedReply:
        return
    assert sum(len(frame.payload) + 16 for frame in frames) <= len(datagram)


def test_fec_totals_are_element_zero_and_lanes_follow() -> None:
    statistics = netlink.nest(
        5, u64s(2, 900, 400, 500), u64s(3, 2, 2, 0), netlink.attribute(4, b"")
    )
    found = ethtool_netlink.fec(REPLY + u32(4, 50) + statistics)
    assert found == Fec("rs", corrected=900, uncorrectable=2, corrected_bits=None)


def test_histogram_bins_are_read_at_both_widths() -> None:
    statistics = netlink.nest(
        5,
        histogram_bin(0, 0, struct.pack("=Q", 1 << 40)),
        histogram_bin(1, 1, struct.pack("=I", 12)),
        histogram_bin(2, 3, struct.pack("=I", 4)),
    )
    found = ethtool_netlink.fec(REPLY + statistics)
    assert found.histogram == {(0, 0): 1 << 40, (1, 1): 12, (2, 3): 4}
    assert found.mode is None


def test_what_a_driver_leaves_out_is_none_and_not_zero() -> None:
    assert ethtool_netlink.pause(REPLY) == Pause(None, None)
    assert ethtool_netlink.fec(REPLY) == Fec()
    assert ethtool_netlink.link_state(REPLY) == LinkState()


@pytest.mark.parametrize("unknown", [0, 0xFFFFFFFF])
def test_an_unknown_speed_is_absent(unknown: int) -> None:
    assert ethtool_netlink.link_modes(REPLY + u32(5, unknown)) == LinkModes()
    assert ethtool_netlink.link_modes(REPLY + u32(5, 400_000) + u32(9, 4)) == LinkModes(4e11, 4)


def test_pause_frames_sent_come_before_received() -> None:
    statistics = netlink.nest(5, u64s(1), u64s(2, 11), u64s(3, 22))
    assert ethtool_netlink.pause(REPLY + statistics) == Pause(sent=11, received=22)


def test_a_module_page_that_is_not_whole_is_malformed() -> None:
    whole = netlink.attribute(7, bytes(range(128)))
    assert ethtool_netlink.module_eeprom(REPLY + whole) == bytes(range(128))
    with pytest.raises(MalformedReply, match="12 bytes"):
        ethtool_netlink.module_eeprom(REPLY + netlink.attribute(7, bytes(12)))


def test_pfc_totals_are_sent_then_received() -> None:
    totals = struct.pack("=BBBxHxx8Q8Q", 8, 0b1000, 0, 0, *range(8), *range(100, 108))
    reply = bytes(4) + netlink.nest(13, netlink.attribute(2, totals))
    found = dcb_netlink.pfc(reply)
    assert found is not None
    assert (found.enabled, found.sent[3], found.received[3]) == (8, 3, 103)
    assert dcb_netlink.pfc(bytes(4)) is None
