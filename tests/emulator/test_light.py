"""Lasers and receivers obey physics: monotone, bounded, and right where a value is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.light import BUILT_CELSIUS, DARK_DBM, Laser, Receiver, bit_error_rate, dbm
from emulator.module_kinds import KINDS
from emulator.optics import ModuleState, host_snr, media_snr
from emulator.stress import Stress

LASER = Laser(threshold_ma=15.0, operating_ma=60.0, limit_ma=95.0, dbm=1.0)
RECEIVER = Receiver(dbm=-1.0, snr_db=22.4, ceiling_db=30.0)
CELSIUS = st.floats(-20, 90)
WEAR = st.floats(0, 20)


@pytest.mark.parametrize(
    ("snr", "ber"),
    [(16.5, 1e-3), (17.7, 2.4e-4), (18.2, 1e-4), (19.5, 1e-5), (20.4, 1e-6), (21.9, 1e-8)],
)
def test_error_rate_of_pam4_by_signal_to_noise_ratio(snr: float, ber: float) -> None:
    assert np.log10(bit_error_rate(snr)) == pytest.approx(np.log10(ber), abs=0.12)


def test_a_laser_as_built_gives_its_nominal_light() -> None:
    assert LASER.bias(BUILT_CELSIUS) == pytest.approx(60.0)
    assert LASER.light(BUILT_CELSIUS, 60.0) == pytest.approx(1.0)


@given(CELSIUS, WEAR)
def test_control_holds_the_light_until_the_driver_gives_all(celsius: float, wear: float) -> None:
    bias = LASER.bias(celsius, wear)
    light = LASER.light(celsius, bias, wear)
    assert 0 < bias <= LASER.limit_ma
    if bias < LASER.limit_ma:
        assert light == pytest.approx(LASER.dbm)
    else:
        assert DARK_DBM <= light <= LASER.dbm + 1e-9


@given(CELSIUS, st.floats(0, 30), WEAR)
def test_a_warmer_laser_takes_more_bias_and_never_gives_more(
    celsius: float, warmer: float, wear: float
) -> None:
    cool, warm = LASER.bias(celsius, wear), LASER.bias(celsius + warmer, wear)
    assert warm >= cool
    lit = LASER.light(celsius, cool, wear), LASER.light(celsius + warmer, warm, wear)
    assert lit[1] <= lit[0] + 1e-9


@given(CELSIUS, WEAR, st.floats(0, 5))
def test_a_worn_laser_takes_more_bias_and_never_gives_more(
    celsius: float, wear: float, more: float
) -> None:
    fresh, worn = LASER.bias(celsius, wear), LASER.bias(celsius, wear + more)
    assert worn >= fresh
    lit = LASER.light(celsius, fresh, wear), LASER.light(celsius, worn, wear + more)
    assert lit[1] <= lit[0] + 1e-9


def test_below_its_threshold_a_laser_is_dark() -> None:
    assert LASER.light(BUILT_CELSIUS, 14.9) == DARK_DBM
    assert dbm(0.0) == DARK_DBM


@given(st.floats(-40, 10), st.floats(0, 10), CELSIUS, st.floats(0, 10), st.floats(0, 0.1))
def test_every_ill_costs_signal_to_noise_ratio(
    light: float, loss: float, celsius: float, penalty: float, interference: float
) -> None:
    well = RECEIVER.snr(light, celsius)
    assert 0 <= well <= RECEIVER.ceiling_db
    for ill in (
        RECEIVER.snr(light - loss, celsius),
        RECEIVER.snr(light, celsius, penalty),
        RECEIVER.snr(light, celsius, 0.0, interference),
        RECEIVER.snr(light, celsius + loss),
    ):
        assert 0 <= ill <= well + 1e-9


@given(st.floats(0, 40), st.floats(0, 10))
def test_error_rates_fall_with_signal_and_stay_within_half(snr: float, more: float) -> None:
    assert 0 <= bit_error_rate(snr + more) <= bit_error_rate(snr) <= 0.375


@given(st.floats(20, 90), st.floats(0, 10), st.floats(0, 10))
def test_the_host_side_does_not_care_for_light(celsius: float, host: float, loss: float) -> None:
    well = host_snr(celsius, Stress())
    assert host_snr(celsius, Stress(loss_db=loss)) == well
    assert host_snr(celsius, Stress(host_db=host)) <= well


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.receiver])
def test_a_link_as_built_is_well_within_what_fec_mends(kind: str) -> None:
    built = KINDS[kind]
    assert built.receiver is not None
    light = np.full(built.lanes, built.receiver.dbm)
    ber = bit_error_rate(media_snr(built, light, BUILT_CELSIUS, Stress()))
    assert (ber < (1e-3 if kind == "zr" else 1e-6)).all()


def test_a_module_follows_its_air_and_a_dark_one_has_no_lock() -> None:
    one, far = ModuleState("A"), ModuleState("B")
    for _ in range(300):
        one.shine(40.0)
        far.shine(30.0)
    one.receive(far)
    assert one.temperature == pytest.approx(56.0, abs=0.1)
    assert one.bias_ma[0] > far.bias_ma[0]
    assert one.tx_dbm == pytest.approx(far.tx_dbm)
    assert not any(one.los_media + one.lol_media + one.tx_fault)
    one.receive(None)
    assert all(one.los_media + one.lol_media)
    assert not any(one.tx_fault + one.lol_host)


def test_a_module_lit_from_elsewhere_is_as_dim_as_its_source() -> None:
    engine = ModuleState("C", 16, kind="cpo")
    engine.shine(30.0)
    bright = engine.tx_dbm[0]
    engine.stresses["bank"] = Stress(supply_db=3.0)
    engine.shine(30.0)
    assert engine.tx_dbm == pytest.approx([bright - 3.0] * 16)
    assert engine.bias_ma == [0.0] * 16
