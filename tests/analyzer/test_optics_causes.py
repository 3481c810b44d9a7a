"""The field's table of optical signatures, row by row: pattern in, cause and side out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.causes.weighing import Diagnosis
from analyzer.evidence.optics.banks import ill_banks
from analyzer.evidence.optics.causes import diagnose_light
from analyzer.evidence.optics.features import Feature, LaneFeatures, OpticsEvidence
from analyzer.evidence.optics.modules import Identity
from analyzer.evidence.optics.symptoms import light_signs
from fabrichealth.kinds import OPTICS_DEGRADING, Cause
from fabrichealth.model import Port

A, B = Port("leaf-01", "Ethernet0"), Port("host-001", "eth0")
USUAL = {
    "rx_power": -1.0, "tx_power": 1.0, "tx_bias": 0.06, "snr_media": 22.0, "snr_host": 24.0,
}  # fmt: skip


def feature(level: float, usual: float, unrest: float = 0.05) -> Feature:
    """Return a quantity that used to be something else."""
    return Feature(level, usual, None, None, None, None, None, unrest, 0.05)


def module(
    port: Port, excess: float | None = 1.0, noise: float = 0.0, warm: float = 0.0, **change: float
) -> OpticsEvidence:
    """Return a module of one lane whose quantities are off by so much; `unrest` of its light."""
    unrest = change.pop("unrest", 0.05)
    signal = change.pop("signal_unrest", 0.05)
    found = {
        name: feature(
            usual + change.get(name, 0.0),
            usual,
            {"rx_power": unrest, "snr_media": signal}.get(name, 0.05),
        )
        for name, usual in USUAL.items()
    }
    lane = LaneFeatures(port, "1", found, excess, noise, noise)
    return OpticsEvidence(port, Identity(), feature(45.0 + warm, 45.0), {"1": lane}, False, ())


def heard(
    a: OpticsEvidence | None, b: OpticsEvidence | None, bank_dim: bool | None = None
) -> Diagnosis:
    """Return what two modules show of the link between them; `bank_dim` is of the first."""
    banks = {} if bank_dim is None else {A: bank_dim}
    found, _ = diagnose_light(None, {A: a, B: b}, banks)
    return found


ROWS = {
    "laser ageing": (module(A, excess=1.35), module(B), Cause.DECAYING_TRANSMITTER, A),
    "laser failed": (
        module(A, excess=1.6, tx_power=-6.0), module(B, rx_power=-6.0, snr_media=-9.0),
        Cause.DECAYING_TRANSMITTER, A,
    ),
    "laser without bias": (
        module(A, excess=0.0, tx_power=-20.0, tx_bias=-0.06),
        module(B, rx_power=-20.0, snr_media=-20.0), Cause.DECAYING_TRANSMITTER, A,
    ),
    "dirt": (module(A), module(B, rx_power=-3.0, snr_media=-5.0), Cause.CONTAMINATED_CONNECTOR, B),
    "bend": (
        module(A, rx_power=-2.5, snr_media=-4.0), module(B, rx_power=-3.0, snr_media=-5.0),
        Cause.DAMAGED_FIBER, None,
    ),
    "reflections": (
        module(A), module(B, snr_media=-3.0, noise=2.0, signal_unrest=1.0),
        Cause.CONTAMINATED_CONNECTOR, B,
    ),
    "receiver": (module(A), module(B, snr_media=-3.0), Cause.DEGRADED_RECEIVER, B),
    "heat": (
        module(A), module(B, warm=25.0, snr_media=-1.5, excess=1.2), Cause.MODULE_OVERHEATING, B,
    ),
    "host": (module(A, snr_host=-5.0), module(B), Cause.HOST_ELECTRICAL, A),
    "DSP": (
        module(A), module(B, snr_media=-3.0, snr_host=-3.0), Cause.LOOSE_OR_BAD_MODULE, B,
    ),
    "loose": (
        module(A), module(B, rx_power=-0.5, snr_media=-0.5, unrest=1.5),
        Cause.LOOSE_OR_BAD_MODULE, B,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_each_row_of_the_table_names_its_cause_and_side(row: str) -> None:
    sender, receiver, cause, side = ROWS[row]
    found = heard(sender, receiver)
    assert found.cause == cause
    assert found.side == side
    assert found.causes[cause] > 0.5


def test_a_copper_cable_has_no_dirt_and_no_laser() -> None:
    ends = [
        OpticsEvidence(port, Identity(kind="aec"), None, lanes, False, ())
        for port, lanes in ((A, module(A).lanes), (B, module(B, snr_media=-3.0).lanes))
    ]
    found = heard(ends[0], ends[1])
    assert found.cause == Cause.COPPER_CABLE
    assert found.side is None
    assert Cause.CONTAMINATED_CONNECTOR not in found.causes


def test_a_dim_bank_is_shared_and_a_bank_that_is_well_is_not() -> None:
    sender, receiver = module(A, None, tx_power=-3.0), module(B, rx_power=-3.0)
    shared, alone = (heard(sender, receiver, dim) for dim in (True, False))
    assert next(iter(shared.causes)) == Cause.SHARED_COMPONENT
    assert next(iter(alone.causes)) == Cause.DECAYING_TRANSMITTER
    assert shared.side == alone.side == A


def test_an_end_that_was_not_heard_is_not_cleared() -> None:
    receiver = module(B, rx_power=-3.0)
    both, deaf = heard(module(A), receiver), heard(None, receiver)
    assert deaf.causes[Cause.CONTAMINATED_CONNECTOR] < both.causes[Cause.CONTAMINATED_CONNECTOR]
    assert deaf.side is None


def test_nothing_known_accuses_nobody() -> None:
    found = heard(None, None)
    assert light_signs({A: None, B: None}) == {}
    assert (found.side, found.direction) == (None, None)


CHANGES = st.floats(-20, 20)


@given(
    st.dictionaries(st.sampled_from([*USUAL, "unrest", "signal_unrest"]), CHANGES),
    st.none() | st.floats(0, 3),
    st.booleans(),
)
def test_probabilities_add_up_whatever_is_seen(
    change: dict[str, float], excess: float | None, known: bool
) -> None:
    ends = {A: module(A, excess, **change) if known else None, B: module(B, **change)}
    found, signs = diagnose_light(None, ends)
    assert sum(found.causes.values()) == pytest.approx(1.0)
    assert found.causes.keys() <= set(OPTICS_DEGRADING.causes)
    shares = list(found.causes.values())
    assert shares == sorted(shares, reverse=True)
    assert signs == light_signs(ends)
    assert found.side in {None, A, B}


def test_a_bank_is_ill_when_half_of_its_known_ports_are_dim() -> None:
    ports = [Port("leaf-01", str(number)) for number in range(6)]
    of = dict.fromkeys(ports[:4], "one") | dict.fromkeys(ports[4:], "two")
    assert ill_banks(ports[:2], ports, of) == {"one"}
    assert ill_banks(ports[:1], ports[:1], of) == set()  # one port alone is no bank
    assert ill_banks([ports[0], ports[5]], ports, of) == set()
