"""Limits of links, one row each with its source: what is normal, a warning, an error, a drain.

A link is held against the row that fits what is known of it. Where generation, silicon, speed,
code, retry or medium is not known every row that could fit counts, quantity by quantity the
strictest, and the limits are `provisional`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Quantity(StrEnum):
    """Error ratios that have limits; each is per bit but the last."""

    RAW = "raw"
    """Before FEC."""
    EFFECTIVE = "effective"
    """After FEC."""
    SYMBOL = "symbol"
    """After FEC and retry."""
    CODEWORD = "codeword"
    """Uncorrectable codewords over all codewords."""


@dataclass(frozen=True, slots=True)
class Band:
    """Four limits of one ratio, ascending."""

    normal: float
    """A link that was ill is well again below this."""
    warning: float
    error: float
    drain: float
    page: float = 0.0
    """The error; before FEC that of every row that fits. What FEC still repairs wakes nobody for
    a limit that is a guess."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a link; empty, 0 and None are not known."""

    technology: str = ""
    generation: str = ""
    silicon: str = ""
    lane_gbps: float = 0.0
    fec: str = ""
    retry: bool | None = None
    medium: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table; an empty column fits everything."""

    source: str
    bands: dict[Quantity, Band]
    technologies: tuple[str, ...]
    generations: tuple[str, ...] = ()
    silicon: tuple[str, ...] = ()
    fecs: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    retry: bool | None = None
    provisional: bool = False

    def fits(self, known: Facts) -> bool:
        """Return whether nothing that is known of a link speaks against this row."""
        return (
            _may(known.technology, self.technologies)
            and _may(_generation(known), self.generations)
            and _may(known.silicon, self.silicon)
            and _may(known.fec, self.fecs)
            and _may(known.medium, self.media)
            and (self.retry is None or known.retry is None or self.retry is known.retry)
        )

    def is_sure(self, known: Facts) -> bool:
        """Return whether everything that this row asks for is known."""
        asked = (
            (self.generations, _generation(known)),
            (self.silicon, known.silicon),
            (self.fecs, known.fec),
            (self.media, known.medium),
        )
        lacking = any(column and not value for column, value in asked)
        return not (self.provisional or lacking or (self.retry is not None and known.retry is None))


@dataclass(frozen=True, slots=True)
class Limits:
    """What one link is held against."""

    bands: dict[Quantity, Band]
    provisional: bool
    source: str


def _may(value: str, column: tuple[str, ...]) -> bool:
    return not column or not value or value in column


def _generation(known: Facts) -> str:
    """Return the InfiniBand generation as written, else as the speed of a lane tells it."""
    if known.generation or known.technology != "ib":
        return known.generation
    return IB_LANES.get(round(known.lane_gbps), "")


IB_LANES = {25: "edr", 50: "hdr", 100: "ndr", 200: "xdr"}


def _ufm(error: float) -> Band:
    """Warning is half of the error, normal a tenth; a link is isolated at its error."""
    return Band(error / 10, error / 2, error, error)


def _tenths(error: float, drain: float) -> Band:
    """Warning is a tenth of the error, normal a tenth of that."""
    return Band(error / 100, error / 10, error, drain)


BITS_PER_LOST_WORD = 16 / 5440
"""A codeword of KP4 that is lost has 16 wrong bits of 5440 at the least."""


def _infiniband(raw: float, effective: float, symbol: float) -> dict[Quantity, Band]:
    """Return the bands of one row of UFM's table; the codeword's follows from the effective."""
    return {
        Quantity.RAW: _ufm(raw),
        Quantity.EFFECTIVE: _ufm(effective),
        Quantity.SYMBOL: _ufm(symbol),
        Quantity.CODEWORD: _ufm(effective / BITS_PER_LOST_WORD),
    }


def _ethernet(raw_error: float, raw_drain: float) -> dict[Quantity, Band]:
    """Return the bands where what FEC cannot repair is lost: a codeword in 1e12 is the error."""
    return {
        Quantity.RAW: _tenths(raw_error, raw_drain),
        Quantity.EFFECTIVE: _tenths(1e-12, 1e-12),
        Quantity.SYMBOL: _tenths(1e-12, 1e-12),
        Quantity.CODEWORD: _tenths(1e-12, 1e-10),
    }


def _scale_up(raw_error: float, raw_drain: float) -> dict[Quantity, Band]:
    """Return the bands where a lost codeword is sent again: InfiniBand's with retry after FEC."""
    return {
        Quantity.RAW: _tenths(raw_error, raw_drain),
        Quantity.EFFECTIVE: _ufm(1e-11),
        Quantity.SYMBOL: _ufm(1e-14),
        Quantity.CODEWORD: _ufm(1e-11 / BITS_PER_LOST_WORD),
    }


_COPPER = ("dac", "acc", "aec", "backplane")
_LIGHT = ("optical", "aoc", "lpo", "cpo")
_RS544, _LL = ("rs544", "rs544i"), ("ll271", "ll272")
_UFM = "NVIDIA UFM port-health plugin, table of BER thresholds"
_802_3 = "IEEE 802.3bs/cd/ck: 2.4e-4 before RS(544,514); a tenth of the margin by choice"
_NRZ = "where independent errors lose a codeword in 1e12 (802.3 clause 91 code), by computation"
_CHOICE = "as PAM4 Ethernet of the same medium; no public table"
_ETHERNET = ("roce",)
_SCALE_UP = ("nvlink", "hccs", "ub", "ualink")

TABLE: tuple[Row, ...] = (
    Row(_UFM, _infiniband(1e-6, 1e-11, 1e-14), ("ib",), ("ndr",), ("7nm",), (*_RS544, *_LL),
        _COPPER, True),
    Row(_UFM, _infiniband(1e-5, 1e-11, 1e-14), ("ib",), ("ndr",), ("7nm",), (*_RS544, *_LL),
        _LIGHT, True),
    Row(_UFM, _infiniband(1e-7, 1e-13, 1e-13), ("ib",), ("ndr",), ("7nm",), (*_RS544, *_LL),
        _COPPER, False),
    Row(_UFM, _infiniband(1e-5, 1e-13, 1e-13), ("ib",), ("ndr",), ("7nm",), (*_RS544, *_LL),
        _LIGHT, False),
    Row(_UFM, _infiniband(1e-7, 1e-13, 1e-14), ("ib",), ("hdr",), ("7nm",), (*_RS544, *_LL),
        (), True),
    Row(_UFM, _infiniband(1e-7, 1e-13, 1e-13), ("ib",), ("hdr",), ("7nm",), _RS544, (), False),
    Row(_UFM, _infiniband(1e-5, 1e-13, 1e-13), ("ib",), ("hdr",), ("16nm",), (*_RS544, *_LL)),
    Row(_UFM, _infiniband(1e-12, 1e-13, 1e-13), ("ib",), ("edr",), ("7nm",), ("rs528", *_LL)),
    Row(_UFM, _infiniband(1e-9, 1e-13, 1e-13), ("ib",), ("edr",), ("16nm",), ("rs528",)),
    Row(_UFM, _infiniband(1e-12, 1e-13, 1e-13), ("ib",), ("edr",), ("16nm",), _LL),
    Row(_UFM, _infiniband(1e-13, 1e-13, 1e-13), ("ib",), ("edr",), (), ("none",)),
    Row(f"{_UFM}: NDR's active row, there is none for XDR", _infiniband(1e-5, 1e-11, 1e-14),
        ("ib",), ("xdr",), provisional=True),
    Row(_802_3, _ethernet(1e-4, 2.4e-4), _ETHERNET, fecs=_RS544, media=_LIGHT),
    Row(_802_3, _ethernet(1e-5, 2.4e-4), _ETHERNET, fecs=_RS544, media=_COPPER),
    Row(_NRZ, _ethernet(2.3e-5, 5e-5), _ETHERNET, fecs=("rs528",)),
    Row(_NRZ, _ethernet(4.5e-5, 1e-4), _ETHERNET, fecs=_LL),
    Row("802.3: 1e-12 at the receiver without RS-FEC", _ethernet(1e-12, 1e-11), _ETHERNET,
        fecs=("none", "firecode")),
    Row(_CHOICE, _scale_up(1e-4, 2.4e-4), _SCALE_UP, media=_LIGHT, provisional=True),
    Row(_CHOICE, _scale_up(1e-5, 2.4e-4), _SCALE_UP, media=_COPPER, provisional=True),
    Row("PCI Express base specification: 1e-12 up to 32 GT/s", _scale_up(1e-12, 1e-11),
        ("pcie", "cxl"), provisional=True),
)  # fmt: skip


def limits_of(known: Facts, table: Iterable[Row] = TABLE) -> Limits | None:
    """Return the limits of a link, None where no row fits its technology.

    Several rows may fit what is known: of each quantity the strictest counts. Silicon that no
    row of such a link names tells nothing, and is taken as not known.
    """
    table = tuple(table)
    unnamed = replace(known, silicon="")
    if not any(known.silicon in row.silicon for row in table if row.fits(unnamed)):
        known = unnamed
    rows = [row for row in table if row.fits(known)]
    if not rows and known.technology:  # what is known contradicts the table: ask less of it
        rows = [row for row in table if known.technology in row.technologies]
        return _strictest(rows, known, provisional=True)
    if not known.technology:
        return None
    return _strictest(rows, known, provisional=not all(row.is_sure(known) for row in rows))


def _strictest(rows: list[Row], known: Facts, *, provisional: bool) -> Limits | None:
    if not rows:
        return None
    found: dict[Quantity, Band] = {}
    for quantity in Quantity:
        fitting = rows
        if quantity is Quantity.RAW and not known.fec:  # what counts corrections does correct
            fitting = [row for row in rows if not set(row.fecs) & UNCORRECTED] or rows
        bands = [row.bands[quantity] for row in fitting]
        strictest = min(bands, key=lambda band: (band.error, band.warning))
        widest = bands if quantity is Quantity.RAW else [strictest]
        found[quantity] = replace(strictest, page=max(band.error for band in widest))
    return Limits(found, provisional, rows[0].source)


UNCORRECTED = {"none", "firecode"}
"""Codes that correct no symbols, or none at all."""
