"""What was said of simulated racks, as Markdown tables with numbers and exact bounds."""

from collections import Counter
from collections.abc import Sequence

from analyzer.scoring.bounds import Share
from analyzer.scoring.tables import table
from benchmarks.halls import false_by_week, first_said, minutes_to_it
from benchmarks.power.faults import BY_NAME, FAULTS, STRENGTHS
from benchmarks.power.judging import Result


def figures(results: Sequence[Result]) -> str:
    """Return all tables that the results fill."""
    ill = [one for one in results if one.fault]
    quiet = [one for one in results if not one.fault]
    parts = [_found(ill), _confusion(ill), _false(ill)] if ill else []
    return "\n".join([*parts, _quiet(quiet)] if quiet else parts)


def _delay(members: Sequence[Result]) -> str:
    return minutes_to_it((one.onset, one.right.confirmed_at) for one in members if one.right)


def _found(ill: Sequence[Result]) -> str:
    rows = []
    for fault in FAULTS:
        for strength, word in enumerate(STRENGTHS):
            mine = [one for one in ill if (one.fault, one.strength) == (fault.name, strength)]
            share = Share(sum(one.right is not None for one in mine), len(mine))
            rows.append([fault.name, word, fault.words[strength], str(share), _delay(mine)])
    head = ["fault", "strength", "how it shows", "told as itself",
            "minutes to it, median / longest"]  # fmt: skip
    return table(head, rows)


def _confusion(ill: Sequence[Result]) -> str:
    """Return what was said first of each fault, by kind."""
    return first_said(
        "power.",
        ((str(BY_NAME[one.fault].kind), one.after[0].kind if one.after else "nothing")
         for one in ill),
    )  # fmt: skip


def _false(ill: Sequence[Result]) -> str:
    false = [said for one in ill for said in one.false]
    kinds = ", ".join(f"{kind} {n}" for kind, n in Counter(one.kind for one in false).most_common())
    return (
        f"Tickets and pages beside the right one, or before it: {len(false)} at {len(ill)} racks"
        f"{f' ({kinds})' if false else ''}.\n"
    )


def _quiet(quiet: Sequence[Result]) -> str:
    weeks = sum(one.days for one in quiet) / 7.0
    said = [one for result in quiet for one in result.said]
    return (
        f"{len(quiet)} quiet racks, {weeks:.1f} rack-weeks of jobs, racks switched off, silent "
        "agents, wild readings, sags and supplies that rest:\n\n"
        f"{false_by_week(said, weeks, 'rack')}"
    )
