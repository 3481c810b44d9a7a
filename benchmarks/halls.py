"""Halls that are made, judged and kept one by one, and told as tables in a page of their own."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Generic, Protocol, TypeVar

from analyzer.scoring.bounds import Rate
from analyzer.scoring.tables import table
from benchmarks.kept import Keeper
from benchmarks.report import between
from fabrichealth.kinds import KINDS, Severity

R = TypeVar("R")


class Heard(Protocol):
    """One incident that somebody had to hear."""

    @property
    def kind(self) -> str:
        """Its kind."""

    @property
    def severity(self) -> int:
        """How grave it was."""


@dataclass(frozen=True)
class Telling(Generic[R]):
    """How the results of one benchmark are kept and told."""

    page: Path
    """Where `--write` puts the tables, between its marks."""
    module: str
    to_json: Callable[[Sequence[R]], Any]
    of_json: Callable[[Any], list[R]]
    figures: Callable[[Sequence[R]], str]
    errors: Callable[[Sequence[R]], Iterable[str]]

    def parser(self, doc: str | None) -> argparse.ArgumentParser:
        """Return a parser of what every such benchmark is asked."""
        parser = argparse.ArgumentParser(description=doc)
        parser.add_argument("--each", type=int, default=1, help="halls of every fault")
        parser.add_argument("--days", type=float, default=14.0, help="for which quiet ones live")
        parser.add_argument("--seed", type=int, default=1, help="of the first hall")
        parser.add_argument("--keep", type=Path, help="folder of results, hall by hall")
        parser.add_argument("--print", action="store_true", help="judge nothing, take what is kept")
        parser.add_argument("--errors", action="store_true", help="also what was said wrongly")
        parser.add_argument("--write", action="store_true", help=f"into docs/{self.page.name}")
        return parser

    def run(
        self, asked: argparse.Namespace, halls: Iterable[tuple[str, Callable[[], Sequence[R]]]]
    ) -> int:
        """Judge the halls that are not kept yet, and print; return the exit status."""
        keeper = Keeper(asked.keep, any_sources=asked.print)
        results: list[R] = []
        if asked.print:
            for name in keeper.names():
                results += self.of_json(keeper.find(name) or [])
        else:
            for name, live in halls:
                found = keeper.find(name)
                if found is None:
                    found = self.to_json(live())
                    keeper.keep(name, found)
                results += self.of_json(found)
        if not results:
            sys.stderr.write(f"nothing is kept: run `python -m {self.module} --keep FOLDER`\n")
            return 1
        tables = self.figures(results)
        print(tables)
        if asked.errors:
            print("\n".join(self.errors(results)))
        if asked.write:
            text = f"Made by `python -m {self.module}`; simulated.\n\n{tables}"
            self.page.write_text(between(self.page.read_text("utf-8"), text), encoding="utf-8")
        return 0


def minutes_to_it(onset_and_said: Iterable[tuple[float, float]]) -> str:
    """Return median and longest delay in minutes; pairs of (onset, confirmed), unix seconds."""
    minutes = sorted(max(said - onset, 0.0) / 60.0 for onset, said in onset_and_said)
    return f"{median(minutes):.1f} / {minutes[-1]:.1f}" if minutes else "-"


def first_said(prefix: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return what was said first of each fault by kind; pairs of (true kind, kind or "nothing")."""
    every = list(pairs)
    kinds = [name for name in KINDS if name.startswith(prefix)]
    rows = []
    for kind in kinds:
        first = Counter(said for true, said in every if true == kind)
        if first:
            cells = [str(first[other]) if first[other] else "" for other in [*kinds, "nothing"]]
            rows.append([kind.removeprefix(prefix), str(first.total()), *cells])
    head = ["what it is", "n", *(kind.removeprefix(prefix) for kind in kinds), "nothing"]
    return f"What was said first:\n\n{table(head, rows)}"


def false_by_week(said: Sequence[Heard], weeks: float, per: str) -> str:
    """Return a table of what was said where nothing was wrong."""
    rows = []
    for severity in (Severity.PAGE, Severity.TICKET):
        mine = [one for one in said if one.severity == severity]
        kinds = Counter(one.kind for one in mine)
        words = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()) or "none"
        rows.append([f"{severity}s", str(len(mine)), str(Rate(len(mine), weeks)), words])
    return table(["false", "n", f"per {per} and week", "kinds"], rows)
