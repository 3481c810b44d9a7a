"""Cable: one link, both ways, poll by poll; what faults spoil and what counters are made from.

Direction d goes from end d to end 1 - d. A receiver hears the transmitter's own noise, thermal
noise of its own and what faults add; of light, thermal noise weighs twice its loss in dB, since
current follows light and power the square of current. A laser under power control draws
I0 exp(T / T0) to begin with and what its light takes on top.
"""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.corpus.codes import Floats, wrong_bits
from benchmarks.corpus.technologies import Technology

THRESHOLD_KELVIN = 75.0
"""T0 of a laser's threshold current (50 to 100 K)."""
SENT_DB = 22.6
"""Signal over the noise of a transmitter, at its best."""
THERMAL_DB = 30.0
"""Signal over the noise of a receiver in the light it is built for."""
COPPER_DB = 21.8
NOMINAL_DBM = 0.0
HEAT_FROM = 68.0
"""Celsius beyond which an eye closes by HEAT_DB per kelvin."""
HEAT_DB = 0.09
DAY = 86_400.0
DARK = -40.0


def decibels(ratio: Floats) -> Floats:
    """Return 10 log10 of a ratio."""
    return np.asarray(10.0 * np.log10(ratio), np.float64)


@dataclass
class Cable:
    """State of one link at `at` [k]; directions first, then lanes, then polls."""

    technology: Technology
    number: int
    at: Floats
    temperature: Floats
    """[end, k] Celsius."""
    bias: Floats
    """[end, lane, k] amperes."""
    sent: Floats
    """[end, lane, k] dBm."""
    loss: Floats
    """[direction, lane, k] dB between sent and received."""
    noise: Floats
    """[direction, lane, k] noise over signal that is added on the way."""
    penalty: Floats
    """[direction, lane, k] dB that the receiver loses by itself."""
    electrical: Floats
    """[direction, k] ratio of wrong bits between the sending host and its module."""
    bursts: Floats
    """[direction, k] a second."""
    up: Floats
    """[k] 1 or 0."""
    admin: Floats
    """[end, k]"""
    width: Floats
    """[k] share of the lanes in use."""
    falls: Floats
    """[k] falls since the poll before, seen or not."""
    retrains: Floats
    """[direction, k] a second."""
    load: Floats
    """[k] share of the speed that is used."""
    silent: Floats
    """[end, k] 1 where nobody answered."""
    resets: list[tuple[int, int]] = field(default_factory=list)
    """(end, poll) at which counters began anew."""
    usual: float = NOMINAL_DBM
    """dBm that the receivers are built for."""

    @property
    def received(self) -> Floats:
        """[direction, lane, k] dBm at the far end."""
        return np.asarray(np.maximum(self.sent - self.loss, DARK), np.float64)

    def signal(self) -> Floats:
        """Return [direction, lane, k] dB of signal over noise in the receiver."""
        hot = np.maximum(self.temperature - HEAT_FROM, 0.0) * HEAT_DB
        if self.technology.lit:
            fallen = self.usual - self.received
            noise = 10 ** (-SENT_DB / 10) + 10 ** (-(THERMAL_DB - 2.0 * fallen) / 10)
        else:
            noise = np.full(self.loss.shape, 10 ** (-COPPER_DB / 10)) * 10 ** (self.loss / 10)
        own = -decibels(noise + self.noise) - self.penalty
        return np.asarray(own - hot[:, None, :] - hot[::-1, None, :], np.float64)

    def ratio(self) -> Floats:
        """Return [direction, k] ratio of wrong bits before FEC, all lanes and both modules."""
        media = wrong_bits(np.maximum(self.signal(), 0.0)).mean(axis=1)
        return np.asarray(np.minimum(media + self.electrical, 0.4), np.float64)


def healthy(
    technology: Technology, number: int, at: Floats, weather: Floats, load: Floats,
    chance: np.random.Generator,
) -> Cable:  # fmt: skip
    """Return a link that is well; `weather` [k] is Celsius above the hall's mean."""
    lanes, polls = technology.lanes, len(at)
    each, every = (2, lanes, 1), (2, lanes, polls)
    warm = 44.0 + chance.normal(0, 2.5, (2, 1)) + 1.0 * weather + 2.0 * load
    temperature = warm + chance.normal(0, 0.15, (2, polls))
    built = 0.060 * (1 + chance.normal(0, 0.04, each))
    bias = built * np.exp((temperature[:, None, :] - 45.0) / THRESHOLD_KELVIN * 0.35)
    sent = NOMINAL_DBM + chance.normal(0, 0.35, each) + chance.normal(0, 0.02, every)
    lost = np.abs(chance.normal(1.2, 0.3, (2, 1, 1))) + np.abs(chance.normal(0, 0.15, each))
    weak = chance.normal(0, 0.25, each)
    cable = Cable(
        technology, number, at, temperature, bias, sent,
        loss=lost + chance.normal(0, 0.02, every) if technology.lit else np.zeros(every),
        noise=np.zeros(every),
        penalty=weak + chance.normal(0, 0.04, every),
        electrical=np.full((2, polls), 1e-10) * 10 ** chance.normal(0, 0.3, (2, 1)),
        bursts=np.zeros((2, polls)),
        up=np.ones(polls),
        admin=np.ones((2, polls)),
        width=np.ones(polls),
        falls=np.zeros(polls),
        retrains=np.zeros((2, polls)),
        load=load,
        silent=np.zeros((2, polls)),
    )  # fmt: skip
    cable.usual = float(NOMINAL_DBM - lost.mean())
    return cable
