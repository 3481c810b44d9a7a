"""`evaluate CORPUS...`: replays labelled histories and scores the verdicts (contract 6)."""

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from analyzer.scoring import Met, Tally, Told
from analyzer.scoring.tables import page
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.cli._corpus import Judged, folders, judge
from fabrichealth.cli._progress import progress
from fabrichealth.cli._site import load
from fabrichealth.config import Site
from fabrichealth.errors import FabricHealthError, SiteError, UsageError


class EvaluateCommand(Command):
    """Scores the analyzer on corpora; one that is broken costs itself only."""

    help = "replay labelled histories and score the verdicts"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare corpora and settings."""
        parser.add_argument(
            "corpus", nargs="+", type=Path, help="folder with truth.jsonl, or folder of such"
        )
        parser.add_argument("--config", type=Path, help="site file, for detectors and policy")
        parser.add_argument("--jobs", type=int, default=1, help="corpora replayed at once")
        parser.add_argument("--json", action="store_true", help="one JSON object a corpus, and all")

    def run(self, asked: argparse.Namespace) -> int:
        """Judge each corpus, then print the whole."""
        if asked.jobs < 1:
            raise UsageError(f"--jobs {asked.jobs}: at least one")
        site: Site | None = load(asked.config).site if asked.config else None
        every, status = _found(asked.corpus)
        tally = Tally()
        with progress("corpora", len(every)) as far:
            for done, (folder, judged) in enumerate(_judged(every, site, asked.jobs), start=1):
                far(done)
                if isinstance(judged, FabricHealthError):
                    _terminal.warn(str(judged))
                    status = AGAINST
                    continue
                for line in judged.warnings:
                    _terminal.warn(line)
                tally.add(judged.matched, judged.links, judged.seconds)
                if asked.json:
                    _terminal.tell({"corpus": str(folder), **one_corpus(judged)})
        if not tally.corpora:
            raise SiteError("no corpus could be replayed; nothing is scored")
        if asked.json:
            _terminal.tell({"corpus": None, **tally.to_json()})
        else:
            _terminal.say(page(tally))
        return status


Outcome = tuple[Path, Judged | FabricHealthError]


def _found(given: list[Path]) -> tuple[list[Path], int]:
    """Return the corpora of all arguments; an argument that holds none is told."""
    every: list[Path] = []
    status = WELL
    for path in given:
        try:
            every += folders([path])
        except SiteError as wrong:
            _terminal.warn(str(wrong))
            status = AGAINST
    return every, status


def _judged(every: list[Path], site: Site | None, jobs: int) -> Iterator[Outcome]:
    work = partial(_tried, site=site)
    if jobs == 1 or len(every) < 2:
        yield from map(work, every)
        return
    with ProcessPoolExecutor(min(jobs, len(every))) as pool:
        yield from pool.map(work, every)


def _tried(folder: Path, site: Site | None) -> Outcome:
    try:
        return folder, judge(folder, site)
    except FabricHealthError as wrong:
        return folder, wrong


def one_corpus(judged: Judged) -> dict[str, Any]:
    """Return one corpus as JSON: its rates, each truth with its incident, and what was false."""
    tally = Tally()
    tally.add(judged.matched, judged.links, judged.seconds)
    return {
        **tally.to_json(parts=False),
        "passes": judged.passes,
        "met": [_met(one) for one in judged.matched.met],
        "false_incidents": [_said(one) for one in judged.matched.false],
        "apart_incidents": [_said(one) for one in judged.matched.apart],
    }


def _met(met: Met) -> dict[str, Any]:
    truth = met.truth
    return {
        "kind": truth.kind, "culprit": truth.culprit, "side": truth.side, "cause": truth.cause,
        "from": truth.began, "until": truth.ended, "note": truth.note,
        "incident": None if met.told is None else _said(met.told),
        "kind_right": met.kind_right, "culprit_right": met.culprit_right,
        "over_paged": met.over_paged, "delay": met.delay, "lead": met.lead,
    }  # fmt: skip


def _said(told: Told) -> dict[str, Any]:
    return {
        "incident": told.incident, "kind": told.kind, "severity": str(told.severity),
        "culprit": told.culprit, "side": told.side, "cause": told.cause,
        "causes": dict(told.causes), "confirmed_at": told.confirmed, "because": told.because,
    }  # fmt: skip
