"""FEC: what a decoder counts at a pre-FEC bit-error rate.

RS(544,514) over 10-bit symbols corrects 15 symbols of a codeword (IEEE 802.3, clause 91.5.3.3).
Errors are independent here, so the number of symbol errors in a codeword is binomial.
"""

import math
from functools import lru_cache

SYMBOLS = 544
SYMBOL_BITS = 10
CODEWORD_BITS = SYMBOLS * SYMBOL_BITS
CORRECTABLE = 15
BAD = 0.05
"""Share of wrong symbols from which nearly every codeword is lost."""


def codewords_per_second(gbps: float) -> float:
    """Return codewords of a lane group with so many Gbit/s of payload (coding adds 257/256)."""
    return gbps * 1e9 * (257 / 256) / (514 * SYMBOL_BITS)


def spectrum(ber: float) -> tuple[float, ...]:
    """Return the share of codewords with 0 to 15 symbol errors, and of those with more."""
    return _spectrum(round(math.log10(ber), 2)) if ber > 0 else (1.0, *[0.0] * (CORRECTABLE + 1))


@lru_cache(maxsize=4096)
def _spectrum(exponent: float) -> tuple[float, ...]:
    wrong = 1 - (1 - 10.0**exponent) ** SYMBOL_BITS
    shares = [
        math.comb(SYMBOLS, count) * wrong**count * (1 - wrong) ** (SYMBOLS - count)
        for count in range(SYMBOLS // 4)
    ]
    good = shares[: CORRECTABLE + 1]
    # few are lost: their sum keeps its digits; most are: nearly all lie beyond the shares summed
    lost = 1 - math.fsum(good) if wrong > BAD else math.fsum(shares[CORRECTABLE + 1 :])
    return (*good, lost)
