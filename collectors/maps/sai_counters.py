"""Counters under the names of the Switch Abstraction Interface -> catalogue.

SONiC shows them in COUNTERS_DB and over gNMI under the same names. Each row lists, best first, the
names under which one thing is counted; names joined in a tuple are added up. Names and units: SAI
(saiport.h, saiqueue.h, saibuffer.h); pause durations are microseconds on the ASICs met so far,
which `pause_worth` can correct.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from fabrichealth.catalogue.congestion import (
    ECN_MARKED_PACKETS,
    PFC_RX_DROPPED_PACKETS,
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
    PFC_WATCHDOG_RESTORES,
    PFC_WATCHDOG_STORMS,
    QUEUE_DROPPED_PACKETS,
    QUEUE_OCCUPANCY,
    QUEUE_TX_BYTES,
    QUEUE_TX_PACKETS,
    QUEUE_WATERMARK,
)
from fabrichealth.catalogue.pause import PAUSE_RX_FRAMES, PAUSE_TX_FRAMES
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    FEC_UNCORRECTABLE_CODEWORDS,
    POST_FEC_BER,
    PRE_FEC_BER,
    REPLAYS,
    RX_BYTES,
    RX_BYTES_PER_SECOND,
    RX_CRC_ERRORS,
    RX_DISCARDS,
    RX_ERRORS,
    RX_PACKETS,
    TX_BYTES,
    TX_BYTES_PER_SECOND,
    TX_DISCARDS,
    TX_PACKETS,
)
from fabrichealth.metric import Metric

P = "SAI_PORT_STAT_"
Q = "SAI_QUEUE_STAT_"
MICROSECOND = 1e-6
PRIORITIES = range(8)

PORT = {
    RX_BYTES: ((f"{P}IF_IN_OCTETS",),),
    TX_BYTES: ((f"{P}IF_OUT_OCTETS",),),
    RX_PACKETS: (
        (f"{P}IF_IN_UCAST_PKTS", f"{P}IF_IN_NON_UCAST_PKTS"),
        (f"{P}IF_IN_UCAST_PKTS", f"{P}IF_IN_MULTICAST_PKTS", f"{P}IF_IN_BROADCAST_PKTS"),
    ),
    TX_PACKETS: (
        (f"{P}IF_OUT_UCAST_PKTS", f"{P}IF_OUT_NON_UCAST_PKTS"),
        (f"{P}IF_OUT_UCAST_PKTS", f"{P}IF_OUT_MULTICAST_PKTS", f"{P}IF_OUT_BROADCAST_PKTS"),
    ),
    RX_ERRORS: ((f"{P}IF_IN_ERRORS",),),
    RX_CRC_ERRORS: ((f"{P}ETHER_STATS_CRC_ALIGN_ERRORS",),),
    RX_DISCARDS: ((f"{P}IF_IN_DISCARDS",),),
    TX_DISCARDS: ((f"{P}IF_OUT_DISCARDS",),),
    PAUSE_RX_FRAMES: ((f"{P}PAUSE_RX_PKTS",),),
    PAUSE_TX_FRAMES: ((f"{P}PAUSE_TX_PKTS",),),
    FEC_CORRECTED_CODEWORDS: ((f"{P}IF_IN_FEC_CORRECTABLE_FRAMES",),),
    FEC_UNCORRECTABLE_CODEWORDS: ((f"{P}IF_IN_FEC_NOT_CORRECTABLE_FRAMES",),),
    FEC_CORRECTED_SYMBOLS: ((f"{P}IF_IN_FEC_SYMBOL_ERRORS",),),
    FEC_CORRECTED_BITS: (
        (f"{P}IF_IN_FEC_CORRECTED_BITS",),
        (f"{P}IF_FEC_CORRECTED_BITS",),
    ),
    REPLAYS: ((f"{P}LLR_TX_REPLAY",),),
}

FRAMES = {PFC_RX_FRAMES: "RX_PKTS", PFC_TX_FRAMES: "TX_PKTS"}
PAUSES = {PFC_RX_PAUSE: "RX_PAUSE_DURATION", PFC_TX_PAUSE: "TX_PAUSE_DURATION"}

QUEUE = {
    QUEUE_TX_PACKETS: f"{Q}PACKETS",
    QUEUE_TX_BYTES: f"{Q}BYTES",
    QUEUE_DROPPED_PACKETS: f"{Q}DROPPED_PACKETS",
    QUEUE_OCCUPANCY: f"{Q}CURR_OCCUPANCY_BYTES",
    QUEUE_WATERMARK: f"{Q}SHARED_WATERMARK_BYTES",
    ECN_MARKED_PACKETS: f"{Q}WRED_ECN_MARKED_PACKETS",
    PFC_WATCHDOG_STORMS: "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED",
    PFC_WATCHDOG_RESTORES: "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED",
}

GROUP = {PFC_RX_DROPPED_PACKETS: "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS"}

RATES = {PRE_FEC_BER: "FEC_PRE_BER", POST_FEC_BER: "FEC_POST_BER"}
BANDWIDTH = {
    RX_BYTES_PER_SECOND: ("RX_BPS", RX_BYTES),
    TX_BYTES_PER_SECOND: ("TX_BPS", TX_BYTES),
}
"""Bytes per second, smoothed by the switch: taken only where the port has no counter."""

METRICS = (*PORT, *FRAMES, *PAUSES, FEC_CODEWORDS, *QUEUE, *GROUP, *RATES, *BANDWIDTH)

BINS = {"rs544": 16, "rs544i": 16, "rs528": 8}
"""Bins 0..t of a code; where the code is not known, all that the device shows."""


class Share(NamedTuple):
    """One series of a hash: labels after those of its owner, names added up, worth of one."""

    metric: Metric
    labels: tuple[str, ...]
    names: tuple[str, ...]
    worth: float = 1.0


def port_shares(names: Collection[str], fec: str, pause_worth: float) -> Iterator[Share]:
    """Yield what a port's hash tells; `fec` is the topology's name of its code, empty if unknown.

    A pause that the switch estimates itself (EST_) is taken only where the ASIC counts none; a
    name that ends in _US is microseconds whatever `pause_worth` (seconds) says of the others.
    """
    for metric, known in PORT.items():
        found = next((group for group in known if all(name in names for name in group)), None)
        if found:
            yield Share(metric, (), found)
    for metric, end in FRAMES.items():
        yield from _by_priority(metric, names, {f"{P}PFC_{{}}_{end}": 1.0})
    for metric, end in PAUSES.items():
        yield from _by_priority(
            metric,
            names,
            {
                f"{P}PFC_{{}}_{end}_US": MICROSECOND,
                f"{P}PFC_{{}}_{end}": pause_worth,
                f"EST_PORT_STAT_PFC_{{}}_{end}_US": MICROSECOND,
            },
        )
    for errors in range(BINS.get(fec, 16)):
        name = f"{P}IF_IN_FEC_CODEWORD_ERRORS_S{errors}"
        if name in names:
            yield Share(FEC_CODEWORDS, (str(errors),), (name,))


def queue_shares(names: Collection[str]) -> Iterator[Share]:
    """Yield what the hash of an egress queue tells."""
    return (Share(metric, (), (name,)) for metric, name in QUEUE.items() if name in names)


def group_shares(names: Collection[str]) -> Iterator[Share]:
    """Yield what the hash of an ingress priority group tells."""
    return (Share(metric, (), (name,)) for metric, name in GROUP.items() if name in names)


def rate_shares(names: Collection[str], counted: Collection[Metric]) -> Iterator[Share]:
    """Yield what the hash of a port's rates tells, beside the counters that the port has."""
    for metric, name in RATES.items():
        if name in names:
            yield Share(metric, (), (name,))
    for metric, (name, counter) in BANDWIDTH.items():
        if name in names and counter not in counted:
            yield Share(metric, (), (name,))


def _by_priority(
    metric: Metric, names: Collection[str], forms: dict[str, float]
) -> Iterator[Share]:
    for priority in PRIORITIES:
        for form, worth in forms.items():
            name = form.format(priority)
            if name in names:
                yield Share(metric, (str(priority),), (name,), worth)
                break
