"""Truth: what is wrong, where, since when it shows, and when a limit is reached (contract 6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulator.light import Floats
from emulator.module_kinds import TEMPERATURE
from emulator.optic_faults import OpticFault
from emulator.optic_faults.electronics import Overheating
from emulator.optic_faults.lasers import DimLaserBank
from emulator.optics_fleet.fleet import Link
from emulator.optics_fleet.physics import End, Weather

ERROR_BER = 2.4e-4
"""Before FEC, of 100G and 50G PAM4 lanes (IEEE 802.3 clauses 121, 124, 138)."""
WARNING_BER = 1e-5
LOW_DB, NOISY_DB = 2.0, 1.5
"""Light and signal-to-noise ratio below what they were."""
HOT_KELVIN = 10.0
"""Above what it was in the same air, under the same load."""
HIGH_BIAS = 1.2
"""Bias against what it was at the same temperature."""

Ends = tuple[End, End]


def of_link(
    link: Link, fault: OpticFault, end: int, sky: Weather, start: float, ill: Ends, well: Ends
) -> dict[str, Any]:
    """Return the truth about an ill link; `well` is the same link without the fault.

    Args:
        link: The link.
        fault: What it has; `at` and `until` in seconds of the history.
        end: The end at whose port the fault sits.
        sky: Times.
        start: Unix seconds of the history's beginning.
        ill: Both ends, with the fault.
        well: Both ends, without.
    """
    acting = sky.seconds >= fault.at
    down = acting & (np.minimum(ill[0].up, ill[1].up) < 1)
    worst = np.where(acting, np.maximum(ill[0].ber, ill[1].ber), 0.0)
    reached = _first(down | (worst > ERROR_BER), sky)
    kinds = ["link.subhealthy", "link.will_fail", "optics.degrading"]
    if isinstance(fault, Overheating):
        kinds.append("optics.overheating")
    if down.any():
        kinds = ["link.down", "link.flapping", *kinds]
    elif reached is None:
        kinds = [kinds[-1], *kinds[:-1]]
    culprit: dict[str, Any] = {"type": "link", "id": link.id}
    if fault.side is not None:
        culprit["side"] = link.ends[end]
    truth: dict[str, Any] = {
        "kind": kinds[0],
        "also_kinds": kinds[1:],
        "culprit": culprit,
        "cause": fault.cause,
        "from": start + fault.at,
        "until": start + fault.until,
        "must_page": reached is not None,
        "note": f"simulated: {type(fault).__name__}, strength {fault.strength:g}, {link.ends[end]}",
    }
    if (
        evident := _first(acting & _shows(ill, well) | (worst > WARNING_BER) | down, sky)
    ) is not None:
        truth["evident"] = start + evident
    if reached is not None:
        truth["limit_at"] = start + reached
    return truth


def of_bank(truths: list[dict[str, Any]], bank: str) -> dict[str, Any]:
    """Return the one truth about a laser source, of those about the links that it feeds."""
    first = truths[0]
    evident = [truth["evident"] for truth in truths if "evident" in truth]
    limits = [truth["limit_at"] for truth in truths if "limit_at" in truth]
    return {
        **first,
        "kind": "parts.shared_component",
        "also_kinds": [first["kind"], *first["also_kinds"]],
        "culprit": {"type": "card", "id": bank},
        "also": [truth["culprit"] for truth in truths],
        "victims": [{"type": "link", "id": truth["culprit"]["id"]} for truth in truths],
        "must_page": bool(limits),
        "note": f"simulated: {DimLaserBank.__name__} {bank}",
        **({"evident": min(evident)} if evident else {}),
        **({"limit_at": min(limits)} if limits else {}),
    }


def _shows(ill: Ends, well: Ends) -> NDArray[np.bool_]:
    """Return at which moments an expert would see it, [time]."""
    seen = np.zeros(ill[0].temperature.shape, bool)
    for sick, healthy in zip(ill, well, strict=True):
        seen |= (healthy.rx_dbm - sick.rx_dbm >= LOW_DB).any(axis=0)
        seen |= (healthy.tx_dbm - sick.tx_dbm >= LOW_DB).any(axis=0)
        seen |= (sick.bias_ma > HIGH_BIAS * np.maximum(healthy.bias_ma, 1.0)).any(axis=0) & (
            sick.temperature - healthy.temperature < 1.0
        )
        seen |= (healthy.snr_media - sick.snr_media >= NOISY_DB).any(axis=0)
        seen |= (healthy.snr_host - sick.snr_host >= NOISY_DB).any(axis=0)
        seen |= sick.temperature > TEMPERATURE.high_warning
        seen |= sick.temperature - healthy.temperature >= HOT_KELVIN
    return seen


def _first(when: NDArray[np.bool_] | Floats, sky: Weather) -> float | None:
    """Return the seconds at which something is so for the first time."""
    places = np.flatnonzero(when)
    return float(sky.seconds[places[0]]) if len(places) else None
