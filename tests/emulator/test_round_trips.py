"""What an emulated module holds, a reader of real modules reads: within a step of each field.

Encoder and decoder are written apart, each from the specifications; they meet here alone.
"""

import math
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.protocols.module import Memory, Module
from collectors.protocols.optics import reference
from collectors.protocols.optics.decode import decode
from collectors.protocols.optics.presence import resolve
from emulator.light import DARK_DBM
from emulator.module_kinds import KINDS, SUPPLY, TEMPERATURE, Limits
from emulator.modules import sff8472
from emulator.modules.builds import BUILDS
from emulator.modules.image import image, memory
from emulator.modules.memory import LOWER
from emulator.modules.observed import lost_frames
from emulator.optics import LOW_POWER, ModuleState
from emulator.stress import Stress

HALF = 128
STEPS = {
    "temperature": 1 / 256,
    "supply_voltage": 1e-4,
    "tx_power": 1e-7,
    "rx_power": 1e-7,
    "laser_temperature": 1 / 256,
    "tec_current": 1 / 32767,
    "snr": 1 / 256,
    "laser_age": 0.01,
}
"""The step of each quantity, in SI."""
ELSFP_STEPS = {"tx_power": 1e-5, "tx_bias": 1e-4}
F16_STEP = 1 / 200
"""Of a ratio, against itself: three digits are always there."""


def read(pages: dict[str, bytes]) -> Memory:
    """Return pages as a reader has them."""
    if LOWER in pages:
        return Memory(pages[LOWER], {name: half for name, half in pages.items() if name != LOWER})
    a0, a2 = pages["a0"], pages["a2"]
    return Memory(a0[:HALF], {"00": a0[HALF:], "a2": a2[:HALF]})


@st.composite
def states(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(KINDS)) -> ModuleState:
    """Draw a module in any state that its monitors can tell."""
    kind = draw(st.sampled_from(kinds))
    lanes = KINDS[kind].lanes
    wear = draw(st.lists(st.floats(0, 5), min_size=lanes, max_size=lanes))
    made = ModuleState("EM0042", lanes, kind=kind, wear_db=wear, lot="2546", firmware="2.13")
    stress = Stress(
        supply_db=draw(st.floats(0, 6)),
        receiver_db=draw(st.floats(0, 4)),
        host_db=draw(st.floats(0, 6)),
        dsp_db=draw(st.floats(0, 3)),
    )
    made.stresses["drawn"] = stress
    made.temperature = draw(st.floats(1, 90))
    made.shine(made.temperature - KINDS[kind].rise)
    made.voltage = draw(st.floats(2.8, 3.7))
    made.rx_dbm = draw(st.lists(st.floats(-20, 5), min_size=lanes, max_size=lanes))
    return made


def watts(dbm: float) -> float:
    """Return light in W."""
    return 10 ** (dbm / 10) * 1e-3


def known(state: ModuleState) -> Iterator[tuple[tuple[str, str, int], float]]:
    """Yield ((quantity, side, lane or 0), value in SI) of what a module of its kind measures."""
    kind, build = state.built, BUILDS[state.kind]
    if not kind.monitored:
        return
    yield ("temperature", "media", 0), state.temperature
    yield ("supply_voltage", "media", 0), state.voltage
    if kind.cooled and state.kind != "els":
        yield ("tec_current", "media", 0), state.tec_ratio
    sides = build.diagnostics
    rows: list[tuple[bool, str, str, list[float]]] = [
        (kind.optical, "tx_power", "media", [watts(dbm) for dbm in state.tx_dbm]),
        (kind.rx is not None, "rx_power", "media", [watts(dbm) for dbm in state.rx_dbm]),
        (kind.laser is not None, "tx_bias", "media", [ma * 1e-3 for ma in state.bias_ma]),
        (sides or 5 in build.observables, "snr", "media", state.snr_db),
        (sides or 6 in build.observables, "snr", "host", state.snr_host_db),
        (15 in build.observables, "pre_fec_ber", "media", state.ber_media),
        (16 in build.observables, "pre_fec_ber", "host", state.ber_host),
        (1 in build.observables, "laser_age", "media", state.laser_age),
        (4 in build.observables, "laser_temperature", "media", state.laser_celsius),
    ]
    for measured, quantity, side, values in rows:
        if measured:
            for lane, value in enumerate(values, 1):
                yield (quantity, side, lane), value


def step(state: ModuleState, quantity: str, value: float) -> float:
    """Return how far apart what is held and what is read may be."""
    if quantity == "pre_fec_ber":
        return value * F16_STEP + 1e-24
    if state.kind == "els" and quantity in ELSFP_STEPS:
        return ELSFP_STEPS[quantity]
    if quantity == "tx_bias":
        return 2e-6 * BUILDS[state.kind].multiplier
    return STEPS[quantity]


@settings(max_examples=75, deadline=None)
@given(states())
def test_every_monitor_is_read_within_a_step(state: ModuleState) -> None:
    told: dict[tuple[str, str, int], set[float]] = {}
    for one in decode(read(image(state))).values:
        told.setdefault((one.quantity, one.side, one.lane), set()).add(one.value)
    held = dict(known(state))
    for place, value in held.items():
        for seen in told[place]:
            assert seen == pytest.approx(value, abs=step(state, place[0], value)), place
    beyond = {place for place in told.keys() - held.keys() if place[2] > 0}
    assert beyond == set()  # nothing is read that is not there


@settings(max_examples=50, deadline=None)
@given(states())
def test_flags_and_conditions_are_read_as_they_are(state: ModuleState) -> None:
    kind, module = state.built, decode(read(image(state)))
    limits = {"temperature": TEMPERATURE, "supply_voltage": SUPPLY, "tx_power": kind.tx}
    limits |= {"rx_power": kind.rx, "tx_bias": kind.bias}
    values = {"temperature": [state.temperature], "supply_voltage": [state.voltage]}
    values |= {"tx_power": state.tx_dbm, "rx_power": state.rx_dbm, "tx_bias": state.bias_ma}
    for alarm in module.alarms:
        own = limits.get(alarm.quantity)
        if own is None:
            continue
        limit = getattr(own, f"{alarm.bound}_{alarm.level}")
        value = values[alarm.quantity][max(alarm.lane - 1, 0)]
        assert alarm.raised == (value > limit if alarm.bound == "high" else value < limit), alarm
    conditions = {
        "rx_los": state.los_media,
        "rx_lol": state.lol_media,
        "tx_lol": state.lol_host,
        "tx_fault": state.tx_fault,
    }
    conditions["tx_los"] = [False] * kind.host_lanes  # hosts here always send
    for signal in module.signals:
        able = kind.retimed if signal.name.endswith("lol") else kind.optical
        raised = able and conditions[signal.name][signal.lane - 1]
        if state.kind != "els":  # whose faults are those of its control, not of its light
            assert signal.raised == raised, signal


@pytest.mark.parametrize("kind", KINDS)
def test_identity_is_read_as_it_was_written(kind: str) -> None:
    state = ModuleState("EM0042", KINDS[kind].lanes, kind=kind, lot="2546", firmware="2.13")
    identity = decode(read(image(state))).identity
    assert (identity.vendor, identity.part) == ("EMULATED", KINDS[kind].part)
    assert (identity.serial, identity.lot[:4]) == ("EM0042", "2546")
    assert identity.kind == KINDS[kind].kind
    if identity.firmware:
        assert identity.firmware == "2.13"


@pytest.mark.parametrize("kind", KINDS)
def test_limits_are_read_as_they_were_written(kind: str) -> None:
    built = KINDS[kind]
    state = ModuleState("EM1", built.lanes, kind=kind)
    told: dict[str, list[float]] = {}
    for limit in decode(read(image(state))).limits:
        told.setdefault(limit.quantity, []).append(limit.value)
    if not built.monitored:
        assert told == {}
        return
    assert told["temperature"] == pytest.approx(_four(TEMPERATURE))
    assert told["supply_voltage"] == pytest.approx(_four(SUPPLY))
    for quantity, own in (("tx_power", built.tx), ("rx_power", built.rx)):
        if own is not None:
            assert told[quantity] == pytest.approx([watts(dbm) for dbm in _four(own)], abs=1e-5)
    if built.bias is not None:
        assert told["tx_bias"] == pytest.approx([ma * 1e-3 for ma in _four(built.bias)])


def _four(limits: Limits) -> list[float]:
    own = (limits.high_alarm, limits.low_alarm, limits.high_warning, limits.low_warning)
    return list(own)


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_of_any_kind_is_thought_unusable(kind: str) -> None:
    state = ModuleState("EM1", KINDS[kind].lanes, kind=kind)
    found = resolve(read(image(state)))
    assert found.unusable == {}
    assert found.unknown == {}


@given(
    st.floats(0.8, 1.9),
    st.integers(-300, 300),
    st.floats(1e-6, 1e-5),
    st.floats(0.5, 1.5),
    states(("sfp",)),
)
@settings(deadline=None)
def test_an_sfp_calibrated_outside_is_read_through_its_constants(
    slope: float, offset: int, square: float, straight: float, state: ModuleState
) -> None:
    line = sff8472.Line(round(slope * 256) / 256, offset)
    rx = (0.0, 0.0, square, straight, 5.0)
    calibration = sff8472.Calibration(bias=line, tx=line, temperature=line, voltage=line, rx=rx)
    told = {
        value.quantity: value.value
        for value in decode(read(memory(state, calibration=calibration).image())).values
    }
    near = 1.01 * max(line.slope, 1.0)
    assert told["temperature"] == pytest.approx(state.temperature, abs=near * STEPS["temperature"])
    assert told["supply_voltage"] == pytest.approx(state.voltage, abs=near * 1e-4)
    assert told["tx_bias"] == pytest.approx(state.bias_ma[0] * 1e-3, abs=near * 2e-6)
    bend = max(2 * square * 65_535 + straight, 1.0)
    if 5 < watts(state.rx_dbm[0]) * 1e7 < calibration.received(65_535):
        assert told["rx_power"] == pytest.approx(watts(state.rx_dbm[0]), abs=bend * 1.01e-7)


def test_what_vdm_measures_of_a_data_path_is_read_by_name() -> None:
    state = ModuleState("EM1", 4)
    state.rx_dbm = [-3.5] * 4
    memory_of = read(image(state))
    told = {one.cell.field.name: one.value for one in reference.read(memory_of, resolve(memory_of))}
    for name in ("minimum", "average", "maximum"):
        assert told[f"vdm_media_pre_fec_ber_{name}"] == pytest.approx(state.ber, rel=F16_STEP)
    lost = lost_frames(state.ber, coherent=False)
    assert told["vdm_media_errored_frames_current"] == pytest.approx(lost, rel=F16_STEP)
    assert told["vdm_interval"] == 3.0


def test_what_a_coherent_module_finds_of_its_fibre_is_read_by_name() -> None:
    state = ModuleState("EM1", 1, kind="zr")
    state.rx_dbm = [-11.0]
    memory_of = read(image(state))
    told = {one.cell.field.name: one.value for one in reference.read(memory_of, resolve(memory_of))}
    assert told["tunable"] == 1.0
    assert told["rx_power_total_average"] == pytest.approx(-11.0, abs=0.01)
    assert told["vdm_rx_power_total"] == pytest.approx(-11.0, abs=0.01)
    for name in ("esnr_average", "vdm_esnr", "vdm_modulation_error_ratio"):
        assert told[name] == pytest.approx(state.snr_db[0], abs=0.1)
    magnitude = 10 ** (-state.snr_db[0] / 20)
    assert told["error_vector_magnitude_average"] == pytest.approx(magnitude, abs=1e-4)
    bits, wrong = told["rx_bits"], told["corrected_bits"]
    assert isinstance(bits, float)
    assert isinstance(wrong, float)
    assert wrong / bits == pytest.approx(state.ber, rel=1e-6)


def test_a_sleeping_module_is_not_read_as_cold() -> None:
    state = ModuleState("EM1", 4, power_state=LOW_POWER)
    state.rx_dbm = [DARK_DBM] * 4
    quantities = {value.quantity for value in _module(state).values if math.isfinite(value.value)}
    assert "temperature" not in quantities
    assert "pre_fec_ber" not in quantities


def _module(state: ModuleState) -> Module:
    return decode(read(image(state)))
