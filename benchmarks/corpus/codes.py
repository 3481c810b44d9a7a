"""Codes: from noise to wrong bits, and from wrong bits to what a port counts.

Gray-coded PAM4 in white noise has 3/4 Q(sqrt(SNR / 5)) wrong bits per bit. A codeword of n
symbols of ten bits, of which t can be mended, is lost with the binomial tail beyond t. Bursts
come on top: each hits one codeword with a Poisson number of symbols, which no ratio of bits
foretells.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc
from scipy.stats import binom, poisson

from benchmarks.corpus.technologies import Code

Floats = NDArray[np.float64]
BITS = 10
"""Of a symbol."""
BURST_SYMBOLS = 9.0
"""Symbols that a burst spoils, on average."""
FLOOR = 1e-15
"""Ratio below which nothing is ever seen."""


def wrong_bits(snr_db: Floats) -> Floats:
    """Return the ratio of wrong bits at a signal-to-noise ratio in dB (any shape)."""
    level = np.sqrt(10.0 ** (snr_db / 10.0) / 5.0)
    return np.asarray(np.maximum(0.75 * 0.5 * erfc(level / np.sqrt(2.0)), FLOOR), np.float64)


@dataclass(frozen=True)
class Counted:
    """What one receiver counted between polls ([k]); `histogram` is [errors, k]."""

    bits: Floats
    symbols: Floats
    corrected: Floats
    """Codewords mended."""
    lost: Floats
    """Codewords that could not be."""
    histogram: Floats


def count(
    code: Code,
    ratio: Floats,
    bursts: Floats,
    codewords: Floats,
    chance: np.random.Generator,
) -> Counted:
    """Return what is counted in `codewords` [k] at a ratio of wrong bits and bursts a second.

    `bursts` [k] is their expected number between two polls.
    """
    spoiled = 1.0 - (1.0 - ratio) ** BITS
    errors = np.arange(code.corrects + 1)[:, None]
    expected = binom.pmf(errors, code.symbols, spoiled[None]) * codewords
    lost = chance.poisson(binom.sf(code.corrects, code.symbols, spoiled) * codewords)
    seen = chance.poisson(np.minimum(expected, 1e17)).astype(np.float64)
    came = chance.poisson(bursts)
    seen += chance.poisson(poisson.pmf(errors, BURST_SYMBOLS) * came)
    lost = lost + chance.poisson(poisson.sf(code.corrects, BURST_SYMBOLS) * came)
    symbols = (seen * errors).sum(axis=0)
    more = chance.poisson(ratio * codewords * code.symbols * BITS)
    bits = np.maximum(symbols, more)  # several wrong bits may lie in one symbol, never none
    return Counted(
        bits.astype(np.float64), symbols, seen[1:].sum(axis=0), lost.astype(np.float64), seen
    )
