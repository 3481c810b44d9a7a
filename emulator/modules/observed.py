"""Observed: what a module's own diagnostics measure, for each type of VDM that it has."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from emulator import fec
from emulator.light import bit_error_rate, ratio
from emulator.modules.builds import Build
from emulator.modules.vdm import Instance, Observed
from emulator.optics import ModuleState

INTERVAL_SECONDS = 3.0
"""How long a maximum is looked for."""
MOST_DB = 256.0
"""A level transition parameter that cannot be measured."""
OFEC_LIMIT = 1.25e-2
"""Error rate that the FEC of coherent modules stands."""

RAILS = {77: 2.6, 78: 1.8, 79: 1.2, 80: 0.9, 81: 0.7, 82: 0.7, 83: 12.0}
"""Volts of the supplies inside, by type."""
COHERENT = {
    3: 20.0,
    **dict.fromkeys(range(128, 134), 50.0),
    134: 18.0,
    135: 20.0,
    136: 1.2,
    137: 20.0,
    138: 0.6,
    139: 31.0,
    141: 120.0,
    146: 1.0,
}
"""What stays as it is on a short coherent link: MHz, %, ps/nm, ps, ps2, dB, dB, MHz, krad/s."""


def observe(state: ModuleState, build: Build, first: int = 0, last: int = 8) -> Observed:
    """Return what is measured on lanes `first` to `last`, excluded; lanes count from `first`.

    What has no lane is told with the first lanes alone.
    """
    found: dict[Instance, float] = {}
    heard = _heard(state)
    for kind in sorted(build.observables):
        for lane, value in _of_type(state, build, heard, kind):
            if lane is None and first == 0:
                found[Instance(kind)] = value
            elif lane is not None and first <= lane < last:
                found[Instance(kind, lane - first)] = value
    return found


@dataclass(frozen=True)
class Heard:
    """The signal of one side, by lane."""

    snr_db: list[float]
    ber: list[float]
    mean: float
    """Mean error rate of the lanes."""


def _heard(state: ModuleState) -> tuple[Heard, Heard]:
    """Return host and media side."""
    host, media = state.snr_host_db, state.snr_db
    sides = []
    for ratios in (host, media):
        rates = bit_error_rate(np.array(ratios))
        sides.append(Heard(ratios, rates.tolist(), float(rates.mean()) if ratios else 0.0))
    return sides[0], sides[1]


def level_transition(snr_db: float) -> float:
    """Return the level transition parameter in dB of PAM4 in white noise.

    It compares the histogram at a level with that between two: exp(SNR/10) / 2.
    """
    found = 10 * math.log10(math.e) * float(ratio(snr_db)) / 10 - 10 * math.log10(2)
    return min(max(found, 0.0), MOST_DB)


def lost_frames(ber: float, coherent: bool) -> float:
    """Return the share of frames that FEC cannot mend."""
    if coherent:
        return 0.0 if ber < OFEC_LIMIT else 1e-3
    return fec.spectrum(ber)[-1]


def most_errors(ber: float, gbps: float) -> float:
    """Return the most symbol errors that one codeword of an interval is expected to have."""
    words = fec.codewords_per_second(gbps) * INTERVAL_SECONDS
    seen = [count for count, share in enumerate(fec.spectrum(ber)) if share * words >= 1]
    return float(max(seen))


def _lanes(values: Sequence[float]) -> Iterator[tuple[int | None, float]]:
    yield from enumerate(values)


def _of_type(
    state: ModuleState, build: Build, heard: tuple[Heard, Heard], kind: int
) -> Iterator[tuple[int | None, float]]:
    """Yield (lane or None, value) of one type."""
    if 5 <= kind <= 34:
        lost = build.coherent and kind % 2 == 1
        yield from _of_signal(heard[kind % 2], kind, state.built.gbps, coherent=lost)
    elif kind == 1:
        yield from _lanes([100 * age for age in state.laser_age])
    elif kind == 2:
        yield None, 100 * state.tec_ratio
    elif kind == 4:
        yield from _lanes(state.laser_celsius)
    elif kind == 84:
        yield from _lanes(state.supply_dbm)
    elif kind in RAILS:
        yield None, RAILS[kind]
    elif kind in COHERENT:
        yield 0, COHERENT[kind]
    elif kind in {140, 147}:
        yield 0, heard[1].snr_db[0]
    elif kind == 142:
        yield 0, 100 / math.sqrt(float(ratio(heard[1].snr_db[0])))
    elif kind in {143, 144, 145}:
        yield 0, (state.tx_dbm[0] if kind == 143 else state.rx_dbm[0])


def _of_signal(
    side: Heard, kind: int, gbps: float, *, coherent: bool
) -> Iterator[tuple[int | None, float]]:
    """Yield (lane or None, value) of what follows from the signal of a side."""
    if kind in {5, 6}:
        yield from _lanes(side.snr_db)
    elif kind in {7, 8}:
        yield from _lanes([level_transition(snr) for snr in side.snr_db])
    elif kind in {15, 16}:
        yield from _lanes(side.ber)
    elif kind <= 14:
        yield None, side.mean
    elif kind <= 26:
        yield None, lost_frames(side.mean, coherent)
    else:
        yield None, most_errors(side.mean, gbps)
