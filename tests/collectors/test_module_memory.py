"""Module memory: SFF-8472, SFF-8636 and CMIS, byte by byte."""

import struct
from contextlib import suppress
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.maps import modules
from collectors.protocols import module
from collectors.protocols.module import Memory, Module, Signal
from collectors.protocols.optics.decode import decode
from fabrichealth.catalogue.optics import LOS, RX_POWER, TX_POWER
from fabrichealth.errors import MalformedReply

HALVES = st.binary(min_size=128, max_size=128)
IDENTIFIERS = {"sff8472": 0x03, "sff8636": 0x11, "cmis": 0x19}


def half(*parts: tuple[int, bytes]) -> bytes:
    """Return 128 bytes with these parts at their addresses (0..255)."""
    found = bytearray(128)
    for place, part in parts:
        found[place % 128 : place % 128 + len(part)] = part
    return bytes(found)


def words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}H", *values)


def levels(found: Module, quantity: str) -> dict[int, float]:
    return {one.lane: one.value for one in found.values if one.quantity == quantity}


def sfp(kinds: int, a2: tuple[tuple[int, bytes], ...]) -> Module:
    a0 = half((0, b"\x03"), (20, b"ACME".ljust(16)), (65, b"\x0a"), (92, bytes([kinds])))
    return decode(Memory(a0, {"00": bytes(128), "a2": half(*a2)}))


PAGES = ["00", "01", "02", "03", "11", "1:11", "13", "14", "20", "24", "28", "2c", "2f", "a2"]


@pytest.mark.parametrize("identifier", IDENTIFIERS.values(), ids=IDENTIFIERS)
@given(
    lower=HALVES,
    pages=st.dictionaries(st.sampled_from(PAGES), HALVES | st.binary(max_size=130), max_size=6),
)
def test_any_memory_gives_a_module_or_a_malformed_reply(
    identifier: int, lower: bytes, pages: dict[str, bytes]
) -> None:
    with suppress(MalformedReply):
        found = decode(Memory(bytes([identifier]) + lower[1:], pages))
        for _, _, value in modules.readings(found):
            assert isfinite(value)


@given(HALVES, HALVES, st.booleans())
def test_any_sfp_gives_finite_values(a0: bytes, a2: bytes, external: bool) -> None:
    kinds = 0x58 if external else 0x68
    found = decode(Memory(b"\x03" + a0[1:92] + bytes([kinds]) + a0[93:], {"a2": a2}))
    for _, _, value in modules.readings(found):
        assert isfinite(value)


@pytest.mark.parametrize("first", [0x00, 0xFF, 0x42])
def test_a_bus_that_hangs_is_malformed(first: int) -> None:
    with pytest.raises(MalformedReply, match=f"{first:02x}h"):
        module.identified(first)


MONITORS = ((96, words(0xFB80, 33000, 3000, 5012, 0)),)  # -4.5 C, 3.3 V, 6 mA, 0.5012 mW, dark


def test_an_sfp_tells_light_in_watts_and_dark_as_zero() -> None:
    found = sfp(0x68, MONITORS)
    assert levels(found, "temperature") == {0: -4.5}
    assert levels(found, "supply_voltage") == {0: pytest.approx(3.3)}
    assert levels(found, "tx_bias") == {1: pytest.approx(6e-3)}
    assert levels(found, "tx_power") == {1: pytest.approx(0.5012e-3)}
    assert levels(found, "rx_power") == {1: 0.0}


@pytest.mark.parametrize("kinds", [0x00, 0x40, 0x28], ids=["none", "uncalibrated", "no DDM"])
def test_an_sfp_without_usable_diagnostics_is_known_but_not_measured(kinds: int) -> None:
    found = sfp(kinds, MONITORS)
    assert found.identity.vendor == "ACME"
    assert found.values == ()


def test_external_calibration_uses_slope_offset_and_each_power_of_the_raw_number() -> None:
    calibrated = (
        (56, struct.pack(">5f", 0.0, 0.0, 0.001, 2.0, 3.0)),  # powers 4, 3, 2, 1, 0
        (84, struct.pack(">Hh", 0x0180, -256)),  # temperature: slope 1.5, offset -256 steps
        (96, words(0x1400, 0, 0, 0, 100)),  # raw 20 C; raw 100 of received power
    )
    found = sfp(0x58, calibrated)
    assert levels(found, "temperature") == {0: pytest.approx(1.5 * 20.0 - 1.0)}
    steps = 0.001 * 100**2 + 2.0 * 100 + 3.0
    assert levels(found, "rx_power") == {1: pytest.approx(steps * 0.1e-6)}


def test_an_sfp_gives_the_flags_that_it_implements() -> None:
    found = sfp(0x68, (*MONITORS, (110, b"\x06")))
    assert found.signals == (Signal("rx_los", 1, raised=True), Signal("tx_fault", 1, raised=True))


def qsfp(diagnostics: int = 0x0C, technology: int = 0x00) -> Module:
    lower = half(
        (0, b"\x11"),
        (3, b"\x04"),  # receiver loss of lane 3
        (22, words(0x2D80)),  # 45.5 C
        (26, words(33110)),
        (34, words(10000, 5000, 0, 1)),
        (42, words(3000, 3000, 3000, 3000)),
        (50, words(0, 0, 0, 0)),
    )
    about = half((147, bytes([technology])), (220, bytes([diagnostics])), (195, b"\x0a"))
    return decode(Memory(lower, {"00": about}))


def test_four_lanes_have_light_of_their_own() -> None:
    found = qsfp()
    assert levels(found, "rx_power") == pytest.approx({1: 1e-3, 2: 5e-4, 3: 0.0, 4: 1e-7})
    assert Signal("rx_los", 3, raised=True) in found.signals
    assert Signal("rx_los", 2, raised=False) in found.signals


def test_light_that_a_module_does_not_measure_is_absent_not_dark() -> None:
    assert levels(qsfp(0x08), "tx_power") == {}
    assert levels(qsfp(0x0C), "tx_power") == {1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0}


def test_copper_has_no_light_and_no_loss_of_it() -> None:
    found = qsfp(technology=0xA0)
    assert {value.quantity for value in found.values} == {"temperature", "supply_voltage"}
    assert found.signals == ()
    assert found.identity.kind == "dac"


def cmis(
    mask: int = 0, offered: int = 0x07, state: int = 3, raw: int = 0x2D80, starts: int = 1
) -> Module:
    lower = half(
        (0, b"\x19\x50"),
        (3, bytes([state << 1])),
        (14, words(raw, 33000)),
        (85, b"\x02"),
        (86, b"\x11\x1c\x84\x01"),  # application 1: 8 host lanes, 4 media lanes
    )
    about = half((210, bytes([mask])), (212, b"\x06"))
    offers = half((157, b"\x07"), (158, b"\x06"), (159, b"\x03"), (160, bytes([offered])),
                  (161, b"\x01"), (176, bytes([starts])))  # fmt: skip
    lanes = half(
        (154, words(*[10000] * 8)),
        (170, words(*[1000] * 8)),
        (186, words(*range(1, 9))),
        (147, b"\x02"),
        (206, b"\x10" * 4),
    )
    limits = half((176, words(20000, 1000, 15000, 2000)), (184, words(9000, 1000, 8000, 2000)))
    return decode(Memory(lower, {"00": about, "01": offers, "02": limits, "11": lanes}))


def test_lanes_that_do_not_exist_are_absent() -> None:
    assert set(levels(cmis(mask=0xF0), "rx_power")) == {1, 2, 3, 4}
    assert set(levels(cmis(mask=0x00), "rx_power")) == set(range(1, 9))


def test_a_mask_of_ones_says_nothing_so_the_application_tells_the_lanes() -> None:
    assert set(levels(cmis(mask=0xFF), "rx_power")) == {1, 2, 3, 4}
    assert set(levels(cmis(mask=0xFF, starts=0x11), "rx_power")) == set(range(1, 9))


@pytest.mark.parametrize(("code", "times"), [(0, 1), (1, 2), (2, 4), (3, 1)])
def test_bias_and_its_limits_have_the_advertised_multiplier(code: int, times: int) -> None:
    found = cmis(offered=0x07 | code << 3)
    assert levels(found, "tx_bias")[1] == pytest.approx(2e-3 * times)
    limits = {limit[:3]: limit.value for limit in found.limits}
    assert limits["tx_bias", "high", "alarm"] == pytest.approx(18e-3 * times)
    assert limits["tx_power", "high", "alarm"] == pytest.approx(2e-3)


def test_a_monitor_that_is_not_advertised_is_absent() -> None:
    assert levels(cmis(offered=0x04), "tx_power") == {}
    assert levels(cmis(offered=0x04), "rx_power") != {}


def test_a_module_in_low_power_is_not_cold() -> None:
    assert levels(cmis(state=1, raw=0xFFA0), "temperature") == {}
    assert levels(cmis(state=3, raw=0xFFA0), "temperature") == {0: -0.375}


def test_host_lanes_that_carry_nothing_have_no_flags() -> None:
    found = cmis()
    assert {signal.lane for signal in found.signals if signal.name == "tx_los"} == {1, 2, 3, 4}
    assert {signal.lane for signal in found.signals if signal.name == "rx_los"} == set(range(1, 9))


def test_a_dark_lane_is_at_the_floor_and_lost_where_the_module_has_no_flag() -> None:
    dark = Module(values=(module.Value("rx_power", 1, 0.0), module.Value("rx_power", 2, 1e-3)))
    found = [(metric, labels, value) for metric, labels, value in modules.readings(dark)]
    assert (RX_POWER, ("1",), -40.0) in found
    assert (LOS, ("1", "media"), 1.0) in found
    assert (LOS, ("2", "media"), 0.0) in found
    assert all(metric is not TX_POWER for metric, _, _ in found)


def test_the_module_s_own_flag_is_believed_over_its_power() -> None:
    bright = Module(
        values=(module.Value("rx_power", 1, 1e-3),), signals=(Signal("rx_los", 1, raised=True),)
    )
    losses = [value for metric, _, value in modules.readings(bright) if metric is LOS]
    assert losses == [1.0]
