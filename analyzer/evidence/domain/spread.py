"""Spread: how utilisation is spread in each domain, as verdict series."""

from collections.abc import Iterator

import numpy as np

from analyzer.evidence.domain.distribution import QUANTILES, distribution
from analyzer.evidence.domain.inventory import Inventory
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.verdicts import (
    DOMAIN_ACCELERATORS,
    DOMAIN_BIMODAL,
    DOMAIN_IDLE,
    DOMAIN_IMBALANCE,
    DOMAIN_MISSING,
    DOMAIN_UTILIZATION,
)
from fabrichealth.model import Floats

BANDS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Lower ends of the bands of utilisation that are counted."""

MISSING = "missing"


def spread(stock: Inventory, now: Floats, idle: float) -> Iterator[Verdict]:
    """Yield the verdict series of each domain from what each accelerator does now ([n])."""
    for name in sorted({*stock.domain.names, *stock.unlisted}):
        values = now[stock.domain.rows(name)]
        found = distribution(values[None, :], np.array([stock.size(name)]), idle)
        yield Verdict(DOMAIN_IDLE, (name,), float(found.idle_share[0]))
        yield Verdict(DOMAIN_MISSING, (name,), float(found.missing_share[0]))
        known = values[np.isfinite(values)]
        counted = np.histogram(known, [*BANDS, np.inf])[0].tolist()
        yield Verdict(DOMAIN_ACCELERATORS, (name, MISSING), float(found.missing[0]))
        for low, many in zip(BANDS, counted, strict=True):
            yield Verdict(DOMAIN_ACCELERATORS, (name, f"{low:g}"), float(many))
        if not len(known):
            continue  # of silence nothing more is known
        yield Verdict(DOMAIN_BIMODAL, (name,), float(found.split.two[0]))
        for share, value in zip(QUANTILES, found.quantiles[0].tolist(), strict=True):
            if np.isfinite(value):
                yield Verdict(DOMAIN_UTILIZATION, (name, f"{share:g}"), value)
        if np.isfinite(found.gini[0]):
            yield Verdict(DOMAIN_IMBALANCE, (name,), max(float(found.gini[0]), 0.0))
