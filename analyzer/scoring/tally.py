"""Tally: counts over corpora, and the rates they give, each with its n and bounds (contract 6)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analyzer.scoring import calibration
from analyzer.scoring.bounds import Rate, Share
from analyzer.scoring.matching import Matched, Met
from analyzer.scoring.told import Told

WEEK = 7 * 86_400.0
PER_LINKS = 10_000.0
FIRST_CAUSES = 3
"""The true cause among so many of the likeliest counts for the wider share."""


@dataclass
class Tally:
    """What matched corpora add up to."""

    corpora: int = 0
    met: list[Met] = field(default_factory=list)
    false: list[Told] = field(default_factory=list)
    second: int = 0
    apart: int = 0
    suppressed: int = 0
    joined: int = 0
    link_weeks: float = 0.0

    def add(self, matched: Matched, links: int, seconds: float) -> None:
        """Add one corpus of so many links that lasts so many seconds."""
        self.corpora += 1
        self.met += matched.met
        self.false += matched.false
        self.second += len(matched.second)
        self.apart += len(matched.apart)
        self.suppressed += len(matched.suppressed)
        self.joined += len(matched.joined)
        self.link_weeks += links * seconds / WEEK

    def join(self, other: "Tally") -> None:
        """Add what another has counted."""
        self.corpora += other.corpora
        self.met += other.met
        self.false += other.false
        self.second += other.second
        self.apart += other.apart
        self.suppressed += other.suppressed
        self.joined += other.joined
        self.link_weeks += other.link_weeks

    @property
    def found(self) -> list[Met]:
        """The truths that have an incident."""
        return [one for one in self.met if one.told is not None]

    @property
    def recall(self) -> Share:
        """Truths found, of all."""
        return Share(len(self.found), len(self.met))

    @property
    def precision(self) -> Share:
        """Truths found, of those and the false pages and tickets."""
        return Share(len(self.found), len(self.found) + len(self.false))

    @property
    def kind(self) -> Share:
        """Found under a kind that fits."""
        return _share(self.found, lambda one: one.kind_right)

    @property
    def culprit(self) -> Share:
        """Found with the right culprit."""
        return _share(self.found, lambda one: one.culprit_right)

    @property
    def side(self) -> Share:
        """Found with the right end, where the truth has one."""
        sided = [one for one in self.found if one.truth.side is not None]
        return _share(sided, lambda one: one.side_right)

    @property
    def cause(self) -> Share:
        """Found with the true cause as the likeliest, where the truth has one."""
        return _share(self._caused, lambda one: one.cause_right)

    @property
    def cause_among_first(self) -> Share:
        """Found with the true cause among the three likeliest."""
        return _share(self._caused, _among_first)

    @property
    def paged(self) -> Share:
        """Truths that must page and did."""
        wanted = [one for one in self.met if one.truth.must_page]
        return _share(wanted, lambda one: one.told is not None and one.told.pages)

    @property
    def over_paged(self) -> Share:
        """Truths found that could have waited, and woke somebody."""
        could_wait = [one for one in self.found if one.truth.must_page is False]
        return _share(could_wait, lambda one: one.over_paged)

    @property
    def false_pages(self) -> Rate:
        """False pages per 10,000 links and week."""
        return Rate(sum(one.pages for one in self.false), self.link_weeks / PER_LINKS)

    @property
    def false_tickets(self) -> Rate:
        """False tickets per 10,000 links and week."""
        return Rate(sum(not one.pages for one in self.false), self.link_weeks / PER_LINKS)

    @property
    def delays(self) -> list[float]:
        """Seconds from evident to confirmed, of those found."""
        return [one.delay for one in self.met if one.delay is not None]

    @property
    def leads(self) -> list[float]:
        """Seconds from the first ticket to the error limit, of those found that have one."""
        return [one.lead for one in self.met if one.lead is not None]

    @property
    def claims(self) -> list[tuple[float, bool]]:
        """Probability of the likeliest cause and whether it was right."""
        return [(one.told.causes[0][1], one.cause_right) for one in self._caused
                if one.told is not None and one.told.causes]  # fmt: skip

    @property
    def _caused(self) -> list[Met]:
        return [one for one in self.found if one.truth.cause is not None]

    def by_kind(self) -> dict[str, "Tally"]:
        """Return a tally of each kind of truth; false ones count under their own kind."""
        return self._split(lambda met: met.truth.kind, lambda told: told.kind)

    def by_cause(self) -> dict[str, "Tally"]:
        """Return a tally of each cause of truth; false ones under the cause they claim."""
        return self._split(lambda met: met.truth.cause, lambda told: told.cause)

    def confusions(self) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
        """Return (true, said) of kinds and of causes that were not right, with their numbers."""
        kinds: Counter[tuple[str, str]] = Counter()
        causes: Counter[tuple[str, str]] = Counter()
        for one in self.found:
            if one.told is not None and not one.kind_right:
                kinds[one.truth.kind, one.told.kind] += 1
            if one.told is not None and one.truth.cause and not one.cause_right:
                causes[one.truth.cause, one.told.cause or "none"] += 1
        return kinds, causes

    def to_json(self, *, parts: bool = True) -> dict[str, Any]:
        """Return every rate with n and bounds; with `parts` also by kind and by cause."""
        plain: dict[str, Any] = {
            "corpora": self.corpora, "truths": len(self.met), "found": len(self.found),
            "false": len(self.false), "second": self.second, "apart": self.apart,
            "suppressed": self.suppressed, "joined": self.joined, "link_weeks": self.link_weeks,
        }  # fmt: skip
        for name in (
            "recall", "precision", "kind", "culprit", "side", "cause", "cause_among_first",
            "paged", "over_paged", "false_pages", "false_tickets",
        ):  # fmt: skip
            plain[name] = getattr(self, name).to_json()
        plain["delay"] = spread(self.delays)
        plain["lead"] = spread(self.leads)
        claims = self.claims
        plain["calibration"] = {
            "n": len(claims),
            "brier": calibration.brier(claims),
            "expected_error": calibration.expected_error(claims),
        }
        if parts:
            for key, split in (("by_kind", self.by_kind()), ("by_cause", self.by_cause())):
                plain[key] = {name: one.to_json(parts=False) for name, one in split.items()}
        return plain

    def _split(
        self, of_met: Callable[[Met], str | None], of_told: Callable[[Told], str | None]
    ) -> dict[str, "Tally"]:
        split: dict[str, Tally] = {}
        for met in self.met:
            if name := of_met(met):
                split.setdefault(name, Tally(link_weeks=self.link_weeks)).met.append(met)
        for told in self.false:
            if name := of_told(told):
                split.setdefault(name, Tally(link_weeks=self.link_weeks)).false.append(told)
        return dict(sorted(split.items()))


def spread(seconds: Sequence[float]) -> dict[str, float | int | None]:
    """Return n, median and 95th percentile of some times in seconds; null of none."""
    if not len(seconds):
        return {"n": 0, "median": None, "p95": None}
    median, high = np.percentile(np.asarray(seconds), (50, 95))
    return {"n": len(seconds), "median": float(median), "p95": float(high)}


def _share(every: Iterable[Met], right: Callable[[Met], bool]) -> Share:
    judged = [right(one) for one in every]
    return Share(sum(judged), len(judged))


def _among_first(met: Met) -> bool:
    if met.told is None:
        return False
    first = [cause for cause, _ in met.told.causes[:FIRST_CAUSES]]
    return met.truth.cause in first or met.cause_right
