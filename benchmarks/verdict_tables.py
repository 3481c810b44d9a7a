"""Tables of the corpus' results: by sort of case, what went wrong, what each layer adds."""

from collections import Counter
from collections.abc import Mapping, Sequence

from analyzer.scoring import Tally
from analyzer.scoring.tables import cell, table
from fabrichealth.cli._corpus import Judged


def summed(every: Sequence[Judged]) -> Tally:
    """Return the tally of some cases."""
    tally = Tally()
    for case in every:
        tally.add(case.matched, case.links, case.seconds)
    return tally


def by_case(every: Sequence[Judged]) -> str:
    """Return a row for each sort of case, over technologies."""
    sorts: dict[str, list[Judged]] = {}
    for case in every:
        sorts.setdefault(case.name.partition("-")[2], []).append(case)
    rows = []
    for name, held in sorted(sorts.items()):
        tally = summed(held)
        technologies = " ".join(sorted({case.name.partition("-")[0] for case in held}))
        shares = (tally.recall, tally.kind, tally.culprit, tally.side, tally.cause)
        rows.append((name, technologies, *map(cell, shares), str(len(tally.false))))
    head = ("case", "technologies", "recall", "kind", "culprit", "side", "cause", "false")
    return table(head, rows)


def errors(every: Sequence[Judged]) -> str:
    """Return what went wrong, a line each."""
    lines = []
    for case in sorted(every, key=lambda case: case.name):
        for met in case.matched.met:
            if met.told is None:
                lines.append(f"{case.name}: MISSED {met.truth.kind} {met.truth.note}")
            elif not (met.kind_right and met.culprit_right):
                lines.append(
                    f"{case.name}: {met.truth.kind} {met.truth.culprit} ({met.truth.note}) told as "
                    f"{met.told.kind} {met.told.severity} {met.told.culprit}: {met.told.because}"
                )
        false = Counter((told.kind, str(told.severity)) for told in case.matched.false)
        for (kind, severity), many in false.items():
            first = next(told for told in case.matched.false if told.kind == kind)
            lines.append(f"{case.name}: FALSE {many} x {kind} {severity}, e.g. {first.because}")
    return "\n".join(lines) + "\n"


def added(whole: Tally, less: Mapping[str, Tally]) -> str:
    """Return the rates with everything, and without each of some layers or detectors."""
    rows = [
        (
            name,
            *map(cell, (one.recall, one.precision, one.kind, one.culprit, one.side, one.cause)),
            str(sum(told.pages for told in one.false)),
        )
        for name, one in (
            ("all", whole), *((f"without {what}", tally) for what, tally in less.items()),
        )
    ]  # fmt: skip
    head = ("judged", "recall", "precision", "kind", "culprit", "side", "cause", "false pages")
    return table(head, rows)


def headline(whole: Tally) -> str:
    """Return the short table of the README: each rate with its bounds and n."""
    rows = [
        ("faults found", cell(whole.recall)),
        ("incidents that are true", cell(whole.precision)),
        ("right culprit", cell(whole.culprit)),
        ("right side, where there is one", cell(whole.side)),
        ("right kind", cell(whole.kind)),
        ("likeliest cause is the true one", cell(whole.cause)),
        ("true cause among the first three", cell(whole.cause_among_first)),
    ]
    return table(("simulated corpus", "share [95 % bounds] of n"), rows)
