"""Targets that no longer answer, alone or all of a source at once."""

import pytest

from analyzer.detectors.source_silent import SourceSilent, SourceSilentSettings
from analyzer.incidents.claims import lift
from fabrichealth.catalogue.watchers import LAST_SUCCESS, SOURCE_UP
from fabrichealth.kinds import Severity
from fabrichealth.model import Finding, Place
from fabrichealth.topology import Topology
from tests.analyzer.views import START, History, view_of

POLLS = 60
NAN = float("nan")


def target(name: str, answered: int = POLLS, source: str = "snmp", period: float = 10.0) -> History:
    """Return the watchers' series of a target that answered so many polls, then none."""
    polls = range(POLLS)
    last = [START + min(n, answered - 1) * period if answered else NAN for n in polls]
    return {
        (SOURCE_UP, (source, name)): [float(n < answered) for n in polls],
        (LAST_SUCCESS, (source, name)): last,
    }


def judge(
    *targets: History,
    period: float = 10.0,
    given: SourceSilentSettings | None = None,
    **more: object,
) -> list[Finding]:
    detector = SourceSilent(given or SourceSilentSettings())
    history = {key: values for one in targets for key, values in one.items()}
    return list(detector.judge(view_of(detector, history, period, **more)))  # type: ignore[arg-type]


def test_one_of_many_is_a_ticket_of_the_target() -> None:
    (finding,) = judge(target("leaf-0", answered=50), target("leaf-1"))
    assert finding.about == lift(finding, Topology()) == Place("source", "snmp/leaf-0")
    assert finding.rank is Severity.TICKET
    assert finding.victims == (Place("device", "leaf-0"),)
    assert finding.since == START + 490
    assert "last answered 1.7 min ago" in finding.evidence[0].says


def test_all_of_two_or_more_are_one_page_of_the_source() -> None:
    others = [target(f"leaf-{n}", answered=50 + n % 2) for n in range(3)]
    (finding,) = judge(*others, target("host-0", source="host"))
    assert finding.about == Place("source", "snmp")
    assert finding.rank is Severity.PAGE
    assert {place.id for place in finding.victims} == {"leaf-0", "leaf-1", "leaf-2"}


def test_the_only_target_of_a_source_is_still_a_target() -> None:
    (finding,) = judge(target("leaf-0", answered=50))
    assert (finding.about, finding.rank) == (Place("source", "snmp/leaf-0"), Severity.TICKET)


@pytest.mark.parametrize(
    "targets",
    [
        pytest.param([target("a", answered=59), target("b")], id="missed a single poll"),
        pytest.param([target("a", answered=56), target("b")], id="silent for less than the hold"),
        pytest.param([target("a", answered=0), target("b")], id="never heard"),
    ],
)
def test_stays_quiet_where_it_says_so(targets: list[History]) -> None:
    assert judge(*targets) == []


def test_a_target_that_is_not_polled_any_more_is_not_missed_nor_counted() -> None:
    gone = {key: values[:30] for key, values in target("old").items()}
    (finding,) = judge(target("a", answered=50), target("b", answered=50), gone)
    assert finding.about == Place("source", "snmp")


def test_two_missed_polls_are_needed_however_seldom_it_is_polled() -> None:
    assert (
        judge(target("a", answered=59, period=600.0), target("b", period=600.0), period=600.0) == []
    )
    (finding,) = judge(
        target("a", answered=58, period=600.0), target("b", period=600.0), period=600.0
    )
    assert finding.since == START + 57 * 600


def test_one_that_answers_again_is_well() -> None:
    series = dict(target("a", answered=50))
    series[SOURCE_UP, ("snmp", "a")] = [*list(series[SOURCE_UP, ("snmp", "a")])[:59], 1.0]
    assert judge(series, target("b")) == []


def test_the_last_of_a_source_to_fall_silent_makes_it_the_source() -> None:
    """The collector dies; its targets time out one after the other."""
    first = judge(target("a", answered=50), target("b", answered=55))
    assert [str(one.about) for one in first] == ["snmp/a"]
    (later,) = judge(target("a", answered=40), target("b", answered=45), before=first)
    assert str(later.about) == "snmp"


@pytest.mark.parametrize(("missed", "told"), [(1, False), (2, False), (3, True)])
def test_so_many_missed_polls_are_needed_whatever_the_hold(missed: int, told: bool) -> None:
    given = SourceSilentSettings(hold=0.0, polls=3)
    assert bool(judge(target("a", answered=POLLS - missed), target("b"), given=given)) is told
