"""What mlxlink tells of a port -> catalogue."""

from collections.abc import Iterator

from collectors.maps import modules
from collectors.maps.columns import Reading
from collectors.protocols.mlxlink import Link
from fabrichealth.catalogue.ports import (
    ADMIN_UP,
    FEC_CODEWORDS,
    LANE_ERRORS,
    LANE_PRE_FEC_BER,
    LANES,
    LINK_DOWNS,
    LINK_RECOVERIES,
    POST_FEC_BER,
    PRE_FEC_BER,
    SPEED,
    SYMBOL_ERROR_RATIO,
    SYMBOL_ERRORS,
    UP,
)

COUNTS = {
    "symbol errors": SYMBOL_ERRORS,
    "link down counter": LINK_DOWNS,
    "link error recovery counter": LINK_RECOVERIES,
}
RATIOS = {
    "symbol ber": SYMBOL_ERROR_RATIO,
    "effective physical ber": POST_FEC_BER,
    "raw physical ber": PRE_FEC_BER,
}
KEYS = {**COUNTS, **RATIOS}

MOST_BINS = 16
"""Bins 0..15 of the catalogue."""

METRICS = (
    UP,
    ADMIN_UP,
    SPEED,
    LANES,
    *KEYS.values(),
    LANE_ERRORS,
    LANE_PRE_FEC_BER,
    FEC_CODEWORDS,
    *modules.METRICS,
)


def readings(link: Link) -> Iterator[Reading]:
    """Yield everything a port tells, in the catalogue's units."""
    for metric, value in (
        (UP, link.up),
        (ADMIN_UP, link.enabled),
        (SPEED, link.speed),
        (LANES, link.lanes),
    ):
        if value is not None:
            yield metric, (), float(value)
    yield from _errors(link)
    if link.module is not None:
        yield from modules.readings(link.module)


def _errors(link: Link) -> Iterator[Reading]:
    for key, count in link.counts.items():
        if key in COUNTS:
            yield COUNTS[key], (), float(count)
    for key, ratio in link.ratios.items():
        yield RATIOS[key], (), ratio
    for lane, errors in enumerate(link.lane_errors, 1):
        if errors is not None:
            yield LANE_ERRORS, (str(lane),), float(errors)
    for lane, share in enumerate(link.lane_ratios, 1):
        if share is not None:
            yield LANE_PRE_FEC_BER, (str(lane),), share
    for errors, codewords in link.histogram.items():
        if errors < MOST_BINS:
            yield FEC_CODEWORDS, (str(errors),), float(codewords)
