"""Pause of the whole link (IEEE 802.3x), or of all priorities added up; each: `congestion`."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

COUNT = (0.0, 2.0**64)

PAUSE_RX_FRAMES = Metric(
    name="pause_rx_frames_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Pause frames of the whole link received; those of one priority are PFC.",
    valid=COUNT,
)

PAUSE_TX_FRAMES = Metric(
    name="pause_tx_frames_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Pause frames of the whole link sent; those of one priority are PFC.",
    valid=COUNT,
)

PAUSE_RX = Metric(
    name="pause_rx_seconds_total",
    kind=Kind.COUNTER,
    unit=Unit.SECONDS,
    subject=Subject.PORT,
    help="Time for which the peer stopped the whole link.",
    valid=COUNT,
)

PAUSE_TX = Metric(
    name="pause_tx_seconds_total",
    kind=Kind.COUNTER,
    unit=Unit.SECONDS,
    subject=Subject.PORT,
    help="Time for which we stopped the whole link.",
    valid=COUNT,
)

PFC_ALL_RX_FRAMES = Metric(
    name="pfc_all_rx_frames_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Priority pause frames received, where the device adds up all priorities.",
    valid=COUNT,
)

PFC_ALL_TX_FRAMES = Metric(
    name="pfc_all_tx_frames_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Priority pause frames sent, where the device adds up all priorities.",
    valid=COUNT,
)
