"""The evaluation's tables, from results that are kept; no figure is typed in."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from analyzer.scoring.bounds import Rate, Share
from analyzer.scoring.tables import table
from benchmarks.congestion.cases import CASES
from benchmarks.congestion.judging import LATE
from benchmarks.congestion.scoring import Result
from fabrichealth.kinds import Severity

STORMS = ("broken_nic", "choppy_storm", "half_storm")
MISCONFIGURED = ("marks_off", "marks_too_late", "deaf_nic")
QUIET = ("marks_work", "bursts", "all_to_all", "resume_frames")

SURE = 0.6
"""From this duty on a storm must be found in time .."""
LEAST_SECONDS, LEAST_POLLS = 6.0, 2
""".. that is within the longer of these."""

DUTIES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
TURNS = (0.01, 0.1, 0.4, 1.0, 2.0)
"""Seconds of a stop and the break after it; a watchdog's poll is 0.2 s and more."""

WEEK = 7 * 86_400.0


def figures(results: Sequence[Result]) -> str:
    """Return what stands in docs/congestion.md: what is asked for, by case, and the watchdog."""
    many = len(results)
    cpu = sum(one.cpu for one in results) / max(many, 1)
    return (
        f"{many} simulated cases, {cpu:.1f} s of CPU each; shares with their exact 95 % bound.\n\n"
        f"{asked(results)}\n{by_case(results)}\n{against(results)}\n{by_breaks(results)}"
    )


def _of(results: Sequence[Result], *names: str) -> list[Result]:
    return [one for one in results if one.name in names]


def _share(results: Sequence[Result], right: Callable[[Result], bool]) -> Share:
    return Share(sum(map(right, results)), len(results))


def in_time(one: Result) -> bool:
    """Return whether it was found by the second whole poll, or within six seconds if longer."""
    whole = one.phase + LEAST_POLLS * one.period + LATE
    return one.found is not None and one.found.at <= max(LEAST_SECONDS, whole)


def asked(results: Sequence[Result]) -> str:
    """Return a row for each thing that is asked of the analyzer."""
    ill = [one for one in results if one.right]
    storms = _of(results, *STORMS)
    sure = [one for one in storms if (one.duty or 0.0) >= SURE]
    half = [one for one in storms if (one.duty or 1.0) < SURE]
    rings, others = _of(results, "deadlock"), [one for one in results if one.name != "deadlock"]
    led = [one for one in rings if one.trigger]
    fine, wrong = _of(results, *MISCONFIGURED), _of(results, "marks_work", "lasting_incast")
    quiet = _of(results, *QUIET)
    unseen = [one for one in results if one.says]
    rows: list[tuple[str, Share | Rate]] = [
        ("origin named first, all cases with one", _share(ill, lambda one: one.first)),
        ("storms of 60 % and more found by the second whole poll, or in 6 s",
         _share(sure, in_time)),
        ("the same in 6 s, where polls are 1 or 2 s apart",
         _share([one for one in sure if one.period <= LEAST_SECONDS / 3],
                lambda one: one.found is not None and one.found.at <= LEAST_SECONDS)),
        ("storms of 50 to 60 % found", _share(half, lambda one: one.found is not None)),
        ("deadlocks found", _share(rings, lambda one: one.found is not None)),
        ("queue to clear is one of the circle",
         _share(rings, lambda one: one.found is not None and one.found.culprit in one.faced)),
        ("queue to clear is the one paused first by 4 s and more",
         _share(led, lambda one: one.trigger in [said.culprit for said in one.said
                                                 if said.kind == "pfc.deadlock"][:1])),
        ("cases of all sorts with a circle that is none",
         _share(results, lambda one: bool(one.cycles()))),
        ("misconfigured marks told", _share(fine, lambda one: one.found is not None)),
        ("marks that work told as misconfigured",
         _share(wrong, lambda one: any(said.kind == "pfc.ecn_misconfigured"
                                       for said in one.said))),
        ("bounds and what is unseen said to be so",
         _share(unseen, lambda one: one.found is not None and one.says in one.found.because)),
        ("bursts, phases, marks that work, resume frames: cases with a page or ticket",
         _share(quiet, lambda one: bool(one.false()))),
        ("false pages a week of such a fabric", Rate(
            sum(len(one.false(Severity.PAGE)) for one in quiet),
            sum(one.seconds for one in quiet) / WEEK)),
        ("deadlocks with a page or ticket beside theirs",
         _share(rings, lambda one: bool(one.false()))),
        ("cases of all others with a false page or ticket",
         _share([one for one in others if one.right], lambda one: bool(one.false()))),
    ]  # fmt: skip
    return table(("asked", "share or rate"), [(name, str(share)) for name, share in rows])


def _delays(results: Sequence[Result], when: Callable[[Result], float | None]) -> str:
    told = [max(at, 0.0) for one in results if (at := when(one)) is not None]
    if not told:
        return "-"
    return f"{np.median(told):.1f} / {np.percentile(told, 95):.1f}"


def _found_at(one: Result) -> float | None:
    return None if one.found is None else one.found.at


def by_case(results: Sequence[Result]) -> str:
    """Return a row for each sort of case."""
    rows = []
    for name in CASES:
        mine = _of(results, name)
        if not mine:
            continue
        ill = [one for one in mine if one.right]
        rows.append((
            name.replace("_", " "),
            str(_share(ill, lambda one: one.found is not None)),
            str(_share(ill, lambda one: one.first)),
            _delays(ill, _found_at),
            str(sum(len(one.false()) for one in mine)),
            str(sum(one.again for one in mine)),
            str(len(mine)),
        ))  # fmt: skip
    head = ("case", "found", "named first", "delay, s, median / p95", "false", "again", "cases")
    return table(head, rows)


def against(results: Sequence[Result]) -> str:
    """Return what the switches' watchdog sees of the cases that it could see."""
    rows = []
    for name in CASES:
        mine = [one for one in _of(results, name) if one.faced]
        if not mine:
            continue
        alarmed = [one for one in mine if one.storms]
        queues = [len({port for _, port in one.storms}) for one in alarmed]
        rows.append((
            name.replace("_", " "),
            str(_share(mine, lambda one: one.found is not None)),
            _delays(mine, _found_at),
            str(_share(mine, lambda one: one.barked is not None)),
            _delays(mine, lambda one: one.barked),
            f"{np.median(queues):.0f} / {max(queues)}" if queues else "-",
            str(_share(alarmed, lambda one: one.alone)),
            f"{sum(len(one.storms) for one in alarmed) / len(mine):.1f}",
        ))  # fmt: skip
    quiet = _of(results, *QUIET)
    text = table(("case", "we found", "delay, s", "watchdog saw it", "delay, s",
                  "queues it named, median / most", "those of the origin alone",
                  "alarms a case"), rows)  # fmt: skip
    barks = _share(quiet, lambda one: bool(one.storms))
    return f"{text}\nWhere nothing is wrong the watchdog raised an alarm in {barks} of cases.\n"


def by_breaks(results: Sequence[Result]) -> str:
    """Return stops with breaks by duty, and storms among them by the length of a turn."""
    chopped = [one for one in results if one.duty is not None and one.turn is not None]
    storms = _of(chopped, *STORMS)
    duties = [
        (f"{low:.0%} to {min(high, 1.0):.0%}",
         [one for one in chopped if low <= (one.duty or 0.0) < high])
        for low, high in pairwise(DUTIES)
    ]  # fmt: skip
    turns = [
        (f"{low * 1e3:.0f} to {high * 1e3:.0f} ms",
         [one for one in storms if low <= (one.turn or 0.0) < high])
        for low, high in pairwise(TURNS)
    ]  # fmt: skip
    return (
        f"{_beside('duty of stops with breaks', duties)}\n"
        f"{_beside('storms by stop and break together', turns)}"
    )


def _beside(title: str, parts: Sequence[tuple[str, Sequence[Result]]]) -> str:
    """Return a row for each part: ours beside the watchdog."""
    rows = [
        (
            name,
            str(_share(mine, lambda one: one.found is not None)),
            _delays(mine, _found_at),
            str(_share(mine, lambda one: one.barked is not None)),
            _delays(mine, lambda one: one.barked),
        )
        for name, mine in parts
        if mine
    ]
    return table((title, "we found", "delay, s", "watchdog saw it", "delay, s"), rows)


def errors(results: Sequence[Result]) -> str:
    """Return what was wrong, a line each."""
    lines = []
    for one in results:
        where = f"{one.name} {one.seed} ({one.shape}, {one.period:g} s)"
        if one.right and one.found is None:
            lines.append(f"{where}: MISSED {dict(one.right)}")
        elif one.right and not one.first:
            lines.append(f"{where}: another was named first than {dict(one.right)}")
        lines += [
            f"{where}: FALSE {said.at:.1f} {said.kind} {said.culprit}: {said.because}"
            for said in one.false()
        ]
    return "\n".join(lines)
