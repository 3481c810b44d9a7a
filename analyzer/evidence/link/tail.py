"""Tail of the codeword histogram: how many codewords will be lost, from those that were not yet.

Bin i counts codewords with exactly i wrong symbols. Independent errors give a binomial, whose
tail beyond t falls by decades a bin; bursts give far more. So three estimates are made and the
largest that is supported counts: the binomial; a beta-binomial, whose over-dispersion is fitted
by maximum likelihood; and a line through the logarithms of the last bins, extended beyond t
(docs/methods.md, Codewords).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import binom, poisson

from analyzer.evidence.link.fec import SYMBOL_BITS, Code, lost_share
from fabrichealth.model import Floats

SIGNIFICANT = 6.63
"""Twice the gain in log-likelihood that chance gives in one of a hundred."""

COUNTED = 10
"""A bin with fewer codewords says nothing of the slope."""

LAST_BINS = 8
FLATTEST = -0.01
"""Decades a bin; a tail that does not fall would be endless."""

FURTHEST = 60
"""Symbols up to which a tail is added up."""

TAIL_BEGINS = 6
"""Bins below this are the body of the binomial and no tail."""

TINY = 1e-300

SURPRISE = 1e-3
"""A bin is beyond chance if fewer codewords than this are expected in it and above."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What a histogram says of codewords that cannot be repaired."""

    ratio: float
    """Predicted uncorrectable codewords over all codewords."""
    estimator: str
    """binomial, beta_binomial, tail, or few_bursts."""
    bursts: bool
    """Whether errors come together more than chance gives."""
    symbol_errors: float
    """Share of symbols that were wrong."""
    codewords: float

    @property
    def ber(self) -> float:
        """Least bit error ratio before FEC: one wrong bit in each wrong symbol."""
        return self.symbol_errors / SYMBOL_BITS

    def seconds_to_loss(self, codewords_per_second: float) -> float:
        """Return the mean seconds between lost codewords; infinite where none is expected."""
        lost = self.ratio * codewords_per_second
        return 1.0 / lost if lost > 0 else float("inf")


def tail_of(bins: Floats, code: Code) -> Tail | None:
    """Return what a histogram says; `bins[i]` are codewords with i wrong symbols, 0 to t.

    None where there are no codewords. Bins that are missing (NaN) or negative count as empty.
    """
    counts = np.nan_to_num(np.asarray(bins, np.float64)[: code.t + 1], nan=0.0, posinf=0.0)
    counts = np.maximum(counts, 0.0)
    total = float(counts.sum())
    if total <= 0:
        return None
    wrong = np.arange(len(counts))
    share = float(counts @ wrong) / (total * code.n)
    if share <= 0:
        return Tail(0.0, "binomial", False, 0.0, total)
    random = float(lost_share(share, code))
    spread, fitted = _beta_binomial(counts, share, code)
    sloped = _sloped(counts, total, code)
    highest = int(np.flatnonzero(counts)[-1])
    surprising = bool(total * binom.sf(highest - 1, code.n, share) < SURPRISE)
    candidates = {"binomial": random}
    if spread:
        candidates["beta_binomial"] = fitted
    if sloped is not None and (spread or surprising):
        candidates["tail"] = sloped
    elif surprising:
        candidates["few_bursts"] = _few(counts, share, total, code)
    estimator = max(candidates, key=lambda name: candidates[name])
    return Tail(candidates[estimator], estimator, spread or surprising, share, total)


def _beta_binomial(counts: Floats, share: float, code: Code) -> tuple[bool, float]:
    """Return whether over-dispersion is proven, and the tail that goes with it."""
    wrong = np.arange(len(counts))

    def unlikely(log_rho: float) -> float:
        return -float(counts @ _log_mass(wrong, share, 10.0**log_rho, code.n))

    best = minimize_scalar(unlikely, bounds=(-8.0, -0.5), method="bounded")
    plain = float(counts @ _log_mass(wrong, share, 0.0, code.n))
    if 2 * (-float(best.fun) - plain) <= SIGNIFICANT:
        return False, 0.0
    beyond = np.arange(code.t + 1, code.n + 1)
    return True, float(np.exp(_log_mass(beyond, share, 10.0 ** float(best.x), code.n)).sum())


def _log_mass(wrong: NDArray[np.int64], share: float, rho: float, n: int) -> Floats:
    """Return the logarithm of the beta-binomial's mass; the binomial's where rho is 0.

    As sums of logarithms near 1: counts are in the billions, and gamma functions of large
    arguments would lose the digits that decide.
    """
    step = rho / (1 - rho) * np.arange(n)
    hit = np.concatenate([[0.0], np.cumsum(np.log(share + step))])
    missed = np.concatenate([[0.0], np.cumsum(np.log1p(step - share))])
    choose = gammaln(n + 1.0) - gammaln(wrong + 1.0) - gammaln(n - wrong + 1.0)
    return np.asarray(choose + hit[wrong] + missed[n - wrong] - np.log1p(step).sum(), np.float64)


def _sloped(counts: Floats, total: float, code: Code) -> float | None:
    """Return the tail beyond the last bins, None if they are no tail.

    Bursts of a typical length fall like a Poisson law, bursts of any length by a constant factor
    a bin; both shapes are extended, and weighed by how well they fit the last bins.
    """
    used = np.flatnonzero(counts > COUNTED)
    used = used[used >= TAIL_BEGINS][-LAST_BINS:]
    if len(used) < 2:
        return None
    weight, seen = np.sqrt(counts[used]), np.log10(counts[used] / total)
    beyond = np.arange(code.t + 1, FURTHEST + 1)
    found: list[tuple[float, float]] = []
    for steepest, shape in ((FLATTEST, np.zeros(FURTHEST + 1)), (np.inf, _FACTORIALS)):
        slope, start = np.polyfit(used.astype(np.float64), seen + shape[used], 1, w=weight)
        slope = min(float(slope), steepest)
        left = weight * (start + slope * used - shape[used] - seen) * np.log(10.0)
        lost = (10.0 ** np.minimum(start + slope * beyond - shape[beyond], 0.0)).sum()
        found.append((float(left @ left), float(np.log(max(lost, TINY)))))
    best = min(misfit for misfit, _ in found)
    trust = [float(np.exp((best - misfit) / 2)) for misfit, _ in found]
    log_lost = sum(one * log for one, (_, log) in zip(trust, found, strict=True)) / sum(trust)
    return min(float(np.exp(log_lost)), 1.0)


def _few(counts: Floats, share: float, total: float, code: Code) -> float:
    """Return the tail of a handful of bursts, too few for a slope: as of a Poisson law.

    They are those in bins where chance would put fewer than `SURPRISE` codewords.
    """
    wrong = np.arange(len(counts))
    bursts = np.where(total * binom.sf(wrong - 1, code.n, share) < SURPRISE, counts, 0.0)
    number = float(bursts.sum())
    typical = float(bursts @ wrong) / number
    return number / total * float(poisson.sf(code.t, typical))


_FACTORIALS = np.asarray(gammaln(np.arange(FURTHEST + 1) + 1.0) / np.log(10.0), np.float64)
