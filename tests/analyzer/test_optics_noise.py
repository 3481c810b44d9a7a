"""SNR and bit errors of PAM4 lanes, each from the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.optics.noise import ber_of, excess_noise, snr_of


@pytest.mark.parametrize(
    ("ber", "snr_db"),
    [(1e-3, 16.5), (2.4e-4, 17.7), (1e-4, 18.2), (1e-5, 19.5), (1e-6, 20.4), (1e-8, 21.9),
     (1e-10, 23.0), (1e-12, 23.9)],
)  # fmt: skip
def test_the_ratio_for_an_error_rate_is_that_of_the_literature(ber: float, snr_db: float) -> None:
    assert float(snr_of(ber)) == pytest.approx(snr_db, abs=0.06)
    assert float(np.log10(ber_of(snr_db))) == pytest.approx(np.log10(ber), abs=0.12)


@given(st.floats(5.0, 26.0))
def test_each_undoes_the_other(snr_db: float) -> None:
    assert float(snr_of(ber_of(snr_db))) == pytest.approx(snr_db, abs=1e-6)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_any_error_ratio_gives_a_number_or_is_not_known(ber: float) -> None:
    found = float(snr_of(ber))
    assert np.isfinite(found) == (0 < ber < 0.375)


def test_no_error_seen_and_no_signal_say_nothing_of_the_ratio() -> None:
    assert np.isnan(snr_of([0.0, 0.375, 0.5, np.nan])).all()


def test_bursts_show_as_noise_beyond_the_ratio_and_a_readout_that_is_off_as_less() -> None:
    assert float(excess_noise(21.9, 1e-5)) == pytest.approx(2.4, abs=0.1)
    assert float(excess_noise(17.0, 1e-8)) == pytest.approx(-4.9, abs=0.1)
