"""Layout: what the leaves of one kind of reply are, worked out once for its shape.

As long as a reply has the same shape, a poll picks values by position and turns them into columns;
no label, path or object is made. A shape that was not seen before is laid out by the rules.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectors.maps.tree_rules import Branch, Found, LeafRule
from collectors.protocols import json_tree
from collectors.protocols.json_tree import Path, Shape
from collectors.trees import values as forms
from fabrichealth.catalogue.optics import LOS, RX_POWER
from fabrichealth.catalogue.ports import LANES, PRE_FEC_BER, SPEED, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Labels, SeriesTable

Names = Mapping[str, str]
Placed = Callable[[Names], Names | None]
"""Turns the names in a leaf's path into labels; None where the leaf is of no port of ours."""

LAST = 10**9
"""Rank of what is taken only where nothing better is there."""
OF_LIVE_LINKS = (SPEED, LANES, PRE_FEC_BER)
"""What a port that is down only tells of its configuration or of the past."""
PLAIN = {"number", "count", "ticks"}
NUMBERS = {int, float}
PRIORITIES = frozenset("01234567")

Subject = tuple[str, ...]
"""Whom words are about: the kind of fact, then the names in the path."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One leaf of one series."""

    place: int
    """Of the leaf among the values."""
    rank: int
    metric: Metric
    labels: tuple[str, ...]
    rule: LeafRule
    form: str


@dataclass(frozen=True, slots=True)
class Word:
    """One leaf that is a word: of whom, and what it says of it."""

    place: int
    subject: Subject
    name: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """A leaf that says when its neighbours were measured: what lies below `path`."""

    place: int
    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What follows from one shape; its series [n] are fed by cells [m], grouped by series."""

    shape: Shape
    cells: tuple[Cell, ...]
    pick: Callable[[Sequence[Any]], tuple[Any, ...]]
    plain: NDArray[np.intp]
    """Cells that are numbers as they stand."""
    pick_plain: Callable[[Sequence[Any]], tuple[Any, ...]]
    others: Sequence[int]
    """Cells that need their form."""
    series: Ids
    start: NDArray[np.intp]
    """Where each series' cells begin [n]."""
    joins: tuple[str, ...]
    """How each series' cells are joined [n]."""
    several: tuple[int, ...]
    """Series with more than one cell."""
    halves: NDArray[np.intp]
    """Series whose cells are halves."""
    worth: Floats
    """Of each cell [m]."""
    gates: NDArray[np.intp]
    """Which series says whether the port of a series is up [n]; -1 for none or not needed."""
    ticks: tuple[tuple[int, str], ...]
    """(series, port) of those that count ticks of waiting."""
    speeds: tuple[tuple[int, str], ...]
    """(series, port) of those that are speeds."""
    widths: tuple[tuple[int, str], ...]
    """(series, port) of those that are numbers of lanes."""
    stamps: tuple[tuple[Stamp, NDArray[np.intp]], ...]
    """Stamps, and the cells that they are of."""
    unplaced: tuple[Cell, ...]
    """Cells of several priorities at once, which no series can have."""
    words: tuple[Word, ...]
    spoken: Callable[[Sequence[Any]], tuple[Any, ...]]

    def numbers(self, picked: Sequence[Any]) -> tuple[Floats, list[int]]:
        """Return each cell's value [m] in its unit, and which cells are nonsense."""
        read = np.full(len(picked), np.nan)
        wrong: list[int] = []
        told = self.pick_plain(picked)
        others = self.others
        if set(map(type, told)) <= NUMBERS:
            try:
                read[self.plain] = told
            except OverflowError:  # an integer beyond every float
                others = range(len(picked))
        else:
            others = range(len(picked))
        for place in others:
            found = forms.number(self.cells[place].form, picked[place])
            if found is None:
                wrong.append(place)
            else:
                read[place] = found
        read[np.isinf(read)] = np.nan
        return read * self.worth, wrong

    def joined(self, read: Floats) -> Floats:
        """Return each series' value [n] from its cells' [m]."""
        found = read[self.start].copy()
        ends = np.append(self.start[1:], len(read))
        for row in self.several:
            part = read[self.start[row] : ends[row]]
            found[row] = _join(self.joins[row], part[~np.isnan(part)])
        found[self.halves] = np.floor(found[self.halves])
        gated = self.gates >= 0
        down = np.zeros(len(found), bool)
        down[gated] = found[self.gates[gated]] == 0.0
        found[down] = np.nan
        return found


def laid_out(
    shape: Shape, rules: Branch, placed: Placed, table: SeriesTable, device: str
) -> Layout:
    """Return what a shape tells, by rules."""
    cells: list[Cell] = []
    words: list[Word] = []
    unplaced: list[Cell] = []
    stamps: list[Stamp] = []
    at = list(json_tree.paths(shape))
    for place, (path, leaf) in enumerate(zip(at, rules.find(at), strict=True)):
        for found in leaf:
            names = placed(found.names)
            if names is None:
                continue
            if found.rule.to is not None:
                told = _cells(place, found, names, device)
                several = names.get("priority", "0") not in PRIORITIES
                (unplaced if several else cells).extend(told)
            elif found.rule.stamp:
                stamps.append(Stamp(place, path[:-1]))
            else:
                kind, _, name = found.rule.fact.partition(".")
                words.append(Word(place, (kind, *names.values()), name))
    rows: dict[tuple[Metric, tuple[str, ...]], list[Cell]] = {}
    for cell in sorted(cells, key=lambda one: (one.rank, one.place)):
        rows.setdefault((cell.metric, cell.labels), []).append(cell)
    ordered = tuple(cell for row in rows.values() for cell in row)
    sizes = np.array([len(row) for row in rows.values()], np.intp)
    numbers = {row: n for n, row in enumerate(rows)}
    plain = [n for n, cell in enumerate(ordered) if cell.form in PLAIN]
    return Layout(
        shape,
        ordered,
        _picker([cell.place for cell in ordered]),
        np.array(plain, np.intp),
        _picker(plain),
        [n for n, cell in enumerate(ordered) if cell.form not in PLAIN],
        table.intern_all(rows),
        np.cumsum(sizes) - sizes,
        tuple(row[0].rule.join for row in rows.values()),
        tuple(np.flatnonzero(sizes > 1).tolist()),
        np.array(_halved(rows.values()), np.intp),
        np.array([cell.rule.worth for cell in ordered], np.float64),
        np.array([_gate(row, numbers) for row in rows], np.intp),
        tuple(
            (n, row[0].labels[1]) for n, row in enumerate(rows.values()) if row[0].form == "ticks"
        ),
        _of(SPEED, rows),
        _of(LANES, rows),
        tuple(_below(stamps, ordered, at)),
        tuple(unplaced),
        tuple(words),
        _picker([word.place for word in words]),
    )


def _cells(place: int, found: Found, names: Names, device: str) -> Iterator[Cell]:
    rule, metric = found.rule, found.rule.to
    if metric is None:
        return
    known = {"device": device, **names, **rule.labels}
    labels = tuple(known.get(label, "") for label in metric.labels)
    yield Cell(place, found.rank, metric, labels, rule, rule.form)
    if metric is RX_POWER:  # a dark receiver without a flag of its own has lost its signal
        lost = tuple((known | {"side": "media"})[label] for label in LOS.labels)
        yield Cell(place, LAST, LOS, lost, rule, "dark")


def _gate(row: tuple[Metric, tuple[str, ...]], rows: Mapping[Any, int]) -> int:
    metric, labels = row
    return rows.get((UP, labels[:2]), -1) if metric in OF_LIVE_LINKS else -1


def _halved(rows: Iterable[list[Cell]]) -> list[int]:
    """Return the series that any cell tells by halves."""
    return [
        number for number, row in enumerate(rows) if any(cell.rule.join == "halves" for cell in row)
    ]


def _of(wanted: Metric, rows: Iterable[tuple[Metric, Labels]]) -> tuple[tuple[int, str], ...]:
    """Return number and port of the series of one metric."""
    return tuple((n, labels[1]) for n, (metric, labels) in enumerate(rows) if metric is wanted)


def _below(
    stamps: Sequence[Stamp], cells: Sequence[Cell], at: Sequence[Path]
) -> Iterator[tuple[Stamp, NDArray[np.intp]]]:
    """Yield stamps with the cells that they date."""
    dated: dict[Path, list[int]] = {stamp.path: [] for stamp in stamps}
    sizes = {len(path) for path in dated}
    for number, cell in enumerate(cells):
        for size in sizes:
            held = dated.get(at[cell.place][:size])
            if held is not None:
                held.append(number)
    return ((stamp, np.array(dated[stamp.path], np.intp)) for stamp in stamps)


def _join(how: str, part: Floats) -> float:
    if not len(part):
        return np.nan
    if how in {"sum", "halves"}:
        return float(part.sum())
    if how == "most":
        return float(part.max())
    return float(part[0])


def _picker(wanted: list[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return what takes the values at these places."""
    if not wanted:
        return lambda values: ()
    if len(wanted) == 1:
        (place,) = wanted
        return lambda values: (values[place],)
    return itemgetter(*wanted)
