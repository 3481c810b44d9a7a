"""Histograms of codewords, port by port: errors before FEC, and codewords that will be lost."""

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.link.counting import counted
from analyzer.evidence.link.fec import KP4, Code
from analyzer.evidence.link.measures import PREDICTED, Bands, Reading
from analyzer.evidence.link.receivers import Receivers
from analyzer.evidence.link.tail import Tail, tail_of
from fabrichealth.catalogue.ports import FEC_CODEWORDS
from fabrichealth.model import Floats, View

MOST_ERRORS = 15
"""Bins beyond the largest code's are none."""

LOOKED_INTO = 0.4
"""A histogram is looked into if it reaches beyond this share of its code's t."""

WITHIN = 3.0
"""Factor within which the tail tells what will be lost (docs/methods.md, Codewords)."""


def histograms(view: View, ends: Receivers, settled: Floats) -> tuple[Floats, Floats]:
    """Return codewords by wrong symbols over the window ([r, 16]), and the seconds ([r])."""
    bins, seconds = np.zeros((len(ends), MOST_ERRORS + 1)), np.zeros(len(ends))
    window = view[FEC_CODEWORDS]
    if not len(window):
        return bins, seconds
    places = ends.places(window.table, FEC_CODEWORDS, window.series)
    said = counted(window, settled[places])
    errors = np.array([_bin(window.labels(row)[2]) for row in range(len(window))], np.intp)
    mine = (errors >= 0) & (said.seconds > 0)
    np.add.at(bins, (places[mine], errors[mine]), said.increase[mine])
    np.maximum.at(seconds, places[mine], said.seconds[mine])
    return bins, seconds


def predicted(
    bins: Floats, seconds: Floats, ends: Receivers, bands: Bands
) -> tuple[Reading, dict[int, Tail]]:
    """Return the share of codewords that will be lost, and each port's tail that was looked into.

    Ports whose codewords stay far below t lose none that a window could foretell.
    """
    ratio = np.where(seconds > 0, 0.0, np.nan)
    highest = MOST_ERRORS - np.argmax(bins[:, ::-1] > 0, axis=1)
    strength = np.array([code_of(word).t for word in np.unique(ends.word_bits)], np.float64)
    limit = strength[np.searchsorted(np.unique(ends.word_bits), ends.word_bits)]
    tails: dict[int, Tail] = {}
    for place in np.flatnonzero((seconds > 0) & (highest > LOOKED_INTO * limit)).tolist():
        found = tail_of(bins[place], code_of(ends.word_bits[place]))
        if found is not None:
            tails[place], ratio[place] = found, found.ratio
    words = bins.sum(axis=1)
    lower, upper = ratio / WITHIN, ratio * WITHIN
    return Reading(
        PREDICTED, bands, np.zeros(len(ends)), words, seconds, ratio, lower, upper
    ), tails


def code_of(word_bits: float) -> Code:
    """Return the code whose codewords have so many bits."""
    return _BY_BITS.get(round(word_bits), KP4)


_BY_BITS = {5440: KP4, 5280: Code(528, 7), 2720: Code(272, 7), 2710: Code(271, 7)}


def _bin(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) <= MOST_ERRORS else -1


def wrong_symbols(bins: NDArray[np.float64]) -> Floats:
    """Return the symbols that were wrong in all codewords ([r])."""
    return np.asarray(bins @ np.arange(bins.shape[1]), np.float64)
