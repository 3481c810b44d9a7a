"""Findings: what is said of one part that many ill links share."""

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.parts.blaming import ACCUSED, attributes, units
from analyzer.evidence.parts.covering import Excess, Rule, covering
from analyzer.evidence.parts.history import RECALLED as OF_HISTORY
from analyzer.evidence.parts.history import History, history
from analyzer.evidence.parts.illness import RECALLED as OF_ILLNESS
from analyzer.evidence.parts.illness import Illness, illness
from analyzer.evidence.parts.witnesses import Witness, witnesses
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.kinds import IncidentKind, Severity
from fabrichealth.model import Finding, Place, View

RECALLED = tuple(dict.fromkeys((*OF_ILLNESS, *OF_HISTORY)))
"""What a detector that asks for blamed parts must recall."""

LINES = 8
"""Evidence lines in one finding: one of each of so many members."""

ASKED = 16
"""Members that are asked since when they are ill."""

BEYOND = "beyond the error limit"
"""Ground of a finding: links that are up lose data now, which no work excuses."""

SURE = 2
"""Links that must be ill for certain, each by itself; the others may be so by comparison."""

SHARED = Rule(q=0.01, hits=3.0, share=0.25)
BATCH = Rule(q=0.05, hits=3.0, excess=2.0)
RULES = {
    "bundle": SHARED, "card": SHARED, "device": SHARED, "lasers": SHARED, "rack": SHARED,
    "module": Rule(q=0.01, hits=2.0, share=0.5),
    "lot": BATCH, "part": BATCH, "firmware": BATCH,
}  # fmt: skip
"""From when on each attribute explains; a detector's own settings take the place of its own."""


def blamed(view: View, own: dict[str, Rule]) -> tuple[Illness, Sequence[Excess]]:
    """Return who is ill, and the groups that explain it; once a pass for the same rules."""
    ill = illness(view)
    rules = {**RULES, **own}
    key = (blamed, id(ill), tuple(rules.items()))
    return ill, view.once(key, lambda: _blamed(view, ill, rules))


def _blamed(view: View, ill: Illness, rules: dict[str, Rule]) -> Sequence[Excess]:
    least = min(rule.hits for rule in rules.values())
    links = len(np.unique(ill.own.link[ill.any]))
    if not links:
        return ()
    gone = history(view, ill.known, ill.own).gone
    if links + sum(one.cured for one in gone) < least:
        return ()
    every = attributes(ill, view.changes(OPTICS_INFO), gone)
    found = covering(list(every.values()), units(ill.own, gone), [rules[name] for name in every])
    return [one for one in found if _certain(ill, one) >= SURE and len(_both(ill, one))]


def _certain(ill: Illness, one: Excess) -> int:
    """Return how many of a group's members are ill for certain, or were until they went."""
    both = _both(ill, one)
    gone = one.units[one.units >= len(ill.own)]
    return len(np.unique(ill.own.link[both[ill.sure[both]]])) + len(gone)


def _both(ill: Illness, one: Excess) -> NDArray[np.intp]:
    """Return both ends of a group's ill links; modules that are gone have none."""
    here = one.units[one.units < len(ill.own)]
    return np.concatenate([here, ill.own.peer[here]])


def finding(view: View, ill: Illness, one: Excess, kind: IncidentKind, threshold: float) -> Finding:
    """Return what is said of a group; score 1.0 is a q of `threshold`."""
    place = Place(ACCUSED.get(one.attribute.name, one.attribute.name), one.name)
    links = np.unique(ill.own.link[_both(ill, one)])
    said = _heard(ill, one, history(view, ill.known, ill.own))
    evidence = [first.evidence for first in said[:LINES]]
    before = [early.since for early in view.before if early.about == place]
    since = min([*before, *(first.since for first in said)], default=view.now)
    both = _both(ill, one)
    lossy = bool((ill.beyond & ~ill.down)[both].any())
    return Finding(
        kind=kind,
        about=place,
        score=max(log(max(one.q, 1e-300)) / log(threshold), 1.0),
        since=since,
        at=max((line.at for line in evidence), default=view.now),
        evidence=evidence,
        because=f"{_told(one, len(links))}; {evidence[0].says if evidence else ''}".rstrip("; "),
        severity=Severity.PAGE if ill.beyond[both].any() else None,
        grounds=(BEYOND,) if lossy else (),
        victims=tuple(Place("link", ill.own.links[link].id) for link in links.tolist()),
    )


def _heard(ill: Illness, one: Excess, past: History) -> list[Witness]:
    """Return the gravest witness of each of the first members, earliest onset kept."""
    size = len(ill.own)
    gone = [past.gone[unit - size].evidence for unit in one.units[one.units >= size].tolist()]
    found = [Witness(0.0, line.at, line) for line in gone]
    for unit in one.units[one.units < size][:ASKED].tolist():
        said = [*witnesses(ill, unit), *witnesses(ill, int(ill.own.peer[unit]))]
        if said:
            since = min(witness.since for witness in said)
            line = said[0].evidence
            if came := past.came(ill.own.ports[unit]):
                line = replace(line, says=f"{line.says}; {came}")
            found.append(Witness(said[0].weight, since, line))
    return sorted(found, key=lambda witness: -witness.weight)


def _told(one: Excess, links: int) -> str:
    """Return the count in words: of how many, what others have, and how likely that is."""
    ill, known = one.elsewhere
    what = "modules" if one.attribute.name in {"lot", "part", "firmware"} else "links"
    hits = f"{one.hits:g}" if what == "modules" else f"{links}"
    return (
        f"{hits} of {one.members} {what} of {one.attribute.name} {one.name} are ill, "
        f"{ill:g} of {known} others: {one.expected:.2g} would be expected (q {one.q:.1e})"
    )
