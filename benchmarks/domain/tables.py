"""What was said of simulated domains, as Markdown tables with numbers and exact bounds."""

from collections import Counter
from collections.abc import Sequence

from analyzer.scoring.bounds import Share
from analyzer.scoring.tables import table
from benchmarks.domain.faults import BY_NAME, FAULTS, QUIET, STRENGTHS
from benchmarks.domain.judging import Result
from benchmarks.halls import minutes_to_it
from fabrichealth.kinds import DOMAIN_HIDDEN_IDLE, DOMAIN_STRAGGLER


def figures(results: Sequence[Result]) -> str:
    """Return all tables that the results fill."""
    ill = [one for one in results if one.fault]
    quiet = [one for one in results if not one.fault]
    parts = [_summary(ill, quiet), _found(ill)] if ill else []
    return "\n".join([*parts, _quiet(quiet)] if quiet else parts)


def _summary(ill: Sequence[Result], quiet: Sequence[Result]) -> str:
    """Return precision and recall by kind; every incident anywhere counts for its precision."""
    rows = []
    for kind in (DOMAIN_HIDDEN_IDLE, DOMAIN_STRAGGLER):
        mine = [one for one in ill if BY_NAME[one.fault].kind is kind]
        found = sum(one.right is not None for one in mine)
        false = sum(said.kind == kind.name for one in [*ill, *quiet] for said in one.false)
        rows.append([kind.name, str(Share(found, len(mine))), str(Share(found, found + false))])
    return table(["kind", "recall", "precision"], rows)


def _delay(members: Sequence[Result]) -> str:
    return minutes_to_it((one.onset, one.right.confirmed_at) for one in members if one.right)


def _found(ill: Sequence[Result]) -> str:
    rows = []
    for fault in FAULTS:
        for strength, word in enumerate(STRENGTHS):
            mine = [one for one in ill if (one.fault, one.strength) == (fault.name, strength)]
            if not mine:
                continue
            share = Share(sum(one.right is not None for one in mine), len(mine))
            named = str(Share(sum(one.named for one in mine), len(mine))) if fault.names else "-"
            rows.append([fault.name, word, fault.words[strength], str(share), named, _delay(mine)])
    head = ["fault", "strength", "how it shows", "told, culprit right", "illusion named",
            "minutes to it, median / longest"]  # fmt: skip
    return table(head, rows)


def _quiet(quiet: Sequence[Result]) -> str:
    rows = []
    for name, words in QUIET.items():
        mine = [one for one in quiet if one.quiet == name]
        said = Counter(one.kind for result in mine for one in result.said)
        kinds = ", ".join(f"{kind} {count}" for kind, count in said.most_common()) or "none"
        silent = sum(not one.said for one in mine)
        if mine:
            rows.append([name, words, str(Share(silent, len(mine))), kinds])
    return table(["quiet day", "what happens", "nothing said", "what was said"], rows)
