"""Forward error correction: its codes, and what a bit error ratio before it means after it.

Codes are Reed-Solomon over 10-bit symbols (IEEE 802.3 clauses 91, 108 and 134; the low-latency
ones of the Ethernet Technology Consortium and of InfiniBand). A codeword is lost when more than
t of its symbols are wrong. Everything here is for independent errors; `tail` is for bursts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from fabrichealth.model import Floats

SYMBOL_BITS = 10


@dataclass(frozen=True, slots=True)
class Code:
    """A code of n symbols of which t may be wrong."""

    n: int
    t: int

    @property
    def bits(self) -> int:
        """Bits of one codeword."""
        return self.n * SYMBOL_BITS


KP4, KR4, LL272, LL271 = Code(544, 15), Code(528, 7), Code(272, 7), Code(271, 7)

CODES = {"rs544": KP4, "rs544i": KP4, "rs528": KR4, "ll272": LL272, "ll271": LL271}
"""By the topology's names; `firecode` and `none` correct no symbols."""

RATE_OF_CODE = {
    "rs544": 1.0625, "rs544i": 1.0625, "ll272": 1.0625,
    "rs528": 1.03125, "ll271": 1.03125, "firecode": 1.03125, "none": 1.03125,
}  # fmt: skip
"""Line rate over payload rate: 26.5625 GBd PAM4 for 50 Gb/s, 25.78125 Gb/s NRZ for 25."""


ALL_WRONG = 1.0 - 1e-12
"""What a device claims beyond this, or a wrong speed makes of its counts, is as good as 1."""


def symbol_error_ratio(ber: ArrayLike) -> Floats:
    """Return how likely a 10-bit symbol is wrong when bits are wrong independently."""
    ratio = np.minimum(np.asarray(ber, np.float64), ALL_WRONG)
    return np.asarray(-np.expm1(SYMBOL_BITS * np.log1p(-ratio)), np.float64)


def codeword_error_ratio(ber: ArrayLike, code: Code) -> Floats:
    """Return the share of codewords that independent bit errors make uncorrectable.

    P(X > t) of a binomial, as an incomplete beta function: exact where 1 - cdf would cancel.
    """
    return lost_share(symbol_error_ratio(ber), code)


def lost_share(symbol_errors: ArrayLike, code: Code) -> Floats:
    """Return P(X > t) for X of a binomial with n symbols, each wrong so often."""
    wrong = np.asarray(symbol_errors, np.float64)
    return np.asarray(betainc(code.t + 1.0, float(code.n - code.t), wrong), np.float64)


def frame_loss_ratio(codeword_errors: ArrayLike, interleaved: int = 1) -> Floats:
    """Return the share of 64-octet frames lost: eight to a KP4 codeword, which may be interleaved.

    `interleaved` is 1 up to 100 Gb/s, 2 for 200 and 400, 4 beyond (IEEE 802.3 as SONiC reads it).
    """
    lost = np.asarray(codeword_errors, np.float64)
    return np.asarray(lost * (1 + interleaved * FRAMES) / FRAMES, np.float64)


FRAMES = 8
"""64-octet frames, with the least gap, in one KP4 codeword."""
