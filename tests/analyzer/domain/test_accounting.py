"""Where a domain's accelerator-hours went."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analyzer.evidence.domain.accounting import CAUSES, ROWS, Hours, account
from analyzer.evidence.domain.energy import energy
from fabrichealth.model import Floats

HOUR = 3600.0
FREE, HELD, NOT_KNOWN = 0.0, 1.0, np.nan


def spent(
    busy: float | Floats,
    held: float = HELD,
    bins: int = 10,
    throttled: Mapping[str, float] | None = None,
    standing: Mapping[str, slice] | None = None,
    unfit: bool = False,
) -> dict[str, float]:
    """Return the rows that are not empty, as shares; one accelerator, an hour a bin.

    `standing` gives by cause the bins in which it stood.
    """
    values = np.full((1, bins), busy) if isinstance(busy, float) else busy[None, :]
    masks = {cause: np.zeros(values.shape, bool) for cause in CAUSES}
    for cause, where in (standing or {}).items():
        masks[cause][:, where] = True
    shares = {
        cause: np.full(values.shape, (throttled or {}).get(cause, np.nan))
        for cause in ("cooling", "power")
    }
    told = Hours(
        HOUR, values, np.full(values.shape, held), shares, masks,
        np.full(values.shape[1], unfit),
    )  # fmt: skip
    found = account(told)
    assert found.total == pytest.approx(values.shape[1])
    return {row: share for row in ROWS if (share := found.share(row) or 0.0) > 1e-9}


def test_a_held_accelerator_is_useful_while_busy_and_waits_else() -> None:
    assert spent(0.8) == pytest.approx({"useful": 0.8, "waiting": 0.2})


@pytest.mark.parametrize(
    ("held", "unfit", "rows"),
    [
        pytest.param(FREE, False, {"free": 1.0}, id="nobody asked"),
        pytest.param(FREE, True, {"fragmentation": 1.0}, id="a job did not fit"),
        pytest.param(HELD, True, {"waiting": 1.0}, id="held all the same"),
        pytest.param(NOT_KNOWN, True, {"unallotted": 1.0}, id="no scheduler was read"),
    ],
)
def test_an_idle_hour_goes_to_whoever_left_it_idle(
    held: float, unfit: bool, rows: dict[str, float]
) -> None:
    assert spent(0.0, held, unfit=unfit) == pytest.approx(rows)


def test_what_is_not_read_is_unknown_and_not_idle() -> None:
    assert spent(np.nan) == {"unknown": 1.0}
    assert spent(np.nan, standing={"faults": slice(0, 5)}) == {"faults": 0.5, "unknown": 0.5}


def test_work_that_no_job_asked_for_is_not_useful() -> None:
    assert spent(0.7, FREE) == pytest.approx({"unheld": 0.7, "free": 0.3})


def test_what_throttles_takes_its_share_of_what_is_busy_for_a_job() -> None:
    assert spent(0.5, throttled={"cooling": 0.3, "power": 0.1}) == pytest.approx(
        {"useful": 0.3, "cooling": 0.15, "power": 0.05, "waiting": 0.5}
    )
    assert spent(1.0, throttled={"cooling": 1.0}) == pytest.approx({"cooling": 1.0})
    assert spent(1.0, throttled={"cooling": 0.7, "power": 0.7}) == pytest.approx(
        {"cooling": 0.7, "power": 0.3}
    )


@pytest.mark.parametrize(("held", "row"), [(FREE, "free"), (HELD, "waiting")])
def test_what_does_nothing_loses_nothing_to_what_throttles(held: float, row: str) -> None:
    assert spent(0.0, held, throttled={"power": 0.7}) == {row: 1.0}


def test_a_bin_that_a_job_held_for_a_part_is_split() -> None:
    assert spent(0.36, 0.4) == pytest.approx({"useful": 0.36, "waiting": 0.04, "free": 0.6})
    assert spent(0.5, 0.4, unfit=True) == pytest.approx(
        {"useful": 0.4, "unheld": 0.1, "fragmentation": 0.5}
    )
    found = spent(0.2, 0.4, standing={"links": slice(0, 10)})
    assert found == pytest.approx({"useful": 0.2, "links": 0.2, "free": 0.6})


def test_an_ill_link_takes_what_is_idle_beyond_the_usual() -> None:
    busy = np.array([0.8] * 8 + [0.3] * 2)
    found = spent(busy, standing={"links": slice(8, 10)})
    assert found == pytest.approx({"useful": 0.7, "links": 0.1, "waiting": 0.2})


def test_an_ill_link_takes_nothing_from_what_no_job_holds() -> None:
    assert spent(0.0, FREE, standing={"links": slice(0, 10)}) == {"free": 1.0}


def test_of_several_causes_the_first_counts_and_each_hour_once() -> None:
    everything = {cause: slice(0, 10) for cause in CAUSES}
    assert spent(0.25, standing=everything) == pytest.approx({"useful": 0.25, "faults": 0.75})


def test_accelerators_without_a_name_are_missing_all_the_time() -> None:
    told = Hours(
        HOUR, np.ones((1, 4)), np.ones((1, 4)), {},
        {cause: np.zeros((1, 4), bool) for cause in CAUSES}, np.zeros(4, bool),
    )  # fmt: skip
    found = account(told, nameless=3)
    assert (found.total, found.hours("unknown"), found.hours("useful")) == (16.0, 12.0, 4.0)
    empty = Hours(
        HOUR, np.ones((0, 4)), np.ones((0, 4)), {},
        {cause: np.zeros((0, 4), bool) for cause in CAUSES}, np.zeros(4, bool),
    )  # fmt: skip
    assert account(empty).share("useful") is None


SHAPE = (3, 6)
shares = arrays(np.float64, SHAPE, elements=st.floats(-0.5, 1.5) | st.just(np.nan))
flags = arrays(np.bool_, SHAPE)


@settings(deadline=None)
@given(
    shares, shares, shares, shares,
    st.lists(flags, min_size=len(CAUSES), max_size=len(CAUSES)), arrays(np.bool_, SHAPE[1]),
)  # fmt: skip
def test_every_hour_is_counted_once_whatever_is_said(
    busy: Floats, held: Floats, heat: Floats, short: Floats, standing: list[np.ndarray],
    unfit: np.ndarray,
) -> None:  # fmt: skip
    masks = dict(zip(CAUSES, standing, strict=True))
    told = Hours(HOUR, busy, held, {"cooling": heat, "power": short}, masks, unfit)
    found = account(told)
    for row in found.rows.values():
        assert (row >= -1e-9).all()
    every = np.stack(list(found.rows.values())).sum(axis=0)
    assert every == pytest.approx(np.full(SHAPE[0], SHAPE[1]))


def test_energy_counts_only_where_a_meter_was_read() -> None:
    watts = np.array([[1000.0, np.nan], [2000.0, 2000.0]])
    useful = np.array([[1.0, 1.0], [0.5, 0.5], [1.0, 1.0]])
    found = energy(watts, np.array([0, 1, -1]), useful, HOUR, "rack")
    assert found is not None
    assert found.kilowatt_hours == pytest.approx(5.0)
    assert found.useful_hours == pytest.approx(2.0)
    assert found.metered == pytest.approx(0.5)
    assert found.hours_per_kilowatt_hour == pytest.approx(0.4)
    assert energy(np.full((1, 2), np.nan), np.array([0, 0, 0]), useful, HOUR, "rack") is None
