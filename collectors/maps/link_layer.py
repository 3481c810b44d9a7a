"""What ethtool's netlink family and DCB tell of a link -> catalogue: speed, pause, FEC, PFC."""

from collections.abc import Iterator

from collectors.maps.columns import Reading
from collectors.protocols.dcb_netlink import Pfc
from collectors.protocols.ethtool_netlink import Fec, LinkModes, LinkState, Pause
from fabrichealth.catalogue.congestion import PFC_RX_FRAMES, PFC_TX_FRAMES
from fabrichealth.catalogue.pause import PAUSE_RX_FRAMES, PAUSE_TX_FRAMES
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_UNCORRECTABLE_CODEWORDS,
    LANES,
    LINK_DOWNS,
    SPEED,
)

MOST_BINS = 16
"""Bins 0..15 of the catalogue: RS(544,514) corrects 15 symbols."""

METRICS = (
    FEC_CODEWORDS,
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_UNCORRECTABLE_CODEWORDS,
    LANES,
    LINK_DOWNS,
    PAUSE_RX_FRAMES,
    PAUSE_TX_FRAMES,
    PFC_RX_FRAMES,
    PFC_TX_FRAMES,
    SPEED,
)

PAM4_LANE = 50e9
"""Lanes of this many bit/s and more are PAM4, whose Reed-Solomon code is RS(544,514)."""


def speeds(modes: LinkModes) -> Iterator[Reading]:
    """Yield speed and lanes, where known."""
    if modes.speed is not None:
        yield SPEED, (), modes.speed
    if modes.lanes is not None:
        yield LANES, (), float(modes.lanes)


def downs(link: LinkState) -> Iterator[Reading]:
    """Yield the times the link went down, where counted; whether it is up, sysfs says better."""
    if link.downs is not None:
        yield LINK_DOWNS, (), float(link.downs)


def pauses(pause: Pause) -> Iterator[Reading]:
    """Yield pause frames of the whole link."""
    if pause.received is not None:
        yield PAUSE_RX_FRAMES, (), float(pause.received)
    if pause.sent is not None:
        yield PAUSE_TX_FRAMES, (), float(pause.sent)


def repairs(fec: Fec) -> Iterator[Reading]:
    """Yield what FEC did; a histogram bin of several error counts is the catalogue's no bin."""
    for metric, total in (
        (FEC_CORRECTED_CODEWORDS, fec.corrected),
        (FEC_UNCORRECTABLE_CODEWORDS, fec.uncorrectable),
        (FEC_CORRECTED_BITS, fec.corrected_bits),
    ):
        if total is not None:
            yield metric, (), float(total)
    for (low, high), codewords in fec.histogram.items():
        if low == high < MOST_BINS:
            yield FEC_CODEWORDS, (str(low),), float(codewords)


def priorities(pfc: Pfc) -> Iterator[Reading]:
    """Yield PFC frames of the priorities that have PFC; the others' zeros say nothing."""
    for priority in range(8):
        if pfc.enabled >> priority & 1:
            yield PFC_RX_FRAMES, (str(priority),), float(pfc.received[priority])
            yield PFC_TX_FRAMES, (str(priority),), float(pfc.sent[priority])


def fec_name(mode: str | None, speed: float | None, lanes: int | None) -> str:
    """Return the topology's name of a FEC mode; empty where it cannot be told.

    The kernel says `rs` for both Reed-Solomon codes; the speed of a lane tells which.
    """
    if mode in {"none", "off"}:
        return "none"
    if mode in {"baser", "fc"}:  # as the kernel and as SONiC call it
        return "firecode"
    if mode == "rs" and speed is not None and lanes:
        return "rs544" if speed / lanes >= PAM4_LANE else "rs528"
    return ""
