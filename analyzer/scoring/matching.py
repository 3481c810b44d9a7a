"""Matching: each truth gets its incident, or none (contract 6).

An incident serves one truth and a truth takes one incident. Of all pairs that meet, those whose
kind fits go first, then those confirmed earlier, then those with the right culprit. What is left
over of pages and tickets is false: what met nothing, and the second one on a truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.scoring.places import Places
from analyzer.scoring.told import Told
from analyzer.scoring.truth import Truth
from fabrichealth.topology import Topology

EARLIEST = 120.0
"""An incident confirmed so long before its truth began was about something else."""


@dataclass(frozen=True, slots=True)
class Met:
    """A truth and the incident on it; None: it was missed."""

    truth: Truth
    told: Told | None

    @property
    def kind_right(self) -> bool:
        """Whether its kind is one that the truth accepts."""
        return self.told is not None and self.told.kind in self.truth.kinds

    @property
    def culprit_right(self) -> bool:
        """Whether its culprit is one that the truth accepts, on equal id."""
        return self.told is not None and self.told.culprit in self.truth.culprits

    @property
    def side_right(self) -> bool:
        """Whether it names the ill end."""
        return self.told is not None and self.told.side == self.truth.side

    @property
    def cause_right(self) -> bool:
        """Whether the likeliest cause is the true one."""
        return self.told is not None and self.told.cause == self.truth.cause

    @property
    def over_paged(self) -> bool:
        """Whether somebody was woken for what could have waited."""
        return self.told is not None and self.told.pages and self.truth.must_page is False

    @property
    def delay(self) -> float | None:
        """Seconds from when it was evident until it was a ticket or a page; earlier is 0."""
        return None if self.told is None else max(0.0, self.told.confirmed - self.truth.due)

    @property
    def lead(self) -> float | None:
        """Seconds from the first ticket to the error limit; negative: it came too late."""
        if self.told is None or self.truth.limit_at is None or self.told.counted_from is None:
            return None
        return self.truth.limit_at - self.told.counted_from


@dataclass(frozen=True)
class Matched:
    """Every truth with its incident, and the incidents left over."""

    met: list[Met] = field(default_factory=list)
    false: list[Told] = field(default_factory=list)
    """Pages and tickets that serve no truth."""
    second: list[Told] = field(default_factory=list)
    """Those of `false` that met a truth which another incident serves."""
    apart: list[Told] = field(default_factory=list)
    """Watch and info incidents that serve no truth: reported, not false."""
    suppressed: list[Told] = field(default_factory=list)
    joined: list[Told] = field(default_factory=list)
    """Pages and tickets that turned out to be one with another incident: told twice for a
    while, then once."""


def match(truths: Sequence[Truth], told: Sequence[Told], topology: Topology) -> Matched:
    """Give each truth its incident."""
    places = Places(topology)
    heard = [one for one in told if not one.suppressed and not one.joined]
    pairs = [
        (t, i)
        for t, truth in enumerate(truths)
        for i, one in enumerate(heard)
        if meets(truth, one, places)
    ]
    pairs.sort(key=lambda pair: (_rank(truths[pair[0]], heard[pair[1]]), pair))
    served: dict[int, int] = {}
    taken: set[int] = set()
    for t, i in pairs:
        if t not in served and i not in taken:
            served[t] = i
            taken.add(i)
    met = [Met(truth, heard[served[t]] if t in served else None) for t, truth in enumerate(truths)]
    touched = {i for _, i in pairs}
    left = [(i, one) for i, one in enumerate(heard) if i not in taken]
    return Matched(
        met=met,
        false=[one for _, one in left if one.counts],
        second=[one for i, one in left if one.counts and i in touched],
        apart=[one for _, one in left if not one.counts],
        suppressed=[one for one in told if one.suppressed],
        joined=[one for one in told if one.joined and one.counts],
    )


def meets(truth: Truth, told: Told, places: Places) -> bool:
    """Return whether an incident, not suppressed, can be about a truth."""
    if not (told.counts or truth.is_minor):
        return False
    if told.confirmed < truth.began - EARLIEST:
        return False
    if told.opened > truth.open_until or told.closed < truth.began:
        return False
    if told.pages and _only_a_victim(truth, told, places):
        return False
    return places.any_meet((told.culprit, *told.victims), (*truth.culprits, *truth.victims))


def _only_a_victim(truth: Truth, told: Told, places: Places) -> bool:
    """Return whether a culprit is one of those who suffer: nobody may be woken for it.

    A link listed as a victim of the switch that holds it is one, although the switch holds it.
    """
    if told.culprit in truth.culprits:
        return False
    suffers = places.any_meet([told.culprit], truth.victims)
    return told.culprit in truth.victims or (
        suffers and not places.any_meet([told.culprit], truth.culprits)
    )


def _rank(truth: Truth, told: Told) -> tuple[bool, float, bool]:
    return (told.kind not in truth.kinds, told.confirmed, told.culprit not in truth.culprits)
