"""RDMA drivers' own counters (hw_counters, `rdma statistic`) -> catalogue.

Each row lists the names under which drivers count one thing, best first: mlx5, bnxt_re old and
new, irdma, hns_roce, erdma, efa. The first that a port has is taken. np_ is the notification
point (receiver), rp_ the reaction point (sender).
"""

from collections.abc import Collection

from fabrichealth.catalogue.congestion import (
    CNP_RX_PACKETS,
    CNP_TX_PACKETS,
    ECN_RX_PACKETS,
    ROCE_ACK_TIMEOUTS,
    ROCE_OUT_OF_SEQUENCE,
    ROCE_RETRANSMISSIONS,
    ROCE_RNR_NAKS,
    ROCE_RX_BUFFER_EXHAUSTED,
)
from fabrichealth.catalogue.ports import (
    RX_BYTES,
    RX_CRC_ERRORS,
    RX_DISCARDS,
    RX_ERRORS,
    RX_PACKETS,
    TX_BYTES,
    TX_PACKETS,
)
from fabrichealth.metric import Metric

NAMES = {
    CNP_TX_PACKETS: (
        "np_cnp_sent",
        "np_cnp_pkts",
        "tx_cnp_pkts",
        "cnpSent",
        "tx_cnp_pkt",
        "cc_tx_cnp_pkts",
    ),
    CNP_RX_PACKETS: (
        "rp_cnp_handled",
        "rx_cnp_pkts",
        "cnpHandled",
        "rx_cnp_pkt",
        "cc_rx_cnp_pkts",
    ),
    ECN_RX_PACKETS: (
        "np_ecn_marked_roce_packets",
        "rx_ecn_marked_pkts",
        "RxECNMrkd",
        "cc_rx_ce_pkts",
    ),
    ROCE_OUT_OF_SEQUENCE: ("out_of_sequence", "oos_drop_count"),
    ROCE_RETRANSMISSIONS: (
        "retrans_pkts",
        "packet_seq_err",
        "seq_err_naks_rcvd",
        "tcpRetransSegs",
        "RetransSegs",
    ),
    ROCE_ACK_TIMEOUTS: ("local_ack_timeout_err", "to_retransmits", "retrans_timeout_events"),
    ROCE_RNR_NAKS: ("rnr_nak_retry_err", "rnr_naks_rcvd"),
    ROCE_RX_BUFFER_EXHAUSTED: ("out_of_buffer", "rx_out_of_buffer"),
    RX_CRC_ERRORS: ("rx_icrc_encapsulated",),
    RX_ERRORS: ("rx_roce_errors", "rx_err_pkt"),
    RX_DISCARDS: ("rx_roce_discards", "rx_drops"),
    RX_BYTES: ("rx_bytes", "hw_rx_bytes_cnt", "rx_bytes_cnt"),
    TX_BYTES: ("tx_bytes", "hw_tx_bytes_cnt", "tx_bytes_cnt"),
    RX_PACKETS: ("rx_pkts", "hw_rx_packets_cnt", "rx_packets_cnt", "rx_pkt"),
    TX_PACKETS: ("tx_pkts", "hw_tx_packets_cnt", "tx_packets_cnt", "tx_pkt"),
}

METRICS = tuple(NAMES)

_Q_COUNTERS = frozenset(
    {
        "out_of_sequence",
        "packet_seq_err",
        "local_ack_timeout_err",
        "rnr_nak_retry_err",
        "out_of_buffer",
    }
)
_MLX5_ALONE = frozenset({"rx_dct_connect", "roce_slow_restart", "roce_adp_retrans"})

SMALLEST_PACKET_BYTES = 256
"""The smallest RoCE path MTU: transport errors come at most once a packet of this size."""


def chosen(names: Collection[str]) -> dict[str, Metric]:
    """Return which of a port's counters to take, and as what."""
    present = frozenset(names)
    return {
        found: metric
        for metric, known in NAMES.items()
        if (found := next((name for name in known if name in present), None))
    }


def wraps_at_bits(name: str, names: Collection[str]) -> int:
    """Return the width at which a counter wraps, 0 where it does not.

    The Q counters of mlx5 are 32 bit in hardware. bnxt_re took over the same names, at 64 bit;
    what only mlx5 has tells them apart.
    """
    mlx5 = not _MLX5_ALONE.isdisjoint(names)
    return 32 if mlx5 and name in _Q_COUNTERS else 0
