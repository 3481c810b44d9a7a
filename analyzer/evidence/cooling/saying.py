"""Saying: lines of evidence about a place of a loop, with numbers and units."""

from datetime import UTC, datetime

from analyzer.evidence.cooling.loop_kinds import UNWRITTEN
from analyzer.evidence.cooling.loops import Cooling
from analyzer.evidence.cooling.trails import Chosen
from analyzer.evidence.testimony import evidence
from fabrichealth.model import Evidence, Floats


def line(
    cooling: Cooling,
    chosen: Chosen,
    place: int,
    value: float,
    says: str,
    expected: float | None = None,
    unit: str = "",
) -> Evidence:
    """Return one line; `value` is what the metric says, or a ratio of it if `unit` says so."""
    metric = chosen.metric
    named = dict(zip(("loop", "branch"), cooling.places.names[place], strict=True))
    if chosen.label:
        named[chosen.label] = chosen.values[0]
    labels = tuple(named.get(label, "") for label in metric.labels)
    return evidence(metric, labels, value, cooling.view.now, says, expected, unit)


def controlled(cooling: Cooling, place: int) -> str:
    """Return what loop it is and how it is controlled, as a phrase; empty if it is not known."""
    control, words = cooling.control(place), cooling.kind(place).words
    if control:
        return f" ({words} under {control} control)"
    return f" ({words})" if cooling.kind(place) is not UNWRITTEN else ""


def last(trail: Floats, place: int) -> float:
    """Return what a place says now."""
    return float(trail[place, -1])


def moment(at: float) -> str:
    """Return a moment (unix seconds), by which what happens is told from what happened before."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
