"""What was said of simulated loops, as Markdown tables with numbers and exact bounds."""

from collections.abc import Sequence

import numpy as np

from analyzer.scoring.bounds import Share
from analyzer.scoring.tables import table
from benchmarks.cooling.faults import BY_NAME, CONTROLS, FAULTS, HOUR, STRENGTHS
from benchmarks.cooling.judging import Result, Said
from benchmarks.halls import false_by_week, first_said

WITHIN = 6.0
"""Hours within which a slow leak must be found."""
WEEK_DAYS = 7.0


def figures(results: Sequence[Result]) -> str:
    """Return all tables that the results fill."""
    ill = [one for one in results if one.fault]
    quiet = [one for one in results if not one.fault]
    parts = []
    if ill:
        parts += [_found(ill), _by_control(ill), _confusion(ill), _wrong_before(ill)]
    if any(one.fault == "leak" and one.strength == 0 for one in ill):
        parts.append(_slow_leaks([one for one in ill if one.fault == "leak" and not one.strength]))
    if quiet:
        parts.append(_quiet(quiet))
    return "\n".join(parts)


def _hours(members: Sequence[Result]) -> list[float]:
    return [
        (one.right.confirmed_at - one.onset) / HOUR for one in members if one.right is not None
    ]  # fmt: skip


def _delay(members: Sequence[Result]) -> str:
    hours = sorted(max(one, 0.0) for one in _hours(members))
    if not hours:
        return "-"
    return f"{np.median(hours):.1f} / {hours[-1]:.1f}"


def _share(members: Sequence[Result]) -> str:
    return str(Share(sum(one.right is not None for one in members), len(members)))


def _found(ill: Sequence[Result]) -> str:
    rows = []
    for fault in FAULTS:
        for strength, word in enumerate(STRENGTHS):
            mine = [one for one in ill if (one.fault, one.strength) == (fault.name, strength)]
            if mine:
                size = f"{fault.strengths[strength]:g} {fault.unit}"
                grown = f"{fault.hours:g}" if fault.hours else "at once"
                rows.append([fault.name, word, size, grown, _share(mine), _delay(mine)])
    head = ["fault", "strength", "how much", "grown in, h", "told as itself",
            "hours to it, median / longest"]  # fmt: skip
    return table(head, rows)


def _by_control(ill: Sequence[Result]) -> str:
    rows = []
    for control in CONTROLS:
        mine = [one for one in ill if one.control == control]
        rows.append([control.replace("_", " "), _share(mine), _delay(mine)])
    return table(["control", "told as itself", "hours to it, median / longest"], rows)


def _confusion(ill: Sequence[Result]) -> str:
    """Return what was said first of each fault, by kind."""
    return first_said(
        "cooling.",
        ((str(BY_NAME[one.fault].kind), one.after[0].kind if one.after else "nothing")
         for one in ill),
    )  # fmt: skip


def _wrong_before(ill: Sequence[Result]) -> str:
    """Return what was said falsely while the loops were still well."""
    false: list[Said] = [said for one in ill for said in one.false]
    days = sum((one.onset - 1_800_000_000.0) / 86_400.0 for one in ill)
    return (
        f"Before anything was wrong with them, {len(ill)} loops gave {len(false)} false incidents "
        f"in {days:.0f} loop-days.\n"
    )


def _slow_leaks(leaks: Sequence[Result]) -> str:
    found = sum(hours <= WITHIN for hours in _hours(leaks))
    return (
        f"Slow leaks (0.2 L/h, reservoir of 40 L, level good to 0.5 %, 3 K of daily swing) found "
        f"within {WITHIN:g} h: {Share(found, len(leaks))}; hours, median / longest: "
        f"{_delay(leaks)}.\n"
    )


def _quiet(quiet: Sequence[Result]) -> str:
    weeks = sum(one.days for one in quiet) / WEEK_DAYS
    said = [one for result in quiet for one in result.said]
    return (
        f"{len(quiet)} quiet loops, {weeks:.1f} loop-weeks with load steps, setpoint changes and a "
        f"filter service each:\n\n{false_by_week(said, weeks, 'loop')}"
    )
