"""Screen: which ends of links are odd in all their features together, though none alone may be.

Features are errors before FEC, light, bias, signal and temperature as they are now. Within a
stratum a robust covariance (Rousseeuw's minimum covariance determinant) says what goes together;
the distance from it, in its own terms, is how odd an end is, and splits exactly into what each
feature contributes. It knows no physics and no past: what it finds is watched, never paged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, f

from analyzer.evidence.durations import unbroken
from analyzer.evidence.link.gathering import Gathered
from analyzer.evidence.link.measures import ENOUGH, RAW
from analyzer.evidence.link.receivers import Places
from analyzer.evidence.optics.quantities import BIAS, HEAT, RX, SNR_HOST, SNR_MEDIA, TX, Quantity
from analyzer.evidence.optics.roster import roster
from analyzer.evidence.parts.belonging import Belonging
from analyzer.evidence.parts.shifts import mean_of_units, of_units, speaks
from analyzer.evidence.robust import NORMAL_PER_MAD
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View
from fabrichealth.model.quantiles import row_median

MEASURED = (RX, TX, BIAS, SNR_MEDIA, SNR_HOST, HEAT)
ERRORS = "errors"

NARROWEST = {
    ERRORS: 0.15, RX.name: 0.2, TX.name: 0.2, BIAS.name: 1e-3, SNR_MEDIA.name: 0.15,
    SNR_HOST.name: 0.15, HEAT.name: 1.0,
}  # fmt: skip
"""By how much ends differ at the least, in decades, dB, amperes and kelvin: what is read is
rounded, and a stratum of identical readings has no spread to speak of."""

PER_FEATURE = 6
"""Ends that a stratum must have for each feature."""

KNOWN = 0.8
"""Share of a stratum's ends that must tell of a feature for it to be one."""

CORE = 0.75
"""Share of the ends that make the covariance: up to a quarter may be ill."""

FITTED = 500
"""So many ends of a stratum make its covariance; seven features are known to some percent then."""

OWN = 0.05
"""Share of independence mixed into each covariance: features that always go together may part."""


@dataclass(frozen=True, eq=False)
class Features:
    """What is known of every unit: `values[u, f]`, in dB, decades, amperes or kelvin."""

    names: Sequence[str]
    metrics: Sequence[Metric]
    values: Floats


@dataclass(frozen=True, eq=False)
class Odd:
    """One unit that is far from all others of its stratum."""

    unit: int
    distance: float
    """Squared, over the limit: 1.0 is at it."""
    features: Sequence[str]
    """By their contributions, the greatest first."""
    shares: Sequence[float]
    values: Sequence[float]
    usual: Sequence[float]


def features(view: View, known: Gathered, own: Belonging) -> Features:
    """Return the features of every unit as they are now; NaN is not known."""
    columns, names, metrics = [], [], []
    for one in MEASURED:
        columns.append(_level(view, own, one))
        names.append(one.name)
        metrics.append(one.metric)
    raw = next(one for one in known.readings if one.measure is RAW)
    units = own.units("receivers", known.ends.ports)[: len(raw.rate)]
    told = raw.known & (raw.events >= ENOUGH) & (units >= 0)
    errors = np.full(len(own), np.nan)
    errors[units[told]] = np.log10(np.maximum(raw.rate[told], 1e-300))
    return Features([ERRORS, *names], [RAW.metric, *metrics], np.stack([errors, *columns], axis=1))


def _level(view: View, own: Belonging, quantity: Quantity) -> Floats:
    """Return the median of the window, averaged over the lanes of each unit ([u])."""
    window, unit_of = of_units(view, own, quantity)
    level = row_median(window.values)
    told = np.isfinite(level) & speaks(window)
    return mean_of_units(level, np.where(told, unit_of, -1), len(own))


def since(view: View, own: Belonging, one: Odd) -> float:
    """Return since when the feature that contributes most has been half as odd as it is now."""
    quantity = next((each for each in MEASURED if each.name == one.features[0]), None)
    if quantity is None:
        return view.now
    window = view[quantity.metric]
    lanes = roster(window.table)
    unit = own.units("modules", lanes.ports)
    mine = unit[lanes.port[lanes.places(window.table, quantity.metric, window.series)]] == one.unit
    rows = window.select(np.flatnonzero(mine))
    half = (one.values[0] + one.usual[0]) / 2
    with np.errstate(invalid="ignore"):
        beyond = (rows.values > half) == (one.values[0] > half)
    found, held = unbroken(beyond & np.isfinite(rows.values), rows)
    return float(np.min(found[held > 0], initial=view.now))


def odd(
    every: Features, stratum: np.ndarray[tuple[int], np.dtype[np.int64]], doubt: float
) -> Iterator[Odd]:
    """Yield the units that chance gives less often than `doubt` over the whole fleet.

    A stratum with too few ends for its features says nothing.
    """
    limit_of = doubt / max(len(stratum), 1)
    for code in np.unique(stratum).tolist():
        mine = np.flatnonzero(stratum == code)
        values = every.values[mine]
        told = np.isfinite(values).mean(axis=0) >= KNOWN
        whole = np.isfinite(values[:, told]).all(axis=1)
        if told.sum() < 2 or whole.sum() < PER_FEATURE * told.sum():
            continue
        names = [name for name, has in zip(every.names, told.tolist(), strict=True) if has]
        yield from _far(mine[whole], values[np.ix_(whole, told)], names, limit_of)


def _far(units: Places, values: Floats, names: Sequence[str], doubt: float) -> Iterator[Odd]:
    middle = np.median(values, axis=0)
    spread = NORMAL_PER_MAD * np.median(np.abs(values - middle), axis=0)
    scale = np.maximum(spread, [NARROWEST[name] for name in names])
    z = (values - middle) / scale
    precision, center = _goes_together(z)
    away = z - center
    pulled = away @ precision
    parts = away * pulled  # sums to the squared distance
    distance = parts.sum(axis=1)
    usual = float(np.median(distance)) / float(chi2.median(len(names)))
    limit = _limit(len(z), len(names), doubt) * max(usual, 1.0)
    for place in np.flatnonzero(distance > limit).tolist():
        order = np.argsort(-parts[place], kind="stable")
        total = float(np.maximum(parts[place], 0.0).sum())
        yield Odd(
            int(units[place]),
            float(distance[place]) / limit,
            [names[n] for n in order],
            [float(max(parts[place][n], 0.0)) / total for n in order],
            [float(values[place][n]) for n in order],
            [float(middle[n]) for n in order],
        )


def _limit(units: int, size: int, doubt: float) -> float:
    """Return the squared distance that chance exceeds with a doubt.

    A covariance from a core of few ends is too narrow for the others: Hotelling's law allows for
    it (Hardin and Rocke, 2005).
    """
    core = CORE * min(units, FITTED)
    return float(size * (core - 1) / (core - size) * f.isf(doubt, size, core - size))


def _goes_together(z: Floats) -> tuple[Floats, Floats]:
    """Return the inverse covariance and the centre of scaled features, outliers left aside."""
    # half a second to import, for what runs twice an hour
    from sklearn.covariance import MinCovDet  # noqa: PLC0415

    step = -(-len(z) // FITTED)
    # identical readings have no covariance: a little noise of their rounding gives them one
    jitter = np.random.default_rng(0).normal(0, 0.1, z.shape)
    fitted = MinCovDet(random_state=0, support_fraction=CORE).fit((z + jitter)[::step])
    own = np.diag(np.maximum(np.diag(fitted.covariance_), 0.1))
    mixed = (1 - OWN) * fitted.covariance_ + OWN * own
    inverse = np.asarray(np.linalg.inv(mixed), np.float64)
    return inverse, np.asarray(fitted.location_, np.float64)
