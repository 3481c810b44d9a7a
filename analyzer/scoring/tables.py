"""Tables: a tally as Markdown, for a terminal and for a page."""

from collections.abc import Iterable, Mapping, Sequence

from analyzer.scoring import calibration
from analyzer.scoring.bounds import Share
from analyzer.scoring.tally import Tally, spread

HEAD = (
    "", "truths", "recall", "precision", "kind", "culprit", "side", "cause", "over-paged",
    "delay median / p95", "lead median",
)  # fmt: skip


def page(tally: Tally) -> str:
    """Return the whole: all, by kind, by cause, confusions and calibration."""
    text = f"{tally.corpora} corpora, {len(tally.met)} truths, {tally.link_weeks:.4g} link-weeks\n"
    text += table(HEAD, [_row("all", tally)])
    text += f"\ntrue cause among the first three: {tally.cause_among_first}\n"
    text += f"must page and did: {tally.paged}\n"
    text += f"false pages per 10,000 links and week: {tally.false_pages}\n"
    text += f"false tickets per 10,000 links and week: {tally.false_tickets}\n"
    text += f"second incidents on one truth: {tally.second}; apart (watch, info): {tally.apart}; "
    text += f"suppressed: {tally.suppressed}; told apart before they were one: {tally.joined}\n"
    for title, split in (("kind", tally.by_kind()), ("cause", tally.by_cause())):
        if split:
            text += "\n" + by(title, split)
    text += confusions(tally)
    return text + calibrated(tally)


def by(title: str, split: Mapping[str, Tally]) -> str:
    """Return a row for each part of a tally."""
    return table((title, *HEAD[1:]), [_row(name, one) for name, one in split.items()])


def confusions(tally: Tally) -> str:
    """Return what was taken for what, the most frequent first; empty if nothing was."""
    text = ""
    for title, counted in zip(("kind", "cause"), tally.confusions(), strict=True):
        rows = [(true, said, str(many)) for (true, said), many in counted.most_common()]
        if rows:
            text += "\n" + table((f"true {title}", "said", "times"), rows)
    return text


def calibrated(tally: Tally) -> str:
    """Return how often causes were right beside what they claimed; empty without claims."""
    claims = tally.claims
    score, error = calibration.brier(claims), calibration.expected_error(claims)
    if score is None or error is None:
        return ""
    rows = [
        (f"{one.low:.1f} .. {one.high:.1f}", f"{one.said:.2f}", cell(one.right))
        for one in calibration.bins(claims)
    ]
    return (
        "\n" + table(("probability said", "mean", "right"), rows)
        + f"\nBrier score {score:.3f}, expected calibration error {error:.3f}, n={len(claims)}\n"
    )  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns."""
    every = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in every) for column in range(len(head))]
    lines = [
        "| " + " | ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) + " |"
        for row in every
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def cell(share: Share) -> str:
    """Return a share with its bounds and n, or a dash."""
    if share.bounds is None:
        return "-"
    low, high = share.bounds
    return f"{share.hits / share.n:.2f} [{low:.2f}, {high:.2f}] {share.hits}/{share.n}"


def duration(seconds: float | int | None) -> str:
    """Return seconds in the unit a person would use."""
    if seconds is None:
        return "-"
    for unit, name in ((86_400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if abs(seconds) >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"


def _row(name: str, tally: Tally) -> tuple[str, ...]:
    delay, lead = spread(tally.delays), spread(tally.leads)
    late = "-"
    if delay["n"]:
        late = f"{duration(delay['median'])} / {duration(delay['p95'])}"
    ahead = f"{duration(lead['median'])} (n={lead['n']})" if lead["n"] else "-"
    shares = (
        tally.recall, tally.precision, tally.kind, tally.culprit, tally.side, tally.cause,
        tally.over_paged,
    )  # fmt: skip
    return (name, str(len(tally.met)), *map(cell, shares), late, ahead)
