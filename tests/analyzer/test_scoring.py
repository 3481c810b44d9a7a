"""Scoring by hand-made truths and incidents: each rule of contract 6."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from analyzer.scoring import Matched, Tally, Told, match, truths
from analyzer.scoring.bounds import Rate, Share
from analyzer.scoring.calibration import bins, brier, expected_error
from analyzer.scoring.tables import page
from analyzer.scoring.tally import WEEK
from fabrichealth.kinds import Severity
from fabrichealth.topology import Device, Link, Loop, Topology

HOUR = 3600.0
LINK, OTHER = "host/eth0--leaf/1", "host/eth1--leaf/2"
TOPOLOGY = Topology(
    [Device(name="leaf", role="switch"), Device(name="host", role="host")],
    [Link(a="leaf/1", b="host/eth0"), Link(a="leaf/2", b="host/eth1")],
    loops=[Loop(name="cdu")],
)


def wrong(kind: str = "link.subhealthy", culprit: str = LINK, **more: Any) -> dict[str, Any]:
    """A truth from 10,000 to 20,000 s."""
    side = more.pop("side", None)
    place = {"type": "link", "id": culprit, **({"side": side} if side else {})}
    plain = {"kind": kind, "culprit": place, "from": 10_000, "until": 20_000, "must_page": False}
    return {**plain, **more}


def said(
    kind: str = "link.subhealthy",
    culprit: str = LINK,
    confirmed: float = 10_600,
    severity: Severity = Severity.TICKET,
    **more: Any,
) -> Told:
    """An incident that closed when the truth ended."""
    facts: dict[str, Any] = {
        "side": None, "opened": confirmed - 60, "closed": 20_000.0, "counted_from": confirmed,
    }  # fmt: skip
    told = {"incident": f"i{confirmed}", "kind": kind, "severity": severity, "culprit": culprit}
    return Told(confirmed=confirmed, **{**told, **facts, **more})


def scored(true: list[dict[str, Any]], *told: Told) -> Matched:
    return match(truths(json.dumps(one) for one in true), told, TOPOLOGY)


def found(matched: Matched) -> list[str | None]:
    """The ids of the incidents that the truths got."""
    return [one.told.incident if one.told else None for one in matched.met]


@pytest.mark.parametrize(
    ("true", "told", "meets"),
    [
        (wrong(), said(), True),
        (wrong(), said(culprit=OTHER), False),
        (wrong(), said(confirmed=9_881), True),  # from - 120 s
        (wrong(), said(confirmed=9_879), False),
        (wrong(), said(confirmed=21_700, opened=21_000, closed=30_000), True),  # + 30 min
        (wrong(), said(confirmed=22_000, opened=21_801, closed=30_000), False),
        (wrong("link.flapping"), said(confirmed=90_000, opened=90_000, closed=90_001), True),
        (wrong(), said(closed=9_990.0, opened=9_900, confirmed=9_950), False),
        (wrong(), said(culprit="leaf/1"), True),  # the link holds the port
        (wrong(), said(culprit="leaf"), True),  # the device holds the link
        (wrong(culprit="leaf/1"), said(culprit=LINK), True),  # and the other way round
        (wrong(culprit="leaf"), said(culprit="leaf/1"), True),
        (wrong(culprit="leaf/1"), said(culprit="host/eth0"), False),  # two ends hold neither
        (wrong(culprit="leaf/1"), said(culprit="leaf/2"), False),
        (wrong("cooling.clogged", "cdu/b1"), said("cooling.clogged", "cdu"), True),
        (wrong("cooling.clogged", "cdu/b1"), said("cooling.clogged", "cdu/b2"), False),
        (wrong(), said(culprit="x", victims=(LINK,)), True),  # the incident's victim
        (wrong(culprit="x", victims=[{"type": "link", "id": LINK}]), said(), True),
        (wrong(culprit="x", also=[{"type": "link", "id": LINK}]), said(), True),
        (wrong(), said(suppressed=True), False),
        (wrong(), said(severity=Severity.WATCH), False),
        (wrong("pfc.incast"), said("pfc.incast", severity=Severity.WATCH), True),
    ],
)  # fmt: skip
def test_an_incident_meets_a_truth_by_time_place_and_weight(
    true: dict[str, Any], told: Told, meets: bool
) -> None:
    assert (found(scored([true], told)) == [told.incident]) is meets


def test_the_earliest_of_fitting_kind_is_taken_before_any_earlier_one() -> None:
    early, late = said("link.down", confirmed=10_100), said(confirmed=12_000)
    matched = scored([wrong()], early, late)
    assert found(matched) == [late.incident]
    assert matched.false == matched.second == [early]


def test_another_kind_finds_it_when_no_fitting_one_does() -> None:
    matched = scored([wrong()], said("link.down"))
    assert [(one.told is not None, one.kind_right) for one in matched.met] == [(True, False)]
    assert scored([wrong(also_kinds=["link.down"])], said("link.down")).met[0].kind_right


def test_an_incident_serves_one_truth_and_the_other_is_missed() -> None:
    assert sorted(map(str, found(scored([wrong(), wrong()], said())))) == ["None", "i10600"]


def test_of_two_at_the_same_moment_the_right_culprit_goes_first() -> None:
    right, held = said(incident="right"), said(culprit="leaf", incident="held")
    assert found(scored([wrong()], held, right)) == ["right"]


def test_a_page_on_a_victim_is_false_and_finds_nothing_but_a_ticket_finds() -> None:
    true = wrong("device.down", "leaf", victims=[{"type": "link", "id": LINK}])
    paged = scored([true], said("link.down", LINK, severity=Severity.PAGE))
    assert (found(paged), len(paged.false), paged.second) == ([None], 1, [])
    ticket = scored([true], said("link.down", LINK))
    assert (len(ticket.false), ticket.met[0].culprit_right) == (0, False)
    assert ticket.met[0].told is not None


def test_culprit_and_side_are_right_on_equal_id() -> None:
    true = wrong(side="leaf/1", also=[{"type": "device", "id": "leaf"}])
    (met,) = scored([true], said(culprit="leaf", side="leaf/1")).met
    assert (met.culprit_right, met.side_right) == (True, True)
    (met,) = scored([true], said(culprit="leaf/1", side="host/eth0")).met
    assert (met.culprit_right, met.side_right) == (False, False)


def test_watch_and_info_that_meet_nothing_are_apart_not_false() -> None:
    matched = scored([{"quiet": True}], said(severity=Severity.WATCH), said(suppressed=True))
    assert (len(matched.apart), len(matched.suppressed), matched.false) == (1, 1, [])


def test_delay_counts_from_evident_and_earlier_is_none() -> None:
    assert scored([wrong()], said(confirmed=10_600)).met[0].delay == 600
    assert scored([wrong(evident=10_500)], said(confirmed=10_600)).met[0].delay == 100
    assert scored([wrong(evident=15_000)], said(confirmed=10_600)).met[0].delay == 0
    assert scored([wrong()]).met[0].delay is None


def test_lead_counts_from_the_first_ticket_to_the_limit() -> None:
    assert scored([wrong(limit_at=18_000)], said(counted_from=11_000.0)).met[0].lead == 7_000
    assert scored([wrong()], said()).met[0].lead is None


def test_what_could_wait_and_woke_somebody_is_over_paged() -> None:
    paged = said(severity=Severity.PAGE)
    assert scored([wrong()], paged).met[0].over_paged
    assert not scored([wrong(must_page=True)], paged).met[0].over_paged


def test_a_tally_gives_every_rate_with_its_n_and_bounds() -> None:
    tally = Tally()
    true = [wrong(side="leaf/1", cause="damaged_fiber"), wrong(culprit=OTHER, must_page=True)]
    right = said(side="leaf/1", cause="damaged_fiber", causes=(("damaged_fiber", 0.8),))
    stray = said("link.down", "elsewhere", severity=Severity.PAGE, closed=12_000.0)
    tally.add(scored(true, right, stray), links=5_000, seconds=2 * WEEK)
    plain = tally.to_json()
    assert (plain["recall"]["hits"], plain["recall"]["n"]) == (1, 2)
    assert (plain["precision"]["hits"], plain["precision"]["n"]) == (1, 2)
    assert (plain["side"]["hits"], plain["cause"]["hits"], plain["paged"]["n"]) == (1, 1, 1)
    assert plain["false_pages"]["value"] == pytest.approx(1.0)  # one in 10,000 link-weeks
    assert plain["false_pages"]["high"] == pytest.approx(5.57, abs=0.01)
    assert plain["by_kind"]["link.down"]["false"] == 1
    assert plain["by_cause"]["damaged_fiber"]["recall"]["value"] == 1.0
    for word in ("link.subhealthy", "damaged_fiber", "false pages per 10,000 links"):
        assert word in page(tally)


def test_nothing_counted_gives_nothing_and_not_zero() -> None:
    plain = Tally().to_json()
    assert plain["recall"] == {"value": None, "hits": 0, "n": 0, "low": None, "high": None}
    assert plain["false_pages"]["value"] is plain["delay"]["median"] is None
    assert "-" in page(Tally())


def test_none_of_many_leaves_the_rule_of_three() -> None:
    assert Share(0, 1000).bounds == pytest.approx((0.0, 3 / 1000), rel=0.01)
    assert Rate(0, 3.0).bounds == pytest.approx((0.0, 1.0), rel=0.01)
    assert Rate(0, 0.0).bounds is None


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(1, max(1, n - 1)), st.just(n))))
def test_bounds_of_a_share_leave_a_fortieth_on_each_side(counted: tuple[int, int]) -> None:
    hits, n = counted
    if hits == n:
        return
    low, high = Share(hits, n).bounds or (0.0, 0.0)
    assert binom.sf(hits - 1, n, low) == pytest.approx(0.025, rel=1e-6)
    assert binom.cdf(hits, n, high) == pytest.approx(0.025, rel=1e-6)


@given(st.integers(1, 500), st.floats(0.01, 1e6))
def test_bounds_of_a_rate_leave_a_fortieth_on_each_side(events: int, exposure: float) -> None:
    low, high = Rate(events, exposure).bounds or (0.0, 0.0)
    assert poisson.sf(events - 1, low * exposure) == pytest.approx(0.025, rel=1e-6)
    assert poisson.cdf(events, high * exposure) == pytest.approx(0.025, rel=1e-6)


def test_calibration_tells_who_is_too_sure() -> None:
    sure = [(0.95, True), (0.95, False)]
    (one,) = bins(sure)
    assert (one.low, one.right.hits, one.right.n) == (0.9, 1, 2)
    assert expected_error(sure) == pytest.approx(0.45)
    assert brier([(1.0, True)]) == 0.0
    assert brier([]) is expected_error([]) is None


@pytest.mark.parametrize(
    "lines",
    [
        ["{"], ["[]"], ["{}"], [""], ['{"quiet": true}', json.dumps(wrong())],
        [json.dumps({**wrong(), "from": "noon"})], [json.dumps({**wrong(), "culprit": "leaf"})],
        [json.dumps({**wrong(), "also": 3})], [json.dumps({**wrong(), "evident": True})],
        [json.dumps({**wrong(), "until": float("nan")})],
    ],
)  # fmt: skip
def test_a_line_that_is_no_truth_is_refused(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="truth"):
        truths(lines)


@given(st.lists(st.text() | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*wrong()]), inner),
).map(json.dumps)))  # fmt: skip
def test_any_text_gives_truths_or_is_refused(lines: list[str]) -> None:
    try:
        truths(lines)
    except ValueError:
        return


@given(
    st.lists(st.tuples(st.integers(0, 40_000), st.sampled_from([LINK, OTHER, "leaf", "leaf/1"]),
                       st.sampled_from(list(Severity))), max_size=8),
    st.lists(st.sampled_from([LINK, OTHER, "leaf/2"]), min_size=1, max_size=4),
)  # fmt: skip
def test_every_incident_ends_in_one_place_and_serves_one_truth(
    told: list[tuple[int, str, Severity]], true: list[str]
) -> None:
    every = [
        said(culprit=culprit, confirmed=at, severity=severity, incident=str(number), closed=50_000)
        for number, (at, culprit, severity) in enumerate(told)
    ]
    matched = scored([wrong(culprit=one) for one in true], *every)
    used = [one for one in found(matched) if one is not None]
    left = [one.incident for one in (*matched.false, *matched.apart)]
    assert sorted(used + left) == sorted(one.incident for one in every)
    assert {one.incident for one in matched.second} <= set(left)
