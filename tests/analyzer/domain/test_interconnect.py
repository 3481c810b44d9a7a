"""How busy the links of a domain are, and how much room its narrowest cut has left."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.interconnects import REMEMBERED, Interconnects
from analyzer.judge import Judge
from analyzer.ledger import Ledger
from analyzer.verdicts import Verdict
from analyzer.viewing import Viewing
from fabrichealth.catalogue.ports import REPLAYS, RX_BYTES, SPEED, TX_BYTES, TX_PACKETS, UP
from fabrichealth.catalogue.verdicts import (
    DOMAIN_BISECTION,
    DOMAIN_BISECTION_HEADROOM,
    DOMAIN_BISECTION_SHARE,
    EFFECTIVE_ACCELERATORS,
    HOT_LINKS,
    INTERCONNECT_UTILIZATION,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Port
from fabrichealth.topology import Topology
from tests.analyzer.domain.fabrics import planes
from tests.analyzer.views import START, store_of

POLLS, PERIOD = 31, 10.0
GBPS = 400e9 / 8

Said = dict[tuple[Metric, Labels], Sequence[float]]


def sending(
    topology: Topology, load: Mapping[str, float], usual: float = 0.2, **state: float
) -> Said:
    """Return what accelerators' ports count: each sends at a share of its rate, receives half."""
    said: Said = {}
    at = np.arange(POLLS) * PERIOD
    for link in topology.links.values():
        port = next(end for end in link.ends if end.device.startswith("a"))
        share = load.get(link.id, usual)
        said[TX_BYTES, port] = list(1e12 + at * share * GBPS)
        said[RX_BYTES, port] = list(2e12 + at * share * GBPS / 2)
        said[UP, port] = [state.get("up", 1.0)] * POLLS
        said[SPEED, port] = [400e9] * POLLS
    return said


def told(
    topology: Topology, said: Said, lost: Sequence[str] = (), hot: Sequence[str] = ()
) -> dict[tuple[Metric, Labels], float]:
    viewing = Viewing(store_of(said, PERIOD), {}, REMEMBERED)
    now = START + POLLS * PERIOD
    viewing.advance(now)
    found = Interconnects(viewing, floor=0.75).verdicts(now, topology, lost, hot)
    return {(one.metric, one.labels): one.value for one in found}


def test_quantiles_are_over_links_so_that_one_hot_link_is_seen() -> None:
    topology = planes(2, 2, 2)
    hot = "a00/ub/0/0--s0/d0-0"
    found = told(topology, sending(topology, {hot: 0.97}))
    assert found[INTERCONNECT_UTILIZATION, ("pod", "0.5")] == pytest.approx(0.2)
    assert found[INTERCONNECT_UTILIZATION, ("pod", "1")] == pytest.approx(0.97)
    assert found[HOT_LINKS, ("pod",)] == 1.0


def test_peaks_of_uneven_polls_are_not_heat() -> None:
    topology = planes(2, 2, 2)
    said = sending(topology, {}, usual=0.3)
    for metric in (TX_BYTES, RX_BYTES):
        values = np.array(said[metric, Port("a00", "ub/0/0")])
        values[5::10] += 7 * 0.1 * GBPS * PERIOD  # read a little late, and the next time early
        said[metric, Port("a00", "ub/0/0")] = list(values)
    assert told(topology, said)[HOT_LINKS, ("pod",)] == 0.0


def test_a_link_that_an_incident_calls_hot_counts_once() -> None:
    topology = planes(2, 2, 2)
    links = list(topology.links)
    found = told(topology, sending(topology, {links[0]: 0.97}), hot=links[:2])
    assert found[HOT_LINKS, ("pod",)] == 2.0


def test_headroom_is_that_of_the_narrowest_cut_in_its_fuller_direction() -> None:
    topology = planes(2, 2, 2)
    found = told(topology, sending(topology, {}, usual=0.6))
    assert found[DOMAIN_BISECTION, ("pod", "scale_up")] == pytest.approx(4 * 400e9)
    assert found[DOMAIN_BISECTION_SHARE, ("pod", "scale_up")] == pytest.approx(1.0)
    assert found[DOMAIN_BISECTION_HEADROOM, ("pod", "scale_up")] == pytest.approx(0.4)
    assert found[EFFECTIVE_ACCELERATORS, ("pod",)] == 4.0


def test_a_plane_that_is_not_to_be_relied_on_is_missing_everywhere() -> None:
    topology = planes(2, 2, 2)
    lost = [name for name in topology.links if "--s1/" in name]
    found = told(topology, sending(topology, {}), lost=lost)
    assert found[DOMAIN_BISECTION_SHARE, ("pod", "scale_up")] == pytest.approx(0.5)
    assert found[EFFECTIVE_ACCELERATORS, ("pod",)] == 0.0


def test_a_link_that_repeats_itself_carries_only_what_is_new() -> None:
    topology = planes(2, 1, 1)
    said = sending(topology, {})
    port = Port("a00", "ub/0/0")
    said[TX_PACKETS, port] = [1e9 + 1000.0 * poll for poll in range(POLLS)]
    said[REPLAYS, port] = [7.0 + 250.0 * poll for poll in range(POLLS)]
    found = told(topology, said)
    assert found[DOMAIN_BISECTION_SHARE, ("pod", "scale_up")] == pytest.approx(0.75, abs=0.02)
    del said[TX_PACKETS, port]  # so nobody knows of how many
    assert told(topology, said)[DOMAIN_BISECTION_SHARE, ("pod", "scale_up")] == 1.0


def test_a_part_of_the_loads_tells_no_headroom() -> None:
    topology = planes(2, 2, 2)
    said = sending(topology, {})
    for metric in (TX_BYTES, RX_BYTES):
        del said[metric, Port("a00", "ub/0/0")]
    found = told(topology, said)
    assert (DOMAIN_BISECTION_HEADROOM, ("pod", "scale_up")) not in found
    assert found[INTERCONNECT_UTILIZATION, ("pod", "1")] == pytest.approx(0.2)


def test_one_direction_alone_tells_no_headroom() -> None:
    topology = planes(2, 2, 2)
    said = {key: values for key, values in sending(topology, {}).items() if key[0] is not RX_BYTES}
    found = told(topology, said)
    assert (DOMAIN_BISECTION_HEADROOM, ("pod", "scale_up")) not in found


def test_nothing_is_told_of_a_domain_of_which_nothing_is_heard() -> None:
    assert told(planes(2, 2, 2), {}) == {}


def test_without_written_speeds_there_is_neither_load_nor_bandwidth_but_a_share() -> None:
    topology = planes(2, 2, 2, gbps=None)
    found = told(topology, sending(topology, {}), lost=[next(iter(topology.links))])
    assert {metric for metric, _ in found} == {DOMAIN_BISECTION_SHARE, EFFECTIVE_ACCELERATORS}
    assert found[DOMAIN_BISECTION_SHARE, ("pod", "scale_up")] == pytest.approx(0.75)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, 0.85), st.integers(0, 7))
def test_what_is_told_of_a_link_is_what_it_carried(share: float, number: int) -> None:
    topology = planes(2, 2, 2)
    link = list(topology.links)[number]
    found = told(topology, sending(topology, {link: share}, usual=0.0))
    assert found[INTERCONNECT_UTILIZATION, ("pod", "1")] == pytest.approx(share, abs=1e-6)
    assert found[HOT_LINKS, ("pod",)] == 0.0


def test_a_counter_that_restarts_or_misses_polls_costs_only_what_is_not_known() -> None:
    topology = planes(2, 2, 2)
    said = sending(topology, {}, usual=0.4)
    port = Port("a00", "ub/0/0")
    for metric in (TX_BYTES, RX_BYTES):
        values = np.array(said[metric, port])
        values[20:] -= values[20]  # it restarted between two polls
        values[5:9] = np.nan
        said[metric, port] = list(values)
    found = told(topology, said)
    for quantile in ("0", "0.5", "1"):
        assert found[INTERCONNECT_UTILIZATION, ("pod", quantile)] == pytest.approx(0.4)


def of_links(judge: Judge, now: float) -> list[Verdict]:
    """Return what a pass says of a domain, without what the analyzer says of itself."""
    return [one for one in judge.judge(now).verdicts if "domain" in one.metric.name]


def test_judging_tells_it_once_a_minute_and_no_more_of_a_fabric_that_fell_silent() -> None:
    topology = planes(2, 2, 2)
    judge = Judge(store_of(sending(topology, {}), PERIOD), topology, {}, Ledger())
    now = START + POLLS * PERIOD
    first, second, third = (of_links(judge, now + later) for later in (0.0, 50.0, 65.0))
    assert EFFECTIVE_ACCELERATORS in {one.metric for one in first}
    assert (second, third) == (first, [])


def test_a_failure_here_is_logged_once_and_costs_no_pass(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    topology = planes(2, 2, 2)
    judge = Judge(store_of(sending(topology, {}), PERIOD), topology, {}, Ledger())

    def broken(*_: object) -> None:
        raise KeyError("a fault of ours")

    monkeypatch.setattr("analyzer.interconnects.Pieces", broken)
    now = START + POLLS * PERIOD
    assert [of_links(judge, now + 60.0 * minute) for minute in range(3)] == [[], [], []]
    assert [record.exc_info is not None for record in caplog.records] == [True]
    monkeypatch.undo()
