"""Drivers' own statistics (`ethtool -S`) -> catalogue.

A row is a metric, the unit's worth of one count, and a pattern of the name as that driver writes
it; a group `priority` or `lane` becomes the label. Rows are in order of trust: the first that a
driver has of one series is taken. Names are matched as they stand, never cleaned: `port.rx_dropped`
and `port-rx-dropped` are two things.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from collectors.maps.interface import STATISTICS
from fabrichealth.catalogue.congestion import (
    PFC_RX_DROPPED_PACKETS,
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
    QUEUE_TX_BYTES,
    QUEUE_TX_PACKETS,
)
from fabrichealth.catalogue.pause import PAUSE_RX, PAUSE_RX_FRAMES, PAUSE_TX, PAUSE_TX_FRAMES
from fabrichealth.catalogue.ports import (
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    FEC_UNCORRECTABLE_CODEWORDS,
    LANE_ERRORS,
    LINK_DOWNS,
    RX_BYTES,
    RX_CRC_ERRORS,
    RX_DISCARDS,
    RX_PACKETS,
    SYMBOL_ERRORS,
    TX_BYTES,
    TX_DISCARDS,
    TX_PACKETS,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Labels

MICROSECOND = 1e-6
P = "(?P<priority>[0-7])"
LANE = r"(?P<lane>\d{1,2})"


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a driver: its metric, and what one count is worth in the metric's unit.

    A pattern that fits several names of one series (`lane[0-3]`) means their sum.
    """

    metric: Metric
    pattern: re.Pattern[str]
    worth: float = 1.0
    beside: str = ""
    """A name that must be there too, `{priority}` filled in."""


def _rows(*rows: tuple[Metric, str] | tuple[Metric, str, float]) -> tuple[Name, ...]:
    return tuple(Name(row[0], re.compile(row[1]), *row[2:]) for row in rows)


MLX5 = (
    *_rows(
        (RX_BYTES, "rx_bytes_phy"),
        (TX_BYTES, "tx_bytes_phy"),
        (RX_PACKETS, "rx_packets_phy"),
        (TX_PACKETS, "tx_packets_phy"),
        (RX_CRC_ERRORS, "rx_crc_errors_phy"),
        (RX_DISCARDS, "rx_discards_phy"),
        (TX_DISCARDS, "tx_discards_phy"),
        (SYMBOL_ERRORS, "rx_pcs_symbol_err_phy"),
        (SYMBOL_ERRORS, "rx_symbol_err_phy"),
        (FEC_CORRECTED_BITS, "rx_corrected_bits_phy"),
        (LANE_ERRORS, f"rx_err_lane_{LANE}_phy"),
        (LINK_DOWNS, "link_down_events_phy"),
        (PFC_RX_FRAMES, f"rx_prio{P}_pause"),
        (PFC_TX_FRAMES, f"tx_prio{P}_pause"),
        (PFC_RX_PAUSE, f"rx_prio{P}_pause_duration", MICROSECOND),
        (PFC_TX_PAUSE, f"tx_prio{P}_pause_duration", MICROSECOND),
        (QUEUE_TX_BYTES, f"tx_prio{P}_bytes"),
        (QUEUE_TX_PACKETS, f"tx_prio{P}_packets"),
        (PAUSE_RX_FRAMES, "rx_global_pause"),
        (PAUSE_TX_FRAMES, "tx_global_pause"),
        (PAUSE_RX_FRAMES, "rx_pause_ctrl_phy"),
        (PAUSE_TX_FRAMES, "tx_pause_ctrl_phy"),
        (PAUSE_RX, "rx_global_pause_duration", MICROSECOND),
        (PAUSE_TX, "tx_global_pause_duration", MICROSECOND),
    ),
    # A priority is lossless where PFC is on, and only then are its pause counters there.
    Name(
        PFC_RX_DROPPED_PACKETS,
        re.compile(f"rx_prio{P}_discards"),
        beside="rx_prio{priority}_pause",
    ),
)
BNXT = _rows(
    (RX_PACKETS, "rx_good_frames"),
    (TX_PACKETS, "tx_good_frames"),
    (RX_CRC_ERRORS, "rx_fcs_err_frames"),
    (RX_DISCARDS, "rx_total_discard_pkts"),
    (TX_DISCARDS, "tx_total_discard_pkts"),
    (RX_DISCARDS, "rx_stat_discard"),
    (TX_DISCARDS, "tx_stat_discard"),
    (SYMBOL_ERRORS, "rx_pcs_symbol_err"),
    (FEC_CORRECTED_BITS, "rx_corrected_bits"),
    (FEC_CORRECTED_CODEWORDS, "rx_fec_corrected_blocks"),
    (FEC_UNCORRECTABLE_CODEWORDS, "rx_fec_uncorrectable_blocks"),
    (LINK_DOWNS, "link_down_events"),
    (PFC_RX_FRAMES, f"rx_pfc_ena_frames_pri{P}"),
    (PFC_TX_FRAMES, f"tx_pfc_ena_frames_pri{P}"),
    (PFC_RX_PAUSE, f"pfc_pri{P}_rx_duration_us", MICROSECOND),
    (PFC_TX_PAUSE, f"pfc_pri{P}_tx_duration_us", MICROSECOND),
    (QUEUE_TX_BYTES, f"tx_bytes_pri{P}"),
    (QUEUE_TX_PACKETS, f"tx_packets_pri{P}"),
    (PAUSE_RX_FRAMES, "rx_pause_frames"),
    (PAUSE_TX_FRAMES, "tx_pause_frames"),
)
INTEL = _rows(  # ice writes `name.nic`, i40e `port.name`; xoff frames pause, xon ones end it
    (RX_BYTES, r"rx_bytes\.nic|port\.rx_bytes"),
    (TX_BYTES, r"tx_bytes\.nic|port\.tx_bytes"),
    (RX_CRC_ERRORS, r"rx_crc_errors\.nic|port\.rx_crc_errors"),
    (RX_DISCARDS, r"rx_dropped\.nic|port\.rx_dropped"),
    (TX_DISCARDS, r"tx_dropped_link_down\.nic|port\.tx_dropped_link_down"),
    (PFC_RX_FRAMES, rf"(?:port\.)?rx_priority_{P}_xoff(?:\.nic)?"),
    (PFC_TX_FRAMES, rf"(?:port\.)?tx_priority_{P}_xoff(?:\.nic)?"),
    (PFC_RX_FRAMES, f"port-rx-xoff_prio-{P}_events"),
    (PFC_TX_FRAMES, f"port-tx-xoff_prio-{P}_events"),
    (PAUSE_RX_FRAMES, r"link_xoff_rx\.nic|port\.link_xoff_rx"),
    (PAUSE_TX_FRAMES, r"link_xoff_tx\.nic|port\.link_xoff_tx"),
)
HNS3 = _rows(  # its xoff times are left out: their unit is not settled
    (RX_BYTES, "mac_rx_total_oct_num"),
    (TX_BYTES, "mac_tx_total_oct_num"),
    (RX_PACKETS, "mac_rx_total_pkt_num"),
    (TX_PACKETS, "mac_tx_total_pkt_num"),
    (RX_CRC_ERRORS, "mac_rx_fcs_err_pkt_num"),
    (PFC_RX_FRAMES, f"mac_rx_pfc_pri{P}_pkt_num"),
    (PFC_TX_FRAMES, f"mac_tx_pfc_pri{P}_pkt_num"),
    (PAUSE_RX_FRAMES, "mac_rx_mac_pause_num"),
    (PAUSE_TX_FRAMES, "mac_tx_mac_pause_num"),
)
SFC = _rows(
    (RX_BYTES, "port_rx_bytes"),
    (TX_BYTES, "port_tx_bytes"),
    (RX_PACKETS, "port_rx_packets"),
    (TX_PACKETS, "port_tx_packets"),
    (RX_CRC_ERRORS, "port_rx_bad"),
    (RX_DISCARDS, "port_rx_nodesc_drops"),
    (FEC_CORRECTED_CODEWORDS, "fec_corrected_errors"),
    (FEC_UNCORRECTABLE_CODEWORDS, "fec_uncorrected_errors"),
    (FEC_CORRECTED_SYMBOLS, "fec_corrected_symbols_lane[0-3]"),
    (PAUSE_RX_FRAMES, "port_rx_pause"),
    (PAUSE_TX_FRAMES, "port_tx_pause"),
)
FBNIC = _rows((RX_DISCARDS, r"rxb_fifo\d+_drop"))
GENERIC = tuple(Name(metric, re.compile(name)) for name, metric in STATISTICS.items())

DRIVERS = {
    "mlx5_core": MLX5,
    "bnxt_en": BNXT,
    "bnge": BNXT,
    "ice": INTEL,
    "i40e": INTEL,
    "hns3": HNS3,
    "sfc": SFC,
    "fbnic": FBNIC,
}
METRICS = tuple({row.metric for rows in (*DRIVERS.values(), GENERIC) for row in rows})


@dataclass(frozen=True, slots=True)
class Share:
    """What one statistic, by its place among the names, gives to which series."""

    place: int
    metric: Metric
    labels: Labels
    """Values of the labels after device and port."""
    worth: float


def chosen(names: Sequence[str], driver: str = "") -> list[Share]:
    """Return what to take of a driver's statistics; an unknown driver is told by its names.

    A name that stands twice is never taken: which of the two is meant nobody can say.
    """
    twice = {name for name, times in Counter(names).items() if times > 1}
    places = {name: place for place, name in enumerate(names) if name not in twice}
    rows = DRIVERS.get(driver)
    if rows is None:
        rows = max(DRIVERS.values(), key=lambda rows: len(_fits(rows, places)))
    taken: dict[tuple[Metric, Labels], Name] = {}
    shares = []
    for row, name, labels in _fits((*rows, *GENERIC), places):
        if taken.setdefault((row.metric, labels), row) is row:
            shares.append(Share(places[name], row.metric, labels, row.worth))
    return shares


def _fits(rows: Iterable[Name], places: Mapping[str, int]) -> list[tuple[Name, str, Labels]]:
    """Return (row, name, labels) of every name that a row fits, in the order of the rows."""
    found = []
    for row in rows:
        for name in places:
            fit = row.pattern.fullmatch(name)
            if fit is None:
                continue
            groups = fit.groupdict()
            if row.beside and row.beside.format(**groups) not in places:
                continue
            if "lane" in groups:  # drivers count lanes from 0, the catalogue from 1
                groups["lane"] = str(int(groups["lane"]) + 1)
            found.append((row, name, tuple(groups.values())))
    return found
