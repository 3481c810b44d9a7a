"""Signal-to-noise ratio against bit-error ratio of PAM4 lanes, both ways.

Gray coded, in white noise: BER = 3/4 Q(sqrt(SNR / 5)), SNR as a power ratio (docs/methods.md).
Errors beyond what the ratio predicts come in bursts: reflections, crosstalk. A low ratio with
few errors is a readout that is off.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfc, erfcinv

from fabrichealth.model import Floats


def ber_of(snr_db: ArrayLike) -> Floats:
    """Return the pre-FEC bit-error ratio of a PAM4 lane at an SNR in dB."""
    ratio = 10.0 ** (np.asarray(snr_db, np.float64) / 10.0)
    return np.asarray(0.75 * 0.5 * erfc(np.sqrt(ratio / 5.0 / 2.0)), np.float64)


def snr_of(ber: ArrayLike) -> Floats:
    """Return the SNR in dB at which a PAM4 lane has a bit-error ratio.

    NaN for a ratio of 0 (no error was seen: any SNR beyond some would do) and for one that no
    signal gives (0.375 and beyond).
    """
    given = np.asarray(ber, np.float64)
    possible = np.where((given > 0) & (given < 0.375), given, np.nan)
    q = np.sqrt(2.0) * erfcinv(2.0 * possible / 0.75)
    return np.asarray(10.0 * np.log10(5.0 * q * q), np.float64)


def excess_noise(snr_db: ArrayLike, ber: ArrayLike) -> Floats:
    """Return by how many dB a lane does worse than its SNR says; NaN where that is not known.

    More than 1 dB: bursts, crosstalk or reflections. Less than -1 dB: the SNR is read too low.
    """
    return np.asarray(snr_db, np.float64) - snr_of(ber)
