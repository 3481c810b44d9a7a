"""Light: lasers that make it and receivers that read it, for one lane or for arrays of them.

A laser's threshold current rises with its temperature as exp(T/T0) and its efficiency falls as
exp(-T/T1) (Agrawal, Fiber-Optic Communication Systems, section 3.5). Automatic power control
raises the bias until the light is right again or the driver can give no more. Of four-level
modulation (PAM4) in white noise, Gray coded, the bit-error rate is 3/4 Q(sqrt(SNR/5)).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc

Floats = NDArray[np.float64]

DARK_DBM = -40.0
"""Light of a receiver that gets none: the register's lowest value, 0.1 uW."""
BUILT_CELSIUS = 46.0
"""Temperature of the case for which a laser's currents are given."""
T0_KELVIN = 70.0
T1_KELVIN = 200.0
WARM_CELSIUS = 60.0
"""Electronics of a receiver grow noisy beyond."""
WARM_DB_PER_KELVIN = 0.06
LEAST_SNR_DB = 0.0


@dataclass(frozen=True)
class Laser:
    """A laser as it was built; currents in mA at `BUILT_CELSIUS`, light in dBm at its port."""

    threshold_ma: float
    operating_ma: float
    """Bias at which it gives its nominal light."""
    limit_ma: float
    """Its driver gives no more."""
    dbm: float

    def bias(self, celsius: ArrayLike, wear_db: ArrayLike = 0.0) -> Floats:
        """Return the bias (mA) with which control holds the light, as far as it can."""
        threshold, per_ma = self._at(celsius)
        wanted = (threshold + milliwatts(self.dbm) / per_ma) * ratio(wear_db)
        return np.minimum(wanted, self.limit_ma)

    def light(self, celsius: ArrayLike, bias_ma: ArrayLike, wear_db: ArrayLike = 0.0) -> Floats:
        """Return the light (dBm) at a bias (mA); dark below the threshold."""
        threshold, per_ma = self._at(celsius)
        above = np.asarray(bias_ma, np.float64) / ratio(wear_db) - threshold
        return dbm(np.maximum(above, 0.0) * per_ma)

    def _at(self, celsius: ArrayLike) -> tuple[Floats, Floats]:
        """Return threshold (mA) and efficiency (mW/mA) at a temperature."""
        warmer = np.asarray(celsius, np.float64) - BUILT_CELSIUS
        built = milliwatts(self.dbm) / (self.operating_ma - self.threshold_ma)
        return self.threshold_ma * np.exp(warmer / T0_KELVIN), built * np.exp(-warmer / T1_KELVIN)


@dataclass(frozen=True)
class Receiver:
    """A receiver limited by thermal noise, and in bright light by the rest of the chain."""

    dbm: float
    """Light that reaches it on a link as it was built."""
    snr_db: float
    """Signal-to-noise ratio at that light."""
    ceiling_db: float = np.inf
    """Ratio that no light, however bright, brings it beyond."""
    slope: float = 2.0
    """Electrical dB for a dB of light: 2 of a photodiode alone, 1 of one that mixes (coherent)."""

    def snr(
        self,
        dbm: ArrayLike,
        celsius: ArrayLike = BUILT_CELSIUS,
        penalty_db: ArrayLike = 0.0,
        interference: ArrayLike = 0.0,
    ) -> Floats:
        """Return the electrical signal-to-noise ratio (dB) of a lane.

        Args:
            dbm: Light that reaches it.
            celsius: Temperature of the case.
            penalty_db: What the receiver itself has lost.
            interference: Power of reflected light that beats with the signal, against the signal.
        """
        ceiling = 1 / ratio(self.ceiling_db)
        thermal = 1 / ratio(self.snr_db) - ceiling
        faint = thermal * ratio(self.slope * (self.dbm - np.asarray(dbm, np.float64)))
        warm = np.maximum(np.asarray(celsius, np.float64) - WARM_CELSIUS, 0) * WARM_DB_PER_KELVIN
        noise = faint + ceiling + np.asarray(interference, np.float64)
        found = -10 * np.log10(noise) - np.asarray(penalty_db, np.float64) - warm
        return np.maximum(found, LEAST_SNR_DB)


def bit_error_rate(snr_db: ArrayLike) -> Floats:
    """Return the pre-FEC bit-error rate of PAM4 at a signal-to-noise ratio in dB."""
    return 0.375 * np.asarray(erfc(np.sqrt(ratio(snr_db) / 10)), np.float64)


def ratio(decibels: ArrayLike) -> Floats:
    """Return the power ratio of so many dB."""
    return np.asarray(10.0 ** (np.asarray(decibels, np.float64) / 10))


def milliwatts(power_dbm: ArrayLike) -> Floats:
    """Return mW of a power in dBm."""
    return ratio(power_dbm)


def dbm(power_mw: ArrayLike) -> Floats:
    """Return dBm of a power in mW, `DARK_DBM` where there is less than that."""
    floor = 10 ** (DARK_DBM / 10)
    return np.asarray(10 * np.log10(np.maximum(np.asarray(power_mw, np.float64), floor)))
