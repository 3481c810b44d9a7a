"""History: what became of modules that sat elsewhere before; a part is followed by its serial.

A module that was taken out no longer errs, but if its port erred while it was there and has been
well since another one sits there, it was the ill one, and its lot must answer for it. A module
that is ill now and was ill at another port before took the illness along.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from analyzer.evidence.link.gathering import Gathered
from analyzer.evidence.link.limits import Quantity
from analyzer.evidence.link.margins import RECALLED as OF_MARGINS
from analyzer.evidence.link.margins import margins
from analyzer.evidence.optics.noise import snr_of
from analyzer.evidence.parts.belonging import SERIAL, Belonging, Made, made_of
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.model import Evidence, Floats, Labels, Past, Port, View

RECALLED = (*OF_MARGINS, OPTICS_INFO)
"""What a detector that asks for history must recall."""

LATELY = 6
"""Bins before a module went in which its port must have been ill for the most part."""

MOST = 0.5
LEAST = 2
"""Bins that the next module must have been well for."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A module that left a port: what it was, where, and whether its going was the cure."""

    port: Port
    unit: int
    made: Made
    cured: bool
    evidence: Evidence


@dataclass(frozen=True, eq=False)
class History:
    """Modules that moved or went."""

    gone: Sequence[Gone]
    ports_of: Mapping[str, tuple[Port, ...]]
    """Of each serial number that was seen at several ports, in the order of time."""

    def came(self, port: Port) -> str:
        """Return in words where the module of a port was before; empty if nowhere else."""
        found = [
            f"{serial} was in {', '.join(str(one) for one in ports[:-1])} before"
            for serial, ports in self.ports_of.items()
            if ports[-1] == port
        ]
        return "; ".join(found)


_kept: WeakKeyDictionary[Past, History] = WeakKeyDictionary()


def history(view: View, known: Gathered, own: Belonging) -> History:
    """Return what the long past says of modules; worked out once until a bin closes."""
    past = view.past(OPTICS_INFO)
    found = _kept.get(past)
    if found is None:
        found = _kept[past] = _history(view, past, known, own)
    return found


def _history(view: View, past: Past, known: Gathered, own: Belonging) -> History:
    if not past.values.size:
        return History((), {})
    rows_of: dict[Port, list[int]] = defaultdict(list)
    stays: dict[str, list[tuple[int, int, Port]]] = defaultdict(list)
    said = np.isfinite(past.values)
    for row in np.flatnonzero(said.any(axis=1)).tolist():
        labels = past.labels(row)
        port = Port(*labels[:2])
        rows_of[port].append(row)
        if labels[SERIAL]:
            bins = np.flatnonzero(said[row])
            stays[labels[SERIAL]].append((int(bins[0]), int(bins[-1]), port))
    several = {port: rows for port, rows in rows_of.items() if len(rows) > 1 and port in own.number}
    ill = _ill(view, past, known, set(several)) if several else {}
    gone = [
        one
        for port, rows in several.items()
        for one in _gone(past, port, rows, ill.get(port), own.number[port])
    ]
    moved = {
        serial: ports
        for serial, seen in stays.items()
        if len(set(ports := _one_after_the_other(seen))) > 1
    }
    return History(tuple(gone), moved)


def _one_after_the_other(stays: Sequence[tuple[int, int, Port]]) -> tuple[Port, ...]:
    """Return where a module was, from (first bin, last bin, port), in the order of time.

    A module that feeds several ports at once (a breakout cable) has not moved between them: what
    goes on while it is at its newest port is no earlier stay.
    """
    *earlier, (began, _, newest) = sorted(stays)
    return (*(port for _, last, port in earlier if last <= began), newest)


def _ill(view: View, past: Past, known: Gathered, wanted: set[Port]) -> dict[Port, Floats]:
    """Return for each of some ports, bin by bin of `past`, 1 ill, 0 well, NaN not known."""
    error = snr_of(known.ends.limit(Quantity.RAW, "error"))
    warned = snr_of(known.ends.limit(Quantity.RAW, "warning")) - error
    found: dict[Port, Floats] = {}
    for one in margins(view, known.ends, known.bits_per_second):
        # a rate lies between two bins; it speaks of the bin that holds the later half of it
        place = np.clip(np.searchsorted(past.ends, one.at), 0, len(past.ends) - 1)
        for row, number in enumerate(one.places.tolist()):
            port = known.ends.ports[number]
            if port not in wanted:
                continue
            values = np.full(len(past.ends), np.nan)
            told = np.isfinite(one.values[row])
            values[place[told]] = one.values[row][told] < warned[number]
            found[port] = values
    return found


def _gone(past: Past, port: Port, rows: Sequence[int], ill: Floats | None, unit: int) -> list[Gone]:
    said = np.isfinite(past.values[list(rows)])
    last = said.shape[1] - 1 - np.argmax(said[:, ::-1], axis=1)
    order = np.argsort(last, kind="stable")
    found = []
    for place, after in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        labels: Labels = past.labels(rows[place])
        ended = int(last[place])
        theirs = np.arange(ended + 1, int(last[after]) + 1)  # the bin of the swap belongs to none
        mine = np.flatnonzero(said[place])[:-1][-LATELY:]
        cured = ill is not None and _mostly(ill[mine]) and _well(ill[theirs])
        at = float(past.ends[ended])
        name = labels[SERIAL] or "a module"
        says = f"{port} erred with {name} in it, and is well since that was taken out"
        line = evidence(OPTICS_INFO, labels, 1.0, at, says)
        found.append(Gone(port, unit, made_of(labels), cured, line))
    return found


def _mostly(ill: Floats) -> bool:
    told = ill[np.isfinite(ill)]
    return len(told) >= LEAST and bool(told.mean() > MOST)


def _well(ill: Floats) -> bool:
    told = ill[np.isfinite(ill)]
    return len(told) >= LEAST and not told[1:].any()
