"""Gathering: everything that windows and changes say of the errors of every receiving port.

One object a pass, shared by whoever judges links in it. Bit errors before FEC are told by the
best counter that a port has: corrected bits, else wrong symbols in codewords, else corrected
symbols, else corrected codewords (both a lower bound), else what the device itself reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools, heard
from analyzer.evidence.link.counting import Counted, counted, impossible, lately
from analyzer.evidence.link.full_counters import full
from analyzer.evidence.link.histogram import histograms, predicted, wrong_symbols
from analyzer.evidence.link.measures import (
    CODEWORDS,
    PREDICTED,
    RAW,
    REPORTED,
    SELDOM,
    Bands,
    Measure,
    Reading,
    bands_of,
    reading,
)
from analyzer.evidence.link.receivers import Places, Receivers, receivers
from analyzer.evidence.link.stretches import (
    Stretch,
    counted_stretches,
    reported_stretches,
)
from analyzer.evidence.link.tail import Tail
from analyzer.evidence.link.training import Training, training
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    FEC_UNCORRECTABLE_CODEWORDS,
    LANES,
    LINK_DOWNS,
    LINK_RECOVERIES,
    POST_FEC_BER,
    PRE_FEC_BER,
    REPLAYS,
    RX_CRC_ERRORS,
    SPEED,
    SYMBOL_ERROR_RATIO,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats, View

WORDS: Mapping[Metric, str] = {
    FEC_CORRECTED_BITS: "corrected bits",
    FEC_CORRECTED_SYMBOLS: "corrected symbols, at least as many bits",
    FEC_CORRECTED_CODEWORDS: "corrected codewords, at least as many bits",
}
"""Counters of errors before FEC, the best first; which one was used is said."""

REMEMBERED = (
    SYMBOL_ERRORS, LINK_RECOVERIES, REPLAYS, RX_CRC_ERRORS, FEC_UNCORRECTABLE_CODEWORDS,
    SPEED, LANES, UP, LINK_DOWNS,
)  # fmt: skip
WRONG_SYMBOLS = "wrong symbols in codewords, at least as many bits"

WINDOWED = (*WORDS, FEC_CODEWORDS, PRE_FEC_BER, POST_FEC_BER, SYMBOL_ERROR_RATIO)


@dataclass(frozen=True, slots=True)
class Look:
    """How to look: spans in seconds, and the limits that no table gives, (warning, error)."""

    window: float
    short: float
    long: float
    warm_up: float
    hold: float
    limits: tuple[tuple[str, tuple[float, float]], ...] = ()
    """By the name of the measure."""

    def own(self, measure: Measure) -> tuple[float, float] | None:
        """Return the limits of a measure from the settings."""
        return dict(self.limits).get(measure.name)


@dataclass(frozen=True)
class Gathered:
    """What is known of every port in one pass; arrays are [r]."""

    view: View
    look: Look
    ends: Receivers
    training: Training
    bits_per_second: Floats
    """Of the line, coding included; NaN where nobody knows the speed."""
    readings: tuple[Reading, ...]
    """Over the span that says more."""
    spans: Mapping[str, tuple[Reading, ...]]
    """By measure the same over the short and the long span."""
    raw_of: Mapping[Metric, tuple[Counted, Places]]
    """Counters before FEC, and the ports of their rows."""
    stretches: Mapping[str, Mapping[int, Stretch]]
    """By measure, of the ports that are ill before FEC or by their own word: since when."""
    raw_metric: NDArray[np.int8]
    """Place in `WORDS` of the counter that was used for a port; 3: the histogram; -1: none."""
    tails: Mapping[int, Tail]
    """What histograms say that reach far into their code."""
    down: Bools
    unheard: Bools


def gather(view: View, look: Look) -> Gathered:
    """Return what is known; worked out once a pass for the same look."""
    found = view.once((gather, look, view.topology), lambda: _gather(view, look))
    if len(found.down) != len(found.ends):  # somebody has met more ports meanwhile
        found = _gather(view, look)
    return found


def _gather(view: View, look: Look) -> Gathered:
    table = view.changes(UP).table
    ends = receivers(table, view.topology)
    for metric in (*REMEMBERED, *WINDOWED):
        ends.places(table, metric, table.of(metric))  # meet every port before arrays are made
    ends.hear(view.changes(SPEED), view.changes(LANES))
    trained = training(view, ends, look.warm_up)
    line = line_rates(view, ends)
    down, unheard = port_states(view, ends)
    bins, spent = histograms(view, ends, trained.settled)
    raw, raw_of, used = _raw(view, look, ends, trained, line, (bins, spent))
    stretches: dict[str, dict[int, Stretch]] = {RAW.name: {}}
    for number, metric in enumerate(WORDS):
        if metric in raw_of:
            said, places = raw_of[metric]
            mine = np.where(used[places] == number, places, -1)
            raw, when = counted_stretches(raw, said, mine, line, trained.settled, look.hold)
            stretches[RAW.name].update(when)
    spans: dict[str, tuple[Reading, ...]] = {RAW.name: (raw,)}
    lost, tails = predicted(bins, spent, ends, bands_of(ends, PREDICTED, None))
    found = [raw, lost]
    for measure in SELDOM:
        bands = bands_of(ends, measure, look.own(measure))
        changes = view.changes(measure.metric)
        rate = _per_second(measure, ends, line)
        short, long = _seldom(measure, bands, changes, ends, trained, rate, (look.short, look.long))
        spans[measure.name] = (short, long)
        found.append(short.or_else(long))
    for measure in REPORTED:
        one = _reported(view, measure, bands_of(ends, measure, look.own(measure)), ends, trained)
        if measure.quantity is RAW.quantity:  # a counter says more than what is reported
            one = replace(one, exposure=np.where(used >= 0, 0.0, one.exposure))
        window = view[measure.metric]
        if len(window):
            places = ends.places(window.table, measure.metric, window.series)
            one, stretches[measure.name] = reported_stretches(one, window, places, look.hold)
        spans[measure.name] = (one,)
        found.append(one)
    return Gathered(
        view,
        look,
        ends,
        trained,
        line,
        tuple(found),
        spans,
        raw_of,
        stretches,
        used,
        tails,
        down,
        unheard,
    )


def line_rates(view: View, ends: Receivers) -> Floats:
    """Return the line rate of each port: as told now, else as written."""
    told = view.changes(SPEED)
    speed = ends.payload.copy()
    known = told.value > 0
    speed[ends.places(told.table, SPEED, told.rows)[known]] = told.value[known]
    return np.asarray(speed * ends.line_over_payload, np.float64)


def port_states(view: View, ends: Receivers) -> tuple[Bools, Bools]:
    """Return which ports say that they are down, and which do not speak of it now."""
    up = view.changes(UP)
    places = ends.places(up.table, UP, up.rows)
    down, unheard = np.zeros(len(ends), bool), np.ones(len(ends), bool)
    down[places] = up.value == 0
    unheard[places] = ~heard(up)
    return down, unheard


def _per_second(measure: Measure, ends: Receivers, line: Floats) -> Floats:
    """Return how much exposure a second gives."""
    if measure.unit == "per second":
        return np.ones(len(ends))
    if measure is CODEWORDS:
        return np.asarray(line / ends.word_bits, np.float64)
    # payload and not line: that is how the limits after FEC are meant
    return np.asarray(line / ends.line_over_payload, np.float64)


def _seldom(
    measure: Measure,
    bands: Bands,
    changes: Changes,
    ends: Receivers,
    trained: Training,
    per_second: Floats,
    spans: Sequence[float],
) -> list[Reading]:
    """Return one measure over each of the last so many seconds, from the changes of its counter."""
    places = ends.places(changes.table, measure.metric, changes.rows)
    wild = impossible(changes, per_second[places] if measure.most is None else measure.most)
    speaks, at_its_end = heard(changes), full(changes)
    found = []
    for span in spans:
        watched, total = changes.exposure(span), changes.total(span, leaving_out=wild)
        watched = np.where(speaks & ~(at_its_end & (total == 0)), watched, 0.0)
        touched = np.flatnonzero(total > 0)
        inside = trained.inside(changes, touched, places[touched])
        if inside.any():
            total = changes.total(span, leaving_out=inside | wild)
        events, seconds = np.zeros(len(ends)), np.zeros(len(ends))
        events[places], seconds[places] = total, watched
        exposure = np.nan_to_num(seconds * per_second, nan=0.0)
        found.append(reading(measure, bands, events, exposure, seconds))
    return found


def _raw(
    view: View,
    look: Look,
    ends: Receivers,
    trained: Training,
    line: Floats,
    histogram: tuple[Floats, Floats],
) -> tuple[Reading, dict[Metric, tuple[Counted, Places]], NDArray[np.int8]]:
    """Return errors before FEC over the window, by the best counter of each port."""
    bins, spent = histogram
    events, seconds = np.zeros(len(ends)), np.zeros(len(ends))
    used = np.full(len(ends), -1, np.int8)
    raw_of: dict[Metric, tuple[Counted, Places]] = {}
    for number, metric in enumerate(WORDS):
        window = view[metric]
        if not len(window):
            continue
        places = ends.places(window.table, metric, window.series)
        said = counted(window, trained.settled[places])
        raw_of[metric] = said, places
        free = (said.seconds > 0) & (used[places] < 0) & said.fresh
        mine = places[free]
        events[mine], seconds[mine], used[mine] = said.increase[free], said.seconds[free], number
    exposure = np.nan_to_num(seconds * line, nan=0.0)
    bands = bands_of(ends, RAW, look.own(RAW))
    lacking = np.flatnonzero((used < 0) & (bins.sum(axis=1) > 0))
    events[lacking], seconds[lacking] = wrong_symbols(bins[lacking]), spent[lacking]
    exposure[lacking] = bins[lacking].sum(axis=1) * ends.word_bits[lacking]
    used[lacking] = len(WORDS)
    return reading(RAW, bands, events, exposure, seconds), raw_of, used


def _reported(
    view: View, measure: Measure, bands: Bands, ends: Receivers, trained: Training
) -> Reading:
    """Return what devices say themselves now; there is no interval to it."""
    window = view[measure.metric]
    columns = [np.full(len(ends), np.nan) for _ in range(3)]
    seconds = np.zeros(len(ends))
    if len(window):
        places = ends.places(window.table, measure.metric, window.series)
        last = window.last
        settled = window.last_at > trained.settled[places]
        seconds[places] = np.where(
            lately(window, window.last_at) & settled & np.isfinite(last), window.seconds, 0.0
        )
        for column in columns:
            column[places] = last
    rate, lower, upper = columns
    return Reading(measure, bands, np.zeros(len(ends)), seconds, seconds, rate, lower, upper)
