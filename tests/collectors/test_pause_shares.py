"""How much of the time a port stood paused, from any source's counters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.pause_shares import BITS_PER_FRAME, FRAMES, SENSELESS, TIME, PauseShares
from fabrichealth.catalogue.congestion import PFC_RX_FRAMES, PFC_RX_PAUSE, PFC_TX_FRAMES
from fabrichealth.catalogue.ports import RX_BYTES, SPEED, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.model.series import Ids

E0, E8 = ("leaf-01", "Ethernet0"), ("leaf-01", "Ethernet8")

Reading = tuple[Metric, tuple[str, ...], float]


class Told:
    """Polls of one target, one after the other."""

    def __init__(self) -> None:
        self.table = SeriesTable()
        self.shares = PauseShares(self.table)

    def at(self, when: float, *readings: Reading) -> tuple[float, tuple[str, ...]] | None:
        """Return the worst share of a poll and the labels of its counter."""
        series = self.table.intern_all([(metric, labels) for metric, labels, _ in readings])
        values = np.array([value for _, _, value in readings])
        worst = self.shares.worst([Batch(0, when, series, values)])
        return None if worst is None else (worst.share, self.table.labels(worst.series))


def of(metric: Metric, port: tuple[str, str] = E0) -> tuple[str, ...]:
    """Return the labels of a counter of a port, of priority 3 where it has one."""
    return (*port, "3")[: len(metric.labels)]


@pytest.mark.parametrize("metric", TIME, ids=str)
def test_seconds_paused_are_a_share_of_the_seconds_between_two_polls(metric: Metric) -> None:
    told = Told()
    assert told.at(100.0, (metric, of(metric), 7.0)) is None  # once is no rate
    assert told.at(110.0, (metric, of(metric), 8.5)) == (0.15, of(metric))


@pytest.mark.parametrize("metric", FRAMES, ids=str)
def test_frames_alone_are_worth_what_they_can_stop_at_most(metric: Metric) -> None:
    told = Told()
    speed = (SPEED, E0, 400e9)
    told.at(0.0, (metric, of(metric), 0.0), speed)
    share, _ = told.at(10.0, (metric, of(metric), 1192.0), speed) or (0.0, ())
    assert share == pytest.approx(0.01, rel=1e-3)  # 11,921 frames a second hold 400 Gb/s for good


def test_a_port_that_does_not_say_its_speed_counts_as_slow() -> None:
    told = Told()
    told.at(0.0, (PFC_RX_FRAMES, of(PFC_RX_FRAMES), 0.0))
    share, _ = told.at(1.0, (PFC_RX_FRAMES, of(PFC_RX_FRAMES), 298.0)) or (0.0, ())
    assert share == pytest.approx(298 * BITS_PER_FRAME / 100e9)


def test_time_wins_over_frames_of_its_direction_and_port_only() -> None:
    told = Told()
    many = 1e9
    known = (PFC_RX_PAUSE, (*E0, "3"), 0.0)
    told.at(0.0, known, (PFC_RX_FRAMES, (*E0, "3"), 0.0), (PFC_TX_FRAMES, (*E8, "3"), 0.0))
    assert told.at(10.0, known, (PFC_RX_FRAMES, (*E0, "3"), many)) == (0.0, (*E0, "3"))
    assert told.at(20.0, known, (PFC_TX_FRAMES, (*E8, "3"), many)) == (1.0, (*E8, "3"))


def test_what_is_no_pause_counter_tells_nothing() -> None:
    told = Told()
    for when in (0.0, 10.0):
        assert told.at(when, (RX_BYTES, E0, when * 1e9), (UP, E0, 1.0), (SPEED, E0, 4e11)) is None


@given(
    st.lists(
        st.tuples(
            st.floats(-5.0, 50.0),
            st.dictionaries(st.integers(0, 5), st.floats(0.0, 1e6), max_size=6),
        ),
        max_size=12,
    )
)
def test_the_worst_is_that_of_each_counter_against_its_own_last_reading(
    polls: list[tuple[float, dict[int, float]]],
) -> None:
    """Counters come, go and fall back, and time may stand still; nothing else is compared."""
    told = Told()
    last: dict[int, tuple[float, float]] = {}
    when = 0.0
    for step, values in polls:
        when += step
        shares = [
            (value - last[port][1]) / (when - last[port][0])
            for port, value in values.items()
            if port in last and when > last[port][0] and value >= last[port][1]
        ]
        shares = [share for share in shares if share < SENSELESS]  # else a wrong unit
        last |= {port: (when, value) for port, value in values.items()}
        found = told.at(
            when, *((PFC_RX_PAUSE, ("d", str(port), "3"), value) for port, value in values.items())
        )
        assert (found is None) == (not shares)
        if found is not None:
            assert found[0] == min(max(shares), 1.0)


class Growing(SeriesTable):
    """A table into which somebody else writes while it is read."""

    def of(self, metric: Metric) -> Ids:
        """Return the series of a metric; one more is there by then."""
        if metric is PFC_RX_PAUSE:
            self.intern_all([(metric, (f"leaf-{len(self)}", "Ethernet0", "3"))])
        return super().of(metric)


def test_series_that_others_add_meanwhile_are_learned_at_the_next_poll() -> None:
    told = Told()
    told.table = Growing()
    told.shares = PauseShares(told.table)
    for when in range(5):
        told.at(float(when), (PFC_RX_PAUSE, of(PFC_RX_PAUSE), when / 2))
    assert told.at(5.0, (PFC_RX_PAUSE, of(PFC_RX_PAUSE), 2.5)) == (0.5, of(PFC_RX_PAUSE))
