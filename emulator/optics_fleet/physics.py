"""Physics of one link through time: air and load, both modules, what each receiver makes of it.

All lanes and all moments at once; arrays are [lane, time], or [time] where lanes share a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from emulator.light import BUILT_CELSIUS, DARK_DBM, Floats, bit_error_rate, ratio
from emulator.module_kinds import ModuleKind
from emulator.optics import LASER_CELSIUS, LIGHT_LOST_DBM, host_snr, media_snr, sent
from emulator.stress import Stress

DAY = 86_400.0
AIR_CELSIUS = 30.0
DAILY_KELVIN = 3.0
"""How far the air goes to either side of its mean in a day."""
LAG = 600.0
"""Seconds in which a case follows the air."""
LOAD_KELVIN = 6.0
"""Between an idle module and a busy one."""
USUAL_LOAD = 0.5
UNRETIMED_DB = 6.0
"""What a host's equaliser makes good where no DSP does."""
BROKEN_BER = 5e-3
"""More errors than any FEC here mends: the link is down."""


@dataclass(frozen=True)
class Weather:
    """What all modules share: air (Celsius) and load (share of a line), arrays [time]."""

    seconds: Floats
    """Since the beginning."""
    air: Floats
    load: Floats

    @property
    def step(self) -> float:
        """Seconds between two moments."""
        return float(self.seconds[1] - self.seconds[0])


@dataclass(frozen=True)
class End:
    """One module of a link through time, as it truly is."""

    kind: ModuleKind
    temperature: Floats
    bias_ma: Floats
    tx_dbm: Floats
    rx_dbm: Floats
    snr_media: Floats
    snr_host: Floats
    ber_media: Floats
    ber_host: Floats
    ber: Floats
    """Mean over the lanes that the port behind the module has to mend, [time]."""

    @property
    def up(self) -> Floats:
        """1 while the port can work, [time]."""
        dark = (self.rx_dbm <= LIGHT_LOST_DBM).any(axis=0) & self.kind.optical
        return np.where((self.ber < BROKEN_BER) & ~dark, 1.0, 0.0)


def weather(days: float, step: float, random: np.random.Generator) -> Weather:
    """Return air that follows the sun, and load that follows people and jobs of some hours."""
    seconds = np.arange(0.0, days * DAY, step)
    sun = np.sin(2 * np.pi * (seconds / DAY - 0.4))
    drift = np.interp(seconds, np.arange(0, days + 2) * DAY, random.normal(0, 0.7, int(days) + 2))
    jobs = random.uniform(-0.25, 0.25, int(days * 6) + 2)[(seconds // (4 * 3600)).astype(int)]
    load = np.clip(0.5 + 0.2 * sun + jobs, 0.05, 0.95)
    return Weather(seconds, AIR_CELSIUS + DAILY_KELVIN * sun + drift, load)


def built(kind: ModuleKind, random: np.random.Generator) -> Stress:
    """Return how one module differs from the mean of its kind, for as long as it lives."""
    lanes = (kind.lanes, 1)
    return Stress(
        wear_db=random.normal(0, 0.12, lanes),
        loss_db=random.normal(0, 0.25, lanes),
        receiver_db=random.normal(0, 0.25, lanes),
        host_db=random.normal(0, 0.3, lanes),
        supply_db=random.normal(0, 0.15, lanes),
        heat=random.normal(0, 1.5),
    )


def link(kind: ModuleKind, sky: Weather, stresses: Mapping[int, Stress]) -> tuple[End, End]:
    """Return both ends of a link on which these stresses act, 0 and 1 by end."""
    shape = (kind.lanes, len(sky.seconds))
    degrees = [_temperature(kind, sky, stresses[end]) for end in (0, 1)]
    lights, currents = [], []
    for end in (0, 1):
        laser = np.full_like(degrees[end], LASER_CELSIUS) if kind.cooled else degrees[end]
        bias, light = sent(kind, laser, stresses[end], kind.sent_dbm)
        currents.append(np.broadcast_to(bias, shape))
        lights.append(np.broadcast_to(light, shape))
    received, media, host = [], [], []
    for end in (0, 1):
        lost = kind.loss_db + np.asarray(stresses[end].loss_db)
        rx = (
            np.maximum(lights[1 - end] - lost, DARK_DBM)
            if kind.optical
            else np.full(shape, DARK_DBM)
        )
        received.append(np.broadcast_to(rx, shape))
        snr = media_snr(kind, received[end], degrees[end], stresses[end])
        media.append(np.broadcast_to(snr, shape))
        host.append(np.broadcast_to(host_snr(degrees[end], stresses[end]), shape))
    first, second = (
        End(
            kind,
            degrees[end],
            currents[end],
            lights[end],
            received[end],
            media[end],
            host[end],
            bit_error_rate(media[end]),
            bit_error_rate(host[end]),
            _behind(kind, host[1 - end], media[end], host[end]).mean(axis=0),
        )
        for end in (0, 1)
    )
    return first, second


def _behind(kind: ModuleKind, far: Floats, media: Floats, near: Floats) -> Floats:
    """Return the error rate behind three segments: into the far module, the fibre, out of ours.

    A retimed link adds up the errors of its segments; one without a DSP adds up their noise.
    """
    if kind.retimed:
        found = bit_error_rate(far) + bit_error_rate(media) + bit_error_rate(near)
        return np.minimum(found, 0.5)
    electrical = 1 / ratio(far + UNRETIMED_DB) + 1 / ratio(near + UNRETIMED_DB)
    return bit_error_rate(-10 * np.log10(1 / ratio(media) + electrical))


def _temperature(kind: ModuleKind, sky: Weather, stress: Stress) -> Floats:
    """Return the case's temperature: air, load and heat, each through the same lag."""
    wanted = sky.air + kind.rise + LOAD_KELVIN * (sky.load - USUAL_LOAD)
    wanted = wanted + np.asarray(stress.heat)
    share = 1 - np.exp(-sky.step / LAG)
    start = [(1 - share) * wanted[0]]
    found, _ = lfilter([share], [1, share - 1], wanted, zi=start)
    return np.clip(np.asarray(found, np.float64), -40.0, BUILT_CELSIUS + 80.0)
