"""Codec: every float64 comes back bit for bit, and instruments' numbers come back small."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from fabrichealth.model import Floats
from fabrichealth.store.chunk import Opened
from fabrichealth.store.codec import Packed, compress, decompress, encode

HARD = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e300,
    -1e300,
    1.7976931348623157e308,
    np.nan,
    2.0**53,
    0.1 + 0.2,
)
ANY = st.floats(allow_infinity=False) | st.sampled_from(HARD)
DECIMALS = st.integers(-5000, 5000).map(lambda n: n / 100)


def matrices(values: st.SearchStrategy[float]) -> st.SearchStrategy[Floats]:
    return nps.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 12)), elements=values)


def bits(values: Floats) -> list[int]:
    """Return the bit patterns, with one for every NaN: absent is absent."""
    return [0x7FF8 if np.isnan(v) else int(np.float64(v).view(np.int64)) for v in values.ravel()]


@settings(deadline=None)
@given(matrices(ANY) | matrices(DECIMALS | st.just(np.nan)) | matrices(DECIMALS | ANY))
def test_every_number_comes_back_bit_for_bit(values: Floats) -> None:
    packed = Packed(decompress(compress(encode(values))))
    assert bits(packed.matrix()) == bits(values)
    for row in range(len(values)):
        assert bits(packed.row(row)) == bits(values[row])


@pytest.mark.parametrize("factor", [1.0, 10.0, 100.0, 1e3, 1e4, 1e6, 256.0, 2.0**22])
def test_multiples_of_a_step_come_back_bit_for_bit(factor: float) -> None:
    numbers = np.random.default_rng(1).integers(-(10**6), 10**6, (20, 30))
    scaled: tuple[Floats, Floats] = (numbers / factor, numbers * np.float64(1 / factor))
    for values in scaled:
        assert bits(Packed(encode(values)).matrix()) == bits(values)


@pytest.mark.parametrize(
    ("most", "values"),
    [
        pytest.param(0.1, np.tile(np.arange(500.0)[:, None], 60), id="constants"),
        pytest.param(
            1.0,
            np.round(np.random.default_rng(0).normal(-2, 0.05, (500, 60)), 2),
            id="light in steps of 0.01 dBm",
        ),
        pytest.param(
            1.2,
            np.round(np.random.default_rng(0).normal(40, 0.1, (500, 60)) * 256) / 256,
            id="temperature in steps of 1/256",
        ),
        pytest.param(
            5.3,
            np.cumsum(np.random.default_rng(0).integers(0, 2**39, (500, 60)), axis=1) * 1.0,
            id="bytes at random rates of 39 bits",
        ),
        pytest.param(
            7.5, 10 ** np.random.default_rng(0).normal(-8, 0.1, (500, 60)), id="bit error ratios"
        ),
    ],
)
def test_instruments_take_few_bytes_a_sample(most: float, values: Floats) -> None:
    assert len(compress(encode(values))) / values.size < most


def test_what_is_absent_costs_next_to_nothing() -> None:
    values = np.full((500, 60), np.nan)
    values[:, ::7] = 3.0
    assert len(compress(encode(values))) < 600


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_damaged_bytes_are_refused(raw: bytes) -> None:
    for body in (raw, compress(raw)):
        with pytest.raises(ValueError, match="damaged"):
            Opened(body).grid()
