"""Training: when links came up, and until when what they count belongs to that.

A link that has just come up equalises and locks; its first errors say nothing of its health.
Both ends train together, and each may have seen it: by its state, or by its count of falls.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools
from analyzer.evidence.link.receivers import Places, Receivers
from fabrichealth.catalogue.ports import LINK_DOWNS, UP
from fabrichealth.model import Changes, Floats, View

Span = tuple[float, float]


@dataclass(frozen=True)
class Training:
    """Spans (unix seconds) in which the links of some ports trained."""

    ends: Receivers
    of_port: Mapping[int, tuple[Span, ...]]

    @cached_property
    def settled(self) -> Floats:
        """When each port's link had trained last ([r]); -inf: it did not within memory."""
        found = np.full(len(self.ends), -np.inf)
        for place, spans in self.of_port.items():
            found[place] = max(end for _, end in spans)
        return found

    def inside(self, changes: Changes, rows: NDArray[np.intp], places: Places) -> Bools:
        """Return which changes of some rows belong to a training ([i]); `places` are the rows'."""
        found = np.zeros(len(changes.series), bool)
        trained = [(row, spans) for row, place in zip(rows.tolist(), places.tolist(), strict=True)
                   if (spans := self.of_port.get(place))]  # fmt: skip
        if not trained:
            return found
        began = changes.at - changes.step
        for row, spans in trained:
            mine = np.flatnonzero(changes.row_of == row)
            for start, end in spans:
                found[mine] |= (began[mine] < end) & (changes.at[mine] >= start)
        return found


def training(view: View, ends: Receivers, warm_up: float) -> Training:
    """Return when links came up within memory, by both ends; each span ends `warm_up` later."""
    found: dict[int, list[Span]] = {}
    for metric in (UP, LINK_DOWNS):
        changes = view.changes(metric)
        rose = changes.after > changes.before if metric is UP else changes.increase > 0
        chosen = np.flatnonzero(rose)
        if not len(chosen):
            continue
        places = ends.places(changes.table, metric, changes.series[chosen])
        began = changes.at[chosen] - changes.step[chosen]
        columns = (places.tolist(), began.tolist(), changes.at[chosen].tolist())
        for place, start, seen in zip(*columns, strict=True):
            span = (start, max(start + warm_up, seen))
            found.setdefault(place, []).append(span)
    peers = ends.peer
    both = {place: tuple(spans) for place, spans in found.items()}
    for place, spans in found.items():
        if (peer := int(peers[place])) >= 0:
            both[peer] = (*both.get(peer, ()), *spans)
    return Training(ends, both)
