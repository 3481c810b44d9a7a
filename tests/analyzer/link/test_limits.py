"""What links are held against: one table, the strictest row where something is not known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.link.limits import TABLE, Facts, Quantity, limits_of

NDR = Facts("ib", "ndr", "7nm", 100.0, "rs544", True, "optical")


@pytest.mark.parametrize(
    ("known", "raw", "symbol", "provisional"),
    [
        pytest.param(NDR, 1e-5, 1e-14, False, id="NDR over light with retry"),
        pytest.param(Facts("ib", "ndr", "7nm", 100.0, "rs544", True, "dac"), 1e-6, 1e-14, False,
                     id="NDR over copper"),
        pytest.param(Facts("ib", "ndr", "7nm", 100.0, "rs544", False, "dac"), 1e-7, 1e-13, False,
                     id="the same without retry"),
        pytest.param(Facts("ib", "ndr", "7nm", 100.0, "rs544", None, "dac"), 1e-7, 1e-14, True,
                     id="retry is not known: the strictest of both"),
        pytest.param(Facts("ib", "", "", 100.0, "rs544", True, "dac"), 1e-6, 1e-14, True,
                     id="a lane of 100 Gb/s is NDR; its silicon is not known"),
        pytest.param(Facts("ib", "edr", "16nm", 25.0, "rs528"), 1e-9, 1e-13, False, id="EDR"),
        pytest.param(Facts("ib", "xdr", "5nm", 200.0, "rs544", True, "optical"), 1e-5, 1e-14, True,
                     id="XDR has no row of its own"),
        pytest.param(Facts("ib"), 1e-12, 1e-14, True, id="InfiniBand at no known speed"),
        pytest.param(Facts("ib", fec="rs528"), 1e-12, 1e-13, True,
                     id="the code tells the generation: EDR"),
        pytest.param(Facts("roce", fec="rs544", medium="optical"), 1e-4, 1e-12, False,
                     id="PAM4 Ethernet over light"),
        pytest.param(Facts("roce", fec="rs544", medium="aec"), 1e-5, 1e-12, False,
                     id="an active cable is held to copper's limits"),
        pytest.param(Facts("roce", fec="rs544", medium="lpo"), 1e-4, 1e-12, False,
                     id="linear optics to light's"),
        pytest.param(Facts("roce", fec="rs528"), 2.3e-5, 1e-12, False, id="NRZ Ethernet"),
        pytest.param(Facts("nvlink", medium="backplane"), 1e-5, 1e-14, True, id="NVLink"),
        pytest.param(Facts("pcie"), 1e-12, 1e-14, True, id="PCI Express"),
    ],
)  # fmt: skip
def test_limits(known: Facts, raw: float, symbol: float, provisional: bool) -> None:
    limits = limits_of(known)
    assert limits is not None
    errors = limits.bands[Quantity.RAW].error, limits.bands[Quantity.SYMBOL].error
    assert errors == pytest.approx((raw, symbol))
    assert limits.provisional is provisional
    assert limits.source


def test_nothing_is_held_against_a_port_of_which_nothing_is_known() -> None:
    assert limits_of(Facts()) is None


WORDS = {
    "technology": ["ib", "roce", "nvlink", "hccs", "ub", "ualink", "cxl", "pcie"],
    "generation": ["", "edr", "hdr", "ndr", "xdr", "nvlink5"],
    "silicon": ["", "7nm", "16nm", "5nm"],
    "fec": ["", "none", "firecode", "rs528", "rs544", "ll271", "ll272"],
    "medium": ["", "optical", "dac", "aec", "backplane"],
}
FACTS = st.builds(
    Facts,
    **{name: st.sampled_from(words) for name, words in WORDS.items()},
    lane_gbps=st.sampled_from([0.0, 25.0, 50.0, 100.0]),
    retry=st.sampled_from([None, False, True]),
)


@given(FACTS)
def test_every_link_of_a_known_technology_has_ascending_limits(known: Facts) -> None:
    limits = limits_of(known)
    assert limits is not None
    for band in limits.bands.values():
        assert 0 < band.normal < band.warning < band.error <= band.drain < 0.5


@given(FACTS)
def test_to_know_less_is_never_to_allow_more(known: Facts) -> None:
    if not any(row.fits(known) for row in TABLE):
        return
    vague = limits_of(Facts(known.technology, known.generation, "", known.lane_gbps, known.fec))
    exact = limits_of(known)
    assert vague is not None
    assert exact is not None
    for quantity, band in exact.bands.items():
        assert vague.bands[quantity].error <= band.error
