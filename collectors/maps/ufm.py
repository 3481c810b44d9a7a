"""UFM's names in their plain form -> catalogue."""

import re
from dataclasses import dataclass

from collectors.maps import infiniband
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.catalogue.optics import (
    LOL,
    LOS,
    RX_POWER,
    SNR,
    SUPPLY,
    TEMPERATURE,
    TX_BIAS,
    TX_POWER,
)
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    LANE_ERRORS,
    LINK_DOWNS,
    LINK_RECOVERIES,
    POST_FEC_BER,
    PRE_FEC_BER,
    REPLAYS,
    RX_BYTES,
    RX_ERRORS,
    RX_PACKETS,
    SYMBOL_ERROR_RATIO,
    SYMBOL_ERRORS,
    TX_BYTES,
    TX_DISCARDS,
    TX_PACKETS,
)
from fabrichealth.metric import Metric


@dataclass(frozen=True, slots=True)
class Field:
    """What one column is: metric, labels behind device and port, worth of one count."""

    metric: Metric
    more: tuple[str, ...] = ()
    worth: float = 1.0
    ratio: bool = False
    """A bit error ratio, of which the smallest are the mark for nothing measured."""


_CLASSIC = {
    name.lower(): Field(infiniband.COUNTERS[kernel][0], worth=infiniband.COUNTERS[kernel][1])
    for name, kernel in infiniband.PMA.items()
    if kernel in infiniband.COUNTERS
}

_SHORT = {
    "mbout": "port_xmit_data",
    "mbin": "port_rcv_data",
    "pckout": "port_xmit_packets",
    "pckin": "port_rcv_packets",
    "symbolerrors": "symbol_error",
    "linkrecovers": "link_error_recovery",
    "linkdowned": "link_downed",
    "rcverrors": "port_rcv_errors",
    "rcvremotephyserrors": "port_rcv_remote_physical_errors",
    "rcvswrelayerrors": "port_rcv_switch_relay_errors",
    "xmtdiscards": "port_xmit_discards",
    "xmtconstrainterrors": "port_xmit_constraint_errors",
    "rcvconstrainterrors": "port_rcv_constraint_errors",
    "linkintegrityerrors": "local_link_integrity_errors",
    "excbufoverrunerrors": "excessive_buffer_overrun_errors",
    "vl15dropped": "VL15_dropped",
}
"""The stream's own names; its data are bytes already (288 of them to a management packet)."""

NAMES = {
    **_CLASSIC,
    **{short: Field(infiniband.COUNTERS[kernel][0]) for short, kernel in _SHORT.items()},
    "totalrawber": Field(PRE_FEC_BER, ratio=True),
    "rawber": Field(PRE_FEC_BER, ratio=True),
    "effectiveber": Field(POST_FEC_BER, ratio=True),
    "symbolber": Field(SYMBOL_ERROR_RATIO, ratio=True),
    "linkdown": Field(LINK_DOWNS),
    "linkdownib": Field(LINK_DOWNS),
    "plrxmitretryevents": Field(REPLAYS),
    "moduletemperature": Field(TEMPERATURE),
    "modulevoltage": Field(SUPPLY, worth=1e-3),
}

CHIP = "chiptemp"
"""Of the device, not of the port."""

WAIT = frozenset({"portxmitwait", "xmitwait"})

_NUMBERED: tuple[tuple[re.Pattern[str], Metric, tuple[str, ...], float], ...] = (
    (re.compile(r"rawerrorslane(\d)"), LANE_ERRORS, (), 1.0),
    (re.compile(r"rxpowerlane(\d)"), RX_POWER, (), 1.0),
    (re.compile(r"txpowerlane(\d)"), TX_POWER, (), 1.0),
    (re.compile(r"txbiaslane(\d)"), TX_BIAS, (), 1e-3),
    (re.compile(r"snrmedialane(\d)"), SNR, ("media",), 1 / 256),
    (re.compile(r"snrhostlane(\d)"), SNR, ("host",), 1 / 256),
)
"""Columns by lane, from 0: metric, further labels, worth of one step."""

_BIN = re.compile(r"hist(\d|1[0-5])")

MASKS = {
    "rxlos": (LOS, "media"),
    "txlos": (LOS, "host"),
    "rxcdrlol": (LOL, "media"),
    "txcdrlol": (LOL, "host"),
}
"""Bit masks, a bit a lane, of which the lanes that have a power are there."""

UNMEASURED = 1e-250

METRICS = (
    *infiniband.METRICS, PRE_FEC_BER, POST_FEC_BER, SYMBOL_ERROR_RATIO, LINK_DOWNS, LINK_RECOVERIES,
    REPLAYS, FEC_CODEWORDS, LANE_ERRORS, TEMPERATURE, SUPPLY, RX_POWER, TX_POWER, TX_BIAS, SNR,
    LOS, LOL, DEVICE_TEMPERATURE, RX_BYTES, TX_BYTES, RX_PACKETS, TX_PACKETS, RX_ERRORS,
    TX_DISCARDS, SYMBOL_ERRORS,
)  # fmt: skip


def field(name: str) -> Field | None:
    """Return what a column is; None where it is nobody's business."""
    found = NAMES.get(name)
    if found is not None:
        return found
    if bin_of := _BIN.fullmatch(name):
        return Field(FEC_CODEWORDS, (bin_of[1],))
    for form, metric, more, worth in _NUMBERED:
        if lane := form.fullmatch(name):
            return Field(metric, (str(int(lane[1]) + 1), *more), worth)
    return None
