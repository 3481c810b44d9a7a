"""Congestion: pauses, marks, queues and RoCE transport trouble."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)
COUNT = (0.0, 2.0**64)

PFC_RX_FRAMES = Metric(
    name="pfc_rx_frames_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Priority pause frames received.",
    valid=COUNT,
)

PFC_TX_FRAMES = Metric(
    name="pfc_tx_frames_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Priority pause frames sent.",
    valid=COUNT,
)

PFC_RX_PAUSE = Metric(
    name="pfc_rx_pause_seconds_total",
    kind=Kind.COUNTER,
    unit=Unit.SECONDS,
    subject=Subject.PRIORITY,
    help="Time for which the peer stopped us.",
    valid=COUNT,
)

PFC_TX_PAUSE = Metric(
    name="pfc_tx_pause_seconds_total",
    kind=Kind.COUNTER,
    unit=Unit.SECONDS,
    subject=Subject.PRIORITY,
    help="Time for which we stopped the peer.",
    valid=COUNT,
)

ECN_MARKED_PACKETS = Metric(
    name="ecn_marked_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Packets that this egress queue marked.",
    valid=COUNT,
)

QUEUE_OCCUPANCY = Metric(
    name="queue_occupancy_bytes",
    kind=Kind.GAUGE,
    unit=Unit.BYTES,
    subject=Subject.PRIORITY,
    help="Bytes in the egress queue now.",
    valid=COUNT,
)

QUEUE_WATERMARK = Metric(
    name="queue_watermark_bytes",
    kind=Kind.GAUGE,
    unit=Unit.BYTES,
    subject=Subject.PRIORITY,
    help="Highest occupancy since the last poll.",
    valid=COUNT,
)

QUEUE_TX_PACKETS = Metric(
    name="queue_tx_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Packets sent from the egress queue.",
    valid=COUNT,
)

QUEUE_TX_BYTES = Metric(
    name="queue_tx_bytes_total",
    kind=Kind.COUNTER,
    unit=Unit.BYTES,
    subject=Subject.PRIORITY,
    help="Bytes sent from the egress queue.",
    valid=COUNT,
)

QUEUE_DROPPED_PACKETS = Metric(
    name="queue_dropped_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Packets dropped at the egress queue.",
    valid=COUNT,
)

PFC_RX_DROPPED_PACKETS = Metric(
    name="pfc_rx_dropped_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Packets dropped at ingress on a lossless priority.",
    valid=COUNT,
)

PFC_WATCHDOG_STORMS = Metric(
    name="pfc_watchdog_storms_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Storms that the switch's own watchdog saw.",
    valid=COUNT,
)

PFC_WATCHDOG_RESTORES = Metric(
    name="pfc_watchdog_restores_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PRIORITY,
    help="Queues that the switch's own watchdog restored.",
    valid=COUNT,
)

ECN_THRESHOLD = Metric(
    name="ecn_threshold_bytes",
    kind=Kind.GAUGE,
    unit=Unit.BYTES,
    subject=Subject.PRIORITY,
    help="Configured marking threshold.",
    valid=COUNT,
    extra=("bound",),
)

PFC_XOFF_THRESHOLD = Metric(
    name="pfc_xoff_threshold_bytes",
    kind=Kind.GAUGE,
    unit=Unit.BYTES,
    subject=Subject.PRIORITY,
    help="Configured pause threshold.",
    valid=COUNT,
)

BUFFER_POOL = Metric(
    name="buffer_pool_bytes",
    kind=Kind.GAUGE,
    unit=Unit.BYTES,
    subject=Subject.DEVICE,
    help="Configured size of the shared lossless pool.",
    valid=COUNT,
)

BUFFER_ALPHA = Metric(
    name="buffer_alpha_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.PRIORITY,
    help="Configured dynamic threshold factor.",
    valid=(0.0, 1024.0),
)

PAUSE_WAIT = Metric(
    name="pause_wait_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.NONE,
    help="Share of time that one port waits for another: an edge of the pause graph.",
    valid=FLAG,
    extra=("waiting", "blocking", "priority"),
)

CNP_TX_PACKETS = Metric(
    name="roce_cnp_tx_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Congestion notifications sent (notification point).",
    valid=COUNT,
)

CNP_RX_PACKETS = Metric(
    name="roce_cnp_rx_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Congestion notifications received (reaction point).",
    valid=COUNT,
)

ECN_RX_PACKETS = Metric(
    name="roce_ecn_rx_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Marked packets received.",
    valid=COUNT,
)

ROCE_OUT_OF_SEQUENCE = Metric(
    name="roce_out_of_sequence_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets received out of sequence.",
    valid=COUNT,
)

ROCE_RETRANSMISSIONS = Metric(
    name="roce_retransmissions_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Retransmissions.",
    valid=COUNT,
)

ROCE_ACK_TIMEOUTS = Metric(
    name="roce_ack_timeouts_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Acknowledgements that did not come in time.",
    valid=COUNT,
)

ROCE_RNR_NAKS = Metric(
    name="roce_rnr_naks_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Receiver-not-ready answers.",
    valid=COUNT,
)

ROCE_RX_BUFFER_EXHAUSTED = Metric(
    name="roce_rx_buffer_exhausted_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets that found no receive buffer.",
    valid=COUNT,
)
