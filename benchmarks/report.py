"""The evaluation's tables and pictures, from results that were kept; no figure is typed in.

`python -m benchmarks.report KEPT.. [--write]`. KEPT are the folders that `benchmarks.verdicts
--keep` and `benchmarks.quiet_fleet --keep` filled. Prints Markdown; with `--write` puts the short
tables into README.md and the whole into docs/evaluation.md, between the marks that stand there, and
draws docs/pictures. Verdicts, quiet fleet and layers have marks of their own: what was not measured
stays, and a part of the corpus does not take the place of the whole. Without a folder it says how
to make one.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from analyzer.scoring.bounds import Rate
from analyzer.scoring.tables import by, page
from benchmarks import pictures
from benchmarks.corpus.cases import cases
from benchmarks.kept import HOUSE, Keeper, of_json
from benchmarks.quiet_fleet import PERIOD, Told, of_all
from benchmarks.verdict_tables import added, by_case, headline, summed
from fabrichealth.cli._corpus import Judged

README, EVALUATION = HOUSE / "README.md", HOUSE / "docs" / "evaluation.md"
PICTURES = HOUSE / "docs" / "pictures"
CAUSES = "causes.svg"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
QUIET, LAYERS = "quiet", "layers"
"""Words of the marks between which these stand."""
MADE_BY = "Made by `python -m benchmarks.report`; simulated."


def results(folders: Sequence[Path]) -> tuple[dict[str, list[Judged]], list[Told]]:
    """Return judged cases by the layer that was left out ("": none), and quiet halls."""
    every: dict[str, list[Judged]] = {"": []}
    halls: list[Told] = []
    for folder in folders:
        keeper = Keeper(folder, any_sources=True)
        halls += of_all(keeper)
        for name in keeper.names():
            case, _, layer = name.partition(".without-")
            plain = None if name.startswith("hall-") else keeper.find(name)
            if plain is not None and ".seed-" in case:
                every.setdefault(layer, []).append(of_json(plain))
    return every, halls


def short(every: Sequence[Judged], states: int = 1) -> str:
    """Return what stands in the README; `states` of the sources gave the results."""
    whole = summed(every)
    return (
        f"{MADE_BY} {len(every)} cases of a corpus of {len(cases())}, {len(whole.met)} faults, "
        f"{whole.link_weeks:.3g} link-weeks{mixed(states)}.\n\n{headline(whole)}"
    )


def mixed(states: int, what: str = "cases") -> str:
    """Return in words that not all results come from the same sources; nothing if they do."""
    return f"; {what} were judged as mended, by {states} states of the sources" * (states > 1)


def quiet(halls: Sequence[Told], states: int = 1) -> str:
    """Return the rates of false pages and tickets where nothing is wrong."""
    weeks = sum(one.links * one.weeks for one in halls)
    severities = [row[1] for one in halls for row in one.false]
    lines = [
        f"False {severity}s per 10,000 links and week on {weeks:.0f} quiet link-weeks polled every "
        f"{PERIOD / 60:.0f} min: {Rate(severities.count(severity), weeks / 10_000)}"
        f"{mixed(states, f'{len(halls)} halls')}.\n"
        for severity in ("page", "ticket")
    ]
    return "".join(lines)


def whole(cases_of: Sequence[Judged]) -> str:
    """Return what stands in docs/evaluation.md of verdicts."""
    technologies: dict[str, list[Judged]] = {}
    for case in cases_of:
        technologies.setdefault(case.name.partition("-")[0], []).append(case)
    text = f"{MADE_BY}\n\n{page(summed(cases_of))}\n"
    text += by("technology", {name: summed(held) for name, held in sorted(technologies.items())})
    picture = f"![how far probabilities of causes hold](pictures/{CAUSES})"
    return f"{text}\n{by_case(cases_of)}\n{picture}\n"


def layers(every: Mapping[str, Sequence[Judged]]) -> str:
    """Return what each layer adds over the cases that were judged without it; "" if none were."""
    found = []
    for layer, held in sorted(every.items()):
        names = {case.name for case in held}
        both = [case for case in every[""] if case.name in names]
        if layer and both:
            same = {case.name for case in both}
            less = summed([case for case in held if case.name in same])
            found.append(f"Over {len(both)} cases, with and without the layer {layer}:\n\n"
                         f"{added(summed(both), {layer: less})}")  # fmt: skip
    return "\n".join([f"{MADE_BY}\n", *found]) if found else ""


def between(text: str, figures: str, begin: str = BEGIN, end: str = END) -> str:
    """Return a page with other figures between its marks.

    Raises:
        ValueError: the marks are not there, once each and in order.
    """
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the marks {begin} and {end} must stand there, once each")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n{figures.strip()}\n{end}{rest.partition(end)[2]}"


def main() -> int:
    """Print, or write, what was kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", nargs="*", type=Path, help="folders of results")
    parser.add_argument("--write", action="store_true", help="into README.md and docs")
    asked = parser.parse_args()
    every, halls = results(asked.kept)
    keepers = [Keeper(folder) for folder in asked.kept]
    states = len({one for keeper in keepers for one in keeper.states("*.seed-*")})
    of_halls = len({one for keeper in keepers for one in keeper.states("hall-*")})
    cases_of = every[""]
    if not cases_of and not halls:
        sys.stderr.write("nothing is kept: run `python -m benchmarks.verdicts --keep FOLDER`\n")
        return 1 if asked.kept else 0
    parts: dict[Path, dict[str, str]] = {README: {}, EVALUATION: {}}
    if cases_of:
        parts[README]["figures"], parts[EVALUATION]["figures"] = (
            short(cases_of, states), whole(cases_of),
        )  # fmt: skip
    if less := layers(every):
        parts[EVALUATION][LAYERS] = less
    if halls:
        parts[README][QUIET] = parts[EVALUATION][QUIET] = quiet(halls, of_halls)
    print("\n".join(text for part in parts.values() for text in part.values()))
    if asked.write:
        if len({case.name for case in cases_of}) < len(cases()):
            for part in parts.values():
                if part.pop("figures", ""):
                    sys.stderr.write("a part of the corpus: the tables of the whole stay\n")
        write(parts)
        if "figures" in parts[README]:
            PICTURES.mkdir(exist_ok=True)
            drawn = pictures.reliability("likeliest cause, simulated", summed(cases_of).claims)
            (PICTURES / CAUSES).write_text(drawn, encoding="utf-8")
    return 0


def write(parts: Mapping[Path, Mapping[str, str]]) -> None:
    """Put figures between the marks of their word on each page."""
    for path, part in parts.items():
        text = path.read_text("utf-8")
        for word, figures in part.items():
            begin, end = BEGIN.replace("figures", word), END.replace("figures", word)
            text = between(text, figures, begin, end)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
