"""Measures: what can be wrong with a receiving end, and what each is held against.

Each is a count over an exposure (bits, codewords or seconds), or a ratio that the device reports
itself. A column of `Reading` is one port; what is not known is NaN, and an exposure of 0.
"""

from dataclasses import dataclass, replace

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.exposure import garwood
from analyzer.evidence.link.limits import Quantity
from analyzer.evidence.link.receivers import Receivers
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_CORRECTED_BITS,
    FEC_UNCORRECTABLE_CODEWORDS,
    LINK_RECOVERIES,
    POST_FEC_BER,
    PRE_FEC_BER,
    REPLAYS,
    RX_CRC_ERRORS,
    SYMBOL_ERROR_RATIO,
    SYMBOL_ERRORS,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats

ENOUGH = 10.0
"""With so many events the estimate itself is good to a factor of two (95 %: 4.8 to 18.4)."""

RULE_OF_THREE = 3.0


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that is counted or reported."""

    name: str
    metric: Metric
    words: str
    unit: str
    quantity: Quantity | None = None
    """What the table of limits calls it; None: its limits are settings."""
    most: float | None = None
    """So many a second no port can make: a training takes milliseconds, and packets have a least
    size. None: no more than the bits or codewords that pass."""
    reported: bool = False
    """A ratio as the device says it, over an exposure that it does not say."""


RAW = Measure("raw", FEC_CORRECTED_BITS, "corrected bits", "per bit", Quantity.RAW)
RAW_REPORTED = Measure(
    "raw_reported", PRE_FEC_BER, "bit errors before FEC", "per bit", Quantity.RAW, reported=True
)
EFFECTIVE_REPORTED = Measure(
    "effective_reported", POST_FEC_BER, "bit errors after FEC", "per bit", Quantity.EFFECTIVE,
    reported=True,
)  # fmt: skip
SYMBOL_REPORTED = Measure(
    "symbol_reported", SYMBOL_ERROR_RATIO, "errors after FEC and retry", "per bit",
    Quantity.SYMBOL, reported=True,
)  # fmt: skip
PREDICTED = Measure(
    "predicted", FEC_CODEWORDS, "codewords that will be lost", "per codeword", Quantity.CODEWORD,
    reported=True,
)  # fmt: skip
SYMBOLS = Measure("symbol", SYMBOL_ERRORS, "symbol errors", "per bit", Quantity.SYMBOL)
CODEWORDS = Measure(
    "codeword", FEC_UNCORRECTABLE_CODEWORDS, "uncorrectable codewords", "per codeword",
    Quantity.CODEWORD,
)  # fmt: skip
CHECKSUMS = Measure("checksum", RX_CRC_ERRORS, "checksum errors", "per bit")
RETRAINS = Measure("retrain", LINK_RECOVERIES, "retrains", "per second", most=1e3)
RESENDS = Measure("replay", REPLAYS, "replays", "per second", most=1e9)

SELDOM = (SYMBOLS, CODEWORDS, CHECKSUMS, RETRAINS, RESENDS)
"""Counters that stand still on a healthy link: their changes are enough."""

REPORTED = (RAW_REPORTED, EFFECTIVE_REPORTED, SYMBOL_REPORTED)


@dataclass(frozen=True)
class Bands:
    """Limits of one measure, by port ([r]); NaN where there are none."""

    normal: Floats
    warning: Floats
    error: Floats
    drain: Floats
    page: Floats


def bands_of(ends: Receivers, measure: Measure, own: tuple[float, float] | None) -> Bands:
    """Return the limits of a measure: the table's, or (warning, error) from the settings."""
    if own is None and measure.quantity is not None:
        names = ("normal", "warning", "error", "drain", "page")
        return Bands(*(ends.limit(measure.quantity, name) for name in names))
    warning, error = own or (np.nan, np.nan)
    every = np.ones(len(ends))
    limits = (warning / 10, warning, error, error, error)
    return Bands(*(every * limit for limit in limits))


@dataclass(frozen=True)
class Reading:
    """One measure of every port over one span ([r])."""

    measure: Measure
    bands: Bands
    events: Floats
    exposure: Floats
    """In the unit of the measure; 0: nothing can be said."""
    seconds: Floats
    rate: Floats
    lower: Floats
    upper: Floats

    @property
    def known(self) -> Bools:
        """Which ports have a limit and an exposure."""
        return np.isfinite(self.bands.warning) & (self.exposure > 0)

    @property
    def ill(self) -> Bools:
        """Which ports are beyond their warning limit, proven."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.known & (self.lower > self.bands.warning), np.bool_)

    @property
    def decided(self) -> Bools:
        """Which ports had bits enough: they are proven well, proven ill, or counted well enough."""
        with np.errstate(invalid="ignore"):
            well = self.upper < self.bands.warning
            return np.asarray(self.known & (well | self.ill | (self.events >= ENOUGH)), np.bool_)

    @property
    def calm(self) -> Bools:
        """Which ports are proven to be back at what is normal."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.known & (self.upper < self.bands.normal), np.bool_)

    @property
    def health(self) -> Floats:
        """1 at what is normal or better, 0.5 at the warning, 0 at the error; NaN: undecided.

        Straight in the logarithm between, so that technologies compare.
        """
        band = self.bands
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.log10(np.maximum(self.rate, 1e-300))
            normal, warning, error = (np.log10(b) for b in (band.normal, band.warning, band.error))
            upper = 0.5 + 0.5 * (warning - value) / (warning - normal)
            lower = 0.5 * (error - value) / (error - warning)
            found = np.clip(np.where(value <= warning, upper, lower), 0.0, 1.0)
        return np.where(self.decided, found, np.nan)

    @property
    def seconds_needed(self) -> Floats:
        """Further seconds without an event until a port is proven well; 0 where it is decided."""
        with np.errstate(invalid="ignore", divide="ignore"):
            per_second = self.exposure / self.seconds
            highest = np.where(self.events > 0, self.upper * self.exposure, RULE_OF_THREE)
            left = highest / self.bands.warning / per_second - self.seconds
        return np.where(self.decided, 0.0, np.where(self.known, np.maximum(left, 0.0), np.nan))

    def or_else(self, other: "Reading") -> "Reading":
        """Return this where it says more (proven worse), the other elsewhere."""
        with np.errstate(invalid="ignore"):
            mine = ~(other.exposure > 0) | (
                self.lower > np.maximum(other.lower, self.bands.warning)
            )
        names = ("events", "exposure", "seconds", "rate", "lower", "upper")
        return replace(
            other,
            **{name: np.where(mine, getattr(self, name), getattr(other, name)) for name in names},
        )


def reading(
    measure: Measure, bands: Bands, events: Floats, exposure: Floats, seconds: Floats
) -> Reading:
    """Return a reading with its exact interval; ports without an event cost no gamma function."""
    seen = exposure > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(seen, events / exposure, np.nan)
        upper = np.where(seen, RULE_OF_THREE / exposure, np.nan)
    lower = np.where(seen, 0.0, np.nan)
    hit = np.flatnonzero(seen & (events > 0))
    if len(hit):
        interval = garwood(events[hit], exposure[hit])
        lower[hit], upper[hit] = interval.lower, interval.upper
    return Reading(
        measure, bands, events, np.where(seen, exposure, 0.0), seconds, rate, lower, upper
    )
