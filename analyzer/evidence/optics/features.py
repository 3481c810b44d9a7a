"""Features of one module as an object: what its light, bias, signal and heat are compared with.

`analyzer.evidence.optics.fleet` makes them; causes and sides are read off them. None is not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.evidence.optics.modules import Identity
from analyzer.evidence.optics.quantities import BIAS, RX, SNR_HOST, SNR_MEDIA, TX
from fabrichealth.model import Port

VISIBLE_DB = 1.0
"""Less change than this is within what readings of light are off by (SFF-8636: 3 dB absolute,
far better against themselves)."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One quantity of one lane or module, in its unit, and what it is compared with."""

    level: float
    baseline: float | None
    siblings: float | None
    """Level less the median of the module's other lanes."""
    peers: float | None
    """Level less the median of what modules of the same part usually have."""
    peer_deviations: float | None
    """The same in robust standard deviations of the peers."""
    low: float | None
    """The module's own limits: the warning, else the alarm."""
    high: float | None
    unrest: float | None
    """How it goes up and down from poll to poll, as a standard deviation."""
    usual_unrest: float | None
    """The same of its peers."""
    dips: int = 0
    """How often it fell visibly below its own median and came back, over some two dozen polls."""

    @property
    def change(self) -> float | None:
        """Level less the own long baseline."""
        return None if self.baseline is None else self.level - self.baseline

    @property
    def margin(self) -> float | None:
        """Distance to the nearer of the module's own limits; negative beyond it."""
        found = [] if self.low is None else [self.level - self.low]
        found += [] if self.high is None else [self.high - self.level]
        return min(found, default=None)

    @property
    def lost(self) -> float | None:
        """How far it has fallen: below its baseline, else below its siblings."""
        if self.baseline is not None:
            return self.baseline - self.level
        return None if self.siblings is None else -self.siblings


@dataclass(frozen=True, slots=True)
class LaneFeatures:
    """One lane: its light sent and received, its bias, its signal and errors on both sides."""

    port: Port
    lane: str
    features: Mapping[str, Feature]
    """By the name of the quantity: rx_power, tx_power, tx_bias, snr_media, .."""
    bias_excess: float | None
    """Bias over what the laser needed before, at the same temperature."""
    noise: float | None
    """By how many dB the media side does worse than its SNR says."""
    noise_change: float | None

    @property
    def rx(self) -> Feature | None:
        """Light received, dBm."""
        return self.features.get(RX.name)

    @property
    def tx(self) -> Feature | None:
        """Light sent, dBm."""
        return self.features.get(TX.name)

    @property
    def bias(self) -> Feature | None:
        """Laser bias, amperes."""
        return self.features.get(BIAS.name)

    @property
    def snr_media(self) -> Feature | None:
        """SNR of the receiver, dB."""
        return self.features.get(SNR_MEDIA.name)

    @property
    def snr_host(self) -> Feature | None:
        """SNR of the electrical lane from the host, dB."""
        return self.features.get(SNR_HOST.name)


@dataclass(frozen=True, slots=True)
class OpticsEvidence:
    """One module: what it is, its temperature, its lanes, and what cannot be known of it."""

    port: Port
    identity: Identity
    temperature: Feature | None
    lanes: Mapping[str, LaneFeatures]
    off: bool
    """All its lasers are dark: switched off."""
    blind: tuple[str, ...]
    """What cannot be known, and why."""
