"""The histogram of recovery times: each recovery once, over restarts."""

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.ledger import Ledger, load, save
from analyzer.recovery.counting import BUCKETS, Recoveries, recoveries_of
from analyzer.verdicts import verdicts
from fabrichealth.catalogue.verdicts import RECOVERY_BUCKET, RECOVERY_COUNT, RECOVERY_SUM
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DOWN
from fabrichealth.metric import Metric
from fabrichealth.model import Incident, Labels, Place, Port
from tests.analyzer.recovery.test_phases import CASE, HERE, HOUR, PAGE
from tests.analyzer.stories import MINUTE, Story, during

Said = dict[tuple[Metric, Labels], float]


def said(recoveries: Recoveries) -> Said:
    return {(metric, labels): value for metric, labels, value in recoveries.rows()}


def test_a_recovery_counts_once_and_stands_in_every_bucket_above_it() -> None:
    known = Recoveries([CASE])
    for now in (6 * HOUR, 7 * HOUR):
        known.advance(now, [], PAGE)
    told = said(known)
    assert told[RECOVERY_COUNT, ("pod", "all")] == 1.0
    assert told[RECOVERY_SUM, ("pod", "all")] == 5 * HOUR
    counts = [told[RECOVERY_BUCKET, ("pod", "all", bound)] for bound in BUCKETS]
    assert counts == sorted(counts)
    assert counts[BUCKETS.index("14400.0")] == 0.0
    assert counts[BUCKETS.index("28800.0")] == 1.0
    assert told[RECOVERY_BUCKET, ("pod", "detect", "60.0")] == 1.0  # a bound holds its own value
    assert ("pod", "drain") not in {labels for _, labels in told}


def test_what_is_still_drained_waits_and_counts_with_the_time_of_its_return() -> None:
    drained = [Event(HOUR, "link_drained", HERE), Event(2 * HOUR, "repair_start", HERE),
               Event(3 * HOUR, "repair_end", HERE)]  # fmt: skip
    known = Recoveries([CASE])
    known.advance(20 * HOUR, drained, PAGE)
    assert said(known) == {}
    known.advance(40 * HOUR, [*drained, Event(30 * HOUR, "link_returned", HERE)], PAGE)
    assert said(known)[RECOVERY_SUM, ("pod", "all")] == 30 * HOUR
    assert known.waiting == []


def test_what_never_comes_back_counts_after_a_week_with_the_phases_that_ended() -> None:
    drained = [Event(HOUR, "link_drained", HERE)]
    known = Recoveries([CASE])
    known.advance(8 * 24 * HOUR, drained, PAGE)
    told = said(known)
    assert told[RECOVERY_COUNT, ("pod", "diagnose")] == 1.0
    assert (RECOVERY_COUNT, ("pod", "all")) not in told


AGAIN = replace(CASE, incident="i2", opened_at=50 * HOUR, confirmed_at=50 * HOUR,
                closed_at=56 * HOUR)  # fmt: skip


@pytest.mark.parametrize("open_at_first", [True, False], ids=["seen open", "seen when it closed"])
def test_the_repair_of_the_next_incident_is_not_counted_as_that_of_one_nobody_returned(
    open_at_first: bool,
) -> None:
    first = [Event(HOUR, "link_drained", HERE), Event(2 * HOUR, "repair_start", HERE),
             Event(3 * HOUR, "repair_end", HERE)]  # fmt: skip
    second = [Event(52 * HOUR, "repair_start", HERE), Event(53 * HOUR, "repair_end", HERE),
              Event(57 * HOUR, "link_returned", HERE)]  # fmt: skip
    known = Recoveries([CASE])
    known.advance(20 * HOUR, first, PAGE)
    if open_at_first:
        place = Place("link", CASE.culprit)
        open_now = Incident("i2", LINK_DOWN, LINK_DOWN.severity, AGAIN.opened_at, place, "w", "d",
                            confirmed_at=AGAIN.confirmed_at)  # fmt: skip
        known.advance(51 * HOUR, first, PAGE, [open_now])
        known = recoveries_of(known.to_json())
    else:
        known.waiting.append(AGAIN)
    known.advance(58 * HOUR, [*first, *second], PAGE)
    known.advance(9 * 24 * HOUR, [*first, *second], PAGE)
    told = said(known)
    repairs = HOUR if open_at_first else 2 * HOUR
    assert told[RECOVERY_SUM, ("pod", "repair")] == repairs
    assert (RECOVERY_COUNT, ("pod", "verify")) not in told
    if open_at_first:
        assert (RECOVERY_COUNT, ("pod", "all")) not in told  # nobody told when it was back
    else:
        assert told[RECOVERY_SUM, ("pod", "all")] == 6 * HOUR  # of the second alone


def test_what_an_operator_calls_false_while_it_waits_is_not_counted() -> None:
    word = Event(6 * HOUR, "verdict_false", {"incident": "i1"})
    known = Recoveries([CASE])
    known.advance(7 * HOUR, [word], PAGE)
    assert (said(known), known.waiting) == ({}, [])
    known = Recoveries([CASE])
    known.advance(7 * HOUR, [word, Event(6.5 * HOUR, "verdict_true", word.scope)], PAGE)
    assert said(known)[RECOVERY_COUNT, ("pod", "all")] == 1.0


def test_drills_are_not_counted() -> None:
    known = Recoveries([CASE])
    known.advance(6 * HOUR, [Event(-1.0, "drill_start")], PAGE)
    assert said(known) == {}
    assert known.waiting == []


def test_restarts_take_nothing_back(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.recoveries = Recoveries([CASE, replace(CASE, incident="i2", closed_at=90 * HOUR)])
    ledger.recoveries.advance(6 * HOUR, [], PAGE)
    ledger.recoveries.waiting = [replace(CASE, incident="i3")]
    save(ledger, tmp_path / "ledger.json")
    again = load(tmp_path / "ledger.json")
    assert again.recoveries == ledger.recoveries
    assert {one.metric for one in verdicts(again, {})} >= {RECOVERY_BUCKET, RECOVERY_SUM}


def test_counts_by_other_bounds_begin_anew_and_broken_ones_are_refused() -> None:
    known = Recoveries([CASE])
    known.advance(6 * HOUR, [], PAGE)
    plain = known.to_json()
    assert recoveries_of({**plain, "bounds": [1.0]}).counted == {}
    assert recoveries_of({}) == Recoveries()
    with pytest.raises(ValueError, match="buckets"):
        recoveries_of({**plain, "counted": [["pod", "all", [1, 2], 3.0]]})


def test_an_incident_that_closes_is_counted_by_judging_itself() -> None:
    story = Story(during(LINK_DOWN, Port("host-0", "eth0"), (60, 600)))
    story.until(500)
    assert list(story.ledger.recoveries.rows()) == []
    story.until(600 + 31 * MINUTE)
    told = said(story.ledger.recoveries)
    assert [value for (metric, (_, phase, *_)), value in told.items()
            if metric is RECOVERY_COUNT and phase == "all"] == [1.0]  # fmt: skip
    closed = story.closed[0]
    assert closed.closed_at is not None
    assert told[RECOVERY_SUM, (closed.domain or "", "all")] == closed.closed_at - closed.opened_at
