"""The simulated racks carry what they draw, and what was said of racks is counted rightly."""

import numpy as np
import pytest

from benchmarks.heard import Said, to_json
from benchmarks.power.__main__ import errors
from benchmarks.power.faults import BY_NAME, FAULTS
from benchmarks.power.judging import Result, ill_cases, of_json
from benchmarks.power.tables import figures
from benchmarks.power.world import BREAKER, FACTOR, START, VOLTS, Case, World
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_POWER, FEED_VOLTAGE
from fabrichealth.kinds import Severity
from fabrichealth.model import SeriesTable


def said(made: World, number: int) -> dict[tuple[str, str], float]:
    """Return what feeds say at a poll, by metric and the labels behind the rack."""
    table = made._table
    return {
        (str(table.metric(series)), "/".join(table.labels(series)[1:])): value
        for batch in made.poll(number)
        for series, value in zip(batch.series.tolist(), batch.values.tolist(), strict=True)
    }


def world(*cases: Case) -> World:
    return World(cases, np.random.default_rng(1), SeriesTable())


def test_power_is_volts_times_amperes_times_factor_of_every_feed() -> None:
    told = said(world(Case()), 0)
    for side in "AB":
        product = FACTOR * sum(
            told[str(FEED_VOLTAGE), f"r000-{side}/{phase}"]
            * told[str(FEED_CURRENT), f"r000-{side}/{phase}"]
            for phase in "123"
        )
        assert told[str(FEED_POWER), f"r000-{side}"] == pytest.approx(product, rel=0.04)


def test_what_a_lost_feed_carried_its_partner_carries() -> None:
    made = world(Case(BY_NAME["feed_lost"], 2, START + 30.0))
    before, after = said(made, 0), said(made, 1)
    assert after[str(FEED_CURRENT), "r000-A/1"] == after[str(FEED_VOLTAGE), "r000-A/1"] == 0.0
    both = sum(before[str(FEED_CURRENT), f"r000-{side}/2"] for side in "AB")
    assert after[str(FEED_CURRENT), "r000-B/2"] == pytest.approx(both, rel=0.25)


def test_an_overloaded_feed_carries_what_its_strength_says() -> None:
    made = world(Case(BY_NAME["overload"], 1, START))
    told = said(made, 1)
    mean = np.mean([told[str(FEED_CURRENT), f"r000-A/{phase}"] for phase in "123"])
    assert mean == pytest.approx(BREAKER, rel=0.05)
    assert told[str(FEED_VOLTAGE), "r000-A/1"] == pytest.approx(VOLTS, rel=0.03)


def test_every_fault_comes_at_three_strengths() -> None:
    cases = ill_cases(np.random.default_rng(1))
    assert len(cases) == 3 * len(FAULTS)
    assert {(case.fault, case.strength) for case in cases} == {
        (fault, strength) for fault in FAULTS for strength in range(3)
    }


def told(kind: str, after: float, severity: Severity = Severity.PAGE) -> Said:
    return Said("r000-A", kind, int(severity), START + after, "because")


def test_the_right_the_wrong_the_missed_and_the_false_are_counted_apart() -> None:
    results = [
        Result("overload", 1, START, 0.3, (told("power.overload", 60.0),)),
        Result("overload", 1, START, 0.3, (told("power.feed_lost", 90.0),)),
        Result("overload", 1, START, 0.3, ()),
        Result("", 0, 0.0, 14.0, (told("power.capped", 60.0, Severity.TICKET),)),
    ]
    text = figures(results)
    assert "0.333" in text
    assert "1.0 / 1.0" in text
    assert "beside the right one, or before it: 1 at 3 racks (power.feed_lost 1)" in text
    assert "power.capped 1" in text
    assert "1 quiet racks, 2.0 rack-weeks" in text
    assert [line.partition(":")[0] for line in errors(results)] == [
        "false", "missed", "missed", "false",
    ]  # fmt: skip
    assert of_json(to_json(results)) == results
