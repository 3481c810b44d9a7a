"""Truth: what a spoiled cable deserves to be called, from its own physics and limits."""

from typing import Any

import numpy as np
from scipy.stats import binom, poisson

from benchmarks.corpus.cable import Cable
from benchmarks.corpus.codes import BITS, BURST_SYMBOLS, Floats
from benchmarks.corpus.faults import Case, Fault
from benchmarks.corpus.hall import Run

SPAN = 1800.0
"""A limit is crossed when half an hour's mean is beyond it."""
HOT = 70.0
MORE_CURRENT = 1.2
LESS_SIGNAL_DB = 1.5
LOST_A_DAY = 2.0
FALLS = 3.0


def truth_of(run: Run, cable: Cable, before: Cable, fault: Fault, case: Case) -> dict[str, Any]:
    """Return the truth about one link as contract 6 writes it."""
    warned, failed = _crossed(cable)
    severe = failed is not None
    kind, also = fault.kind, []
    if fault.kind.startswith("optics.") or fault.kind == "link.subhealthy":
        gone = _first(cable.at, cable.up == 0)
        if gone is not None:
            kind, severe = "link.down", True
        elif fault.cause and _falls(cable, case) >= FALLS:
            kind, severe = "link.flapping", True
            also.append("link.subhealthy")
        elif warned is not None:
            kind = "link.subhealthy"
            also = [fault.kind] if _barely(cable) and fault.kind != kind else []
        if fault.wears:
            also.append("link.will_fail")
    evident = _evident(cable, before, fault, case, warned)
    plain: dict[str, Any] = {
        "kind": kind,
        "culprit": {"type": "link", "id": run.id},
        "from": case.began,
        "until": case.ended,
        "must_page": severe or kind in {"link.down", "link.flapping"},
        "note": f"{fault.spoil.__name__} at strength {case.strength}, simulated",
    }
    if also:
        plain["also_kinds"] = also
    if fault.side == "near":
        plain["culprit"]["side"] = run.ports[case.end]
    if fault.cause:
        plain["cause"] = fault.cause
    if evident is not None and evident > case.began:
        plain["evident"] = evident
    if fault.wears and failed is not None:
        plain["limit_at"] = failed
    return plain


def _crossed(cable: Cable) -> tuple[float | None, float | None]:
    """Return when a warning and an error limit were first crossed."""
    ratio = np.max([_smooth(cable.at, one) for one in cable.ratio()], axis=0)
    lost = _lost(cable)
    warned = _first(cable.at, (ratio > cable.technology.warning) | (lost * 86_400 > LOST_A_DAY))
    return warned, _first(cable.at, ratio > cable.technology.error)


def _lost(cable: Cable) -> Floats:
    """Return [k] codewords a second that FEC cannot mend, of the worse direction."""
    code = cable.technology.code
    rate = cable.technology.line_rate * 1e9 / (code.symbols * BITS)
    found = []
    for ratio, bursts in zip(cable.ratio(), cable.bursts, strict=True):
        spoiled = 1.0 - (1.0 - _smooth(cable.at, ratio)) ** BITS
        noise = binom.sf(code.corrects, code.symbols, spoiled) * rate
        burst = _smooth(cable.at, bursts) * poisson.sf(code.corrects, BURST_SYMBOLS)
        found.append(noise + burst)
    return np.asarray(np.max(found, axis=0), np.float64)


def _barely(cable: Cable) -> bool:
    """Return whether the warning limit is crossed by so little that either kind will do."""
    ratio = np.max([_smooth(cable.at, one) for one in cable.ratio()], axis=0)
    return bool(ratio.max() < 3.0 * cable.technology.warning)


def _falls(cable: Cable, case: Case) -> float:
    return float((cable.falls * case.since(cable.at)).sum())


def _evident(
    cable: Cable, before: Cable, fault: Fault, case: Case, warned: float | None
) -> float | None:
    """Return when the effect first crossed a limit of the link or of the module."""
    moments = [warned]
    if fault.wears:
        drawn = (cable.bias / before.bias).max(axis=(0, 1))
        moments.append(_first(cable.at, drawn > MORE_CURRENT))
        fallen = (before.signal() - cable.signal()).max(axis=(0, 1))
        moments.append(_first(cable.at, _smooth(cable.at, fallen) > LESS_SIGNAL_DB))
    elif fault.kind == "optics.overheating":
        moments.append(_first(cable.at, cable.temperature.max(axis=0) > HOT))
    elif fault.kind == "link.flapping":
        fell = np.cumsum(cable.falls * case.since(cable.at))
        moments = [_first(cable.at, fell >= FALLS)]
    elif fault.kind.startswith("optics."):
        moments.append(case.began)
    known = [one for one in moments if one is not None]
    return min(known, default=None)


def _first(at: Floats, beyond: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float | None:
    return float(at[int(np.argmax(beyond))]) if beyond.any() else None


def _smooth(at: Floats, values: Floats) -> Floats:
    """Return the mean of the half hour before each poll ([k])."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    first = np.searchsorted(at, at - SPAN, side="right")
    last = np.arange(1, len(at) + 1)
    return np.asarray((total[last] - total[first]) / (last - first), np.float64)
