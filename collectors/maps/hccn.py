"""What hccn_tool tells of an NPU's port -> catalogue."""

import re
from collections.abc import Iterator

from collectors.maps import modules
from collectors.maps.columns import Reading
from collectors.protocols.hccn import Answer, UbPort
from fabrichealth.catalogue.congestion import (
    CNP_RX_PACKETS,
    CNP_TX_PACKETS,
    ECN_RX_PACKETS,
    PFC_RX_FRAMES,
    PFC_TX_FRAMES,
    ROCE_OUT_OF_SEQUENCE,
    ROCE_RETRANSMISSIONS,
)
from fabrichealth.catalogue.optics import SNR
from fabrichealth.catalogue.pause import PAUSE_RX_FRAMES, PAUSE_TX_FRAMES
from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    NETWORK_HEALTHY,
    RX_BYTES,
    RX_BYTES_PER_SECOND,
    RX_CRC_ERRORS,
    RX_ERRORS,
    RX_PACKETS,
    SPEED,
    TX_BYTES,
    TX_BYTES_PER_SECOND,
    TX_PACKETS,
    UP,
)

STATISTICS = {
    RX_BYTES: ("mac_rx_total_oct_num", "mac_rx_good_oct_num"),
    TX_BYTES: ("mac_tx_total_oct_num", "mac_tx_good_oct_num"),
    RX_PACKETS: ("roce_rx_all_pkt_num", "mac_rx_total_pkt_num"),
    TX_PACKETS: ("roce_tx_all_pkt_num", "mac_tx_total_pkt_num"),
    RX_CRC_ERRORS: ("mac_rx_fcs_err_pkt_num",),
    RX_ERRORS: ("mac_rx_bad_pkt_num", "roce_rx_err_pkt_num"),
    PAUSE_RX_FRAMES: ("mac_rx_mac_pause_num", "mac_rx_pause_num"),
    PAUSE_TX_FRAMES: ("mac_tx_mac_pause_num", "mac_tx_pause_num"),
    CNP_RX_PACKETS: ("roce_rx_cnp_pkt_num",),
    CNP_TX_PACKETS: ("roce_tx_cnp_pkt_num",),
    ECN_RX_PACKETS: ("roce_rx_ecn_pkt_num", "nic_rx_ecn_num"),
    ROCE_RETRANSMISSIONS: ("roce_new_pkt_rty_num",),
    ROCE_OUT_OF_SEQUENCE: ("roce_out_of_order_num",),
}
"""Names of the tool, best first; the first that a port has is taken."""

_PFC = re.compile(r"mac_(rx|tx)_pfc_pri([0-7])_pkt_num")
PFC = {"rx": PFC_RX_FRAMES, "tx": PFC_TX_FRAMES}

HEALTH = {
    "success": 1.0,
    "receive timeout": 0.0,
    "time exceeded": 0.0,
    "unreachable": 0.0,
    "exception": 0.0,
    "fault": 0.0,
}
"""Verdicts of the tool's own check; of the other words (init, socket failed) it made none."""

METRICS = (
    UP,
    SPEED,
    LINK_DOWNS,
    *STATISTICS,
    *PFC.values(),
    NETWORK_HEALTHY,
    TX_BYTES_PER_SECOND,
    RX_BYTES_PER_SECOND,
    SNR,
    *modules.METRICS,
)


def readings(answer: Answer) -> Iterator[Reading]:
    """Yield what one port tells, in the catalogue's units."""
    if answer.up is not None:
        yield UP, (), float(answer.up)
    if answer.speed is not None and answer.up is not False:
        yield SPEED, (), answer.speed
    if answer.ups is not None:  # each time but the first one it went down before
        yield LINK_DOWNS, (), float(answer.ups)
    yield from _statistics(answer)
    if answer.net_health in HEALTH:
        yield NETWORK_HEALTHY, (), HEALTH[answer.net_health]
    if answer.tx_rate is not None and "mac_tx_total_oct_num" not in answer.statistics:
        yield TX_BYTES_PER_SECOND, (), answer.tx_rate
    if answer.rx_rate is not None and "mac_rx_total_oct_num" not in answer.statistics:
        yield RX_BYTES_PER_SECOND, (), answer.rx_rate
    if answer.module is not None:
        yield from modules.readings(answer.module)
    for snr in answer.snr:
        yield SNR, (str(snr.lane), snr.side), snr.db


def _statistics(answer: Answer) -> Iterator[Reading]:
    for metric, names in STATISTICS.items():
        found = next((name for name in names if name in answer.statistics), None)
        if found is not None:
            yield metric, (), float(answer.statistics[found])
    for name, frames in answer.statistics.items():
        if pfc := _PFC.fullmatch(name):
            yield PFC[pfc[1]], (pfc[2],), float(frames)


def row(port: UbPort) -> Iterator[Reading]:
    """Yield what the list of ports tells of one."""
    if port.up is not None:
        yield UP, (), float(port.up)
    if port.speed is not None and port.up is not False:
        yield SPEED, (), port.speed


def port_name(die: str, port: str, kind: str) -> str:
    """Return the name of a port: `ub/DIE/PORT`, or `roce/DIE/PORT` where it speaks Ethernet."""
    return f"{'roce' if kind == 'eth' else 'ub'}/{die}/{port}"


def fec(words: str | None, speed: float | None) -> str:
    """Return the topology's name of a FEC mode; `rs FEC mode` is KP4 from 200 Gbit/s on."""
    if words is None:
        return ""
    if words.startswith("no "):
        return "none"
    if words.startswith("base"):
        return "firecode"
    if words.startswith("rs") and speed is not None:
        return "rs544" if speed >= 200e9 else "rs528"
    return ""
