"""Memories of emulated modules: every field where the specification has it."""

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.light import DARK_DBM
from emulator.module_kinds import KINDS
from emulator.modules import codings, copper, diagnostics, sff8472, sff8636
from emulator.modules.__main__ import main
from emulator.modules.builds import BUILDS
from emulator.modules.device import Bus
from emulator.modules.image import image, memory
from emulator.modules.memory import LOWER, Memory, as_json, as_linear
from emulator.modules.vdm import CODINGS, Instance, encode
from emulator.optics import LOW_POWER, ModuleState
from emulator.stress import Stress

CMIS_KINDS = [name for name, build in BUILDS.items() if build.identifier in {0x18, 0x19, 0x80}]


def module(kind: str, **stress: float) -> ModuleState:
    """Return a warm module that hears a well one of its kind."""
    one, far = (ModuleState("EM42", KINDS[kind].lanes, kind=kind) for _ in range(2))
    one.stresses["test"] = Stress(**stress)
    for _ in range(200):
        one.shine(30.0)
        far.shine(30.0)
    one.receive(far)
    return one


def u16(pages: dict[str, bytes], page: str, byte: int, order: str = ">") -> int:
    """Return a number of 16 bits at a byte as the specification counts it."""
    start = byte if page in {LOWER, "a0", "a2"} else byte - 128
    (value,) = struct.unpack_from(f"{order}H", pages[page], start)
    return int(value)


def f16(raw: int) -> float:
    """Return the value of a float as CMIS has it."""
    return float((raw & 0x7FF) * 10.0 ** ((raw >> 11) - 24))


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        pytest.param(7.42e-08, 0x72E6, id="an average of a 400G module"),
        pytest.param(4.95e-08, 0x71EF, id="its least"),
        pytest.param(1.06e-07, 0x7424, id="its greatest"),
        pytest.param(1.741e-08, 0x6ECD, id="its host side: four digits fit below 2048"),
        pytest.param(0.0, 0x0000, id="nothing seen"),
        pytest.param(1e-24, 0x0001, id="the least step"),
        pytest.param(2.047e10, 0xFFFF, id="the greatest number"),
        pytest.param(1e12, 0xFFFF, id="more than that"),
        pytest.param(2.0474e-5, 0x87FF, id="rounded down to the last mantissa"),
        pytest.param(2.0476e-5, 0x88CD, id="rounded up: three digits are left"),
    ],
)
def test_a_ratio_is_written_with_most_digits(value: float, raw: int) -> None:
    assert int.from_bytes(codings.f16(value), "big") == raw


@given(st.floats(1e-20, 0.5))
def test_a_ratio_loses_no_more_than_half_a_step(value: float) -> None:
    assert f16(int.from_bytes(codings.f16(value), "big")) == pytest.approx(value, rel=1 / 400)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_does_not_fit_is_saturated(value: float) -> None:
    assert int.from_bytes(codings.u16(value), "big") == min(max(round(value), 0), 65535)
    signed = int.from_bytes(codings.s16(value), "big", signed=True)
    assert signed == min(max(round(value), -32768), 32767)


@pytest.mark.parametrize("kind", CMIS_KINDS)
def test_checksums_of_cmis_pages_are_right(kind: str) -> None:
    pages = image(module(kind))
    assert sum(pages["00"][:94]) & 0xFF == pages["00"][94]
    if "01" in pages:
        assert sum(pages["01"][2:127]) & 0xFF == pages["01"][127]  # firmware is left out
        assert sum(pages["02"][:127]) & 0xFF == pages["02"][127]


def test_checksums_of_sfp_and_qsfp28_are_right() -> None:
    sfp = image(module("sfp"))
    assert sum(sfp["a0"][:63]) & 0xFF == sfp["a0"][63]
    assert sum(sfp["a0"][64:95]) & 0xFF == sfp["a0"][95]
    assert sum(sfp["a2"][:95]) & 0xFF == sfp["a2"][95]
    upper = image(module("cwdm4"))["00"]
    assert sum(upper[:63]) & 0xFF == upper[63]
    assert sum(upper[64:95]) & 0xFF == upper[95]


def test_a_dr4_module_tells_light_bias_and_heat_where_cmis_has_them() -> None:
    state = module("dr4")
    pages = image(state)
    assert pages[LOWER][:2] == b"\x18\x52"
    assert pages[LOWER][3] == 3 << 1 | 1
    assert u16(pages, LOWER, 14) == round(46.0 * 256)
    assert u16(pages, LOWER, 16) == 33_100
    assert [u16(pages, "11", at) for at in (154, 186)] == [12_589, 7_943]  # +1 and -1 dBm
    assert u16(pages, "11", 170) == 60_000 // 2 // 2  # 2 uA, twice: the multiplier is x2
    assert pages["01"][160 - 128] == 0b0000_1111
    assert u16(pages, "01", 138) == 1311 * 20
    assert pages["00"][210 - 128] == 0xF0
    assert pages[LOWER][86:94] == bytes((0x11, 0x1C, 0x84, 0x01, 0x0D, 0x14, 0x21, 0x55))
    assert pages["11"][:4] == b"\x44" * 4
    assert pages["11"][206 - 128 : 214 - 128] == b"\x10" * 8


def test_thresholds_stand_in_the_order_of_cmis() -> None:
    pages = image(module("dr4"))
    assert struct.unpack(">4h", pages["02"][:8]) == (75 * 256, -5 * 256, 70 * 256, 0)
    assert struct.unpack(">4H", pages["02"][8:16]) == (36_300, 29_700, 34_600, 31_300)
    assert u16(pages, "02", 176) == round(10**0.55 * 1e4)
    assert u16(pages, "02", 184) == 100_000 // 4
    assert u16(pages, "02", 194) == round(10**-0.69 * 1e4)


def test_qsfp28_puts_received_power_first() -> None:
    state = module("cwdm4")
    state.rx_dbm[1] = DARK_DBM
    pages = image(state)
    assert [u16(pages, LOWER, at) for at in (34, 36, 50)] == [6310, 1, 14_125]
    assert u16(pages, LOWER, 42) == round(state.bias_ma[0] * 500)
    assert u16(pages, "03", 176) == round(10**0.45 * 1e4)
    assert u16(pages, "03", 184) == 40_000
    assert pages[LOWER][3] == 0b0010
    assert pages[LOWER][9:11] == bytes((0b0000_0101, 0))  # lane 2: low alarm, low warning
    assert pages[LOWER][2] == 0  # interrupt asserted


def test_a_qsfp28_that_cannot_measure_its_own_light_shows_zero() -> None:
    written = Memory()
    sff8636.encode(written, module("cwdm4"), tx_power=False)
    assert written.get(LOWER, 50, 8) == bytes(8)
    assert written.get("00", 220)[0] & 0x04 == 0


def test_an_sfp_calibrated_outside_is_read_through_its_constants() -> None:
    lines = {
        "bias": sff8472.Line(1.25, -40),
        "tx": sff8472.Line(0.5, 100),
        "temperature": sff8472.Line(1.0, 512),
        "voltage": sff8472.Line(0.75, 0),
    }
    curve = (0.0, 1e-9, 1e-5, 0.8, 20.0)
    state = module("sfp")
    pages = memory(state, calibration=sff8472.Calibration(rx=curve, **lines)).image()
    assert pages["a0"][92] & 0x30 == 0x10
    raw = struct.unpack(">h4H", pages["a2"][96:106])
    assert raw[0] + 512 == pytest.approx(state.temperature * 256, abs=1)
    assert raw[1] * 0.75 == pytest.approx(state.voltage * 1e4, abs=1)
    assert raw[2] * 1.25 - 40 == pytest.approx(state.bias_ma[0] * 500, abs=1)
    assert raw[3] * 0.5 + 100 == pytest.approx(10 ** (state.tx_dbm[0] / 10) * 1e4, abs=1)
    p4, p3, p2, p1, p0 = struct.unpack(">5f", pages["a2"][56:76])
    read = p4 * raw[4] ** 4 + p3 * raw[4] ** 3 + p2 * raw[4] ** 2 + p1 * raw[4] + p0
    assert read == pytest.approx(10 ** (state.rx_dbm[0] / 10) * 1e4, abs=1)


def test_sfp_flags_follow_the_limits() -> None:
    state = module("sfp")
    state.temperature, state.rx_dbm[0] = 72.0, -14.5
    pages = image(state)
    assert pages["a2"][112:114] == b"\0\0"
    assert pages["a2"][116:118] == bytes((0x80, 0x40))


def test_vdm_tells_every_type_that_it_knows() -> None:
    written = Memory()
    observed = {Instance(kind, kind % 8): 1.0 for kind in CODINGS}
    groups = encode(written, observed)
    told = {}
    for group in range(groups):
        described, samples = (
            written.pages[f"{0x20 + group:02x}"],
            written.pages[f"{0x24 + group:02x}"],
        )
        for at in range(0, 128, 2):
            if described[at + 1]:
                told[described[at + 1]] = (described[at] & 0x0F, bytes(samples[at : at + 2]))
    assert told.keys() == CODINGS.keys()
    assert told[5] == (5, b"\x01\x00")  # 1 dB
    assert told[15] == (7, codings.f16(1.0))
    assert told[84] == (4, (100).to_bytes(2, "big"))  # 1 dBm
    assert told[83] == (3, (4000).to_bytes(2, "big"))  # 1 V in steps of 250 uV
    assert told[128] == (0, (655).to_bytes(2, "big"))  # 1 %


def test_an_error_rate_beyond_its_limit_is_flagged_in_its_nibble() -> None:
    written = Memory()
    limits = Instance(15, 0).limits()
    encode(written, {Instance(15, 0): 1e-9, Instance(15, 1): limits.high_warning * 2})
    assert written.get("2c", 128, 2) == bytes((0b0100_0000, 0))
    set_id = written.get("20", 130)[0] >> 4
    assert f16(int.from_bytes(written.get("28", 128 + 8 * set_id, 2), "big")) == pytest.approx(
        2.4e-4
    )


def test_a_type_that_vdm_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no type 60"):
        encode(Memory(), {Instance(60, 0): 1.0})


def test_snr_on_page_14_has_its_low_octet_first() -> None:
    state = module("dr4")
    pages = image(state)
    assert pages["13"][2] == 0x33
    assert pages["14"][0] == diagnostics.SNR
    assert u16(pages, "14", 240, "<") == round(state.snr_db[0] * 256)
    assert u16(pages, "14", 208, "<") == round(state.snr_host_db[0] * 256)


def test_the_selector_says_what_page_14_shows() -> None:
    bus = Bus(module("dr4"))
    bus.write(0x14, 128, bytes((diagnostics.BER,)))
    row = bus.read(0x14, 192, 32)
    assert f16(int.from_bytes(row[16:18], "big")) == pytest.approx(bus.state.ber_media[0], rel=0.01)
    assert f16(int.from_bytes(row[:2], "big")) == pytest.approx(bus.state.ber_host[0], rel=0.01)


def test_flags_stay_up_until_one_has_read_them() -> None:
    state = module("dr4")
    bus = Bus(state)
    state.rx_dbm[2] = DARK_DBM
    bus.advance(1.0)
    state.rx_dbm[2] = -1.0
    bus.advance(1.0)
    assert bus.read(0x11, 147, 1) == bytes((0b0100,))
    assert bus.read(0x11, 147, 1) == bytes(1)


def test_vdm_keeps_extremes_between_two_freezes() -> None:
    state = module("dr4")
    bus = Bus(state)
    descriptors = bus.read(0x20, 128, 128)
    greatest = next(at for at in range(0, 128, 2) if descriptors[at + 1] == 11)
    state.rx_dbm = [-3.0] * 4
    bus.advance(1.0)
    worst = state.ber
    state.rx_dbm = [-1.0] * 4
    bus.advance(1.0)
    bus.write(0x2F, 144, b"\x80")
    assert bus.read(0x2F, 145, 1) == b"\x80"
    told = int.from_bytes(bus.read(0x24, 128 + greatest, 2), "big")
    assert f16(told) == pytest.approx(worst, rel=0.01)
    bus.write(0x2F, 144, b"\x00")
    assert bus.read(0x2F, 145, 1) == b"\x40"


def test_a_page_that_is_not_there_reads_as_page_00() -> None:
    lpo = Bus(module("lpo"))
    assert lpo.read(0x20, 128, 128) == lpo.read(0x00, 128, 128)
    assert as_linear(image(lpo.state), repeat=True)[128 * 5 : 128 * 6] == lpo.read(0, 128, 128)


def test_a_module_without_a_dsp_promises_nothing_of_a_dsp() -> None:
    pages = image(module("lpo"))
    assert pages["01"][142 - 128] & 0x60 == 0
    assert pages["01"][157 - 128] == 0x0B
    assert pages["01"][158 - 128] == 0x02
    assert pages["01"][161 - 128 : 163 - 128] == b"\0\0"
    assert pages["01"][160 - 128] >> 3 == 2


def test_copper_has_no_light() -> None:
    dac, aec = image(module("dac")), image(module("aec"))
    assert list(dac) == [LOWER, "00"]
    assert dac[LOWER][2] == 0x80
    assert dac[LOWER][14:18] == bytes(4)
    assert dac["00"][202 - 128] == 15  # 1.5 m in steps of 0.1
    assert aec["01"][160 - 128] == 0
    assert aec["11"][154 - 128 : 202 - 128] == bytes(48)
    assert image(module("cr4"))["00"][147 - 128] == 0xA0
    assert set(copper.wires()) == {"aec", "acc", "dac", "cr4"}


@pytest.mark.parametrize(("meters", "code"), [(0.5, 5), (6.3, 63), (7, 0x47), (100, 0x8A)])
def test_lengths_take_the_finest_step(meters: float, code: int) -> None:
    assert copper.cable_length(meters) == code


def test_more_than_eight_lanes_take_a_second_bank() -> None:
    state = module("cpo")
    state.rx_dbm[9] = -5.0
    pages = image(state)
    assert pages["01"][142 - 128] & 0x03 == 1
    assert u16(pages, "1:11", 186 + 2) == round(10**-0.5 * 1e4)
    assert pages["01"][160 - 128] == 0b110  # no laser of its own, so no bias


def test_a_laser_source_tells_bias_and_light_in_its_own_steps() -> None:
    pages = image(module("els"))
    assert not {"10", "11", "13"} & pages.keys()
    assert pages[LOWER][57] == 1
    assert u16(pages, "1b", 200) == 10_000  # 100 mW in steps of 10 uW
    assert 3000 < u16(pages, "1b", 184) < 3400  # about 320 mA in steps of 100 uA
    assert pages["1a"][140 - 128] == 8 << 1 | 1
    assert pages["1a"][221 - 128 : 223 - 128] == b"\xaa\xaa"
    worn = image(module("els", wear_db=6.0))
    assert worn["1a"][166 - 128] == 0xFF  # it gives all it can, and that is too little
    assert worn["1a"][212 - 128] == 0x11


def test_coherent_modules_tell_of_fibre_and_frames() -> None:
    state = module("zr")
    pages = image(state)
    assert pages["01"][142 - 128] & 0x10
    received = struct.unpack(">Q", pages["34"][:8])[0]
    corrected = struct.unpack(">Q", pages["34"][16:24])[0]
    assert corrected / received == pytest.approx(state.ber, rel=0.01)
    assert struct.unpack(">h", pages["35"][188 - 128 : 190 - 128])[0] == -1000
    assert 1e-4 < state.ber < 1e-3


def test_a_sleeping_module_measures_nothing() -> None:
    state = module("dr4")
    state.power_state = LOW_POWER
    pages = image(state)
    assert pages[LOWER][3] >> 1 == LOW_POWER
    assert struct.unpack(">h", pages[LOWER][14:16])[0] == -102  # -0.4: not a cold module
    assert pages["11"][:4] == b"\x11" * 4
    assert pages["11"][154 - 128 : 202 - 128] == bytes(48)


def test_faults_of_firmware_are_told_apart() -> None:
    state = module("dr4")
    state.firmware_fault, state.power_state, state.fault_cause = True, 5, 2
    lower = image(state)[LOWER]
    assert (lower[8], lower[3] >> 1, lower[41]) == (0x02, 5, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_an_image_in_every_form(kind: str) -> None:
    pages = image(module(kind))
    read = json.loads(as_json(pages))
    flat = as_linear(pages)
    if "a0" in pages:
        assert {name: bytes.fromhex(text) for name, text in read.items()} == pages
        assert flat == pages["a0"] + pages["a2"]
    else:
        assert bytes.fromhex(read["lower"]) == pages[LOWER] == flat[:128]
        assert {name: bytes.fromhex(text) for name, text in read["pages"].items()} == {
            name: content for name, content in pages.items() if name != LOWER
        }
        last = max(int(name, 16) for name in pages if name != LOWER and ":" not in name)
        assert flat[128 * (last + 1) :] == pages[f"{last:02x}"]


def test_a_field_beyond_its_page_is_refused() -> None:
    with pytest.raises(ValueError, match="page 11 has no 2 bytes at 255"):
        Memory().put("11", 255, b"\0\0")


@given(
    st.sampled_from(sorted(KINDS)),
    st.floats(-40, 20),
    st.floats(0, 12),
    st.floats(-40, 120),
)
def test_any_state_has_an_image(kind: str, dbm: float, wear: float, celsius: float) -> None:
    state = ModuleState("EM7", KINDS[kind].lanes, kind=kind, wear_db=[wear] * KINDS[kind].lanes)
    state.temperature = celsius
    state.rx_dbm = [dbm] * state.lanes
    sizes = {name: len(content) for name, content in image(state).items()}
    assert set(sizes.values()) <= {128, 256}


@pytest.mark.parametrize("form", ["json", "binary"])
def test_images_of_every_kind_that_can_have_a_fault_are_written(form: str, tmp_path: Path) -> None:
    assert main([str(tmp_path), "--fault", "failed", "--strength", "3", "--form", form]) == 0
    names = {file.stem for file in tmp_path.iterdir()}
    assert names == {name for name, kind in KINDS.items() if kind.laser is not None}
    if form == "json":
        dark = bytes.fromhex(json.loads((tmp_path / "dr4.json").read_text())["pages"]["11"])
    else:
        dark = (tmp_path / "dr4.bin").read_bytes()[128 * 0x12 :][:128]
    assert dark[135 - 128] == 1  # lane 1 has a transmitter that fails
    assert dark[154 - 128 : 156 - 128] == b"\0\1"


def test_a_kind_that_cannot_have_a_fault_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--kind", "dac", "--fault", "dirt"]) == 1
    assert "dac cannot have dirt" in capsys.readouterr().err
