"""Who holds back a job, who only waits, and when nobody does."""

import numpy as np
import pytest

from fabrichealth.catalogue.accelerators import (
    CLOCK,
    TEMPERATURE,
    TENSOR_ACTIVE,
    THROTTLED,
    UTILIZATION,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats
from tests.analyzer.domain.pods import POLLS, Said, each, names, said, started

EVERY = names()
JOB = started("j1", EVERY)
ONSET = 30


def changed(before: float, after: float, noise: float, seed: int = 3) -> Floats:
    """Return a level that changes half way, with noise."""
    chance = np.random.default_rng(seed)
    level = np.where(np.arange(POLLS) < ONSET, before, after)
    return level * (1 + noise * chance.standard_normal(POLLS))


def levels(
    metric: Metric, usual: float, ill: dict[str, float], noise: float = 0.01, others: float = 0.0
) -> Said:
    """Return what all say: the usual, but for some from the onset on; `others` for all the rest."""
    return {
        (metric, (name,)): np.clip(
            changed(usual, ill.get(name, others or usual), noise, seed=number), *metric.valid
        ).tolist()
        for number, name in enumerate(EVERY)
    }


def found(*parts: Said, job: tuple[object, ...] = ()) -> list[Finding]:
    return said("domain_straggler", *parts, events=[JOB])


BUSY = levels(UTILIZATION, 0.98, {})


def test_a_low_clock_is_waited_for_and_its_peers_are_no_culprits() -> None:
    (finding,) = found(
        BUSY,
        levels(CLOCK, 1.83e9, {"host-3-1": 1.41e9}),
        levels(TENSOR_ACTIVE, 0.5, {"host-3-1": 0.52}, others=0.4),
        {(THROTTLED, ("host-3-1", "thermal")): changed(0.0, 0.38, 0.01).tolist()},
        levels(TEMPERATURE, 60.0, {"host-3-1": 88.0}),
    )
    assert str(finding.about) == "host-3-1"
    assert finding.because.startswith(
        "host-3-1 holds back 31 peers in job j1: its clock is lower, 1.41 GHz beside 1.83 GHz"
    )
    assert "thermal throttles host-3-1 37% of the time" in finding.because
    assert "29 K warmer" in finding.because
    assert [str(place) for place in finding.victims] == ["j1"]


def test_one_that_computes_while_all_others_wait_is_waited_for() -> None:
    (finding,) = found(BUSY, levels(TENSOR_ACTIVE, 0.5, {"host-0-2": 0.55}, others=0.3))
    assert str(finding.about) == "host-0-2"
    assert "it computes while they wait for it" in finding.because


def test_one_that_is_held_up_outside_its_kernels_is_waited_for() -> None:
    (finding,) = found(
        levels(UTILIZATION, 0.98, {"host-5-0": 0.7}), levels(TENSOR_ACTIVE, 0.5, {}, others=0.35)
    )
    assert str(finding.about) == "host-5-0"
    assert "held up while they spin" in finding.because


def test_a_replica_that_serves_more_or_less_than_others_holds_back_nobody() -> None:
    more = (
        levels(UTILIZATION, 0.55, {"host-5-0": 0.9}),
        levels(TENSOR_ACTIVE, 0.2, {"host-5-0": 0.4}),
    )
    assert found(*more, levels(CLOCK, 1.83e9, {"host-5-0": 1.6e9})) == []
    assert found(levels(UTILIZATION, 0.6, {"host-5-0": 0.3})) == []


def test_one_that_has_less_to_do_waits_itself() -> None:
    assert found(
        levels(UTILIZATION, 0.98, {"host-5-0": 0.2}),
        levels(TENSOR_ACTIVE, 0.5, {"host-5-0": 0.1}),
        levels(CLOCK, 1.8e9, {"host-5-0": 0.9e9}),
    ) == []  # fmt: skip


def test_one_that_does_nothing_is_a_spare_unless_the_others_get_nowhere() -> None:
    stopped = levels(UTILIZATION, 0.98, {"host-5-0": 0.0})
    assert found(stopped) == []
    assert found(stopped, levels(TENSOR_ACTIVE, 0.5, {"host-5-0": 0.0})) == []
    (finding,) = found(stopped, levels(TENSOR_ACTIVE, 0.5, {}, others=0.001))
    assert str(finding.about) == "host-5-0"


def test_a_host_whose_accelerators_all_lag_is_accused_as_a_whole() -> None:
    slow = {f"host-6-{card}": 1.4e9 for card in range(4)}
    (finding,) = found(BUSY, levels(CLOCK, 1.83e9, slow))
    assert str(finding.about) == "host-6"
    assert [str(place) for place in finding.victims] == ["j1", *slow]


def test_the_same_place_in_every_host_is_a_trait_of_the_machine() -> None:
    corner = {f"host-{host}-3": 1.6e9 for host in range(8)}
    assert found(BUSY, levels(CLOCK, 1.83e9, corner)) == []


def test_an_accelerator_stands_out_of_its_place_and_not_of_all() -> None:
    corner = {f"host-{host}-3": 1.6e9 for host in range(8)} | {"host-2-3": 1.3e9}
    (finding,) = found(BUSY, levels(CLOCK, 1.83e9, corner))
    assert str(finding.about) == "host-2-3"


QUIET = {
    "all are slow together": (levels(CLOCK, 1.83e9, {}, others=1.2e9), BUSY),
    "nobody differs by more than all differ": (levels(CLOCK, 1.83e9, {}, noise=0.05), BUSY),
    "a little slower": (levels(CLOCK, 1.83e9, {"host-3-1": 1.80e9}), BUSY),
    "idle peers": (levels(UTILIZATION, 0.02, {}), levels(CLOCK, 1.8e9, {"host-3-1": 1.2e9})),
    "half are of one kind and half of another": (
        levels(TENSOR_ACTIVE, 0.5, dict.fromkeys(EVERY[16:], 0.2)), BUSY),
}  # fmt: skip


@pytest.mark.parametrize("parts", QUIET.values(), ids=QUIET)
def test_nobody_holds_back_the_others(parts: tuple[Said, ...]) -> None:
    assert found(*parts) == []


def test_the_first_of_many_that_differ_alike_does_not_stand_out() -> None:
    steady = {name: 0.5 - 0.002 * number for number, name in enumerate(EVERY[:12])}
    assert found(BUSY, each(TENSOR_ACTIVE, EVERY, lambda n: np.full(
        POLLS, steady.get(EVERY[n], 0.06)))) == []  # fmt: skip


def turns(number: int) -> Floats:
    """Return a clock that dips for a minute, each accelerator at its own time."""
    return np.where((np.arange(POLLS) // 6) % 8 == number % 8, 1.3e9, 1.83e9)


def test_who_lags_in_turns_is_no_straggler() -> None:
    assert found(BUSY, each(CLOCK, EVERY, turns)) == []


def test_stages_of_a_pipeline_are_compared_each_with_its_own() -> None:
    first, second = EVERY[:16], EVERY[16:]
    stages = levels(TENSOR_ACTIVE, 0.5, dict.fromkeys(second, 0.8) | {"host-1-1": 0.62})
    job = started("j1", [], pp0=first, pp1=second)
    (finding,) = said("domain_straggler", BUSY, stages, events=[job])
    assert str(finding.about) == "host-1-1"
    assert "15 peers in job j1 (pp0)" in finding.because


def lately(
    metric: Metric, before: float, after: dict[str, float], others: float, minutes: float
) -> Said:
    """Return what all say: the same until so many minutes ago, then something else each."""
    first = POLLS - int(minutes * 6)
    found: Said = {}
    for number, name in enumerate(EVERY):
        chance = np.random.default_rng(number)
        level = np.where(np.arange(POLLS) < first, before, after.get(name, others))
        course = level + 0.003 * chance.standard_normal(POLLS)
        found[metric, (name,)] = np.clip(course, *metric.valid).tolist()
    return found


@pytest.mark.parametrize(("minutes", "writes"), [(2.2, 0.3), (3.0, 0.02), (4.0, 0.3)])
@pytest.mark.parametrize("read", [True, False], ids=["matrix units read", "not read"])
def test_whoever_writes_a_checkpoint_is_waited_for_and_ill_in_nothing(
    minutes: float, writes: float, read: bool
) -> None:
    busy = lately(UTILIZATION, 0.98, {EVERY[0]: writes}, 0.98, minutes)
    rests = lately(TENSOR_ACTIVE, 0.45, {}, 0.0, minutes) if read else {}
    assert found(busy, rests) == []


def test_whoever_is_waited_for_beyond_any_checkpoint_is_told() -> None:
    busy = lately(UTILIZATION, 0.98, {EVERY[0]: 0.3}, 0.98, 6)
    for rests in (lately(TENSOR_ACTIVE, 0.45, {}, 0.0, 6), {}):
        (finding,) = found(busy, rests)
        assert str(finding.about) == EVERY[0]


LAST = EVERY[28:]
"""The accelerators of the last of eight hosts."""


def steady(metric: Metric, usual: float, last: float) -> Said:
    """Return what all say all along, those of the last host something else."""
    return each(metric, EVERY, lambda n: np.full(POLLS, last if EVERY[n] in LAST else usual)
                + 0.003 * np.random.default_rng(n).standard_normal(POLLS))  # fmt: skip


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((BUSY, steady(TENSOR_ACTIVE, 0.3, 0.42)), id="the last stage does more"),
        pytest.param((steady(UTILIZATION, 0.95, 0.6), steady(TENSOR_ACTIVE, 0.4, 0.4)),
                     id="it rolls out what the others train on"),
    ],
)  # fmt: skip
def test_a_host_that_always_did_other_work_may_play_another_role(parts: tuple[Said, ...]) -> None:
    assert found(*parts) == []
    same = started("j1", [], all=EVERY)
    (finding,) = said("domain_straggler", *parts, events=[same])  # a job that says it plays none
    assert str(finding.about) == "host-7"


def test_a_host_that_did_as_the_others_and_fell_behind_is_told_and_stays_so() -> None:
    fell = found(BUSY, lately(TENSOR_ACTIVE, 0.4, dict.fromkeys(LAST, 0.42), 0.3, 5))
    (finding,) = fell
    assert str(finding.about) == "host-7"
    later = BUSY, steady(TENSOR_ACTIVE, 0.3, 0.42)  # all that is seen of it by now
    (again,) = said("domain_straggler", *later, events=[JOB], before=fell)
    assert str(again.about) == "host-7"


def test_a_low_clock_is_nobodys_role() -> None:
    (finding,) = found(BUSY, steady(CLOCK, 1.83e9, 1.4e9))
    assert str(finding.about) == "host-7"


def test_a_stage_that_computes_more_once_its_job_has_loaded_may_play_another_role() -> None:
    busy = lately(UTILIZATION, 0.0, {}, 0.97, 4)  # six minutes in which nobody does anything
    stages = lately(TENSOR_ACTIVE, 0.0, dict.fromkeys(LAST, 0.55), 0.43, 4)
    assert found(busy, stages) == []


def test_a_checkpoint_that_has_just_been_written_accuses_nobody_either() -> None:
    def course(during: float, usual: float) -> Floats:
        level = np.full(POLLS, usual)
        level[POLLS - 25 : POLLS - 6] = during  # for three minutes, until one ago
        return level

    assert found(
        each(UTILIZATION, EVERY, lambda n: course(0.99 if n else 0.2, 0.97), noise=0.01),
        each(TENSOR_ACTIVE, EVERY, lambda n: course(0.0, 0.43), noise=0.01),
    ) == []  # fmt: skip


@pytest.mark.parametrize("slow", [("host-1-2", "host-5-0"), ("host-1-2", "host-5-0", "host-6-3")])
def test_a_few_low_clocks_at_a_time_are_told_each_and_no_more_than_a_few(
    slow: tuple[str, ...],
) -> None:
    low = levels(CLOCK, 1.83e9, dict(zip(slow, (1.3e9, 1.4e9, 1.5e9), strict=False)))
    assert {str(finding.about) for finding in found(BUSY, low)} == set(slow)
    half = levels(CLOCK, 1.83e9, dict.fromkeys(EVERY[::3], 1.4e9))
    assert found(BUSY, half) == []


def test_without_a_job_nobody_is_anybodys_peer() -> None:
    assert said("domain_straggler", BUSY, levels(CLOCK, 1.8e9, {"host-3-1": 1.2e9})) == []


def test_a_job_that_begins_is_not_yet_in_step() -> None:
    slow = levels(CLOCK, 1.8e9, {"host-3-1": 1.2e9})
    late = started("j1", EVERY, at=(POLLS - 10) * 10.0)
    assert said("domain_straggler", BUSY, slow, events=[late]) == []


def test_an_accelerator_that_another_job_took_is_compared_with_its_new_peers() -> None:
    slow = levels(CLOCK, 1.8e9, dict.fromkeys(EVERY[:8], 1.2e9))
    other = started("j2", EVERY[:8], at=-1800.0)
    assert said("domain_straggler", BUSY, slow, events=[JOB, other]) == []


def test_three_accelerators_have_no_usual_one_among_them() -> None:
    slow = levels(CLOCK, 1.8e9, {EVERY[0]: 1.2e9})
    assert said("domain_straggler", BUSY, slow, events=[started("j1", EVERY[:3])]) == []
