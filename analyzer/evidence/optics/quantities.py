"""What is measured of lanes and modules, and under which labels it is found."""

from dataclasses import dataclass

from fabrichealth.catalogue.optics import (
    PRE_FEC_BER,
    RX_POWER,
    SNR,
    TEMPERATURE,
    TX_BIAS,
    TX_POWER,
)
from fabrichealth.metric import Metric

DARK = -30.0
"""Below this many dBm a lane has no light worth the name."""


@dataclass(frozen=True)
class Quantity:
    """Something that is measured of lanes, or of modules."""

    name: str
    metric: Metric
    side: str = ""
    limit: str = ""
    """Name of the module's own limits of it, if there can be any."""
    light: bool = True
    """Only modules with light have it."""

    @property
    def tail(self) -> tuple[str, ...]:
        """Labels of its series after device, port and lane."""
        return (self.side,) if self.side else ()


RX = Quantity("rx_power", RX_POWER, limit="rx_power")
TX = Quantity("tx_power", TX_POWER, limit="tx_power")
BIAS = Quantity("tx_bias", TX_BIAS, limit="tx_bias")
SNR_MEDIA = Quantity("snr_media", SNR, "media", "snr", light=False)
SNR_HOST = Quantity("snr_host", SNR, "host", light=False)
BER_MEDIA = Quantity("ber_media", PRE_FEC_BER, "media", light=False)
BER_HOST = Quantity("ber_host", PRE_FEC_BER, "host", light=False)
HEAT = Quantity("temperature", TEMPERATURE, limit="temperature", light=False)

LANE_QUANTITIES = (RX, TX, BIAS, SNR_MEDIA, SNR_HOST, BER_MEDIA, BER_HOST)
QUANTITIES = (*LANE_QUANTITIES, HEAT)
METRICS = tuple(dict.fromkeys(one.metric for one in QUANTITIES))
