"""Power against volts and amperes: which feeds contradict themselves, and which never do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.maps.power_balance import PowerBalance
from fabrichealth.catalogue.power import (
    FEED_CURRENT,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
)
from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable

FEED = ("r01", "r01-A")
Said = list[tuple[Metric, tuple[str, ...], float]]


def doubts(said: Said) -> list[str]:
    """Return what is said of readings that contradict each other."""
    table = SeriesTable()
    series = table.intern_all((metric, labels) for metric, labels, _ in said)
    balance = PowerBalance(table, series)
    return [one.says for one in balance.doubts(np.array([value for _, _, value in said]))]


def feed(
    watts: float, amperes: list[float], volts: list[float], factor: float | None = None
) -> Said:
    """Return readings of a feed; a single voltage is that of all phases."""
    phases = [str(n + 1) for n in range(len(amperes))]
    of_volts = phases if len(volts) > 1 else [""]
    return [
        (FEED_POWER, FEED, watts),
        *((FEED_CURRENT, (*FEED, p), a) for p, a in zip(phases, amperes, strict=True)),
        *((FEED_VOLTAGE, (*FEED, p), v) for p, v in zip(of_volts, volts, strict=True)),
        *([(FEED_POWER_FACTOR, FEED, factor)] if factor is not None else []),
    ]


@pytest.mark.parametrize(
    ("said", "off"),
    [
        pytest.param(feed(3100, [1.4], [231.0]), "off by 10", id="amperes in tenths by mistake"),
        pytest.param(feed(32, [14.0], [230.0]), "off by 100", id="power in hundreds of watts"),
        pytest.param(feed(3.2, [14.0], [230.0], 0.99), "off by 1000", id="kilowatts for watts"),
        pytest.param(
            feed(690, [10.0, 10.0, 10.0], [230.0]), "off by 10", id="one voltage for all phases"
        ),
    ],
)
def test_a_unit_that_is_wrong_by_tens_is_told(said: Said, off: str) -> None:
    (one,) = doubts(said)
    assert off in one
    assert "feed r01/r01-A" in one


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(feed(1390, [6.4], [229.0]), id="a common load"),
        pytest.param(feed(1475, [13.2], [119.2], -0.94), id="a leading load"),
        pytest.param(feed(7, [0.3], [230.0]), id="an idle supply draws volt-amperes and no watts"),
        pytest.param(feed(10, [0.0], [230.0]), id="less than a step of its instrument"),
        pytest.param(feed(1704, [5.6, 3.7, 5.6], [208.0, 209.0, 209.0]), id="volts between lines"),
        pytest.param(feed(6900, [10.0], [230.0]), id="one phase of three is metered"),
        pytest.param(feed(3000, [1.3], [np.nan]), id="a voltage that was not read"),
        pytest.param([(FEED_POWER, FEED, 3000.0)], id="power alone"),
        pytest.param(feed(3000, [1.3, 1.3], [230.0, 230.0])[:4], id="a phase without voltage"),
    ],
)
def test_what_has_another_reason_is_not_doubted(said: Said) -> None:
    assert doubts(said) == []


def test_one_feed_in_doubt_leaves_the_others_alone() -> None:
    other = [(metric, ("r02", "r02-A", *labels[2:]), value)
             for metric, labels, value in feed(3100, [1.4], [231.0])]  # fmt: skip
    (one,) = doubts([*feed(1390, [6.4], [229.0]), *other])
    assert "r02/r02-A" in one


@settings(deadline=None)
@given(
    amperes=st.lists(st.floats(0.1, 60.0), min_size=1, max_size=3),
    volts=st.floats(90.0, 480.0),
    factor=st.floats(0.7, 1.0),
    known=st.booleans(),
    exponent=st.sampled_from([-2, -1, 0, 1, 2]),
)
def test_only_tens_are_doubted(
    amperes: list[float], volts: float, factor: float, known: bool, exponent: int
) -> None:
    apparent = sum(amperes) * volts
    watts = apparent * factor * 10.0**exponent
    said = feed(watts, amperes, [volts], factor if known else None)
    if max(apparent, watts) > 1000.0:
        assert len(doubts(said)) == (exponent != 0)
    if exponent == 0:
        assert doubts(said) == []
