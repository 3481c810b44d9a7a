"""Racks at their cap, and racks that merely work."""

from collections.abc import Sequence

import numpy as np

from fabrichealth.catalogue.accelerators import CLOCK, THROTTLED, UTILIZATION
from fabrichealth.catalogue.power import RACK_POWER, RACK_POWER_LIMIT
from tests.analyzer.power.racks import Said, flat, noisy, said, step

LIMIT = 130_000.0


def drawn(values: Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float64]]) -> Said:
    return {(RACK_POWER, ("r1",)): list(values)}


def clocks(values: Sequence[float], used: float = 0.95) -> tuple[Said, ...]:
    return tuple(
        {
            (CLOCK, (f"host-0-{n}",)): values,
            (UTILIZATION, (f"host-0-{n}",)): flat(used, len(values)),
        }
        for n in range(2)
    )


def test_a_rack_at_its_limit_whose_clocks_fall_is_capped() -> None:
    (finding,) = said(
        "power_capped", drawn(step(110_000.0, 129_200.0)), *clocks(step(1.9e9, 1.5e9))
    )
    assert str(finding.about) == "r1"
    assert "draws 129.2 kW of 130.0 kW; clocks of 2 of its 2 accelerators fell by 21%" in (
        finding.because
    )
    assert [str(one) for one in finding.victims] == ["host-0-0", "host-0-1"]


def test_accelerators_that_say_that_power_throttles_them_are_believed() -> None:
    throttled: Said = {
        (THROTTLED, ("host-0-0", "power")): step(0.0, 0.4),
        (THROTTLED, ("host-0-0", "thermal")): flat(0.0),
    }
    (finding,) = said("power_capped", drawn(step(110_000.0, 129_900.0)), throttled)
    assert "power throttles 1 of its" in finding.because


def test_a_rack_that_works_hard_at_full_clocks_is_none() -> None:
    assert said("power_capped", drawn(flat(129_000.0)), *clocks(flat(1.9e9))) == []


def test_a_rack_that_peaks_is_none() -> None:
    peaks = [129_500.0 if n % 3 == 0 else 118_000.0 for n in range(60)]
    assert said("power_capped", drawn(peaks), *clocks(step(1.9e9, 1.5e9))) == []


def test_idle_accelerators_are_slow_for_their_own_reason() -> None:
    assert (
        said("power_capped", drawn(step(110_000.0, 129_500.0)),
             *clocks(step(1.9e9, 1.0e9), used=0.05))
        == []
    )  # fmt: skip


def test_where_no_accelerator_speaks_only_long_flat_power_counts_and_it_says_so() -> None:
    capped = noisy(129_500.0, 0.001, 60)
    (finding,) = said("power_capped", drawn(capped))
    assert finding.because.endswith("how fast its accelerators run is not read")
    assert said("power_capped", drawn(step(110_000.0, 129_500.0, at=48))) == []


def test_the_limit_that_the_rack_itself_names_counts() -> None:
    named: Said = {(RACK_POWER_LIMIT, ("r1",)): flat(100_000.0)}
    (finding,) = said("power_capped", drawn(step(80_000.0, 99_900.0)), named,
                      *clocks(step(1.9e9, 1.5e9)))  # fmt: skip
    assert "of 100.0 kW" in finding.because
