"""Energy: useful accelerator-hours for a kilowatt-hour, over what was metered.

Racks are metered whole, hosts, switches and fans with them; where a rack has no meter its
accelerators' own power stands for it, which is less than the rack draws, and is said.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats


@dataclass(frozen=True, slots=True)
class Energy:
    """Kilowatt-hours that were metered, and the useful accelerator-hours of the same parts."""

    kilowatt_hours: float
    useful_hours: float
    metered: float
    """Share of accelerator-hours of which the energy is known."""
    meter: str
    """rack or accelerator: whose power was taken."""

    @property
    def hours_per_kilowatt_hour(self) -> float | None:
        """Useful accelerator-hours for each kilowatt-hour; None where none was drawn."""
        return self.useful_hours / self.kilowatt_hours if self.kilowatt_hours > 0 else None


def energy(
    watts: Floats, group: NDArray[np.intp], useful: Floats, seconds: float, meter: str
) -> Energy | None:
    """Return energy by meters `watts[m, k]`, NaN where not read, in bins of `seconds`.

    `group[n]` is the meter of each accelerator (-1: none), `useful[n, k]` the share of each bin in
    which it was useful. Bins that a meter did not read count for neither. None: nothing was read.
    """
    read = np.isfinite(watts)
    if not read.any():
        return None
    metered = group >= 0
    covered = np.zeros(useful.shape, bool)
    covered[metered] = read[group[metered]]
    hours = seconds / 3600.0
    return Energy(
        float(np.where(read, watts, 0.0).sum()) * hours / 1e3,
        float(np.where(covered, useful, 0.0).sum()) * hours,
        float(covered.mean()) if covered.size else 0.0,
        meter,
    )
