"""Idle accelerators behind a mean that looks well, each illusion by its name, and quiet domains."""

from collections.abc import Callable

import numpy as np
import pytest

from analyzer.judge import detectors
from fabrichealth.catalogue.accelerators import ALLOCATED, POWER, TENSOR_ACTIVE, UTILIZATION
from fabrichealth.catalogue.devices import HOST_ALLOCATED, SCHEDULABLE
from fabrichealth.catalogue.verdicts import (
    DOMAIN_ACCELERATORS,
    DOMAIN_BIMODAL,
    DOMAIN_IDLE,
    DOMAIN_IMBALANCE,
    DOMAIN_MISSING,
    DOMAIN_UTILIZATION,
)
from fabrichealth.events import Event
from fabrichealth.model import Finding, Floats
from fabrichealth.topology import Domain, Topology
from tests.analyzer.domain.pods import (
    POLLS,
    Said,
    busy,
    each,
    held,
    names,
    pod,
    said,
    seen,
    started,
)
from tests.analyzer.views import START

EVERY = names()
IDLE, WORKING = EVERY[24:], EVERY[:24]
"""The last two hosts, a quarter of the pod; and the others."""


def test_idle_ones_behind_a_good_mean_are_told_with_their_places() -> None:
    (finding,) = said("domain_hidden_idle", busy(WORKING), each(UTILIZATION, IDLE, 0.0))
    assert str(finding.about) == "pod-a"
    assert "8 of 32 accelerators idle all along" in finding.because
    assert "behind a mean of 67%; averaging" in finding.because
    assert "the others work at 90%" in finding.because
    assert [place.id for place in finding.victims] == IDLE


def test_a_mean_over_those_that_report_leaves_out_the_silent() -> None:
    (finding,) = said("domain_hidden_idle", busy(EVERY[:14], 0.95))
    assert "18 of 32 accelerators idle all along (18 silent)" in finding.because
    assert "behind a mean of 95%; denominator" in finding.because
    assert "over all it is 42%" in finding.because


def test_accelerators_that_the_domain_should_have_count_though_they_have_no_name() -> None:
    (finding,) = said("domain_hidden_idle", busy(EVERY), topology=pod(declared=64))
    assert "32 of 64 accelerators idle all along (32 never seen)" in finding.because
    assert "denominator" in finding.because


def test_silent_ones_that_jobs_hold_are_missing_from_the_denominator_first() -> None:
    (finding,) = said(
        "domain_hidden_idle", busy(EVERY[:16], 0.95), held(EVERY),
        events=[started("j1", EVERY)],
    )  # fmt: skip
    assert "; denominator: it counts only those that report, over" in finding.because


def test_a_mean_over_jobs_leaves_out_what_nobody_holds() -> None:
    (finding,) = said(
        "domain_hidden_idle",
        busy(EVERY[:16]), each(UTILIZATION, EVERY[16:], 0.0), held(EVERY[:16], EVERY[16:]),
        events=[started("j1", EVERY[:16])],
    )  # fmt: skip
    assert "(16 no job)" in finding.because
    assert "behind a mean of 90%; allocation" in finding.because
    assert "over all it is 45%" in finding.because


@pytest.mark.parametrize(
    ("working", "hosts"),
    [
        pytest.param(1, 8, id="one of 32 at work"),
        pytest.param(3, 8, id="three of 32"),
        pytest.param(1, 2, id="one of eight: a mean over one is none"),
    ],
)
def test_the_mean_of_a_small_job_is_not_taken_for_that_of_a_domain_at_rest(
    working: int, hosts: int
) -> None:
    every = names(hosts)
    jobs = [started(f"debug-{n}", [name]) for n, name in enumerate(every[:working])]
    parts = busy(every[:working]), each(UTILIZATION, every[working:], 0.0)
    alone = held(every[:working], every[working:])
    assert said("domain_hidden_idle", *parts, alone, topology=pod(hosts), events=jobs) == []


def test_who_holds_the_idle_ones_is_told_as_far_as_the_scheduler_tells_it() -> None:
    """Of hosts that are counted only it is not known which are held, though one is read."""
    counts = each(HOST_ALLOCATED, [f"host-{n}" for n in range(8)], 2.0)
    (finding,) = said("domain_hidden_idle", busy(WORKING), each(UTILIZATION, IDLE, 0.0), counts)
    assert "(8 unknown: the scheduler counts and does not say which)" in finding.because
    (finding,) = said("domain_hidden_idle", busy(WORKING), each(UTILIZATION, IDLE, 0.0))
    assert "(8 unknown: no scheduler is read)" in finding.because


def test_a_mean_over_jobs_and_not_over_accelerators_hides_a_large_one_that_idles() -> None:
    small = [EVERY[n : n + 2] for n in range(0, 16, 2)]
    events = [started("large", EVERY[16:])]
    events += [started(f"small-{n}", cards) for n, cards in enumerate(small)]
    (finding,) = said(
        "domain_hidden_idle",
        busy(EVERY[:16]), each(UTILIZATION, EVERY[16:], 0.0), held(EVERY),
        events=events,
    )  # fmt: skip
    assert "(16 job large)" in finding.because
    assert "allocation" in finding.because


def test_waiting_that_is_counted_as_work_is_told_from_work_by_other_instruments() -> None:
    (finding,) = said(
        "domain_hidden_idle",
        busy(EVERY, 0.97),
        each(TENSOR_ACTIVE, WORKING, 0.45, noise=0.02), each(TENSOR_ACTIVE, IDLE, 0.0),
        each(POWER, WORKING, 650.0, noise=10.0), each(POWER, IDLE, 210.0, noise=5.0),
        events=[started("j1", EVERY)],
    )  # fmt: skip
    assert "spinning counters" in finding.because
    assert "(8 job j1)" in finding.because


END = (POLLS - 1) * 10.0


HELD, FREE = np.ones(POLLS), np.zeros(POLLS)
LATELY = np.arange(POLLS) >= POLLS - 4
SPOKE = np.where(np.arange(POLLS) < 12, 1.0, np.nan)


def ended(job: str, at: float) -> Event:
    return Event(START + at, "job_end", {"job": job})


TAKEN_LATELY = [started("new", IDLE, at=END - 40.0)]
LEFT_LATELY = [started("old", IDLE), ended("old", END - 40.0)]
IN_TURN = [
    started("a", IDLE), ended("a", 200.0), started("b", IDLE, at=200.0), ended("b", 420.0),
    started("c", IDLE, at=420.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("scheduler", "events", "owner"),
    [
        pytest.param(LATELY * 1.0, TAKEN_LATELY, "8 no job until lately", id="taken a moment ago"),
        pytest.param(None, TAKEN_LATELY, "8 no job until lately", id="taken, told by events alone"),
        pytest.param(HELD, TAKEN_LATELY, "8 a job that is not named", id="held, named lately"),
        pytest.param(
            HELD, [*LEFT_LATELY, started("new", IDLE, at=END - 30.0)], "8 job old",
            id="one ended a moment ago",
        ),
        pytest.param(~LATELY * 1.0, LEFT_LATELY, "8 job old", id="free since a moment ago"),
        pytest.param(
            HELD, [started("grew", IDLE[:4]), started("grew", IDLE, at=END - 200.0)], "4 job grew",
            id="one grew meanwhile",
        ),
        pytest.param(FREE, [started("old", IDLE)], "8 no job)", id="free, an end nobody told"),
        pytest.param(
            SPOKE, [started("old", IDLE)], "8 unknown: the scheduler fell silent",
            id="the scheduler is silent",
        ),
        pytest.param(
            np.where(np.arange(POLLS) < 50, np.nan, 1.0), [started("old", IDLE)], "8 job old",
            id="the scheduler was silent before",
        ),
        pytest.param(HELD, IN_TURN, "8 several jobs in turn", id="several short ones"),
    ],
)  # fmt: skip
def test_who_idles_all_along_idles_for_who_had_it_all_along(
    scheduler: Floats | None, events: list[Event], owner: str
) -> None:
    parts = [busy(WORKING), each(UTILIZATION, IDLE, 0.0)]
    if scheduler is not None:
        parts += [held(WORKING), each(ALLOCATED, IDLE, lambda _: scheduler)]
    told = [started("works", WORKING), *events]
    (finding,) = said("domain_hidden_idle", *parts, events=sorted(told, key=lambda one: one.at))
    assert f"({owner}" in finding.because


def test_a_job_without_matrix_work_that_draws_power_is_believed() -> None:
    assert said(
        "domain_hidden_idle",
        busy(EVERY, 0.97),
        each(TENSOR_ACTIVE, WORKING, 0.45), each(TENSOR_ACTIVE, IDLE, 0.02),
        each(POWER, WORKING, 650.0), each(POWER, IDLE, 520.0),
    ) == []  # fmt: skip


def test_decoding_that_uses_few_matrix_units_is_believed_where_power_is_not_read() -> None:
    assert said(
        "domain_hidden_idle",
        busy(EVERY, 0.97), each(TENSOR_ACTIVE, WORKING, 0.45), each(TENSOR_ACTIVE, IDLE, 0.03),
    ) == []  # fmt: skip


def flashing(number: int) -> Floats:
    """Return idleness with a flash at every 13th poll."""
    course = np.zeros(POLLS)
    course[number % 13 :: 13] = 0.95
    return course


def test_idle_ones_that_flash_look_busy_to_who_takes_the_busiest_moment() -> None:
    (finding,) = said("domain_hidden_idle", busy(WORKING), each(UTILIZATION, IDLE, flashing))
    assert "sampling" in finding.because


def test_an_instrument_that_reports_the_busiest_moment_is_found_out_by_bursts() -> None:
    (finding,) = said(
        "domain_hidden_idle",
        busy(EVERY, 0.97),
        each(TENSOR_ACTIVE, WORKING, 0.45),
        each(TENSOR_ACTIVE, IDLE, lambda n: 0.6 * flashing(n)),
        each(POWER, WORKING, 650.0), each(POWER, IDLE, 150.0),
    )  # fmt: skip
    assert "sampling" in finding.because


SMALL = names(hosts=4, cards=2)
HOURS = 320
"""Eight of them, at 90 seconds."""


def until(last: int) -> Callable[[int], Floats]:
    """Return work for hours, and nothing at so many polls at their end."""
    return lambda number: np.where(np.arange(HOURS) < HOURS - last, 0.9, 0.0)


def by_hours(last: int) -> list[Finding]:
    """Return what is said where all worked for hours and half of them stopped then."""
    return said(
        "domain_hidden_idle",
        busy(SMALL[:4], 0.9, HOURS), each(UTILIZATION, SMALL[4:], until(last)),
        topology=pod(hosts=4, cards=2), period=90.0,
    )  # fmt: skip


def test_hours_of_work_before_hide_that_half_of_it_idles_now() -> None:
    (finding,) = by_hours(last=40)
    assert "time averaging" in finding.because
    assert "over all it is 45%" in finding.because


def test_a_job_that_ended_minutes_ago_is_no_hidden_idleness() -> None:
    assert by_hours(last=9) == []


@pytest.mark.parametrize("turn", [1, 3, 10])
def test_halves_that_take_turns_are_a_pipeline(turn: int) -> None:
    def alternating(number: int) -> Floats:
        return np.where((np.arange(POLLS) // turn + number) % 2, 0.95, 0.0)

    assert said("domain_hidden_idle", each(UTILIZATION, EVERY, alternating)) == []


QUIET = {
    "all work": busy(EVERY),
    "all idle": each(UTILIZATION, EVERY, 0.0),
    "a tenth idles": {**busy(EVERY[:29]), **each(UTILIZATION, EVERY[29:], 0.0)},
    "unequal work": each(UTILIZATION, EVERY, lambda n: np.full(POLLS, 0.1 + 0.028 * n)),
    "half idles and the mean shows it": {
        **busy(EVERY[:16]), **each(UTILIZATION, EVERY[16:], 0.0)},
}  # fmt: skip


@pytest.mark.parametrize("readings", QUIET.values(), ids=QUIET)
def test_nothing_is_hidden(readings: Said) -> None:
    assert said("domain_hidden_idle", readings) == []


def test_a_domain_of_one_card_hides_nothing() -> None:
    alone = pod(hosts=1, cards=1)
    assert said("domain_hidden_idle", each(UTILIZATION, ["host-0-0"], 0.0), topology=alone) == []


def test_each_line_of_evidence_is_of_its_own_and_none_takes_anothers_place() -> None:
    (finding,) = said("domain_hidden_idle", busy(EVERY[:16], 0.95))
    keys = [(str(line.metric), *sorted(line.labels.items())) for line in finding.evidence]
    assert len(set(keys)) == len(keys) >= 3


def test_hosts_that_are_cordoned_answer_for_their_cards_and_racks_are_named() -> None:
    (finding,) = said(
        "domain_hidden_idle",
        busy(EVERY[:16], 0.99), each(UTILIZATION, EVERY[16:], 0.02), held(EVERY[:16], EVERY[16:]),
        each(SCHEDULABLE, ["host-4", "host-5"], 0.0),
    )  # fmt: skip
    assert "(8 cordoned hosts, 8 no job)" in finding.because
    assert any("16 of 16 accelerators of r2 idle together" in e.says for e in finding.evidence)


def verdicts(topology: Topology | None = None, **parts: Said) -> dict[tuple[str, ...], float]:
    detector = detectors()["domain_hidden_idle"]
    view = seen(detector, *parts.values(), topology=topology)
    return {(str(v.metric), *v.labels): v.value for v in detector.verdicts(view, {})}


def test_the_spread_of_each_domain_is_told_over_its_inventory() -> None:
    told = verdicts(pod(declared=40), work=each(UTILIZATION, WORKING, 0.9),
                    rest=each(UTILIZATION, IDLE, 0.0))  # fmt: skip
    assert told[f"{DOMAIN_IDLE}", "pod-a"] == 8 / 40
    assert told[f"{DOMAIN_MISSING}", "pod-a"] == 8 / 40
    assert told[f"{DOMAIN_BIMODAL}", "pod-a"] == 1.0
    assert told[f"{DOMAIN_IMBALANCE}", "pod-a"] == pytest.approx(0.25)
    assert told[f"{DOMAIN_ACCELERATORS}", "pod-a", "0.9"] == 24
    assert told[f"{DOMAIN_ACCELERATORS}", "pod-a", "0"] == 8
    assert told[f"{DOMAIN_ACCELERATORS}", "pod-a", "missing"] == 8
    assert (f"{DOMAIN_UTILIZATION}", "pod-a", "0.1") not in told  # falls among the silent
    assert told[f"{DOMAIN_UTILIZATION}", "pod-a", "0.5"] == 0.9


def test_an_idle_domain_has_no_imbalance_and_a_silent_one_only_its_silence() -> None:
    told = verdicts(rest=each(UTILIZATION, EVERY, 0.0))
    assert (f"{DOMAIN_IMBALANCE}", "pod-a") not in told
    assert told[f"{DOMAIN_IDLE}", "pod-a"] == 1.0
    stray = Topology(domains=[Domain(name="pod-z", accelerators=4)])
    told = verdicts(stray, other=each(UTILIZATION, ["elsewhere"], 0.5))
    assert told[f"{DOMAIN_MISSING}", "pod-z"] == 1.0
    assert (f"{DOMAIN_UTILIZATION}", "pod-z", "1") not in told


def test_where_nobody_says_how_busy_anything_is_nothing_is_said_of_domains() -> None:
    assert verdicts(only=each(POWER, EVERY, 500.0)) == {}
