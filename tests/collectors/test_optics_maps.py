"""Memory maps of optical modules: every row where the specification has it, both decoders alike."""

import random
import struct
from collections import Counter
from contextlib import suppress
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.maps import modules
from collectors.protocols.module import HALF, Kind, Memory, Module
from collectors.protocols.optics import cmis_vdm, reference
from collectors.protocols.optics.decode import decode
from collectors.protocols.optics.identity import identity_of
from collectors.protocols.optics.layout import Layouts, compiled, stacked
from collectors.protocols.optics.presence import resolve
from collectors.protocols.optics.standard import STANDARDS, Standard
from emulator.module_kinds import KINDS
from emulator.modules.image import image
from emulator.optics import ModuleState
from fabrichealth.catalogue.optics import ALARM, LASER_TEMPERATURE, PRE_FEC_BER, SNR, THRESHOLD
from fabrichealth.errors import MalformedReply

every_standard = pytest.mark.parametrize("standard", STANDARDS.values(), ids=STANDARDS)
NAMES = st.sampled_from(
    ["00", "01", "02", "03", "11", "12", "13", "14", "1a", "1b", "20", "21", "24", "25", "28", "2c",
     "2f", "34", "35", "1:11", "1:20", "1:24", "a2"]
)  # fmt: skip
HALVES = st.binary(min_size=HALF, max_size=HALF)


def half(*parts: tuple[int, bytes]) -> bytes:
    """Return 128 bytes with these parts at their addresses (0..255)."""
    found = bytearray(HALF)
    for place, part in parts:
        found[place % HALF : place % HALF + len(part)] = part
    return bytes(found)


def words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}H", *values)


def optical(
    *lower: tuple[int, bytes], offers: tuple[tuple[int, bytes], ...] = (), **pages: bytes
) -> Memory:
    """Return a module that is ready, with four media lanes and eight host lanes in use.

    Pages are `p11=..`, of bank 1 `b1p11=..`; `offers` is added to page 01h.
    """
    whole = {
        "00": half((210, b"\xf0"), (212, b"\x06")),
        "01": half((142, b"\x60"), (157, b"\x07"), (158, b"\x06"), (159, b"\x03"), (160, b"\x07"),
                   (161, b"\x01"), (162, b"\x01"), (176, b"\x01"), *offers),
        "11": half((128, b"\x44" * 4), (206, b"\x10" * 8)),
    }  # fmt: skip
    base = (
        (0, b"\x19\x50"),
        (3, b"\x06"),
        (14, words(0x2D80, 33000)),
        (85, b"\x02\x11\x1c\x84\x01"),
    )
    return with_pages(Memory(half(*base, *lower), whole), pages)


def with_pages(memory: Memory, more: dict[str, bytes]) -> Memory:
    """Return a memory with further pages, named as for `optical`."""
    named = {name.replace("b1p", "1:").removeprefix("p"): page for name, page in more.items()}
    return Memory(memory.lower, dict(memory.pages) | named)


def told(found: Module, quantity: str, side: str = "media") -> dict[int, float]:
    return {v.lane: v.value for v in found.values if (v.quantity, v.side) == (quantity, side)}


def emulated(kind: str) -> Memory:
    """Return the memory of an emulated module of a kind that works."""
    one, far = (ModuleState("S1", KINDS[kind].lanes, kind=kind) for _ in range(2))
    for _ in range(50):
        one.shine(30.0)
        far.shine(30.0)
    one.receive(far)
    pages = image(one)
    if "lower" in pages:
        return Memory(pages.pop("lower"), pages)
    return Memory(pages["a0"][:HALF], {"00": pages["a0"][HALF:], "a2": pages["a2"][:HALF]})


@every_standard
def test_every_row_lies_within_its_half_page_and_says_what_and_where(standard: Standard) -> None:
    for row in standard.fields:
        first, last = row.span
        start = 0 if row.page in {"", "a2"} else HALF
        assert start <= first <= last < start + HALF, row.name
        for cell in row.cells():
            assert start <= cell.byte < start + HALF, row.name
            assert cell.low + (row.width if row.size == 1 else 0) <= 8, row.name
        assert row.says.endswith("."), row.name
        assert row.spec.startswith(("SFF-8", "OIF-")), row.name


@every_standard
def test_every_page_of_a_row_and_of_a_condition_is_one_of_the_standard(standard: Standard) -> None:
    pages = {page.name for page in standard.pages}
    gates = [gate for row in standard.fields for gate in row.gates]
    gates += [gate for page in standard.pages for gate in page.gates]
    assert {row.page for row in standard.fields} | {gate.page for gate in gates} <= pages
    assert {checksum.page for checksum in standard.checksums} <= pages


def test_four_limits_are_always_four_behind_each_other() -> None:
    for standard in STANDARDS.values():
        places = [row.of_four for row in standard.fields if row.of_four >= 0]
        assert places == [0, 1, 2, 3] * (len(places) // 4)


def check_alike(memory: Memory, images: list[Memory]) -> int:
    """Compare both decoders on modules of one layout; return how many numbers were compared."""
    presence = resolve(memory)
    layout = compiled(presence, memory)
    fast = layout.decode(stacked(map(layout.image, images)))
    for one, row in zip(images, fast, strict=True):
        slow = {id(told.cell): told.value for told in reference.read(one, presence)}
        expected = np.array([slow[id(cell)] for cell in layout.cells], np.float64)
        np.testing.assert_allclose(row, expected, rtol=1e-12, atol=0.0)
    return fast.size


@pytest.mark.parametrize("kind", KINDS)
def test_both_decoders_say_the_same_of_every_kind(kind: str) -> None:
    memory = emulated(kind)
    assert identity_of(memory).kind == KINDS[kind].kind
    assert check_alike(memory, [memory]) > 20


@pytest.mark.parametrize("kind", ["2xfr4", "zr", "cwdm4", "sfp", "els"])
def test_both_decoders_say_the_same_of_noise_in_whatever_moves(kind: str) -> None:
    memory = emulated(kind)
    standard = resolve(memory).standard
    moving = [page.name for page in standard.pages if page.changes and page.name in memory.pages]
    dice = random.Random(1)
    consulted = {(page, byte) for page, byte in resolve(memory).consulted}
    noisy = []
    for _ in range(20):
        pages = dict(memory.pages)
        for page in moving:
            first = 0 if page == "a2" else HALF
            pages[page] = bytes(
                old if (page, first + place) in consulted else dice.randrange(256)
                for place, old in enumerate(pages[page])
            )
        noisy.append(Memory(memory.lower, pages))
    assert check_alike(memory, noisy) > 500


@pytest.mark.parametrize("identifier", [0x03, 0x11, 0x19])
@given(lower=HALVES, pages=st.dictionaries(NAMES, HALVES | st.binary(max_size=130), max_size=8))
def test_both_decoders_say_the_same_of_any_bytes(
    identifier: int, lower: bytes, pages: dict[str, bytes]
) -> None:
    memory = Memory(bytes([identifier]) + lower[1:], {"00": bytes(HALF)} | pages)
    with suppress(MalformedReply):
        check_alike(memory, [memory])


def test_modules_of_one_kind_share_a_layout_and_others_do_not() -> None:
    layouts = Layouts()
    first = layouts.of(optical((14, words(0x1900))))
    assert layouts.of(optical((14, words(0x2000)))) is first
    assert layouts.of(optical(offers=((160, b"\x0f"),))) is not first


# VDM: descriptors, samples, limits, flags


def observed(*instances: tuple[int, int, int], samples: bytes, **more: bytes) -> Memory:
    """Return a module with observables (set of limits, lane or 15 for all, type) and samples."""
    descriptors = b"".join(bytes([limits << 4 | lane, kind]) for limits, lane, kind in instances)
    pages = {"p20": half((128, descriptors)), "p24": half((128, samples)), "p2f": half()}
    return with_pages(optical(), pages | more)


@pytest.mark.parametrize(
    ("raw", "value"),
    [(0x72E6, 7.42e-8), (0x71EF, 4.95e-8), (0x7424, 1.06e-7), (0x6ECD, 1.741e-8), (0x0000, 0.0)],
)
def test_an_f16_is_a_mantissa_and_a_power_of_ten(raw: int, value: float) -> None:
    memory = observed((2, 15, 15), samples=words(raw))
    assert told(decode(memory), "pre_fec_ber") == {0: pytest.approx(value, rel=1e-12)}


def test_noise_of_versatile_diagnostics_is_big_endian() -> None:
    memory = observed(
        *((0, lane, 5) for lane in range(4)), samples=words(0x1530, 0x16F3, 0x160C, 0x156A)
    )
    expected = {1: 21.1875, 2: 22.949, 3: 22.047, 4: 21.414}
    assert told(decode(memory), "snr") == pytest.approx(expected, abs=1e-3)


def test_noise_of_page_14h_is_little_endian_and_of_the_sides_that_are_measured() -> None:
    media = bytes.fromhex("8915a0160c166a15")
    pages = {
        "p13": half((130, b"\x23")),
        "p14": half((128, b"\x06"), (208, b"\x11" * 16), (240, media)),
    }
    found = decode(with_pages(optical(offers=((142, b"\x20"),)), pages))
    assert told(found, "snr") == pytest.approx(
        {1: 21.535, 2: 22.625, 3: 22.047, 4: 21.414}, abs=1e-3
    )
    assert told(found, "snr", "host") == {}


def test_page_14h_says_nothing_of_noise_while_its_selector_shows_something_else() -> None:
    pages = {"p13": half((130, b"\x33")), "p14": half((128, b"\x01"), (240, b"\x15" * 16))}
    assert told(decode(with_pages(optical(offers=((142, b"\x20"),)), pages)), "snr") == {}


def test_what_is_current_stands_before_the_average_of_the_last_freeze() -> None:
    both = decode(observed((0, 15, 13), (0, 15, 15), samples=words(0x7424, 0x72E6)))
    assert told(both, "pre_fec_ber") == {0: pytest.approx(7.42e-8)}
    average = decode(observed((0, 15, 13), samples=words(0x7424)))
    assert told(average, "pre_fec_ber") == {0: pytest.approx(1.06e-7)}


def test_a_lane_field_of_ones_is_the_whole_module_and_not_lane_sixteen() -> None:
    found = decode(observed((0, 15, 4), (0, 1, 2), samples=words(0x3180, 0x4000)))
    assert told(found, "laser_temperature") == {0: 49.5}
    assert told(found, "tec_current") == {2: pytest.approx(0.5, abs=1e-4)}


def test_lanes_of_the_second_bank_follow_those_of_the_first() -> None:
    second = {"b1p20": half((128, bytes([0, 5]))), "b1p24": half((128, words(0x1500)))}
    memory = observed((0, 0, 5), samples=words(0x1400), **second)
    pages = dict(memory.pages) | {"01": half((142, b"\x61"), (159, b"\x03"))}
    assert told(decode(Memory(memory.lower, pages)), "snr") == {1: 20.0, 9: 21.0}


def test_types_that_nobody_knows_are_counted_and_cost_nothing_else() -> None:
    memory = observed(
        (0, 0, 101), (0, 1, 101), (0, 0, 200), (0, 0, 5), samples=words(1, 2, 3, 0x1400)
    )
    assert resolve(memory).unknown == Counter({101: 2, 200: 1})
    assert told(decode(memory), "snr") == {1: 20.0}


def test_ones_where_noise_is_not_measured_are_no_256_decibels() -> None:
    assert told(decode(observed((0, 0, 5), (0, 1, 5), samples=words(0xFFFF, 0x1400))), "snr") == {
        2: 20.0
    }


def test_limits_and_flags_of_an_observable_are_of_its_set_and_its_lane() -> None:
    limits = half((128 + 8 * 3, words(0x4600, 0x0A00, 0x4100, 0x0F00)))
    flags = half((128, b"\x50"))  # the second instance: high alarm and high warning
    memory = observed((3, 0, 4), (3, 1, 4), samples=words(0x3000, 0x4700), p28=limits, p2c=flags)
    found = {(m, at): value for m, at, value in modules.readings(decode(memory))}
    assert found[LASER_TEMPERATURE, ("2",)] == 71.0
    assert found[THRESHOLD, ("laser_temperature", "high", "alarm")] == 70.0
    assert found[THRESHOLD, ("laser_temperature", "low", "warning")] == 15.0
    assert found[ALARM, ("2", "laser_temperature", "high", "alarm")] == 1.0
    assert found[ALARM, ("2", "laser_temperature", "low", "alarm")] == 0.0
    assert found[ALARM, ("1", "laser_temperature", "high", "alarm")] == 0.0


@pytest.mark.parametrize("kind", cmis_vdm.OBSERVABLES)
def test_every_type_is_read(kind: int) -> None:
    memory = observed((0, 0, kind), samples=words(0x1234))
    name = f"vdm_{cmis_vdm.OBSERVABLES[kind].name}"
    (sample,) = [
        one for one in reference.read(memory, resolve(memory)) if one.cell.field.name == name
    ]
    assert isinstance(sample.value, float)
    assert not isnan(sample.value)


# What must not be believed


def test_a_page_that_repeats_page_00h_is_not_read() -> None:
    about = half((0, b"\x19"), (129, b"ACME".ljust(16)), (148, b"X-800".ljust(16)), (212, b"\x06"))
    memory = observed((0, 0, 5), samples=words(0x1400))
    pages = dict(memory.pages) | {"00": about, "20": about, "24": about}
    repeated = Memory(memory.lower, pages)
    assert told(decode(repeated), "snr") == {}
    assert resolve(repeated).unusable["24"].startswith("repeats page 00h")


def test_a_page_that_repeats_the_lower_memory_is_not_read() -> None:
    memory = observed((0, 0, 5), samples=words(0x1400))
    spoiled = Memory(memory.lower, dict(memory.pages) | {"2c": memory.lower})
    assert "2c" in resolve(spoiled).unusable
    assert not any(alarm.quantity == "snr" for alarm in decode(spoiled).alarms)
    assert told(decode(spoiled), "snr") == {1: 20.0}


@pytest.mark.parametrize("octet", [0x00, 0xFF])
def test_a_bus_that_hangs_takes_the_lanes_and_leaves_the_module(octet: int) -> None:
    found = decode(optical(p11=bytes([octet]) * HALF))
    assert told(found, "rx_power") == {}
    assert told(found, "temperature") == {0: 45.5}


def test_a_short_page_costs_only_itself() -> None:
    found = decode(optical(p11=bytes(100), p02=half((128, words(0x4B00, 0, 0x4600, 0x100)))))
    assert told(found, "rx_power") == {}
    assert {limit.quantity for limit in found.limits} == {"temperature"}


@pytest.mark.parametrize(
    ("raw", "set_"),
    [
        pytest.param(words(0x4B00, 0xFB00, 0x4600, 0x0000), True, id="0 degC is a limit"),
        pytest.param(bytes(8), False, id="zeros"),
        pytest.param(b"\xff" * 8, False, id="erased"),
        pytest.param(words(0x0A00, 0x4B00, 0x0A00, 0x4600), False, id="upside down"),
    ],
)
def test_limits_that_are_none_are_none(raw: bytes, set_: bool) -> None:
    found = decode(optical(p02=half((128, raw))))
    assert bool(found.limits) == set_


def test_a_cable_that_says_it_measures_and_reads_nothing_measures_nothing() -> None:
    found = decode(optical((14, bytes(4))))
    assert told(found, "temperature") == told(found, "supply_voltage") == {}
    assert told(decode(optical((14, words(0, 33000)))), "temperature") == {0: 0.0}


def test_noise_and_errors_of_a_lane_without_a_data_path_are_none() -> None:
    memory = observed(*((0, lane, 6) for lane in range(2)), samples=words(0x1400, 0x0000))
    idle = {"11": half((128, b"\x14\x44\x44\x44"), (206, b"\x10" * 8))}  # lane 2 is deactivated
    assert told(decode(Memory(memory.lower, dict(memory.pages) | idle)), "snr", "host") == {1: 20.0}


def test_an_error_ratio_of_nothing_on_lost_light_is_none() -> None:
    lost = half((128, b"\x44" * 4), (147, b"\x01"), (206, b"\x10" * 8))
    memory = observed((0, 0, 15), (0, 1, 15), samples=bytes(4), p11=lost)
    ratios = {at: value for m, at, value in modules.readings(decode(memory)) if m is PRE_FEC_BER}
    assert ratios == {("2", "media"): 0.0}


def test_a_cooled_laser_s_monitors_mean_what_page_01h_says() -> None:
    auxiliary = ((18, words(0x4000)), (20, words(0x3200)))
    cooled = decode(optical(*auxiliary, offers=((145, b"\x01"), (159, b"\x0f"))))
    assert told(cooled, "tec_current") == {0: pytest.approx(0.5, abs=1e-4)}
    assert told(cooled, "laser_temperature") == {0: 50.0}
    other = decode(optical(*auxiliary, offers=((145, b"\x02"), (159, b"\x0f"))))
    assert told(other, "laser_temperature") == {}


def test_an_external_laser_source_has_coarser_steps_and_no_receivers() -> None:
    limits = half((140, b"\x09"), (141, words(3000, 100, 2800, 200)), (166, b"\x02"))
    light = half((184, words(1500, 1600, 1700, 1800)), (200, words(5000, 0, 5000, 5000)))
    pages = {"00": half(), "01": half((159, b"\x01")), "1a": limits, "1b": light}
    memory = Memory(half((0, b"\x22\x52"), (3, b"\x06"), (57, b"\x01")), pages)
    found = decode(memory)
    assert identity_of(memory).kind == "els"
    assert told(found, "tx_bias") == pytest.approx({1: 0.15, 2: 0.16, 3: 0.17, 4: 0.18})
    assert told(found, "tx_power")[1] == pytest.approx(50e-3)
    assert told(found, "rx_power") == {}
    assert {(s.name, s.lane) for s in found.signals if s.raised} == {("tx_fault", 2)}
    assert next(iter(found.limits)).value == pytest.approx(0.3)


def test_limits_of_an_externally_calibrated_sfp_are_calibrated_too() -> None:
    a0 = half((0, b"\x03"), (92, b"\x58"))
    slope_and_offset = struct.pack(">Hh", 0x0180, -256)
    a2 = half((0, words(40 * 256, 0, 35 * 256, 256)), (84, slope_and_offset), (96, words(20 * 256)))
    found = decode(Memory(a0, {"a2": a2}))
    assert told(found, "temperature") == {0: pytest.approx(1.5 * 20 - 1)}
    limits = {limit[1:3]: limit.value for limit in found.limits if limit.quantity == "temperature"}
    assert limits["high", "alarm"] == pytest.approx(1.5 * 40 - 1)


def test_an_sfp_whose_second_address_repeats_the_first_has_no_limits() -> None:
    names = ((20, b"ACME".ljust(16)), (40, b"X-10G".ljust(16)), (92, b"\x68"))
    a0 = half((0, b"\x03"), *names)
    found = decode(Memory(a0, {"a2": half((0, b"\x03"), *names, (96, words(0x1900)))}))
    assert found.limits == ()
    assert told(found, "temperature") == {0: 25.0}


def test_a_wrong_checksum_is_known_and_drops_nothing() -> None:
    memory = emulated("dr4")
    (first, *_) = resolve(memory).standard.checksums
    stated, found = first.stated(memory)
    assert stated == found
    spoiled = bytearray(memory.pages["00"])
    spoiled[40] ^= 1
    other = Memory(memory.lower, dict(memory.pages) | {"00": bytes(spoiled)})
    stated, found = first.stated(other)
    assert stated != found
    assert decode(other).values == decode(memory).values


def test_what_is_absent_has_a_reason_and_the_bits_that_say_so() -> None:
    absent = {one.field.name: one for one in resolve(optical(offers=((160, b"\x03"),))).absent}
    assert absent["rx_power"].why == "light received is not monitored"
    assert absent["rx_power"].place == "01h:160 bit 2"
    flat = Memory(half((0, b"\x19\x50\x80"), (85, b"\x03")), {"00": half((212, b"\x0a"))})
    assert {one.why for one in resolve(flat).absent if one.field.name == "temperature"} == {
        "flat memory: the module has page 00h alone"
    }


def test_every_item_has_a_place_in_the_catalogue() -> None:
    rows = [row for standard in STANDARDS.values() for row in standard.fields if row.tells]
    items = [row.tells for row in rows]
    names = {metric for metric, _ in modules.columns(items).names}
    assert {Kind.VALUE, Kind.LIMIT, Kind.ALARM, Kind.SIGNAL} == {
        item.kind for item in items if item
    }
    assert names <= set(modules.METRICS)
    assert SNR in names
    for item in items:
        assert modules.columns([item]).names != ()
