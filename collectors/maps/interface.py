"""Counters that every network interface has (kernel `statistics/`, MAC groups) -> catalogue."""

from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    RX_BYTES,
    RX_CRC_ERRORS,
    RX_DISCARDS,
    RX_ERRORS,
    RX_PACKETS,
    SYMBOL_ERRORS,
    TX_BYTES,
    TX_DISCARDS,
    TX_PACKETS,
)

STATISTICS = {
    "rx_bytes": RX_BYTES,
    "tx_bytes": TX_BYTES,
    "rx_packets": RX_PACKETS,
    "tx_packets": TX_PACKETS,
    "rx_errors": RX_ERRORS,
    "rx_crc_errors": RX_CRC_ERRORS,
    "rx_dropped": RX_DISCARDS,
    "tx_dropped": TX_DISCARDS,
}
"""Files of `statistics/`, which ethtool's generic drivers repeat under the same names."""

CARRIER_DOWNS = {"carrier_down_count": LINK_DOWNS}

GROUPS = {
    ("eth-phy", "SymbolErrorDuringCarrier"): SYMBOL_ERRORS,
    ("eth-mac", "FramesTransmittedOK"): TX_PACKETS,
    ("eth-mac", "FramesReceivedOK"): RX_PACKETS,
    ("eth-mac", "FrameCheckSequenceErrors"): RX_CRC_ERRORS,
    ("eth-mac", "OctetsTransmittedOK"): TX_BYTES,
    ("eth-mac", "OctetsReceivedOK"): RX_BYTES,
}
"""Standard groups of `ethtool --json -S --groups` (IEEE 802.3 clause 30 names)."""

METRICS = (*STATISTICS.values(), *CARRIER_DOWNS.values(), *GROUPS.values())
